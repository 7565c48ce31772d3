//! Edits that make what people write: operations on what is stored, each work-item's own elements, sums in loops, branches on
//! values; nothing that says where an array is accessed is computed.

use super::{Edit, Zone};

/// Made in values that are computed with.
const VALUES: &[&str] = &[
    "add",
    "subtract",
    "multiply",
    "add-constant",
    "multiply-constant",
    "negate",
    "xor",
    "and",
    "or",
    "leaf-instead",
    "literal-instead",
    "negate-float",
    "add-float",
    "subtract-float",
    "multiply-float",
    "divide-float",
    "add-float-constant",
    "multiply-float-constant",
    "divide-float-constant",
    "add-vector",
    "multiply-vector",
    "add-load-own",
    "add-load-near",
    "add-load-named",
    "add-load-named-near",
    "load-named-instead",
    "load-own-instead",
    "multiply-add",
    "call-float",
    "call-float-first",
    "call-integer",
    "call-integer-first",
    "uncall-float",
    "uncall-float-last",
    "uncall-integer",
    "uncall-integer-last",
    "other-function",
    "other-function-first",
    "select-float",
    "from-int",
    "to-add",
    "to-subtract",
    "to-multiply",
    "to-add-float",
    "to-subtract-float",
    "to-multiply-float",
    "to-divide-float",
    "graft-operand",
    "graft-operand-float",
];

/// Made between statements of any zone.
const STATEMENTS: &[&str] = &[
    "store-own",
    "store-named",
    "through-tile",
    "through-tile-named",
    "copy-own",
    "copy-named",
    "accumulate",
    "accumulate-named",
    "declare-place-int",
    "barrier",
    "atomic",
    "without-atomic",
    "if-store",
    "if-constant-store",
    "if-float-store",
    "if-else-store",
    "if-else-value",
    "for-sum",
    "for-store",
    "return-beyond",
    "enclose-if",
    "enclose-if-constant",
    "enclose-if-own",
    "enclose-for",
    "add-else",
    "next-to-else",
    "next-into-if",
    "next-beside-if",
    "constant-limit",
    "merge-value",
    "carry-sum",
    "carry-product",
    "else-value",
    "fuse-stores",
    "split-store",
    "unfence",
];

/// Made in every zone that they know.
const ANYWHERE: &[&str] = &[
    "and-condition",
    "or-condition",
    "other-condition",
    "index-next",
    "index-strided",
    "dimension-zero",
    "remove-statement",
    "remove-evaluation",
    "open-if",
    "open-loop",
    "remove-else",
    "open-else",
    "remove-operation",
    "remove-call",
    "remove-cast",
    "remove-declaration",
    "unload",
    "unstore",
    "without-select",
    "without-comparison",
    "without-negation",
];

/// Whether it makes what people write.
pub(crate) fn is_plain(edit: &Edit) -> bool {
    let is_of_values = edit.zone == Zone::Value && VALUES.contains(&edit.name);
    is_of_values || STATEMENTS.contains(&edit.name) || ANYWHERE.contains(&edit.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_one_of_an_edit() {
        let all = crate::edit::all();
        for name in [VALUES, STATEMENTS, ANYWHERE].concat() {
            assert!(all.iter().any(|edit| edit.name == name && is_plain(edit)), "{name}");
        }
    }
}
