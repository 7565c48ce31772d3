//! Dimensions 0 and 1 of work-items change places: neighbors read what lies beside each other, where rows were read down.

use super::{Pieces, Syntax};

pub(super) fn edits(kernel: &Syntax<'_>) -> Vec<Pieces> {
    let roots = kernel.all().filter(|at| kernel.parent(*at).is_none());
    let mut pieces = Pieces::new();
    let mut seen = [false; 2];
    for (call, name) in roots.flat_map(|root| kernel.calls(root)) {
        let [_, dimension] = kernel.children(call)[..] else { continue };
        let bare = kernel.bare(dimension);
        let Some(range) = kernel.range(dimension).filter(|_| name.starts_with("get_")) else {
            continue;
        };
        let (at, other) = match kernel.text(bare) {
            "0" if kernel.kind(bare) == "IntegerLiteral" => (0, "1"),
            "1" if kernel.kind(bare) == "IntegerLiteral" => (1, "0"),
            _ => continue,
        };
        seen[at] = true;
        pieces.push((range, other.to_owned()));
    }
    // Local memory and work-groups have a shape of their own.
    let is_grouped = ["get_local_id", "get_group_id", "get_local_size", "reqd_work_group_size"]
        .iter()
        .any(|word| kernel.has_word(word));
    if seen == [true; 2] && !is_grouped { vec![pieces] } else { Vec::new() }
}
