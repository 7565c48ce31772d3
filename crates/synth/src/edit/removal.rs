//! Edits that take something away.

use super::{ALL_VALUES, ANY, Entry, STATEMENTS, make::Maker, random_statement, random_value};
use crate::program::{Expression, Node, Program, Statement, Ty};
use rand::Rng as _;

/// Replaces a random statement that `accept` takes by what `change` makes of it.
fn replace_statement(
    program: &mut Program,
    zone: super::Zone,
    rng: &mut super::Rng,
    accept: impl Fn(&Statement) -> bool,
    change: impl FnOnce(Statement) -> Vec<Statement>,
) -> Option<()> {
    let point = random_statement(program, zone, rng, accept)?;
    point.change(program, |list, at| {
        let old = list.remove(at);
        list.splice(at..at, change(old)).for_each(drop);
    });
    Some(())
}

/// Statements that were in a block of their own: their declarations must stay apart.
fn opened(list: Vec<Statement>) -> Vec<Statement> {
    if list.iter().any(|one| matches!(one, Statement::Declare { .. } | Statement::Opaque(_))) {
        return vec![Statement::Block(list)];
    }
    list
}

/// An operation on nothing but names and literals.
fn is_shallow(value: &Expression) -> bool {
    let plain = |value: &Expression| matches!(value.node, Node::Name(_) | Node::Literal(_));
    match &value.node {
        Node::Binary(_, left, right) | Node::Index(left, right) => plain(left) && plain(right),
        Node::Unary(_, operand) | Node::Cast(_, operand) | Node::Lanes(operand, _) => {
            plain(operand)
        }
        Node::Call(_, arguments) => arguments.iter().all(plain),
        Node::Choice(condition, yes, no) => plain(condition) && plain(yes) && plain(no),
        _ => false,
    }
}

