//! Edits of the flow of control: branches and loops, each around something that has an effect.

use super::{
    CONDITIONS, Entry, STATEMENTS, TOP,
    make::{Maker, assignment, declared, from_zero, increment, zero},
    memory::{insert, store},
    random_statement, random_value,
};
use crate::program::{Expression, Node, Scalar, Statement, Ty};
use rand::Rng as _;

/// `for (int NAME = 0; NAME < limit; NAME++) { body }`.
fn counted(name: &str, limit: Expression, body: Vec<Statement>) -> Statement {
    let counter = || Expression::name(Ty::INT, name);
    Statement::For {
        start: Some(Box::new(from_zero(Ty::INT, name))),
        condition: Some(Expression::binary(Ty::INT, "<", counter(), limit)),
        step: Some(increment(Ty::INT, counter())),
        body,
    }
}

/// `if (condition) { store }`.
pub(super) fn guarded(make: &mut Maker<'_>, condition: Expression) -> Statement {
    let is_own = make.program.style.sparing || make.rng.random_bool(0.5);
    let at = if is_own { make.own_place() } else { zero() };
    Statement::If { condition, then: vec![store(make, at)], otherwise: None }
}

/// A loop that stores to every place of a buffer.
fn filling(make: &mut Maker<'_>, limit: Expression) -> Statement {
    let name = make.program.fresh_name();
    let ty = make.number();
    let value = make.leaf(ty);
    let target = make.element(ty, Expression::name(Ty::INT, name.clone()));
    counted(&name, limit, vec![assignment(target, value)])
}

fn is_movable(statement: &Statement) -> bool {
    match statement {
        Statement::Evaluate(_) | Statement::If { .. } | Statement::For { .. } => true,
        Statement::While { .. } | Statement::Do { .. } | Statement::Block(_) => true,
        Statement::Declare { .. } | Statement::Opaque(_) => false,
    }
}

