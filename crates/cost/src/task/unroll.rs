use super::cost::Set;
use crate::reader::Hint::Unroll;

/// How often every loop of a kernel is unrolled: as the compiler decides, not at all, or as often as is said.
pub(crate) const UNROLL: Set = Set {
    name: "unroll",
    about: "cycles of a work-item as `cost` has them, every loop of the kernel with this `unroll_count`",
    choices: &[
        ("default", None),
        ("1", Some(Unroll(1))),
        ("2", Some(Unroll(2))),
        ("4", Some(Unroll(4))),
        ("8", Some(Unroll(8))),
    ],
};
