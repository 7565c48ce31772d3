//! Edits that undo one operation and nothing else: where its other operand is a name or a literal,
//! taking the operation away takes nothing away with it. One edit for each kind of operation, so that
//! the effect of each is one thing and can be counted on.

use super::{
    ALL_VALUES, Entry, Rng, STATEMENTS, VALUES, Zone,
    make::Maker,
    random_statement, random_value,
    site::{is_float, is_integer},
    value::is_plain,
};
use crate::program::{Expression, Node, Program, Statement, Ty};

/// `value OP plain` and `plain OP value` become `value`.
fn without(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    operator: &str,
    accept: fn(&Expression) -> bool,
) -> Option<()> {
    let mut drawn = random_value(program, zone, rng, |value| {
        accept(value)
            && matches!(&value.node, Node::Binary(known, left, right)
                if known == operator
                    && (left.ty == value.ty && is_plain(right)
                        || right.ty == value.ty && is_plain(left)))
    })?;
    let ty = drawn.value.ty;
    let Node::Binary(_, left, right) = drawn.value.take().node else { return None };
    drawn.replace(program, if is_plain(&right) && left.ty == ty { *left } else { *right });
    Some(())
}

/// One operand of an operation stays, the other goes where a name or literal stood.
fn grafted(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    accept: fn(&Expression) -> bool,
) -> Option<()> {
    let mut drawn = random_value(program, zone, rng, |value| {
        accept(value)
            && matches!(&value.node, Node::Binary(_, left, right)
                if left.ty == value.ty && right.ty == value.ty
                    && !is_plain(left) && !is_plain(right))
    })?;
    let known: Vec<String> = program.parameters.iter().map(|one| one.name.clone()).collect();
    let Node::Binary(_, left, right) = drawn.value.take().node else { return None };
    let (ty, depth) = (right.ty, drawn.scope.depth);
    drawn.replace(program, *left);
    let other = random_value(program, zone, rng, |value| {
        value.ty == ty && matches!(&value.node, Node::Name(name) if known.contains(name))
    })?;
    // Variables of a block mean nothing outside of it.
    if depth > 0 || other.scope.depth > 0 {
        return None;
    }
    other.replace(program, *right);
    Some(())
}

/// A value that `accept` takes becomes something that the compiler knows nothing of.
fn unknown(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    accept: impl Fn(&Expression) -> bool,
) -> Option<()> {
    let drawn = random_value(program, zone, rng, accept)?;
    let ty = drawn.value.ty;
    let leaf = Maker { program, scope: &drawn.scope, rng }.leaf(ty);
    drawn.replace(program, leaf);
    Some(())
}

/// Whether the index is a constant: the address is the buffer's own, or at a fixed distance.
fn is_fixed(access: &Expression) -> Option<bool> {
    match &access.node {
        Node::Index(pointer, at) if is_plain(pointer) => Some(matches!(at.node, Node::Literal(_))),
        Node::Unary(operator, pointer) if operator == "*" => Some(is_plain(pointer)),
        _ => None,
    }
}

/// Removes `access = plain;`.
fn unstored(program: &mut Program, zone: Zone, rng: &mut Rng, fixed: bool) -> Option<()> {
    let point = random_statement(program, zone, rng, |statement| {
        matches!(statement, Statement::Evaluate(Expression { node: Node::Assign(operator, target, value), .. })
            if operator == "=" && is_plain(value) && is_fixed(target) == Some(fixed))
    })?;
    point.change(program, |list, at| {
        list.remove(at);
    });
    Some(())
}

macro_rules! without {
    ($name:literal, $operator:literal, $accept:ident) => {
        ($name, VALUES, |program, zone, rng| without(program, zone, rng, $operator, $accept))
    };
}

/// `(TYPE)plain` becomes something plain.
macro_rules! unconverted {
    ($name:literal, |$from:ident, $to:ident| $holds:expr) => {
        ($name, ALL_VALUES, |program, zone, rng| {
            unknown(program, zone, rng, |value| match &value.node {
                Node::Cast(_, operand) if is_plain(operand) => {
                    let (Some($from), Some($to)) = (operand.ty.scalar(), value.ty.scalar()) else {
                        return false;
                    };
                    $holds
                }
                _ => false,
            })
        })
    };
}

