//! What rules ask of loops and values.

use super::{Pieces, Syntax};
use std::{collections::HashSet, ops::Range};

/// A loop `for (init; condition; increment) body`.
pub(super) struct For {
    pub(super) at: usize,
    pub(super) init: usize,
    pub(super) condition: usize,
    pub(super) increment: usize,
    pub(super) body: usize,
}

/// A loop that counts up by one, `for (TYPE counter = first; counter < bound; counter++)`.
pub(super) struct Counted {
    pub(super) whole: For,
    pub(super) counter: u32,
    /// As they are written.
    pub(super) name: String,
    pub(super) ty: String,
    pub(super) first: String,
    pub(super) bound: String,
}

/// Loops that have all parts, the outer before the inner.
pub(super) fn loops(kernel: &Syntax<'_>) -> Vec<For> {
    kernel.of_kind("ForStmt").filter_map(|at| loop_at(kernel, at)).collect()
}

/// The loop that a `for` is, where it has all parts.
pub(super) fn loop_at(kernel: &Syntax<'_>, at: usize) -> Option<For> {
    // Behind the first is a place for a variable that is declared in the condition, which C has not; what is left out is
    // `Null`.
    let [init, _, condition, increment, body] = kernel.children(at)[..] else { return None };
    if [init, condition, increment].iter().any(|part| kernel.kind(*part) == "Null") {
        return None;
    }
    // In a macro the loop and its parts are all where the macro's name stands.
    let (all, inner) = (kernel.range(at)?, kernel.range(body)?);
    let is_written = kernel.source[all.clone()].starts_with("for")
        && inner.start > all.start
        && inner.end <= all.end;
    is_written.then_some(For { at, init, condition, increment, body })
}

/// Whether a loop has no other in it.
pub(super) fn is_innermost(kernel: &Syntax<'_>, at: usize) -> bool {
    !kernel.subtree(at).skip(1).any(|one| is_loop(kernel, one))
}

fn is_loop(kernel: &Syntax<'_>, at: usize) -> bool {
    matches!(kernel.kind(at), "ForStmt" | "WhileStmt" | "DoStmt")
}

/// The loop as one that counts; `None` for any other, and where what it counts to changes in it.
pub(super) fn counted(kernel: &Syntax<'_>, whole: For) -> Option<Counted> {
    let [declared] = kernel.children(whole.init)[..] else { return None };
    if kernel.kind(whole.init) != "DeclStmt" || kernel.kind(declared) != "VarDecl" {
        return None;
    }
    let counter = kernel.declaration(declared)?;
    let [first] = kernel.children(declared)[..] else { return None };
    let condition = kernel.bare(whole.condition);
    let [left, bound] = kernel.children(condition)[..] else { return None };
    let compares = kernel.kind(condition) == "BinaryOperator" && kernel.text(condition) == "<";
    let increment = kernel.bare(whole.increment);
    let [counts] = kernel.children(increment)[..] else { return None };
    let is_by_one = kernel.kind(increment) == "UnaryOperator"
        && kernel.source_of(increment)?.contains("++")
        && kernel.variable(counts) == Some(counter);
    let goes_on = compares
        && is_by_one
        && kernel.variable(left) == Some(counter)
        && is_invariant(kernel, whole.at, bound)
        && !kernel.may_change(whole.body, counter);
    let text = |at: usize| kernel.source_of(at).map(str::to_owned);
    Some(Counted {
        counter,
        name: kernel.text(declared).to_owned(),
        ty: kernel.type_of(declared).to_owned(),
        first: text(first)?,
        bound: text(bound)?,
        whole,
    })
    .filter(|_| goes_on)
}

/// Whether a value is the same each time round: it names nothing that the loop declares or changes, reads no memory and calls
/// nothing but functions of work-items.
pub(super) fn is_invariant(kernel: &Syntax<'_>, of: usize, value: usize) -> bool {
    let own: HashSet<u32> = kernel
        .subtree(of)
        .filter(|at| kernel.kind(*at) == "VarDecl")
        .filter_map(|at| kernel.declaration(at))
        .collect();
    let calls = kernel.calls(value);
    let all_calls = kernel.subtree(value).filter(|at| kernel.kind(*at) == "CallExpr").count();
    calls.len() == all_calls
        && calls.iter().all(|(_, name)| name.starts_with("get_"))
        && kernel.subtree(value).all(|at| match kernel.kind(at) {
            "DeclRefExpr" => {
                let is_function = calls.iter().any(|(_, name)| *name == kernel.text(at));
                is_function
                    || kernel
                        .declaration(at)
                        .is_some_and(|one| !own.contains(&one) && !kernel.may_change(of, one))
            }
            "ArraySubscriptExpr" | "MemberExpr" => false,
            "UnaryOperator" => matches!(kernel.text(at), "-" | "+" | "~" | "!"),
            "BinaryOperator" | "CompoundAssignOperator" => !is_assignment(kernel, at),
            _ => true,
        })
}