pub(super) const EDITS: &[Entry] = &[
    ("remove-statement", STATEMENTS, |program, zone, rng| {
        let removable = |statement: &Statement| match statement {
            Statement::Declare { .. } => false,
            Statement::Opaque(text) => !text.contains("case"),
            _ => true,
        };
        replace_statement(program, zone, rng, removable, |_| Vec::new())
    }),
    ("remove-evaluation", STATEMENTS, |program, zone, rng| {
        let plain = |statement: &Statement| matches!(statement, Statement::Evaluate(_));
        replace_statement(program, zone, rng, plain, |_| Vec::new())
    }),
    ("open-if", STATEMENTS, |program, zone, rng| {
        let branch = |statement: &Statement| matches!(statement, Statement::If { .. });
        replace_statement(program, zone, rng, branch, |old| match old {
            Statement::If { then, otherwise, .. } => {
                let mut all = opened(then);
                all.extend(otherwise.into_iter().flat_map(opened));
                all
            }
            other => vec![other],
        })
    }),
    ("open-loop", STATEMENTS, |program, zone, rng| {
        let looping = |statement: &Statement| {
            matches!(
                statement,
                Statement::For { .. } | Statement::While { .. } | Statement::Do { .. }
            )
        };
        replace_statement(program, zone, rng, looping, |old| match old {
            Statement::For { start, body, .. } => {
                let mut list: Vec<Statement> = start.into_iter().map(|start| *start).collect();
                list.extend(body);
                opened(list)
            }
            Statement::While { body, .. } | Statement::Do { body, .. } => opened(body),
            other => vec![other],
        })
    }),
    ("remove-else", STATEMENTS, |program, zone, rng| {
        let both =
            |statement: &Statement| matches!(statement, Statement::If { otherwise: Some(_), .. });
        replace_statement(program, zone, rng, both, |old| match old {
            Statement::If { condition, then, .. } => {
                vec![Statement::If { condition, then, otherwise: None }]
            }
            other => vec![other],
        })
    }),
    ("open-else", STATEMENTS, |program, zone, rng| {
        let both =
            |statement: &Statement| matches!(statement, Statement::If { otherwise: Some(_), .. });
        replace_statement(program, zone, rng, both, |old| match old {
            Statement::If { condition, then, otherwise } => {
                let mut list = vec![Statement::If { condition, then, otherwise: None }];
                list.extend(otherwise.into_iter().flat_map(opened));
                list
            }
            other => vec![other],
        })
    }),
    ("remove-operation", ALL_VALUES, |program, zone, rng| {
        let mut drawn = random_value(program, zone, rng, |value| match &value.node {
            Node::Binary(..) | Node::Choice(..) => true,
            Node::Unary(operator, _) => operator != "*",
            _ => false,
        })?;
        let second = rng.random_bool(0.3);
        let kept =
            match drawn.value.take().node {
                Node::Binary(_, left, right) if second => {
                    if matches!(right.node, Node::Literal(_)) { left } else { right }
                }
                Node::Binary(_, left, _) => left,
                Node::Choice(_, yes, no) => {
                    if second {
                        no
                    } else {
                        yes
                    }
                }
                Node::Unary(_, operand) => operand,
                _ => return None,
            };
        drawn.replace(program, *kept);
        Some(())
    }),
    ("remove-call", ALL_VALUES, |program, zone, rng| {
        let mut drawn = random_value(program, zone, rng, |value| {
            matches!(&value.node, Node::Call(_, arguments)
                if arguments.first().is_some_and(|first| first.ty == value.ty))
        })?;
        let Node::Call(_, arguments) = drawn.value.take().node else { return None };
        let kept = arguments.into_iter().next()?;
        drawn.replace(program, kept);
        Some(())
    }),
    ("remove-cast", ALL_VALUES, |program, zone, rng| {
        let mut drawn =
            random_value(program, zone, rng, |value| matches!(value.node, Node::Cast(..)))?;
        let Node::Cast(_, operand) = drawn.value.take().node else { return None };
        drawn.replace(program, *operand);
        Some(())
    }),
    ("leaf-instead", ALL_VALUES, |program, zone, rng| {
        let drawn = random_value(program, zone, rng, |value| {
            !matches!(value.node, Node::Name(_) | Node::Literal(_))
        })?;
        let ty = drawn.value.ty;
        let leaf = Maker { program, scope: &drawn.scope, rng }.leaf(ty);
        drawn.replace(program, leaf);
        Some(())
    }),
    ("leaf-for-shallow", ALL_VALUES, |program, zone, rng| {
        let drawn = random_value(program, zone, rng, is_shallow)?;
        let ty = drawn.value.ty;
        let leaf = Maker { program, scope: &drawn.scope, rng }.leaf(ty);
        drawn.replace(program, leaf);
        Some(())
    }),
    ("leaf-for-load", ALL_VALUES, |program, zone, rng| {
        let drawn =
            random_value(program, zone, rng, |value| matches!(value.node, Node::Index(..)))?;
        let ty = drawn.value.ty;
        let leaf = Maker { program, scope: &drawn.scope, rng }.leaf(ty);
        drawn.replace(program, leaf);
        Some(())
    }),
    ("literal-instead", ALL_VALUES, |program, zone, rng| {
        let drawn = random_value(program, zone, rng, |value| {
            value.ty.scalar().is_some() && !matches!(value.node, Node::Literal(_))
        })?;
        let ty = drawn.value.ty;
        let literal = Maker { program, scope: &drawn.scope, rng }.literal(ty);
        drawn.replace(program, literal);
        Some(())
    }),
    ("zero-instead", ALL_VALUES, |program, zone, rng| {
        let drawn = random_value(program, zone, rng, |value| {
            value.ty.scalar().is_some_and(|scalar| !scalar.is_float())
        })?;
        drawn.replace(program, Expression::literal(Ty::INT, "0"));
        Some(())
    }),
    ("remove-declaration", ANY, |program, zone, rng| {
        let declared = |statement: &Statement| matches!(statement, Statement::Declare { .. });
        replace_statement(program, zone, rng, declared, |_| Vec::new())
    }),
];