pub(super) const EDITS: &[Entry] = &[
    without!("without-add", "+", is_integer),
    without!("without-subtract", "-", is_integer),
    without!("without-multiply", "*", is_integer),
    without!("without-divide", "/", is_integer),
    without!("without-remainder", "%", is_integer),
    without!("without-and", "&", is_integer),
    without!("without-or", "|", is_integer),
    without!("without-xor", "^", is_integer),
    without!("without-shift-left", "<<", is_integer),
    without!("without-shift-right", ">>", is_integer),
    without!("without-add-float", "+", is_float),
    without!("without-subtract-float", "-", is_float),
    without!("without-multiply-float", "*", is_float),
    without!("without-divide-float", "/", is_float),
    ("graft-operand", VALUES, |program, zone, rng| grafted(program, zone, rng, is_integer)),
    ("graft-operand-float", VALUES, |program, zone, rng| grafted(program, zone, rng, is_float)),
    ("without-negation", VALUES, |program, zone, rng| {
        let mut drawn = random_value(
            program,
            zone,
            rng,
            |value| matches!(&value.node, Node::Unary(operator, _) if operator == "-"),
        )?;
        let Node::Unary(_, operand) = drawn.value.take().node else { return None };
        drawn.replace(program, *operand);
        Some(())
    }),
    ("without-select", VALUES, |program, zone, rng| {
        let mut drawn = random_value(
            program,
            zone,
            rng,
            |value| matches!(&value.node, Node::Choice(_, _, other) if is_plain(other)),
        )?;
        let Node::Choice(_, value, _) = drawn.value.take().node else { return None };
        drawn.replace(program, *value);
        Some(())
    }),
    // `(int)(value < plain)` becomes `value`.
    ("without-comparison", VALUES, |program, zone, rng| {
        let mut drawn = random_value(program, zone, rng, |value| {
            matches!(&value.node, Node::Cast(_, inner)
                if matches!(&inner.node, Node::Binary(operator, left, right)
                    if left.ty == value.ty && is_plain(right)
                        && matches!(operator.as_str(), "<" | ">" | "==" | "!=" | "<=" | ">=")))
        })?;
        let Node::Cast(_, inner) = drawn.value.take().node else { return None };
        let Node::Binary(_, left, _) = inner.node else { return None };
        drawn.replace(program, *left);
        Some(())
    }),
    unconverted!("unconvert-int-to-float", |from, to| from.is_signed()
        && from.bits() >= 32
        && to.is_float()),
    unconverted!("unconvert-uint-to-float", |from, to| !from.is_signed()
        && !from.is_float()
        && from.bits() >= 32
        && to.is_float()),
    unconverted!("unconvert-float-to-int", |from, to| from.is_float() && to.is_signed()),
    unconverted!("unconvert-float-to-uint", |from, to| from.is_float()
        && !to.is_float()
        && !to.is_signed()),
    unconverted!("unconvert-wider", |from, to| !from.is_float()
        && !to.is_float()
        && from.bits() < to.bits()
        && from.is_signed()),
    unconverted!("unconvert-wider-unsigned", |from, to| !from.is_float()
        && !to.is_float()
        && from.bits() < to.bits()
        && !from.is_signed()),
    unconverted!("unconvert-narrower", |from, to| !from.is_float()
        && !to.is_float()
        && from.bits() > to.bits()),
    unconverted!("unconvert-float", |from, to| from.is_float() && to.is_float()),
    ("unload", ALL_VALUES, |program, zone, rng| {
        unknown(program, zone, rng, |value| is_fixed(value) == Some(true))
    }),
    ("unload-indexed", ALL_VALUES, |program, zone, rng| {
        unknown(program, zone, rng, |value| is_fixed(value) == Some(false))
    }),
    ("unlane", ALL_VALUES, |program, zone, rng| {
        unknown(program, zone, rng, |value| {
            matches!(&value.node, Node::Lanes(vector, _)
                if is_plain(vector) && matches!(value.ty, Ty::Number(_, 1)))
        })
    }),
    ("unstore", STATEMENTS, |program, zone, rng| unstored(program, zone, rng, true)),
    ("unstore-indexed", STATEMENTS, |program, zone, rng| unstored(program, zone, rng, false)),
    ("index-fixed", &[Zone::Index], |program, zone, rng| {
        let drawn = random_value(program, zone, rng, |value| {
            matches!(value.node, Node::Name(_)) && is_integer(value)
        })?;
        drawn.replace(program, Expression::literal(Ty::INT, "0"));
        Some(())
    }),
];
