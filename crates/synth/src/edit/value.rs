//! Edits of values: one more operation on something that is stored in the end.

use super::{
    ALL_VALUES, Entry, Rng, VALUES, Zone,
    make::{Maker, zero},
    random_value,
    site::{is_arithmetic, is_float, is_integer, is_vector},
};
use crate::program::{Expression, Node, Program, Scalar, Ty};
use rand::seq::IndexedRandom;

/// Replaces a random value that `accept` takes by what `make` makes of it.
pub(super) fn wrap(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    accept: fn(&Expression) -> bool,
    make: impl FnOnce(&mut Maker<'_>, Expression) -> Expression,
) -> Option<()> {
    let mut drawn = random_value(program, zone, rng, accept)?;
    let old = drawn.value.take();
    let new = make(&mut Maker { program, scope: &drawn.scope, rng }, old);
    drawn.replace(program, new);
    Some(())
}

/// `value OP leaf`, sides as given.
fn operate(
    make: &mut Maker<'_>,
    operator: &str,
    value: Expression,
    other: Expression,
) -> Expression {
    let _ = &make;
    Expression::binary(value.ty, operator, value, other)
}

macro_rules! with_leaf {
    ($name:literal, $accept:ident, $operator:literal) => {
        ($name, VALUES, |program, zone, rng| {
            wrap(program, zone, rng, $accept, |make, value| {
                let other = make.leaf(value.ty);
                operate(make, $operator, value, other)
            })
        })
    };
}

macro_rules! with_literal {
    ($name:literal, $accept:ident, $operator:literal) => {
        ($name, VALUES, |program, zone, rng| {
            // Of two constants the compiler makes one.
            let accept = |value: &Expression| $accept(value) && !is_literal(value);
            wrap(program, zone, rng, accept, |make, value| {
                let other = make.literal(value.ty);
                operate(make, $operator, value, other)
            })
        })
    };
}

macro_rules! shift {
    ($name:literal, $operator:literal, $signed:literal) => {
        ($name, VALUES, |program, zone, rng| {
            wrap(program, zone, rng, is_integer, |make, value| {
                let ty = value.ty;
                let as_wanted = with_sign(ty, $signed);
                let value =
                    if as_wanted == ty { value } else { Expression::cast(as_wanted, value) };
                let by = make.distance();
                Expression::binary(as_wanted, $operator, value, by)
            })
        })
    };
}

/// `value + (converted leaf)`.
macro_rules! converted {
    ($name:literal, $accept:ident, $from:expr) => {
        ($name, VALUES, |program, zone, rng| {
            wrap(program, zone, rng, $accept, |make, value| {
                let ty = value.ty;
                let leaf = make.leaf($from);
                let leaf = Expression::cast(ty, leaf);
                Expression::binary(ty, "+", value, leaf)
            })
        })
    };
}

/// A leaf that is converted first, in a leaf's place.
macro_rules! converted_instead {
    ($name:literal, $accept:expr, $from:expr) => {
        ($name, ALL_VALUES, |program, zone, rng| {
            let accept: fn(&Expression) -> bool = |value| {
                let accept: fn(&Expression) -> bool = $accept;
                is_plain(value) && accept(value)
            };
            wrap(program, zone, rng, accept, |make, value| {
                let leaf = make.leaf($from);
                Expression::cast(value.ty, leaf)
            })
        })
    };
}

/// `value + buffer[at]`.
pub(super) fn with_element(make: &mut Maker<'_>, value: Expression, at: Expression) -> Expression {
    let ty = value.ty;
    let element = make.element(ty, at);
    Expression::binary(ty, "+", value, element)
}

/// `value + buffer[...]`.
macro_rules! loaded {
    ($name:literal, |$make:ident| $at:expr) => {
        ($name, VALUES, |program, zone, rng| {
            wrap(program, zone, rng, is_arithmetic, |$make, value| {
                let at = $at;
                with_element($make, value, at)
            })
        })
    };
}

pub(super) const EDITS: &[Entry] = &[
    with_leaf!("add", is_integer, "+"),
    with_leaf!("subtract", is_integer, "-"),
    with_leaf!("multiply", is_integer, "*"),
    with_leaf!("and", is_integer, "&"),
    with_leaf!("or", is_integer, "|"),
    with_leaf!("xor", is_integer, "^"),
    with_literal!("add-constant", is_integer, "+"),
    with_literal!("multiply-constant", is_integer, "*"),
    with_literal!("and-constant", is_integer, "&"),
    with_literal!("or-constant", is_integer, "|"),
    with_literal!("xor-constant", is_integer, "^"),
    ("subtract-from-constant", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |make, value| {
            let literal = make.literal(value.ty);
            Expression::binary(value.ty, "-", literal, value)
        })
    }),
    ("negate", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |_, value| {
            Expression::new(value.ty, Node::Unary("-".into(), Box::new(value)))
        })
    }),
    ("negate-float", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_float, |_, value| {
            Expression::new(value.ty, Node::Unary("-".into(), Box::new(value)))
        })
    }),
    shift!("shift-left", "<<", true),
    shift!("shift-right", ">>", true),
    shift!("shift-right-unsigned", ">>", false),
    ("shift-left-by", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |make, value| {
            let other = make.leaf(value.ty);
            operate(make, "<<", value, other)
        })
    }),
    ("divide", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |make, value| divided(make, "/", value, true))
    }),
    ("divide-unsigned", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |make, value| divided(make, "/", value, false))
    }),
    ("remainder", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |make, value| divided(make, "%", value, true))
    }),
    ("remainder-unsigned", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |make, value| divided(make, "%", value, false))
    }),
    // By what is never 0: a kernel that divides by an element of a buffer may end there.
    ("divide-by-odd", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |make, value| {
            let ty = value.ty;
            let leaf = make.leaf(ty);
            let odd = Expression::binary(ty, "|", leaf, Expression::literal(ty, "1"));
            Expression::binary(ty, "/", value, odd)
        })
    }),
    with_leaf!("add-float", is_float, "+"),
    with_leaf!("subtract-float", is_float, "-"),
    with_leaf!("multiply-float", is_float, "*"),
    with_leaf!("divide-float", is_float, "/"),
    with_literal!("add-float-constant", is_float, "+"),
    with_literal!("multiply-float-constant", is_float, "*"),
    with_literal!("divide-float-constant", is_float, "/"),
    with_leaf!("add-vector", is_vector, "+"),
    with_leaf!("multiply-vector", is_vector, "*"),
    converted!("add-sign-extended", is_integer, Ty::Number(Scalar::I8, 1)),
    converted!("add-zero-extended", is_integer, Ty::Number(Scalar::U8, 1)),
    converted!("add-other-width", is_integer, Ty::Number(Scalar::I64, 1)),
    converted!("add-int", is_arithmetic, Ty::INT),
    converted!("add-uint", is_arithmetic, Ty::Number(Scalar::U32, 1)),
    converted!("add-from-float", is_integer, Ty::FLOAT),
    converted!("add-from-double", is_float, Ty::Number(Scalar::F64, 1)),
    ("unsigned-from-float", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |make, value| {
            let leaf = make.leaf(Ty::FLOAT);
            let leaf = Expression::cast(with_sign(value.ty, false), leaf);
            Expression::binary(value.ty, "+", value, leaf)
        })
    }),
    ("through-narrow", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |_, value| {
            let ty = value.ty;
            Expression::cast(ty, Expression::cast(Ty::Number(Scalar::U8, 1), value))
        })
    }),
    // Widened with its sign again: a shift up and a shift down.
    ("through-signed", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |_, value| {
            let ty = value.ty;
            Expression::cast(ty, Expression::cast(Ty::Number(Scalar::I8, 1), value))
        })
    }),
    ("through-double", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_float, |make, value| {
            let (ty, wide) = (value.ty, Ty::Number(Scalar::F64, 1));
            let leaf = make.leaf(wide);
            let product = Expression::binary(wide, "*", Expression::cast(wide, value), leaf);
            Expression::cast(ty, product)
        })
    }),
    ("through-float", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |make, value| {
            let ty = value.ty;
            let leaf = make.leaf(Ty::FLOAT);
            let product =
                Expression::binary(Ty::FLOAT, "*", Expression::cast(Ty::FLOAT, value), leaf);
            Expression::cast(ty, product)
        })
    }),
    ("select", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_arithmetic, |make, value| {
            let condition = make.comparison(Ty::INT);
            chosen(make, condition, value)
        })
    }),
    ("select-constant", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_arithmetic, |make, value| {
            let condition = make.comparison_with_constant();
            chosen(make, condition, value)
        })
    }),
    ("select-float", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_arithmetic, |make, value| {
            let condition = make.comparison(Ty::FLOAT);
            chosen(make, condition, value)
        })
    }),
    ("select-same", VALUES, |program, zone, rng| {
        // The condition of a branch that is there already costs nothing.
        let condition =
            random_value(program, Zone::Condition, rng, |value| value.ty == Ty::INT)?.value;
        wrap(program, zone, rng, is_arithmetic, |make, value| chosen(make, condition, value))
    }),
    ("compare", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |make, value| {
            let operator = ["<", ">", "=="].choose(make.rng).copied().unwrap_or("<");
            let other = make.leaf(value.ty);
            Expression::cast(value.ty, Expression::binary(Ty::INT, operator, value, other))
        })
    }),
    ("compare-comparison", ALL_VALUES, |program, zone, rng| {
        let comparison = |value: &Expression| {
            matches!(&value.node, Node::Binary(operator, ..)
                if matches!(operator.as_str(), "<" | ">" | "==" | "!=" | "<=" | ">="))
        };
        wrap(program, zone, rng, comparison, |make, value| {
            let other = make.comparison(Ty::INT);
            let operator = ["&", "|", "^"].choose(make.rng).copied().unwrap_or("&");
            Expression::binary(Ty::INT, operator, value, other)
        })
    }),
    ("add-comparison", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_integer, |make, value| {
            let comparison = make.comparison(Ty::INT);
            Expression::binary(value.ty, "+", value, comparison)
        })
    }),
    loaded!("add-load", |make| {
        let _ = &make;
        zero()
    }),
    loaded!("add-load-constant", |make| make.literal(Ty::INT)),
    loaded!("add-load-own", |make| make.own_place()),
    loaded!("add-load-near", |make| {
        let by = ["1", "2", "3"].choose(make.rng).copied().unwrap_or("1");
        let own = make.own_place();
        Expression::binary(own.ty, "+", own, Expression::literal(Ty::INT, by))
    }),
    loaded!("add-load-at", |make| make.leaf(Ty::INT)),
    loaded!("add-load-wide", |make| make.leaf(Ty::Number(Scalar::I64, 1))),
    ("load-instead", ALL_VALUES, |program, zone, rng| {
        wrap(
            program,
            zone,
            rng,
            |value| is_arithmetic(value) && is_plain(value),
            |make, value| make.element(value.ty, zero()),
        )
    }),
    ("load-own-instead", ALL_VALUES, |program, zone, rng| {
        wrap(
            program,
            zone,
            rng,
            |value| is_arithmetic(value) && is_plain(value),
            |make, value| {
                let at = make.own_place();
                make.element(value.ty, at)
            },
        )
    }),
    ("parameter-instead", ALL_VALUES, |program, zone, rng| {
        wrap(
            program,
            zone,
            rng,
            |value| is_arithmetic(value) && is_plain(value),
            |make, value| make.program.add_parameter(value.ty),
        )
    }),
    converted_instead!("from-char", is_integer, Ty::Number(Scalar::I8, 1)),
    converted_instead!("from-uchar", is_integer, Ty::Number(Scalar::U8, 1)),
    converted_instead!("from-long", |value| value.ty == Ty::INT, Ty::Number(Scalar::I64, 1)),
    converted_instead!("from-float", is_integer, Ty::FLOAT),
    converted_instead!("from-int", is_float, Ty::INT),
    converted_instead!("from-uint", is_float, Ty::Number(Scalar::U32, 1)),
    converted_instead!("from-double", |value| value.ty == Ty::FLOAT, Ty::Number(Scalar::F64, 1)),
    converted_instead!(
        "from-narrower",
        |value| matches!(value.ty, Ty::Number(Scalar::I64 | Scalar::U64, 1)),
        Ty::INT
    ),
    ("lane-instead", ALL_VALUES, |program, zone, rng| {
        wrap(
            program,
            zone,
            rng,
            |value| is_arithmetic(value) && is_plain(value),
            |make, value| {
                let Some(scalar) = value.ty.scalar() else { return value };
                let vector = make.leaf(Ty::Number(scalar, 4));
                let lane = ["x", "y", "z", "w"].choose(make.rng).copied().unwrap_or("x");
                Expression::new(value.ty, Node::Lanes(Box::new(vector), lane.into()))
            },
        )
    }),
    ("comparison-instead", VALUES, |program, zone, rng| {
        wrap(
            program,
            zone,
            rng,
            |value| is_integer(value) && is_plain(value),
            |make, _| make.comparison(Ty::INT),
        )
    }),
    ("multiply-add", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_float, |make, value| {
            let ty = value.ty;
            let (factor, term) = (make.leaf(ty), make.leaf(ty));
            Expression::binary(ty, "+", Expression::binary(ty, "*", value, factor), term)
        })
    }),
    ("add-lane", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_arithmetic, |make, value| {
            let Some(scalar) = value.ty.scalar() else { return value };
            let vector = make.leaf(Ty::Number(scalar, 4));
            let lane = ["x", "y", "z", "w"].choose(make.rng).copied().unwrap_or("x");
            let lane = Expression::new(value.ty, Node::Lanes(Box::new(vector), lane.into()));
            Expression::binary(value.ty, "+", value, lane)
        })
    }),
    ("shuffle", VALUES, |program, zone, rng| {
        wrap(program, zone, rng, is_vector, |_, value| {
            let Ty::Number(_, lanes) = value.ty else { return value };
            let order = if lanes == 2 { "yx" } else { "wzyx" };
            if lanes != 2 && lanes != 4 {
                return value;
            }
            Expression::new(value.ty, Node::Lanes(Box::new(value), order.into()))
        })
    }),
];

