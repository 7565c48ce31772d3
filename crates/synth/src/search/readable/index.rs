//! How odd it is where a buffer is read or written.

use super::is_literal;
use crate::program::{Expression, Node};
use std::collections::HashSet;

/// For each operator of bits, but for a mask that is a number.
const BITS: f64 = 3.0;
/// Operators that nobody minds: `y * width + x + 1`.
const OPERATORS: usize = 3;
const PER_OPERATOR: f64 = 1.0;
/// For each number that is added, but for neighbors.
const FAR: f64 = 2.0;
const NEIGHBORS: [&str; 5] = ["0", "1", "2", "3", "4"];
const OF_NOBODY: f64 = 3.0;

/// What an index adds, the buffers that are read in it apart.
pub(super) fn index(at: &Expression, parameters: &HashSet<String>) -> f64 {
    let (mut cost, mut operators, mut is_of_nobody) = (0.0, 0_usize, true);
    at.clone().each(&mut |one| match &one.node {
        Node::Binary(operator, left, right) => {
            operators += 1;
            cost += match operator.as_str() {
                "<<" | ">>" | "|" | "^" => BITS,
                "&" if !is_literal(left) && !is_literal(right) => BITS,
                "+" | "-" if is_far(left) || is_far(right) => FAR,
                _ => 0.0,
            };
        }
        Node::Unary(operator, _) if operator == "~" => cost += BITS,
        Node::Name(name) => is_of_nobody &= parameters.contains(name),
        Node::Call(function, _) => is_of_nobody &= function.ends_with("_size"),
        Node::Index(..) | Node::Opaque(_) | Node::Lanes(..) => is_of_nobody = false,
        _ => {}
    });
    // A single parameter or number counts anyway.
    if is_of_nobody && !matches!(at.node, Node::Name(_) | Node::Literal(_)) {
        cost += OF_NOBODY;
    }
    cost + operators.saturating_sub(OPERATORS) as f64 * PER_OPERATOR
}

fn is_far(one: &Expression) -> bool {
    matches!(&one.node, Node::Literal(text) if !NEIGHBORS.contains(&text.as_str()))
}
