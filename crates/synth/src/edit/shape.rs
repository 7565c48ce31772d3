//! Edits of the shape of blocks: which block can go where. Ways out of a loop, conditions that are
//! decided one after the other because the second one reads memory, values that only one way reads,
//! branches in front of loops. All survive -O1, which may not read memory that the program would not.

use super::{
    CONDITIONS, Entry, Rng, STATEMENTS, TOP, VALUES, Zone,
    control::guarded,
    make::{Maker, assignment, from_zero, increment, zero},
    memory::{insert, store},
    random_statement,
    site::{DrawnValue, is_arithmetic},
    value::wrap,
};
use crate::program::{Expression, Node, Program, Statement, Ty};
use rand::seq::IndexedRandom;

const LOOP: &[Zone] = &[Zone::Loop];
const BRANCHES: &[Zone] = &[Zone::Branch, Zone::Loop];

/// `buffer[...] < leaf`: not to be decided before its turn.
fn read(make: &mut Maker<'_>) -> Expression {
    let at = if rand::Rng::random_bool(make.rng, 0.5) { zero() } else { make.own_place() };
    let (element, other) = (make.element(Ty::INT, at), make.leaf(Ty::INT));
    let operator = ["<", ">", "==", "!="].choose(make.rng).copied().unwrap_or("<");
    Expression::binary(Ty::INT, operator, element, other)
}

/// `if (condition) { WORD; }`.
fn leave(condition: Expression, word: &str) -> Statement {
    let then = vec![Statement::Opaque(format!("{word};"))];
    Statement::If { condition, then, otherwise: None }
}

fn left(program: &mut Program, zone: Zone, rng: &mut Rng, word: &str) -> Option<()> {
    insert(program, zone, rng, |make| {
        let condition = make.comparison(Ty::INT);
        vec![leave(condition, word)]
    })
}

fn left_after_read(program: &mut Program, zone: Zone, rng: &mut Rng, word: &str) -> Option<()> {
    insert(program, zone, rng, |make| {
        let condition = read(make);
        vec![leave(condition, word)]
    })
}

pub(super) fn is_loop(statement: &Statement) -> bool {
    matches!(statement, Statement::For { .. } | Statement::While { .. } | Statement::Do { .. })
}

/// A value of two joined by `&&` or `||`.
fn joined(program: &mut Program, zone: Zone, rng: &mut Rng) -> Option<DrawnValue> {
    super::random_value(
        program,
        zone,
        rng,
        |value| matches!(&value.node, Node::Binary(operator, ..) if operator == "&&" || operator == "||"),
    )
}

/// A comparison and another that reads memory.
fn both(program: &mut Program, zone: Zone, rng: &mut Rng, operator: &str) -> Option<()> {
    wrap(program, zone, rng, super::control::is_comparison, |make, value| {
        let other = read(make);
        Expression::binary(Ty::INT, operator, value, other)
    })
}

/// A branch in front of a loop, or behind one.
fn beside_loop(program: &mut Program, zone: Zone, rng: &mut Rng, behind: usize) -> Option<()> {
    let point = random_statement(program, zone, rng, is_loop)?;
    let mut make = Maker { program, scope: &point.scope, rng };
    let condition = make.comparison(Ty::INT);
    let branch = guarded(&mut make, condition);
    point.change(program, |list, at| list.insert(at + behind, branch));
    Some(())
}

/// A branch that ends in a word that leaves.
fn is_left(statement: &Statement) -> bool {
    matches!(statement, Statement::If { then, otherwise: None, .. }
        if matches!(then.as_slice(), [Statement::Opaque(word)]
            if matches!(word.as_str(), "return;" | "break;" | "continue;")))
}

