//! Edits of how values flow between statements: through variables that branches and loops change,
//! and from one statement into another.

use super::{
    ANY, Entry, Rng, STATEMENTS, Zone,
    make::{Maker, declared},
    random_point, random_value,
    value::is_leaf,
};
use crate::program::{Expression, Node, Program, Statement, Ty};
use rand::{Rng as _, seq::IndexedRandom};

/// The first leaf of this type in statements, replaced by `value`; whether there was one.
fn substitute(list: &mut [Statement], ty: Ty, value: &Expression) -> bool {
    let mut carrier = Program { body: list.to_vec(), ..Program::empty() };
    let mut rng = <Rng as rand::SeedableRng>::seed_from_u64(0);
    let takes = |old: &Expression| old.ty == ty && is_leaf(old);
    let Some(drawn) = random_value(&mut carrier, Zone::Value, &mut rng, takes) else {
        return false;
    };
    drawn.replace(&mut carrier, value.clone());
    for (old, new) in list.iter_mut().zip(carrier.body) {
        *old = new;
    }
    true
}

/// Declares a variable in front of a branch or loop, has `change` change it there, and puts it in
/// the place of a leaf behind.
fn through(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    accept: fn(&Statement) -> bool,
    operator: Option<&str>,
) -> Option<()> {
    let ty = if rng.random_bool(0.5) { Ty::INT } else { Ty::FLOAT };
    let point =
        random_point(program, zone, rng, |rest| matches!(rest, [first, _, ..] if accept(first)))?;
    let mut make = Maker { program, scope: &point.scope, rng };
    let (start, other) = (make.leaf(ty), make.leaf(ty));
    let name = program.fresh_name();
    let variable = Expression::name(ty, name.clone());
    let value = match operator {
        Some(operator) => Expression::binary(ty, operator, variable.clone(), other),
        None => other,
    };
    let change = Statement::Evaluate(Expression::assign(variable.clone(), value));
    let declare = declared(ty, &name, start);
    let mut made = false;
    point.change(program, |list, at| {
        if !substitute(&mut list[at + 1..], ty, &variable) {
            return;
        }
        match &mut list[at] {
            Statement::If { then: body, .. }
            | Statement::For { body, .. }
            | Statement::While { body, .. }
            | Statement::Do { body, .. } => body.push(change),
            _ => return,
        }
        list.insert(at, declare);
        made = true;
    });
    made.then_some(())
}

fn is_branch(statement: &Statement) -> bool {
    matches!(statement, Statement::If { .. })
}

fn is_loop(statement: &Statement) -> bool {
    matches!(statement, Statement::For { .. } | Statement::While { .. } | Statement::Do { .. })
}

/// The value of `buffer[...] = value;`.
fn stored(statement: &Statement) -> Option<&Expression> {
    match statement {
        Statement::Evaluate(Expression { node: Node::Assign(operator, target, value), .. })
            if operator == "=" && matches!(target.node, Node::Index(..)) =>
        {
            Some(value)
        }
        _ => None,
    }
}

