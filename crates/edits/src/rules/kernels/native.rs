//! Functions of floats in the device's own precision: `native_exp`, `native_divide`.

use super::{Pieces, Syntax};

const FUNCTIONS: [&str; 13] = [
    "sqrt", "rsqrt", "exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos", "tan", "powr",
    "recip",
];

pub(super) fn edits(kernel: &Syntax<'_>) -> Vec<Pieces> {
    let mut pieces = Pieces::new();
    for call in kernel.of_kind("CallExpr").filter(|at| is_float(kernel, *at)) {
        let Some(callee) = kernel.children(call).first().map(|callee| kernel.bare(*callee)) else {
            continue;
        };
        let name = kernel.text(callee);
        if FUNCTIONS.contains(&name) && kernel.source_of(callee) == Some(name) {
            pieces.extend(kernel.range(callee).map(|range| (range, format!("native_{name}"))));
        }
    }
    for quotient in kernel.of_kind("BinaryOperator").filter(|at| is_float(kernel, *at)) {
        if kernel.text(quotient) == "/" {
            pieces.extend(divided(kernel, quotient).into_iter().flatten());
        }
    }
    if pieces.is_empty() { Vec::new() } else { vec![pieces] }
}

/// `a / b` as a call. A number over a number is the compiler's to divide.
fn divided(kernel: &Syntax<'_>, quotient: usize) -> Option<Pieces> {
    let [left, right] = kernel.children(quotient)[..] else { return None };
    let is_literal =
        |at: usize| matches!(kernel.kind(kernel.bare(at)), "FloatingLiteral" | "IntegerLiteral");
    let (all, first, second) = (kernel.range(quotient)?, kernel.range(left)?, kernel.range(right)?);
    let is_written = all.start == first.start && all.end == second.end && first.end < second.start;
    let between = kernel.source.get(first.end..second.start)?;
    (is_written && between.trim() == "/" && !is_literal(right)).then(|| {
        vec![
            (all.start..all.start, "native_divide(".to_owned()),
            (first.end..second.start, ", ".to_owned()),
            (all.end..all.end, ")".to_owned()),
        ]
    })
}

fn is_float(kernel: &Syntax<'_>, at: usize) -> bool {
    kernel.type_of(at) == "float"
}
