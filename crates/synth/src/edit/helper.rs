//! Edits of the functions around a kernel: what stays in the module beside it.

use super::{ANY, Entry};
use crate::program::{with_shared_helper, with_static_helpers};
use rand::seq::IndexedRandom;

pub(super) const EDITS: &[Entry] = &[
    ("static-helpers", ANY, |program, _, _| {
        program.head = with_static_helpers(&program.head)?;
        Some(())
    }),
    ("shared-helper", ANY, |program, _, rng| {
        program.head = with_shared_helper(&program.head).choose(rng)?.clone();
        Some(())
    }),
];