pub(super) const EDITS: &[Entry] = &[
    ("merge-value", STATEMENTS, |program, zone, rng| through(program, zone, rng, is_branch, None)),
    ("carry-sum", STATEMENTS, |program, zone, rng| through(program, zone, rng, is_loop, Some("+"))),
    ("carry-product", STATEMENTS, |program, zone, rng| {
        through(program, zone, rng, is_loop, Some("*"))
    }),
    ("carry-difference", STATEMENTS, |program, zone, rng| {
        through(program, zone, rng, is_loop, Some("-"))
    }),
    // What a loop computed last time round: a variable that its end sets and its middle reads.
    ("previous-value", STATEMENTS, |program, zone, rng| {
        let point = random_point(program, zone, rng, |rest| rest.first().is_some_and(is_loop))?;
        let ty = if rng.random_bool(0.5) { Ty::INT } else { Ty::FLOAT };
        let mut make = Maker { program, scope: &point.scope, rng };
        let (start, next) = (make.leaf(ty), make.program.add_parameter(ty));
        let name = program.fresh_name();
        let variable = Expression::name(ty, name.clone());
        let mut made = false;
        point.change(program, |list, at| {
            let (Statement::For { body, .. }
            | Statement::While { body, .. }
            | Statement::Do { body, .. }) = &mut list[at]
            else {
                return;
            };
            if !substitute(body, ty, &variable) {
                return;
            }
            body.push(Statement::Evaluate(Expression::assign(variable, next)));
            list.insert(at, declared(ty, &name, start));
            made = true;
        });
        made.then_some(())
    }),
    ("else-value", STATEMENTS, |program, zone, rng| {
        let point = random_point(program, zone, rng, |rest| rest.first().is_some_and(is_branch))?;
        let other = Maker { program, scope: &point.scope, rng }.leaf(Ty::FLOAT);
        let mut made = false;
        point.change(program, |list, at| {
            let Statement::If { then, otherwise, .. } = &mut list[at] else { return };
            let assigned = then.iter().find_map(|one| match one {
                Statement::Evaluate(Expression { node: Node::Assign(_, target, _), .. })
                    if matches!(target.node, Node::Name(_)) && target.ty == Ty::FLOAT =>
                {
                    Some((**target).clone())
                }
                _ => None,
            });
            if let Some(target) = assigned {
                let change = Statement::Evaluate(Expression::assign(target, other));
                otherwise.get_or_insert_default().push(change);
                made = true;
            }
        });
        made.then_some(())
    }),
    // A stored value goes into another instead: one store less, nothing else.
    ("graft-store", ANY, |program, _, rng| {
        let point = random_point(
            program,
            Zone::Any,
            rng,
            |rest| matches!(rest, [first, _, ..] if stored(first).is_some_and(|value| value.ty.scalar().is_some())),
        )?;
        let mut made = false;
        point.change(program, |list, at| {
            let Some(value) = stored(&list[at]).cloned() else { return };
            if substitute(&mut list[at + 1..], value.ty, &value) {
                list.remove(at);
                made = true;
            }
        });
        made.then_some(())
    }),
    ("fuse-stores", ANY, |program, _, rng| {
        let point = random_point(program, Zone::Any, rng, |rest| {
            matches!(rest, [first, second, ..]
                if stored(first).is_some_and(|value| value.ty.scalar().is_some())
                    && stored(second).is_some_and(|value| value.ty.scalar().is_some()))
        })?;
        let operator = ["+", "-", "*"].choose(rng).copied().unwrap_or("+");
        point.change(program, |list, at| {
            let Some(first) = stored(&list[at]).cloned() else { return };
            list.remove(at);
            if let Statement::Evaluate(Expression { node: Node::Assign(_, _, value), .. }) =
                &mut list[at]
            {
                let second = value.take();
                let ty = second.ty;
                let first = if first.ty == ty { first } else { Expression::cast(ty, first) };
                **value = Expression::binary(ty, operator, second, first);
            }
        });
        Some(())
    }),
    // The other way round: a part of a value gets a store of its own.
    ("split-store", ANY, |program, _, rng| {
        let point = random_point(program, Zone::Any, rng, |rest| {
            rest.first().and_then(stored).is_some_and(|value| {
                matches!(&value.node, Node::Binary(_, left, right)
                    if left.ty.scalar().is_some() && right.ty.scalar().is_some())
            })
        })?;
        let mut part = None;
        point.clone().change(program, |list, at| {
            if let Some(Node::Binary(_, left, _)) = stored(&list[at]).map(|value| &value.node) {
                part = Some((**left).clone());
            }
        });
        let part = part?;
        let ty = part.ty;
        let mut make = Maker { program, scope: &point.scope, rng };
        let leaf = make.leaf(ty);
        let target = make.element(ty, super::make::zero());
        let store = super::make::assignment(target, part);
        point.change(program, |list, at| {
            if let Statement::Evaluate(Expression { node: Node::Assign(_, _, value), .. }) =
                &mut list[at]
                && let Node::Binary(_, left, _) = &mut value.node
            {
                **left = leaf;
            }
            list.insert(at, store);
        });
        Some(())
    }),
    ("store-with-lane", STATEMENTS, |program, zone, rng| {
        super::memory::insert(program, zone, rng, |make| {
            let ty = Ty::Number(crate::program::Scalar::F32, 4);
            let (start, value) = (make.leaf(ty), make.leaf(Ty::FLOAT));
            let name = make.program.fresh_name();
            let variable = || Expression::name(ty, name.clone());
            let lane = ["x", "y", "z", "w"].choose(make.rng).copied().unwrap_or("x");
            let lane = Expression::new(Ty::FLOAT, Node::Lanes(Box::new(variable()), lane.into()));
            let at = make.own_place();
            let target = make.element(ty, at);
            vec![
                declared(ty, &name, start),
                super::make::assignment(lane, value),
                super::make::assignment(target, variable()),
            ]
        })
    }),
];
