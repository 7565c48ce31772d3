//! Functions that compute what is defined whatever the operands are, as Csmith's *safe math*.

use super::sizes::Size;

/// An operation on operands of one type. `LEAST` and `MOST` stand for the type's limits, `BITS` for its width; *unchecked* is
/// what the operation comes to.
struct Operation {
    name: &'static str,
    unchecked: &'static str,
    /// When a signed result is not defined, and how many operations and comparisons that takes.
    signed: Check,
    unsigned: Check,
}

struct Check {
    fails: &'static str,
    comp: u32,
    rational: u32,
}

const NONE: Check = Check { fails: "", comp: 0, rational: 0 };
const QUOTIENT: Check = Check { fails: "b == 0 || (a == LEAST && b == -1)", comp: 1, rational: 3 };
const BY_ZERO: Check = Check { fails: "b == 0", comp: 0, rational: 1 };
const TOO_FAR: Check = Check { fails: "b >= BITS", comp: 0, rational: 1 };

const OPERATIONS: [Operation; 7] = [
    Operation {
        name: "add",
        unchecked: "a + b",
        signed: Check {
            fails: "(b > 0 && a > MOST - b) || (b < 0 && a < LEAST - b)",
            comp: 3,
            rational: 4,
        },
        unsigned: NONE,
    },
    Operation {
        name: "sub",
        unchecked: "a - b",
        signed: Check {
            fails: "(b < 0 && a > MOST + b) || (b > 0 && a < LEAST + b)",
            comp: 3,
            rational: 4,
        },
        unsigned: NONE,
    },
    Operation {
        name: "mul",
        unchecked: "a * b",
        signed: Check {
            fails: "(a > 0 && b > 0 && a > MOST / b) || (a > 0 && b < 0 && b < LEAST / a) || \
                    (a < 0 && b > 0 && a < LEAST / b) || (a < 0 && b < 0 && a < MOST / b)",
            comp: 6,
            rational: 12,
        },
        unsigned: NONE,
    },
    Operation { name: "div", unchecked: "a / b", signed: QUOTIENT, unsigned: BY_ZERO },
    Operation { name: "mod", unchecked: "a % b", signed: QUOTIENT, unsigned: BY_ZERO },
    Operation {
        name: "lshift",
        unchecked: "a << b",
        signed: Check {
            fails: "a < 0 || b < 0 || b >= BITS || a > (MOST >> b)",
            comp: 1,
            rational: 4,
        },
        unsigned: TOO_FAR,
    },
    Operation {
        name: "rshift",
        unchecked: "a >> b",
        signed: Check { fails: "a < 0 || b < 0 || b >= BITS", comp: 0, rational: 3 },
        unsigned: TOO_FAR,
    },
];

/// How many operations there are.
pub(super) const COUNT: usize = OPERATIONS.len();

/// Such a function.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Safe {
    /// Which of the operations.
    pub(super) operation: usize,
    /// Of these operands: `int`, `uint`, `long` or `ulong`.
    pub(super) ty: &'static str,
}

impl Safe {
    fn check(&self) -> &'static Check {
        let operation = &OPERATIONS[self.operation];
        if self.ty.starts_with('u') { &operation.unsigned } else { &operation.signed }
    }

    /// What a call of it counts for.
    pub(super) fn size(&self) -> Size {
        let check = self.check();
        Size { comp: check.comp + 1, rational: check.rational }
    }

    /// Its name.
    pub(super) fn name(&self) -> String {
        format!("safe_{}_{}", OPERATIONS[self.operation].name, self.ty)
    }

    /// Its definition.
    pub(super) fn text(&self) -> String {
        let (least, most, bits) = match self.ty {
            "long" => ("(-0x7FFFFFFFFFFFFFFFL - 1)", "0x7FFFFFFFFFFFFFFFL", "64"),
            "ulong" => ("", "", "64"),
            _ => ("(-0x7FFFFFFF - 1)", "0x7FFFFFFF", "32"),
        };
        let (fails, unchecked) = (self.check().fails, OPERATIONS[self.operation].unchecked);
        let value = match fails {
            "" => unchecked.to_owned(),
            _ => format!("{fails} ? a : {unchecked}"),
        };
        let value = value.replace("LEAST", least).replace("MOST", most).replace("BITS", bits);
        let (ty, name) = (self.ty, self.name());
        format!("{ty} {name}({ty} a, {ty} b) {{\n  return {value};\n}}\n")
    }
}