/// Puts a random statement, and perhaps its next ones, into what `around` makes.
fn enclose(
    program: &mut crate::program::Program,
    zone: super::Zone,
    rng: &mut super::Rng,
    around: impl FnOnce(&mut Maker<'_>, Vec<Statement>) -> Statement,
) -> Option<()> {
    let point = random_statement(program, zone, rng, is_movable)?;
    let reach = rng.random_range(1..=3);
    let mut maker = Maker { program, scope: &point.scope, rng };
    let mut outer = around(&mut maker, Vec::new());
    point.change(program, |list, at| {
        let count = list[at..].iter().take(reach).take_while(|one| is_movable(one)).count();
        let inner: Vec<Statement> = list.drain(at..at + count).collect();
        match &mut outer {
            Statement::If { then: body, .. }
            | Statement::For { body, .. }
            | Statement::While { body, .. }
            | Statement::Do { body, .. }
            | Statement::Block(body) => *body = inner,
            _ => list.splice(at..at, inner).for_each(drop),
        }
        list.insert(at, outer);
    });
    Some(())
}

pub(super) const EDITS: &[Entry] = &[
    ("if-store", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let condition = make.comparison(Ty::INT);
            vec![guarded(make, condition)]
        })
    }),
    ("if-constant-store", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let condition = make.comparison_with_constant();
            vec![guarded(make, condition)]
        })
    }),
    ("if-float-store", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let condition = make.comparison(Ty::FLOAT);
            vec![guarded(make, condition)]
        })
    }),
    ("if-same-store", STATEMENTS, |program, zone, rng| {
        let condition =
            random_value(program, super::Zone::Condition, rng, |value| value.ty == Ty::INT)?;
        insert(program, zone, rng, |make| vec![guarded(make, condition.value)])
    }),
    ("if-else-store", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let condition = make.comparison(Ty::INT);
            let place = make.own_place();
            // Stores of two types: equal ones would become one store of a selected value.
            let (value, other) = (make.leaf(Ty::INT), make.leaf(Ty::FLOAT));
            let then = assignment(make.element(Ty::INT, place.clone()), value);
            let otherwise = assignment(make.element(Ty::FLOAT, place), other);
            vec![Statement::If { condition, then: vec![then], otherwise: Some(vec![otherwise]) }]
        })
    }),
    ("if-else-value", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            // One side calls, so that the value comes from two blocks.
            let condition = make.comparison(Ty::INT);
            let name = make.program.fresh_name();
            let local = || Expression::name(Ty::FLOAT, name.clone());
            let start = make.leaf(Ty::FLOAT);
            let (argument, other) = (make.leaf(Ty::FLOAT), make.leaf(Ty::FLOAT));
            let at = make.own_place();
            let side = make.element(Ty::FLOAT, at.clone());
            let target = make.element(Ty::FLOAT, at);
            vec![
                declared(Ty::FLOAT, &name, start),
                Statement::If {
                    condition,
                    then: vec![assignment(side, other), assignment(local(), argument)],
                    otherwise: None,
                },
                assignment(target, local()),
            ]
        })
    }),
    ("for-store", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let limit = make.leaf(Ty::INT);
            vec![filling(make, limit)]
        })
    }),
    ("for-constant-store", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let limit = Expression::literal(Ty::INT, "1000");
            vec![filling(make, limit)]
        })
    }),
    ("for-sum", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let (counter, limit) = (make.program.fresh_name(), make.leaf(Ty::INT));
            let sum = make.program.fresh_name();
            let local = || Expression::name(Ty::FLOAT, sum.clone());
            let element = make.element(Ty::FLOAT, Expression::name(Ty::INT, counter.clone()));
            let at = make.own_place();
            let target = make.element(Ty::FLOAT, at);
            let start = make.leaf(Ty::FLOAT);
            let node = Node::Assign("+=".into(), Box::new(local()), Box::new(element));
            let body = vec![Statement::Evaluate(Expression::new(Ty::FLOAT, node))];
            vec![
                declared(Ty::FLOAT, &sum, start),
                counted(&counter, limit, body),
                assignment(target, local()),
            ]
        })
    }),
    ("do-store", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let (name, limit) = (make.program.fresh_name(), make.leaf(Ty::INT));
            let counter = || Expression::name(Ty::INT, name.clone());
            let ty = make.number();
            let value = make.leaf(ty);
            let target = make.element(ty, counter());
            let step = increment(Ty::INT, counter());
            vec![
                from_zero(Ty::INT, &name),
                Statement::Do {
                    body: vec![assignment(target, value), Statement::Evaluate(step)],
                    condition: Expression::binary(Ty::INT, "<", counter(), limit),
                },
            ]
        })
    }),
    ("do-wide-store", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let name = make.program.fresh_name();
            let limit = make.leaf(Ty::SIZE);
            let counter = || Expression::name(Ty::SIZE, name.clone());
            let ty = make.number();
            let value = make.leaf(ty);
            let target = make.element(ty, counter());
            let step = increment(Ty::SIZE, counter());
            vec![
                from_zero(Ty::SIZE, &name),
                Statement::Do {
                    body: vec![assignment(target, value), Statement::Evaluate(step)],
                    condition: Expression::binary(Ty::INT, "<", counter(), limit),
                },
            ]
        })
    }),
    ("while-halving", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let (name, start) = (make.program.fresh_name(), make.leaf(Ty::INT));
            let counter = || Expression::name(Ty::INT, name.clone());
            let value = make.leaf(Ty::FLOAT);
            let target = make.element(Ty::FLOAT, counter());
            let by = Expression::literal(Ty::INT, "1");
            let node = Node::Assign(">>=".into(), Box::new(counter()), Box::new(by));
            vec![
                declared(Ty::INT, &name, start),
                Statement::While {
                    condition: Expression::binary(Ty::INT, ">", counter(), zero()),
                    body: vec![
                        assignment(target, value),
                        Statement::Evaluate(Expression::new(Ty::INT, node)),
                    ],
                },
            ]
        })
    }),
    ("return-early", TOP, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let condition = make.comparison(Ty::INT);
            let leave = Statement::Opaque("return;".into());
            vec![Statement::If { condition, then: vec![leave], otherwise: None }]
        })
    }),
    ("return-beyond", TOP, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let place = make.own_place();
            let limit = make.leaf(Ty::SIZE);
            let condition = Expression::binary(Ty::INT, ">=", place, limit);
            let leave = Statement::Opaque("return;".into());
            vec![Statement::If { condition, then: vec![leave], otherwise: None }]
        })
    }),
    ("switch", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let value = make.leaf(Ty::INT);
            let (Node::Name(value) | Node::Literal(value)) = value.node else { return Vec::new() };
            let cases = make.rng.random_range(3..=5);
            let mut text = format!("switch ({value}) {{\n");
            for case in 0..cases {
                let float = Ty::Pointer {
                    space: crate::program::Space::Global,
                    scalar: Scalar::F32,
                    lanes: 1,
                    constant: false,
                };
                let buffer = make.program.add_parameter(float);
                if let Node::Name(buffer) = buffer.node {
                    text += &format!("case {case}: {buffer}[0] = {case}.5f; break;\n");
                }
            }
            vec![Statement::Opaque(text + "}")]
        })
    }),
    ("enclose-if", STATEMENTS, |program, zone, rng| {
        enclose(program, zone, rng, |make, then| {
            let condition = make.comparison(Ty::INT);
            Statement::If { condition, then, otherwise: None }
        })
    }),
    ("enclose-if-constant", STATEMENTS, |program, zone, rng| {
        enclose(program, zone, rng, |make, then| {
            let condition = make.comparison_with_constant();
            Statement::If { condition, then, otherwise: None }
        })
    }),
    ("enclose-if-own", STATEMENTS, |program, zone, rng| {
        enclose(program, zone, rng, |make, then| {
            let place = make.own_place();
            let limit = make.leaf(Ty::SIZE);
            let condition = Expression::binary(Ty::INT, "<", place, limit);
            Statement::If { condition, then, otherwise: None }
        })
    }),
    ("enclose-for", STATEMENTS, |program, zone, rng| {
        enclose(program, zone, rng, |make, body| {
            let (name, limit) = (make.program.fresh_name(), make.leaf(Ty::INT));
            counted(&name, limit, body)
        })
    }),
    ("add-else", STATEMENTS, |program, zone, rng| {
        let alone =
            |statement: &Statement| matches!(statement, Statement::If { otherwise: None, .. });
        let point = random_statement(program, zone, rng, alone)?;
        let mut make = Maker { program, scope: &point.scope, rng };
        let place = make.own_place();
        let other = store(&mut make, place);
        point.change(program, |list, at| {
            if let Statement::If { otherwise, .. } = &mut list[at] {
                *otherwise = Some(vec![other]);
            }
        });
        Some(())
    }),
    ("next-to-else", STATEMENTS, |program, zone, rng| {
        let point = super::random_point(
            program,
            zone,
            rng,
            |rest| matches!(rest, [Statement::If { otherwise: None, .. }, next, ..] if is_movable(next)),
        )?;
        point.change(program, |list, at| {
            let next = list.remove(at + 1);
            if let Statement::If { otherwise, .. } = &mut list[at] {
                *otherwise = Some(vec![next]);
            }
        });
        Some(())
    }),
    ("next-into-if", STATEMENTS, |program, zone, rng| {
        let point = super::random_point(
            program,
            zone,
            rng,
            |rest| matches!(rest, [Statement::If { .. }, next, ..] if is_movable(next)),
        )?;
        point.change(program, |list, at| {
            let next = list.remove(at + 1);
            if let Statement::If { then, .. } = &mut list[at] {
                then.push(next);
            }
        });
        Some(())
    }),
    ("next-beside-if", STATEMENTS, |program, zone, rng| {
        let point = random_statement(program, zone, rng, |statement| {
            matches!(statement, Statement::If { then, .. }
                if then.len() > 1 && then.last().is_some_and(is_movable))
        })?;
        point.change(program, |list, at| {
            let Statement::If { then, .. } = &mut list[at] else { return };
            if let Some(last) = then.pop() {
                list.insert(at + 1, last);
            }
        });
        Some(())
    }),
    // A loop that runs once at least needs no branch around it.
    ("unguard-loop", STATEMENTS, |program, zone, rng| {
        let point = random_statement(program, zone, rng, |statement| {
            matches!(
                statement,
                Statement::While { .. }
                    | Statement::For { start: Some(_), condition: Some(_), step: Some(_), .. }
            )
        })?;
        point.change(program, |list, at| {
            let (start, body, condition) = match list.remove(at) {
                Statement::For { start, condition: Some(condition), step, mut body } => {
                    body.extend(step.map(Statement::Evaluate));
                    (start.map(|start| *start), body, condition)
                }
                Statement::While { condition, body } => (None, body, condition),
                other => return list.insert(at, other),
            };
            let parts = start.into_iter().chain([Statement::Do { body, condition }]);
            list.insert(at, Statement::Block(parts.collect()));
        });
        Some(())
    }),
    ("guard-loop", STATEMENTS, |program, zone, rng| {
        let point = random_statement(program, zone, rng, |statement| {
            matches!(statement, Statement::Do { .. })
        })?;
        point.change(program, |list, at| {
            if let Statement::Do { body, condition } = &mut list[at] {
                let condition = condition.take();
                list[at] = Statement::While { condition, body: std::mem::take(body) };
            }
        });
        Some(())
    }),
    // Of a loop that runs a known number of times the compiler drops the branch around it.
    ("constant-limit", STATEMENTS, |program, zone, rng| {
        let point = random_statement(program, zone, rng, |statement| {
            matches!(statement, Statement::For { condition: Some(condition), .. }
                if is_comparison(condition))
        })?;
        let limit = rng.random_range(1000..3000).to_string();
        point.change(program, |list, at| {
            if let Statement::For { condition: Some(condition), .. } = &mut list[at]
                && let Node::Binary(_, _, right) = &mut condition.node
            {
                **right = Expression::literal(Ty::INT, limit);
            }
        });
        Some(())
    }),
    ("and-condition", CONDITIONS, |program, zone, rng| joined(program, zone, rng, "&&")),
    ("or-condition", CONDITIONS, |program, zone, rng| joined(program, zone, rng, "||")),
    ("same-condition", CONDITIONS, |program, zone, rng| {
        let other = random_value(program, zone, rng, |value| value.ty == Ty::INT)?.value;
        let drawn = random_value(program, zone, rng, is_comparison)?;
        drawn.replace(program, other);
        Some(())
    }),
    // A condition that is decided on twice is decided on once, and something else the other time.
    ("own-condition", CONDITIONS, |program, zone, rng| {
        let known = random_value(program, zone, rng, is_comparison)?.value;
        let times = std::cell::Cell::new(0);
        let again = random_value(program, super::Zone::Any, rng, |value| {
            times.set(times.get() + u32::from(*value == known));
            *value == known
        })?;
        // A place counts when places are counted, and those up to the drawn one once more.
        if times.get() < 3 {
            return None;
        }
        let mut make = Maker { program, scope: &again.scope, rng };
        let (Node::Binary(operator, left, _), operand) = (known.node, make.leaf(Ty::INT)) else {
            return None;
        };
        let other = if left.ty == Ty::INT { operand } else { make.leaf(left.ty) };
        let condition = Expression::binary(known.ty, &operator, *left, other);
        again.replace(program, condition);
        Some(())
    }),
    ("other-condition", CONDITIONS, |program, zone, rng| {
        let drawn = random_value(program, zone, rng, is_comparison)?;
        let mut make = Maker { program, scope: &drawn.scope, rng };
        let condition = match make.rng.random_range(0..4) {
            0 => make.comparison(Ty::INT),
            1 => make.comparison_with_constant(),
            2 => make.comparison(Ty::FLOAT),
            _ => make.comparison(Ty::SIZE),
        };
        drawn.replace(program, condition);
        Some(())
    }),
];

pub(super) fn is_comparison(value: &Expression) -> bool {
    matches!(&value.node, Node::Binary(operator, ..)
        if matches!(operator.as_str(), "<" | ">" | "<=" | ">=" | "==" | "!="))
}

fn joined(
    program: &mut crate::program::Program,
    zone: super::Zone,
    rng: &mut super::Rng,
    operator: &str,
) -> Option<()> {
    let mut drawn = random_value(program, zone, rng, is_comparison)?;
    let left = drawn.value.take();
    let right = Maker { program, scope: &drawn.scope, rng }.comparison(Ty::INT);
    drawn.replace(program, Expression::binary(Ty::INT, operator, left, right));
    Some(())
}
