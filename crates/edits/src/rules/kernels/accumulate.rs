//! An element that a loop adds to each time round is kept in a variable meanwhile, and written once.

use super::{
    Pieces, Syntax,
    flow::{self, For},
    hoist::is_declared_in,
};

pub(super) fn edits(kernel: &Syntax<'_>) -> Vec<Pieces> {
    flow::loops(kernel).into_iter().filter_map(|one| kept(kernel, &one)).collect()
}

fn kept(kernel: &Syntax<'_>, one: &For) -> Option<Pieces> {
    let leaves = ["ReturnStmt", "GotoStmt", "LabelStmt"];
    if kernel.subtree(one.body).any(|at| leaves.contains(&kernel.kind(at))) {
        return None;
    }
    // A barrier is where others read what was written.
    if kernel
        .calls(one.body)
        .iter()
        .any(|(_, name)| name.contains("barrier") || name.contains("fence"))
    {
        return None;
    }
    let elements = flow::elements(kernel, one.at);
    let written = elements.iter().find(|element| {
        let target = kernel.parent(element.node).filter(|one| flow::is_assignment(kernel, *one));
        target.is_some_and(|parent| kernel.children(parent).first() == Some(&element.node))
            && flow::is_invariant(kernel, one.at, element.index)
            && !is_declared_in(kernel, one.at, element.buffer)
    })?;
    let text = kernel.source_of(written.node)?;
    let same: Vec<_> = elements.iter().filter(|other| other.buffer == written.buffer).collect();
    // Of the buffer nothing else is touched, and what is written there was read.
    let is_only = same.iter().all(|other| kernel.source_of(other.node) == Some(text));
    let parent = kernel.parent(written.node)?;
    let is_read = kernel.kind(parent) == "CompoundAssignOperator" || same.len() > 1;
    let ty = value_type(kernel, written.node)?;
    if !is_only || flow::names(kernel, one.at, written.buffer) != same.len() || !is_read {
        return None;
    }
    let name = format!("sum_{}", kernel.range(written.node)?.start);
    let mut pieces = flow::around(
        kernel,
        one.at,
        &format!("{ty} {name} = {text};"),
        &format!("{text} = {name};"),
    )?;
    for element in same {
        let range = kernel.range(element.node)?;
        pieces.insert(1, (range, name.clone()));
    }
    Some(pieces)
}

/// The type of a number in memory, without where it lies.
fn value_type<'a>(kernel: &Syntax<'a>, element: usize) -> Option<&'a str> {
    let mut words =
        kernel.type_of(element).split_whitespace().filter(|word| !word.starts_with("__"));
    let ty = words.next()?;
    (words.next().is_none() && flow::is_number(ty)).then_some(ty)
}
