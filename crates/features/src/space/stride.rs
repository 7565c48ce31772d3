//! How an index moves from one work item to the next.

use crate::syntax::Syntax;
use std::collections::HashMap;

/// Deeper expressions than any person writes are not looked into.
const DEPTH: usize = 200;

/// By how much a value differs between neighbouring work items: `None` where that is not the same
/// everywhere or not known.
type Stride = Option<i64>;

/// The strides of a function's private variables.
pub(super) struct Strides<'a> {
    variables: HashMap<&'a str, Stride>,
}

impl<'a> Strides<'a> {
    /// Of everything that `function` declares and assigns; its parameters are the same for all
    /// work items.
    pub(super) fn of(function: Syntax<'a>) -> Strides<'a> {
        let mut strides = Strides { variables: HashMap::new() };
        // What a variable is assigned below its use in a loop is known in the second round.
        for _ in 0..2 {
            for node in function.subtree() {
                strides.learn(node);
            }
        }
        strides
    }

    fn learn(&mut self, node: Syntax<'a>) {
        match node.kind() {
            "VarDecl" => {
                let initial = node.child(0).filter(|child| child.kind() != "ArrayLength");
                if let Some(initial) = initial {
                    let stride = self.stride(initial, 0);
                    self.assign(node.text(), stride);
                }
            }
            "BinaryOperator" | "CompoundAssignOperator" => {
                let (Some(to), Some(value)) = (node.child(0), node.child(1)) else { return };
                let to = to.bare();
                if to.kind() != "DeclRefExpr" {
                    return;
                }
                let value = self.stride(value, 0);
                match (node.text(), value) {
                    ("=", value) => self.assign(to.text(), value),
                    ("+=" | "-=", Some(0)) => {}
                    (operator, value) if operator.ends_with('=') && !is_comparison(operator) => {
                        let uniform = value == Some(0) && self.variable(to.text()) == Some(0);
                        self.assign(to.text(), uniform.then_some(0));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn assign(&mut self, name: &'a str, stride: Stride) {
        self.variables
            .entry(name)
            .and_modify(|known| {
                if *known != stride {
                    *known = None;
                }
            })
            .or_insert(stride);
    }

    fn variable(&self, name: &str) -> Stride {
        self.variables.get(name).copied().unwrap_or(Some(0))
    }

    /// Whether neighbouring work items access the same or neighbouring elements at `index`.
    pub(super) fn is_coalesced(&self, index: Syntax<'_>) -> bool {
        self.stride(index, 0).is_some_and(|stride| stride.abs() <= 1)
    }

    fn stride(&self, expression: Syntax<'_>, depth: usize) -> Stride {
        if depth > DEPTH {
            return None;
        }
        let of = |place| expression.child(place).and_then(|child| self.stride(child, depth + 1));
        match expression.kind() {
            "IntegerLiteral" | "CharacterLiteral" | "FloatingLiteral" => Some(0),
            "DeclRefExpr" => self.variable(expression.text()),
            "ParenExpr" | "ImplicitCastExpr" | "CStyleCastExpr" => of(0),
            "UnaryOperator" => match expression.text() {
                "-" => of(0).map(|stride| -stride),
                "*" => of(0).filter(|stride| *stride == 0),
                _ => of(0),
            },
            "BinaryOperator" => self.stride_of_operator(expression, of(0)?, of(1)?),
            "CallExpr" => match expression.callee()? {
                "get_global_id" | "get_local_id" => match literal(expression.child(1)?) {
                    Some(0) => Some(1),
                    Some(_) => Some(0),
                    None => None,
                },
                _ => {
                    let mut arguments = expression.children().skip(1);
                    arguments.all(|one| self.stride(one, depth + 1) == Some(0)).then_some(0)
                }
            },
            "MemberExpr"
            | "ExtVectorElementExpr"
            | "ArraySubscriptExpr"
            | "ConditionalOperator" => {
                let mut parts = expression.children();
                parts.all(|one| self.stride(one, depth + 1) == Some(0)).then_some(0)
            }
            _ => None,
        }
    }

    fn stride_of_operator(&self, operator: Syntax<'_>, left: i64, right: i64) -> Stride {
        match operator.text() {
            "+" => left.checked_add(right),
            "-" => left.checked_sub(right),
            "," | "=" => Some(right),
            "*" => {
                let factor = |place| operator.child(place).and_then(literal);
                match (left, right) {
                    (0, 0) => Some(0),
                    (stride, 0) => stride.checked_mul(factor(1)?),
                    (0, stride) => stride.checked_mul(factor(0)?),
                    _ => None,
                }
            }
            _ => (left == 0 && right == 0).then_some(0),
        }
    }
}

fn is_comparison(operator: &str) -> bool {
    matches!(operator, "==" | "!=" | "<=" | ">=")
}

fn literal(expression: Syntax<'_>) -> Option<i64> {
    let bare = expression.bare();
    if bare.kind() == "IntegerLiteral" { bare.text().parse().ok() } else { None }
}