pub(super) const EDITS: &[Entry] = &[
    ("break-if", LOOP, |program, zone, rng| left(program, zone, rng, "break")),
    ("break-if-read", LOOP, |program, zone, rng| left_after_read(program, zone, rng, "break")),
    ("continue-if", LOOP, |program, zone, rng| left(program, zone, rng, "continue")),
    ("continue-if-read", LOOP, |program, zone, rng| {
        left_after_read(program, zone, rng, "continue")
    }),
    ("return-if-read", STATEMENTS, |program, zone, rng| {
        left_after_read(program, zone, rng, "return")
    }),
    ("return-if", BRANCHES, |program, zone, rng| left(program, zone, rng, "return")),
    ("unleave", STATEMENTS, |program, zone, rng| {
        let point = random_statement(program, zone, rng, is_left)?;
        point.change(program, |list, at| {
            list.remove(at);
        });
        Some(())
    }),
    ("return-at-end", STATEMENTS, |program, zone, rng| {
        let point = random_statement(program, zone, rng, |statement| {
            matches!(statement, Statement::If { then, .. }
                if !matches!(then.last(), None | Some(Statement::Opaque(_))))
        })?;
        point.change(program, |list, at| {
            if let Statement::If { then, .. } = &mut list[at] {
                then.push(Statement::Opaque("return;".into()));
            }
        });
        Some(())
    }),
    ("and-read", CONDITIONS, |program, zone, rng| both(program, zone, rng, "&&")),
    ("or-read", CONDITIONS, |program, zone, rng| both(program, zone, rng, "||")),
    ("without-joined", CONDITIONS, |program, zone, rng| {
        let mut drawn = joined(program, zone, rng)?;
        let Node::Binary(_, left, _) = drawn.value.take().node else { return None };
        drawn.replace(program, *left);
        Some(())
    }),
    ("other-joined", CONDITIONS, |program, zone, rng| {
        let mut drawn = joined(program, zone, rng)?;
        let ty = drawn.value.ty;
        let Node::Binary(operator, left, right) = drawn.value.take().node else { return None };
        let other = if operator == "&&" { "||" } else { "&&" };
        drawn.replace(program, Expression::new(ty, Node::Binary(other.into(), left, right)));
        Some(())
    }),
    ("if-before-loop", STATEMENTS, |program, zone, rng| beside_loop(program, zone, rng, 0)),
    ("if-behind-loop", STATEMENTS, |program, zone, rng| beside_loop(program, zone, rng, 1)),
    ("else-if-store", STATEMENTS, |program, zone, rng| {
        let point = random_statement(program, zone, rng, |statement| {
            matches!(statement, Statement::If { otherwise: None, .. }) && !is_left(statement)
        })?;
        let mut make = Maker { program, scope: &point.scope, rng };
        let condition = make.comparison(Ty::INT);
        let other = guarded(&mut make, condition);
        point.change(program, |list, at| {
            if let Statement::If { otherwise, .. } = &mut list[at] {
                *otherwise = Some(vec![other]);
            }
        });
        Some(())
    }),
    // A value that is read from memory on one way only comes from two blocks.
    ("choice-of-read", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_arithmetic, |make, value| {
            let condition = make.comparison(Ty::INT);
            let (ty, at) = (value.ty, make.own_place());
            let element = make.element(ty, at);
            let node = Node::Choice(Box::new(condition), Box::new(element), Box::new(value));
            Expression::new(ty, node)
        })
    }),
    ("choice-of-reads", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_arithmetic, |make, value| {
            let condition = make.comparison(Ty::INT);
            let ty = value.ty;
            let (one, other) = (make.element(ty, zero()), make.element(ty, zero()));
            let node = Node::Choice(Box::new(condition), Box::new(one), Box::new(other));
            let chosen = Expression::new(ty, node);
            Expression::binary(ty, "+", value, chosen)
        })
    }),
    // A loop that is left in its middle.
    ("leave-middle", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let (name, limit) = (make.program.fresh_name(), make.leaf(Ty::INT));
            let counter = || Expression::name(Ty::INT, name.clone());
            let first = store(make, counter());
            let second = {
                let value = make.leaf(Ty::FLOAT);
                let target = make.element(Ty::FLOAT, counter());
                assignment(target, value)
            };
            let step = increment(Ty::INT, counter());
            let condition = Expression::binary(Ty::INT, ">=", counter(), limit);
            vec![
                from_zero(Ty::INT, &name),
                Statement::While {
                    condition: Expression::literal(Ty::INT, "1"),
                    body: vec![first, leave(condition, "break"), second, Statement::Evaluate(step)],
                },
            ]
        })
    }),
    // The counter is needed behind the loop.
    ("store-counter", TOP, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let (name, limit) = (make.program.fresh_name(), make.leaf(Ty::INT));
            let counter = || Expression::name(Ty::INT, name.clone());
            let element = make.element(Ty::INT, counter());
            let other = make.leaf(Ty::INT);
            let inside = Expression::binary(Ty::INT, "<", counter(), limit);
            let unequal = Expression::binary(Ty::INT, "!=", element, other);
            let step = increment(Ty::INT, counter());
            let target = make.element(Ty::INT, zero());
            vec![
                from_zero(Ty::INT, &name),
                Statement::While {
                    condition: Expression::binary(Ty::INT, "&&", inside, unequal),
                    body: vec![Statement::Evaluate(step)],
                },
                assignment(target, counter()),
            ]
        })
    }),
];