pub(super) fn is_assignment(kernel: &Syntax<'_>, at: usize) -> bool {
    kernel.kind(at) == "CompoundAssignOperator"
        || kernel.kind(at) == "BinaryOperator" && kernel.text(at) == "="
}

/// An element `buffer[at]` below a node, and the variable that the buffer is.
pub(super) struct Element {
    pub(super) node: usize,
    pub(super) buffer: u32,
    pub(super) index: usize,
}

pub(super) fn elements(kernel: &Syntax<'_>, below: usize) -> Vec<Element> {
    let nodes = kernel.subtree(below).filter(|at| kernel.kind(*at) == "ArraySubscriptExpr");
    let element = |node: usize| {
        let [buffer, index] = kernel.children(node)[..] else { return None };
        Some(Element { node, buffer: kernel.variable(buffer)?, index })
    };
    nodes.filter_map(element).collect()
}

/// Whether one of these elements writes to a buffer.
pub(super) fn is_written(kernel: &Syntax<'_>, elements: &[Element], buffer: u32) -> bool {
    elements.iter().any(|one| one.buffer == buffer && read_as(kernel, one.node).is_none())
}

/// How often a variable is named below a node.
pub(super) fn names(kernel: &Syntax<'_>, below: usize, variable: u32) -> usize {
    let all = kernel.subtree(below).filter(|at| kernel.kind(*at) == "DeclRefExpr");
    all.filter(|at| kernel.declaration(*at) == Some(variable)).count()
}

/// The type that a number has which is read there; `None` where the element is not read.
pub(super) fn read_as<'a>(kernel: &Syntax<'a>, element: usize) -> Option<&'a str> {
    let parent = kernel.parent(element)?;
    let is_read =
        kernel.kind(parent) == "ImplicitCastExpr" && kernel.text(parent) == "LValueToRValue";
    is_read.then(|| kernel.type_of(parent))
}

/// Whether a name of a type is that of a plain number of up to 64 bits.
pub(super) fn is_number(ty: &str) -> bool {
    ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double"]
        .contains(&ty)
        || ["unsigned char", "unsigned short", "unsigned int", "unsigned long"].contains(&ty)
}

/// Whether control leaves a loop's body in another way than at its end.
pub(super) fn leaves(kernel: &Syntax<'_>, body: usize) -> bool {
    kernel
        .subtree(body)
        .any(|at| matches!(kernel.kind(at), "ReturnStmt" | "GotoStmt" | "BreakStmt" | "LabelStmt"))
}

/// Pieces that make a block of a statement, with statements before and behind it.
pub(super) fn around(
    kernel: &Syntax<'_>,
    statement: usize,
    before: &str,
    behind: &str,
) -> Option<Pieces> {
    let mut pieces = kernel.wrapped(statement, before)?;
    pieces[1].1 = format!(" {behind} }}");
    let start = before_pragma(kernel.source, pieces[0].0.start);
    if start < pieces[0].0.start {
        pieces[0] = (start..start, pieces[0].1.clone() + "\n");
    }
    Some(pieces)
}

/// Where a pragma begins that stands right before a loop, and is of it; else where the loop does.
fn before_pragma(source: &str, loop_at: usize) -> usize {
    let before = source[..loop_at].trim_end();
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    if before[line..].trim_start().starts_with("#pragma") { line } else { loop_at }
}

/// A statement's bytes, its semicolon included.
pub(super) fn whole_of(kernel: &Syntax<'_>, statement: usize) -> Option<Range<usize>> {
    let pieces = kernel.wrapped(statement, "")?;
    Some(pieces[0].0.start..pieces[1].0.start)
}

/// The text of a node with pieces of it replaced.
pub(super) fn with(kernel: &Syntax<'_>, range: Range<usize>, pieces: &Pieces) -> String {
    let mut inside: Vec<&(Range<usize>, String)> = pieces.iter().collect();
    inside.sort_by_key(|(piece, _)| piece.start);
    let (mut text, mut at) = (String::new(), range.start);
    for (piece, new) in inside {
        text += &kernel.source[at..piece.start];
        text += new;
        at = piece.end;
    }
    text + &kernel.source[at..range.end]
}
