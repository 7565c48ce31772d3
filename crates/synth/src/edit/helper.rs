//! Edits of the functions around a kernel: what stays in the module beside it.

use super::{ANY, Entry, VALUES, site::is_arithmetic, value::wrap};
use crate::program::{Expression, with_helper, with_shared_helper, with_static_helpers};
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
    // A function, its block and its return: the copy that is inlined costs nothing.
    ("own-helper", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_arithmetic, |make, value| {
            let (ty, name) = (value.ty, make.program.fresh_name());
            make.program.head = with_helper(&make.program.head, &ty.to_string(), &name);
            Expression::call(ty, &name, vec![value])
        })
    }),
];
