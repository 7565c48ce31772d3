//! `#pragma unroll 4` before every innermost loop.

use super::{
    Pieces, Syntax,
    flow::{is_innermost, loops},
};

pub(super) fn edits(kernel: &Syntax<'_>) -> Vec<Pieces> {
    if kernel.source.contains("#pragma") {
        return Vec::new();
    }
    let innermost = loops(kernel).into_iter().filter(|one| is_innermost(kernel, one.at));
    let before = |at: usize| {
        let start = kernel.range(at)?.start;
        Some(vec![(start..start, "\n#pragma unroll 4\n".to_owned())])
    };
    innermost.filter_map(|one| before(one.at)).collect()
}
