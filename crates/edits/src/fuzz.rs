//! For `fuzz/` alone: what is read of published problems.

use crate::grow;

/// Inputs drawn from the grammar that samples of inputs have, as the stage `edits tests` draws them; whether
/// that grammar reads each.
#[must_use]
pub fn drawn(samples: &[&str]) -> Option<Vec<(String, bool)>> {
    grow::drawn(samples)
}