/// A name or a literal: nothing else goes when another leaf takes its place.
pub(super) fn is_plain(value: &Expression) -> bool {
    matches!(value.node, Node::Name(_) | Node::Literal(_))
}

fn is_literal(value: &Expression) -> bool {
    matches!(value.node, Node::Literal(_))
}

/// A name, a literal or an element: what another leaf can stand in for.
pub(super) fn is_leaf(value: &Expression) -> bool {
    matches!(value.node, Node::Name(_) | Node::Literal(_) | Node::Index(..))
}

/// The type with or without a sign.
fn with_sign(ty: Ty, signed: bool) -> Ty {
    let Some(scalar) = ty.scalar() else { return ty };
    let scalar = match (scalar.bits(), signed) {
        _ if scalar.is_float() => scalar,
        (64, true) => Scalar::I64,
        (64, false) => Scalar::U64,
        (_, true) => Scalar::I32,
        (_, false) => Scalar::U32,
    };
    Ty::Number(scalar, 1)
}

fn divided(make: &mut Maker<'_>, operator: &str, value: Expression, signed: bool) -> Expression {
    let ty = with_sign(value.ty, signed);
    let value = if value.ty == ty { value } else { Expression::cast(ty, value) };
    let by = make.leaf(ty);
    Expression::binary(ty, operator, value, by)
}

fn chosen(make: &mut Maker<'_>, condition: Expression, value: Expression) -> Expression {
    let ty = value.ty;
    let other = make.leaf(ty);
    Expression::new(ty, Node::Choice(Box::new(condition), Box::new(value), Box::new(other)))
}
