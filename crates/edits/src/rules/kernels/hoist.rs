//! What a loop reads from one place each time round is read once before it. A compiler may not: the loop may write there
//! through another pointer.

use super::{
    Pieces, Syntax,
    flow::{self, For},
};
use std::collections::HashMap;

pub(super) fn edits(kernel: &Syntax<'_>) -> Vec<Pieces> {
    flow::loops(kernel).into_iter().filter_map(|one| hoisted(kernel, &one)).collect()
}

fn hoisted(kernel: &Syntax<'_>, one: &For) -> Option<Pieces> {
    let elements = flow::elements(kernel, one.at);
    let mut names: HashMap<&str, String> = HashMap::new();
    let (mut before, mut pieces) = (String::new(), Pieces::new());
    for element in &elements {
        let Some(ty) = flow::read_as(kernel, element.node).filter(|ty| flow::is_number(ty)) else {
            continue;
        };
        let is_written = flow::is_written(kernel, &elements, element.buffer);
        let is_same = flow::is_invariant(kernel, one.at, element.index)
            && !kernel.may_change(one.at, element.buffer)
            && !is_declared_in(kernel, one.at, element.buffer);
        let (Some(range), Some(text)) =
            (kernel.range(element.node), kernel.source_of(element.node))
        else {
            continue;
        };
        if is_written || !is_same {
            continue;
        }
        let name = names.entry(text).or_insert_with(|| {
            let name = format!("once_{}", range.start);
            before += &format!("const {ty} {name} = {text}; ");
            name
        });
        pieces.push((range, name.clone()));
    }
    if pieces.is_empty() {
        return None;
    }
    let mut all = flow::around(kernel, one.at, before.trim_end(), "")?;
    all.splice(1..1, pieces);
    Some(all)
}

pub(super) fn is_declared_in(kernel: &Syntax<'_>, at: usize, variable: u32) -> bool {
    let mut declared = kernel.subtree(at).filter(|one| kernel.kind(*one) == "VarDecl");
    declared.any(|one| kernel.declaration(one) == Some(variable))
}
