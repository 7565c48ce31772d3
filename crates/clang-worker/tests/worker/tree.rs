//! The syntax tree in preorder.

use crate::support::clang;
use clang::{Options, Request, Tree};

fn tree(source: &str) -> (Tree, clang::Facts) {
    let request = Request::Parse { source: source.into(), options: Options::opencl(), tree: true };
    let answer = clang().ask(&request).expect("the worker survives");
    assert_eq!(answer.first_error(), None, "in\n{source}");
    (answer.tree.expect("it was asked for"), answer.facts.expect("a parse answers with facts"))
}

/// One line per node, indented by depth: kind, type, text.
fn print(tree: &Tree) -> String {
    let mut out = String::new();
    let mut ends: Vec<usize> = Vec::new();
    for (i, node) in tree.nodes.iter().enumerate() {
        ends.retain(|end| *end > i);
        let at = |index: u32| &tree.strings[index as usize];
        let words = [at(node.kind), at(node.type_name), at(node.text)];
        let words: Vec<_> = words.into_iter().filter(|w| !w.is_empty()).cloned().collect();
        out += &format!("{}{}\n", " ".repeat(ends.len()), words.join("|"));
        ends.push(i + node.size as usize);
    }
    out
}

#[test]
fn nodes_come_in_preorder_with_types_operators_and_names() {
    let source = "kernel void k(global float* a) { for (;;) a[0] += (float)sizeof(int) - 1.5f; }";
    let (tree, _) = tree(source);
    let expected = "\
FunctionDecl|void (__global float *__private)|k
 ParmVarDecl|__global float *|a
 CompoundStmt
  ForStmt
   Null
   Null
   Null
   Null
   CompoundAssignOperator|float|+=
    ArraySubscriptExpr|__global float
     ImplicitCastExpr|__global float *|LValueToRValue
      DeclRefExpr|__global float *|a
     IntegerLiteral|int|0
    BinaryOperator|float|-
     CStyleCastExpr|float|IntegralToFloating
      UnaryExprOrTypeTraitExpr|unsigned long|sizeof
     FloatingLiteral|float|1.5
";
    assert_eq!(print(&tree), expected);
}

#[test]
fn nodes_know_their_text_and_their_declaration() {
    let source = "int f(int x) { return -x; } kernel void k(global int* a) { a[0] = f(7); }";
    let (tree, facts) = tree(source);
    let literal =
        tree.nodes.iter().find(|n| tree.strings[n.kind as usize] == "CallExpr").expect("a call");
    assert_eq!(&source[literal.begin as usize..literal.end as usize], "f(7)");
    for node in tree.nodes.iter().filter(|n| n.declaration != u32::MAX) {
        let name = &facts.declarations[node.declaration as usize].name;
        assert_eq!(&tree.strings[node.text as usize], name);
    }
    let sizes: u32 = tree.nodes.iter().map(|n| u32::from(n.size == 0)).sum();
    assert_eq!(sizes, 0, "every node counts itself");
}
