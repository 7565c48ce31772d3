//! Edits of what a loop computes anew though it never changes. The compiler computes that once, in a
//! block of its own in front of the loop; where there is nothing of the kind there is no such block,
//! and the edge into the loop is critical.

use super::{Entry, Rng, STATEMENTS, Zone, random_statement, shape::is_loop, site::is_integer};
use crate::program::{Expression, Node, Program, Statement, Ty, declares};
use rand::seq::IndexedRandom;
use std::collections::BTreeMap;

/// What the statements assign to, by name.
fn assigned(statement: &mut Statement) -> BTreeMap<String, Ty> {
    let mut names = BTreeMap::new();
    let mut note = |target: &Expression| {
        if let Node::Name(name) = &target.node {
            names.insert(name.clone(), target.ty);
        }
    };
    statement.each_expression(&mut |value| match &value.node {
        Node::Assign(_, target, _) | Node::Postfix(_, target) => note(target),
        Node::Unary(operator, target) if matches!(operator.as_str(), "++" | "--") => note(target),
        _ => {}
    });
    names
}

/// Whether `holds` for a name in it.
fn names(value: &mut Expression, holds: &dyn Fn(&str) -> bool) -> bool {
    let mut found = false;
    value.each(&mut |one| found |= matches!(&one.node, Node::Name(name) if holds(name)));
    found
}

/// In operations of the loop's body that do the same each time, the counter takes an integer's place.
fn vary(program: &mut Program, zone: Zone, rng: &mut Rng) -> Option<()> {
    let point = random_statement(program, zone, rng, is_loop)?;
    let mut changed = false;
    point.change(program, |list, at| {
        let changes = assigned(&mut list[at]);
        let (Statement::For { body, .. }
        | Statement::While { body, .. }
        | Statement::Do { body, .. }) = &mut list[at]
        else {
            return;
        };
        let inner = body.clone();
        // What the body declares is not known all through it.
        let counters: Vec<(&String, &Ty)> = changes
            .iter()
            .filter(|(name, ty)| {
                is_integer(&Expression::name(**ty, name.as_str())) && !declares(&inner, name)
            })
            .collect();
        let Some((counter, ty)) = counters.choose(rng) else { return };
        let varies = |name: &str| changes.contains_key(name) || declares(&inner, name);
        for statement in body {
            statement.each_expression(&mut |value| {
                let is_operation = matches!(
                    value.node,
                    Node::Binary(..) | Node::Unary(..) | Node::Cast(..) | Node::Index(..)
                );
                if !is_operation || names(value, &varies) {
                    return;
                }
                let mut done = false;
                value.each(&mut |leaf| {
                    let fits = matches!(leaf.node, Node::Name(_)) && is_integer(leaf);
                    if fits && !done {
                        *leaf = Expression::name(**ty, counter.as_str());
                        done = true;
                    }
                });
                changed |= done;
            });
        }
    });
    changed.then_some(())
}

pub(super) const EDITS: &[Entry] = &[("vary-invariants", STATEMENTS, vary)];
