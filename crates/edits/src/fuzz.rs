//! For `fuzz/` alone: what is read of published problems.

use crate::{constraints, grow};

/// Inputs drawn from the grammar that samples of inputs have, as the stage `edits tests` draws them; whether
/// that grammar reads each.
#[must_use]
pub fn drawn(samples: &[&str]) -> Option<Vec<(String, bool)>> {
    grow::drawn(samples)
}

/// Line and token, from 1 on, of each limit of a sample that a description in HTML states.
#[must_use]
pub fn limits(description: &str, sample: &str) -> Vec<(usize, usize)> {
    let place = |number: Option<u64>| usize::try_from(number?).ok();
    let limits = constraints::limits_in(description, sample).into_iter();
    limits.filter_map(|limit| Some((place(limit.line)?, place(limit.token)?))).collect()
}
