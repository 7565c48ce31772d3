//! Edits that put one thing in another's place: what is too many there becomes what lacks.

use super::{
    ALL_VALUES, ANY, CONDITIONS, Entry, Rng, STATEMENTS, VALUES, Zone,
    make::Maker,
    random_point, random_statement, random_value,
    site::{is_float, is_integer},
    value::is_plain,
};
use crate::program::{Expression, Node, Program, Scalar, Space, Statement, Ty};
use rand::{Rng as _, seq::IndexedRandom};

const INTEGER_OPERATORS: [&str; 9] = ["+", "-", "*", "&", "|", "^", "<<", ">>", "/"];
const FLOAT_OPERATORS: [&str; 4] = ["+", "-", "*", "/"];
const COMPARISONS: [&str; 6] = ["<", ">", "<=", ">=", "==", "!="];

/// Replaces the operator of a random operation by `to`, or by any other.
fn swap_operator(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    to: Option<&str>,
    accept: fn(&Expression) -> bool,
    known: &[&'static str],
) -> Option<()> {
    let mut drawn = random_value(program, zone, rng, |value| {
        accept(value)
            && matches!(&value.node, Node::Binary(operator, ..)
                if known.contains(&operator.as_str()) && Some(operator.as_str()) != to)
    })?;
    let ty = drawn.value.ty;
    let Node::Binary(_, left, right) = drawn.value.take().node else { return None };
    let operator = match to {
        Some(operator) => operator,
        None => known.choose(rng).copied()?,
    };
    drawn.replace(program, Expression::new(ty, Node::Binary(operator.to_owned(), left, right)));
    Some(())
}

/// Replaces the operator of a random operation by a shift by a constant: a shift by anything else
/// costs the masking of its distance too.
fn to_shift(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    operator: &str,
    signed: bool,
) -> Option<()> {
    let mut drawn = random_value(program, zone, rng, |value| {
        is_integer(value)
            && value.ty.scalar().is_some_and(|scalar| scalar.is_signed() == signed)
            && matches!(&value.node, Node::Binary(known, left, right)
                if known != operator
                    && INTEGER_OPERATORS.contains(&known.as_str())
                    && left.ty == value.ty
                    && is_plain(right))
    })?;
    let ty = drawn.value.ty;
    let Node::Binary(_, left, _) = drawn.value.take().node else { return None };
    let by = Maker { program, scope: &drawn.scope, rng }.distance();
    drawn.replace(program, Expression::binary(ty, operator, *left, by));
    Some(())
}

macro_rules! to_operator {
    ($name:literal, $operator:literal, $accept:ident, $known:ident) => {
        ($name, VALUES, |program, zone, rng| {
            swap_operator(program, zone, rng, Some($operator), $accept, &$known)
        })
    };
}

/// Replaces a literal.
fn change_literal(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    text: impl FnOnce(&mut Rng) -> String,
) -> Option<()> {
    let drawn = random_value(program, zone, rng, |value| {
        matches!(value.node, Node::Literal(_)) && value.ty.scalar().is_some()
    })?;
    let ty = drawn.value.ty;
    let text = text(rng);
    let text = match ty.scalar() {
        Some(Scalar::F32) => format!("{text}.0f"),
        Some(Scalar::F64) => format!("{text}.0"),
        _ => text,
    };
    drawn.replace(program, Expression::literal(ty, text));
    Some(())
}

fn is_store(statement: &Statement) -> bool {
    matches!(statement, Statement::Evaluate(Expression { node: Node::Assign(_, target, _), .. })
        if matches!(target.node, Node::Index(..)))
}

/// The buffer of an access becomes a fresh parameter of the same type.
fn other_buffer(access: &mut Expression, program: &mut Program) -> Option<()> {
    let Node::Index(pointer, _) = &mut access.node else { return None };
    let Ty::Pointer { scalar, lanes, .. } = pointer.ty else { return None };
    let ty = Ty::Pointer { space: Space::Global, scalar, lanes, constant: false };
    **pointer = program.add_parameter(ty);
    Some(())
}

pub(super) const EDITS: &[Entry] = &[
    to_operator!("to-add", "+", is_integer, INTEGER_OPERATORS),
    to_operator!("to-subtract", "-", is_integer, INTEGER_OPERATORS),
    to_operator!("to-multiply", "*", is_integer, INTEGER_OPERATORS),
    to_operator!("to-and", "&", is_integer, INTEGER_OPERATORS),
    to_operator!("to-or", "|", is_integer, INTEGER_OPERATORS),
    to_operator!("to-xor", "^", is_integer, INTEGER_OPERATORS),
    to_operator!("to-divide", "/", is_integer, INTEGER_OPERATORS),
    ("to-shift-left", VALUES, |program, zone, rng| to_shift(program, zone, rng, "<<", true)),
    ("to-shift-right", VALUES, |program, zone, rng| to_shift(program, zone, rng, ">>", true)),
    ("to-shift-right-unsigned", VALUES, |program, zone, rng| {
        to_shift(program, zone, rng, ">>", false)
    }),
    to_operator!("to-add-float", "+", is_float, FLOAT_OPERATORS),
    to_operator!("to-subtract-float", "-", is_float, FLOAT_OPERATORS),
    to_operator!("to-multiply-float", "*", is_float, FLOAT_OPERATORS),
    to_operator!("to-divide-float", "/", is_float, FLOAT_OPERATORS),
    ("swap-operator", ALL_VALUES, |program, zone, rng| {
        if rng.random_bool(0.5) {
            swap_operator(program, zone, rng, None, is_integer, &INTEGER_OPERATORS)
        } else {
            swap_operator(program, zone, rng, None, is_float, &FLOAT_OPERATORS)
        }
    }),
    ("swap-comparison", CONDITIONS, |program, zone, rng| {
        swap_operator(program, zone, rng, None, |value| value.ty == Ty::INT, &COMPARISONS)
    }),
    ("change-literal", ALL_VALUES, |program, zone, rng| {
        change_literal(program, zone, rng, |rng| {
            ["0", "1", "2", "3", "4", "7", "8", "13", "16", "100", "255"]
                .choose(rng)
                .copied()
                .unwrap_or("1")
                .to_owned()
        })
    }),
    ("literal-one", ALL_VALUES, |program, zone, rng| {
        change_literal(program, zone, rng, |_| "1".to_owned())
    }),
    ("literal-zero", ALL_VALUES, |program, zone, rng| {
        change_literal(program, zone, rng, |_| "0".to_owned())
    }),
    ("literal-large", ALL_VALUES, |program, zone, rng| {
        change_literal(program, zone, rng, |rng| rng.random_range(2000..3000).to_string())
    }),
    ("literal-to-leaf", ALL_VALUES, |program, zone, rng| {
        let drawn = random_value(program, zone, rng, |value| {
            matches!(value.node, Node::Literal(_)) && value.ty.scalar().is_some()
        })?;
        let ty = drawn.value.ty;
        let leaf = Maker { program, scope: &drawn.scope, rng }.leaf(ty);
        drawn.replace(program, leaf);
        Some(())
    }),
    ("leaf-to-literal", ALL_VALUES, |program, zone, rng| {
        let drawn = random_value(program, zone, rng, |value| {
            matches!(value.node, Node::Name(_)) && value.ty.scalar().is_some()
        })?;
        let ty = drawn.value.ty;
        let literal = Maker { program, scope: &drawn.scope, rng }.literal(ty);
        drawn.replace(program, literal);
        Some(())
    }),
    ("other-leaf", ALL_VALUES, |program, zone, rng| {
        let drawn = random_value(program, zone, rng, |value| {
            matches!(value.node, Node::Name(_)) && value.ty.scalar().is_some()
        })?;
        let ty = drawn.value.ty;
        let leaf = Maker { program, scope: &drawn.scope, rng }.leaf(ty);
        drawn.replace(program, leaf);
        Some(())
    }),
    ("index-zero", &[Zone::Index], |program, zone, rng| {
        let drawn =
            random_value(program, zone, rng, |value| !matches!(value.node, Node::Literal(_)))?;
        drawn.replace(program, Expression::literal(Ty::INT, "0"));
        Some(())
    }),
    ("index-own", &[Zone::Index], |program, zone, rng| {
        let drawn = random_value(program, zone, rng, |_| true)?;
        let place = Maker { program, scope: &drawn.scope, rng }.own_place();
        drawn.replace(program, place);
        Some(())
    }),
    ("index-int", &[Zone::Index], |program, zone, rng| {
        let drawn = random_value(program, zone, rng, |_| true)?;
        let leaf = Maker { program, scope: &drawn.scope, rng }.leaf(Ty::INT);
        drawn.replace(program, leaf);
        Some(())
    }),
    ("index-wide", &[Zone::Index], |program, zone, rng| {
        let drawn =
            random_value(program, zone, rng, |value| matches!(value.node, Node::Literal(_)))?;
        let wide = Ty::Number(Scalar::I64, 1);
        let leaf = Maker { program, scope: &drawn.scope, rng }.leaf(wide);
        drawn.replace(program, leaf);
        Some(())
    }),
    ("index-through-int", &[Zone::Index], |program, zone, rng| {
        let mut drawn = random_value(program, zone, rng, |value| value.ty == Ty::SIZE)?;
        let old = drawn.value.take();
        drawn.replace(program, Expression::cast(Ty::INT, old));
        Some(())
    }),
    ("index-next", &[Zone::Index], |program, zone, rng| {
        let mut drawn = random_value(program, zone, rng, is_integer)?;
        let old = drawn.value.take();
        let ty = old.ty;
        let by = ["1", "2", "3"].choose(rng).copied().unwrap_or("1");
        let by = Expression::literal(Ty::INT, by);
        drawn.replace(program, Expression::binary(ty, "+", old, by));
        Some(())
    }),
    ("index-unsigned", &[Zone::Index], |program, zone, rng| {
        let mut drawn = random_value(program, zone, rng, |value| value.ty == Ty::INT)?;
        let old = drawn.value.take();
        drawn.replace(program, Expression::cast(Ty::Number(Scalar::U32, 1), old));
        Some(())
    }),
    ("index-signed", &[Zone::Index], |program, zone, rng| {
        let unsigned = Ty::Number(Scalar::U32, 1);
        let mut drawn = random_value(program, zone, rng, |value| value.ty == unsigned)?;
        let old = drawn.value.take();
        drawn.replace(program, Expression::cast(Ty::INT, old));
        Some(())
    }),
    ("declare-other-type", ANY, |program, zone, rng| {
        let declared = |statement: &Statement| {
            matches!(statement, Statement::Declare { ty: Ty::Number(_, 1), value: Some(_), .. })
        };
        let point = random_statement(program, zone, rng, declared)?;
        let other = [Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64, Scalar::F32];
        let other = Ty::Number(*other.choose(rng)?, 1);
        point.change(program, |list, at| {
            if let Statement::Declare { prefix, name, ty, .. } = &mut list[at] {
                *prefix = format!("{other} {name} = ");
                *ty = other;
            }
        });
        Some(())
    }),
    ("other-target", STATEMENTS, |program, zone, rng| {
        let point = random_statement(program, zone, rng, is_store)?;
        let mut target = None;
        point.clone().change(program, |list, at| {
            if let Statement::Evaluate(Expression { node: Node::Assign(_, old, _), .. }) = &list[at]
            {
                target = Some((**old).clone());
            }
        });
        let mut target = target?;
        other_buffer(&mut target, program)?;
        point.change(program, |list, at| {
            if let Statement::Evaluate(Expression { node: Node::Assign(_, old, _), .. }) =
                &mut list[at]
            {
                **old = target;
            }
        });
        Some(())
    }),
    ("other-source", ALL_VALUES, |program, zone, rng| {
        let mut drawn =
            random_value(program, zone, rng, |value| matches!(value.node, Node::Index(..)))?;
        let mut access = drawn.value.take();
        other_buffer(&mut access, program)?;
        drawn.replace(program, access);
        Some(())
    }),
    ("swap-statements", STATEMENTS, |program, zone, rng| {
        let movable = |statement: &Statement| !matches!(statement, Statement::Declare { .. });
        let point = random_point(
            program,
            zone,
            rng,
            |rest| matches!(rest, [one, two, ..] if movable(one) && movable(two)),
        )?;
        point.change(program, |list, at| list.swap(at, at + 1));
        Some(())
    }),
    ("duplicate-statement", STATEMENTS, |program, zone, rng| {
        let point = random_statement(program, zone, rng, |statement| {
            !matches!(statement, Statement::Declare { .. } | Statement::Opaque(_))
        })?;
        point.change(program, |list, at| {
            let copy = list[at].clone();
            list.insert(at + 1, copy);
        });
        Some(())
    }),
    ("move-statement", STATEMENTS, |program, zone, rng| {
        let movable = |statement: &Statement| {
            matches!(statement, Statement::Evaluate(_) | Statement::If { .. })
        };
        let point = random_statement(program, zone, rng, movable)?;
        let mut moved = None;
        point.change(program, |list, at| moved = Some(list.remove(at)));
        let moved = moved?;
        let point = random_point(program, Zone::Any, rng, |_| true)?;
        point.insert(program, vec![moved]);
        Some(())
    }),
];
