//! `restrict` for each pointer to global or constant memory: what is written through one is not read through another.

use super::{Pieces, Syntax};

pub(super) fn edits(kernel: &Syntax<'_>) -> Vec<Pieces> {
    let pointers = kernel.of_kind("ParmVarDecl").filter(|at| {
        let ty = kernel.type_of(*at);
        ty.ends_with('*') && ty.contains("__global")
    });
    let mut pieces = Pieces::new();
    for at in pointers {
        // In a macro the name stands elsewhere.
        let Some(name) = kernel.name_offset(at) else { continue };
        if kernel.source.get(name..).is_some_and(|rest| rest.starts_with(kernel.text(at))) {
            pieces.push((name..name, "restrict ".to_owned()));
        }
    }
    if pieces.is_empty() { Vec::new() } else { vec![pieces] }
}
