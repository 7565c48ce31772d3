use super::cost::Set;
use crate::reader::Choice::{Default, Unroll};

/// How often every loop of a kernel is unrolled: as the compiler decides, not at all, or as often as is said.
pub(crate) const UNROLL: Set = Set {
    name: "unroll",
    about: "cycles of a work-item as `cost` has them, every loop of the kernel with this `unroll_count`",
    choices: &[
        ("default", Default),
        ("1", Unroll(1)),
        ("2", Unroll(2)),
        ("4", Unroll(4)),
        ("8", Unroll(8)),
    ],
};
