//! A sum over elements that lie side by side, four at a time: `float4` and `vload4`.

use super::{
    Pieces, Syntax,
    flow::{self, Counted},
};

pub(super) fn edits(kernel: &Syntax<'_>) -> Vec<Pieces> {
    let innermost =
        flow::loops(kernel).into_iter().filter(|one| flow::is_innermost(kernel, one.at));
    innermost.filter_map(|one| by_four(kernel, &flow::counted(kernel, one)?)).collect()
}

fn by_four(kernel: &Syntax<'_>, one: &Counted) -> Option<Pieces> {
    let mut statement = one.whole.body;
    if kernel.kind(statement) == "CompoundStmt" {
        let [only] = kernel.children(statement)[..] else { return None };
        statement = only;
    }
    let [sum, added] = kernel.children(statement)[..] else { return None };
    let name = kernel.source_of(sum)?;
    let is_sum = kernel.kind(statement) == "CompoundAssignOperator"
        && kernel.text(statement) == "+="
        && kernel.type_of(sum) == "float"
        && kernel.variable(sum).is_some()
        && flow::names(kernel, added, kernel.variable(sum)?) == 0;
    if !is_sum {
        return None;
    }
    let mut pieces = Pieces::new();
    for element in flow::elements(kernel, added) {
        let is_float = flow::read_as(kernel, element.node) == Some("float");
        let start = beside(kernel, one, element.index)?;
        let pointer = kernel.source_of(*kernel.children(element.node).first()?)?;
        let range = kernel.range(element.node).filter(|_| is_float)?;
        pieces.push((range, format!("vload4(0, {pointer} + ({start}))")));
    }
    // Nothing but sums, products and quotients of elements and of what stays.
    let is_plain = kernel.subtree(added).all(|at| match kernel.kind(at) {
        "BinaryOperator" => {
            is_index(kernel, added, at) || ["+", "-", "*", "/"].contains(&kernel.text(at))
        }
        "DeclRefExpr" => {
            is_index(kernel, added, at)
                || kernel.declaration(at).is_some_and(|one_| one_ != one.counter)
        }
        "CallExpr" | "ConditionalOperator" | "CStyleCastExpr" | "UnaryOperator" | "MemberExpr" => {
            is_index(kernel, added, at)
        }
        _ => true,
    });
    if pieces.is_empty() || !is_plain {
        return None;
    }
    let range = kernel.range(added)?;
    let four = flow::with(kernel, range, &pieces);
    let Counted { name: counter, ty, first, bound, .. } = one;
    let body = &kernel.source[flow::whole_of(kernel, one.whole.body)?];
    let lanes = format!("four_{}", kernel.range(one.whole.at)?.start);
    let text = format!(
        "{{ {ty} {counter} = {first}; float4 {lanes} = (float4)(0.0f);\n\
         for (; {counter} + 3 < {bound}; {counter} += 4) {{ {lanes} += {four}; }}\n\
         {name} += {lanes}.x + {lanes}.y + {lanes}.z + {lanes}.w;\n\
         for (; {counter} < {bound}; {counter}++) {body} }}"
    );
    Some(vec![(flow::whole_of(kernel, one.whole.at)?, text)])
}

/// An index as it is written, where it is the counter, or the counter and what stays.
fn beside<'a>(kernel: &Syntax<'a>, one: &Counted, index: usize) -> Option<&'a str> {
    let is_counter = |at: usize| kernel.variable(at) == Some(one.counter);
    let bare = kernel.bare(index);
    let goes_by_one = is_counter(index)
        || kernel.kind(bare) == "BinaryOperator"
            && kernel.text(bare) == "+"
            && matches!(kernel.children(bare)[..], [left, right]
                if is_counter(left) && flow::is_invariant(kernel, one.whole.at, right)
                    || is_counter(right) && flow::is_invariant(kernel, one.whole.at, left));
    goes_by_one.then(|| kernel.source_of(index)).flatten()
}

/// Whether a node is part of where an element lies.
fn is_index(kernel: &Syntax<'_>, below: usize, at: usize) -> bool {
    let elements = flow::elements(kernel, below);
    elements.iter().any(|element| kernel.subtree(element.node).contains(&at))
}
