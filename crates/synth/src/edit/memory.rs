//! Edits that add statements without branches: stores, copies, calls for their effect.

use super::{
    ANY, Entry, Rng, STATEMENTS, TOP, Zone,
    make::{Maker, assignment, declared, work_item, zero},
    random_point, random_statement,
};
use crate::program::{Expression, Node, Program, Scalar, Statement, Ty};
use rand::{Rng as _, seq::IndexedRandom};

/// Puts what `make` makes at a random place of the zone.
pub(super) fn insert(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    make: impl FnOnce(&mut Maker<'_>) -> Vec<Statement>,
) -> Option<()> {
    let point = random_point(program, zone, rng, |_| true)?;
    let statements = make(&mut Maker { program, scope: &point.scope, rng });
    point.insert(program, statements);
    Some(())
}

/// `buffer[at] = leaf;` of a random number type.
pub(super) fn store(make: &mut Maker<'_>, at: Expression) -> Statement {
    let ty = make.number();
    let value = make.leaf(ty);
    let target = make.element(ty, at);
    assignment(target, value)
}

/// `buffer[at] += leaf;` and its like.
pub(super) fn accumulated(make: &mut Maker<'_>, at: Expression) -> Statement {
    let ty = make.number();
    let value = make.leaf(ty);
    let target = make.element(ty, at);
    let operator = ["+=", "*=", "-="].choose(make.rng).copied().unwrap_or("+=");
    let node = Node::Assign(operator.into(), Box::new(target), Box::new(value));
    Statement::Evaluate(Expression::new(ty, node))
}

/// `buffer[at] = other[at];`
pub(super) fn copied(make: &mut Maker<'_>, ty: Ty, at: Expression) -> Statement {
    let source = make.element(ty, at.clone());
    let target = make.element(ty, at);
    assignment(target, source)
}

macro_rules! stored {
    ($name:literal, |$make:ident| $at:expr) => {
        ($name, STATEMENTS, |program, zone, rng| {
            insert(program, zone, rng, |$make| {
                let at = $at;
                vec![store($make, at)]
            })
        })
    };
}

macro_rules! copied {
    ($name:literal, |$make:ident| $at:expr) => {
        ($name, STATEMENTS, |program, zone, rng| {
            insert(program, zone, rng, |$make| {
                let ty = $make.number();
                let at = $at;
                vec![copied($make, ty, at)]
            })
        })
    };
}

/// A vector of fresh scalars stored.
fn store_vector(make: &mut Maker<'_>, lanes: u8, splat: bool) -> Vec<Statement> {
    let ty = Ty::Number(Scalar::F32, lanes);
    let count = if splat { 1 } else { usize::from(lanes) };
    let values = (0..count).map(|_| make.leaf(Ty::FLOAT)).collect();
    let vector = Expression::new(ty, Node::Vector(ty.to_string(), values));
    let at = if make.rng.random_bool(0.5) { zero() } else { make.own_place() };
    let target = make.element(ty, at);
    vec![assignment(target, vector)]
}

pub(super) const EDITS: &[Entry] = &[
    stored!("store", |make| {
        let _ = &make;
        zero()
    }),
    stored!("store-own", |make| make.own_place()),
    stored!("store-constant", |make| make.literal(Ty::INT)),
    stored!("store-at", |make| make.leaf(Ty::INT)),
    stored!("store-at-wide", |make| make.leaf(Ty::Number(Scalar::I64, 1))),
    ("store-zero", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let at = make.own_place();
            let target = make.element(Ty::INT, at);
            vec![assignment(target, zero())]
        })
    }),
    ("store-narrow", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let narrow = Ty::Number(Scalar::U8, 1);
            let at = make.own_place();
            let value = Expression::cast(narrow, make.leaf(Ty::INT));
            let target = make.element(narrow, at);
            vec![assignment(target, value)]
        })
    }),
    copied!("copy", |make| {
        let _ = &make;
        zero()
    }),
    copied!("copy-own", |make| make.own_place()),
    copied!("copy-at", |make| make.leaf(Ty::INT)),
    ("accumulate", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let at = make.own_place();
            vec![accumulated(make, at)]
        })
    }),
    ("store-vector-two", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| store_vector(make, 2, false))
    }),
    ("store-vector-four", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| store_vector(make, 4, false))
    }),
    ("store-splat", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| store_vector(make, 4, true))
    }),
    ("store-vector", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let ty = Ty::Number(Scalar::F32, 4);
            let value = make.leaf(ty);
            let at = make.own_place();
            let target = make.element(ty, at);
            vec![assignment(target, value)]
        })
    }),
    ("store-lane", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let vector = make.leaf(Ty::Number(Scalar::F32, 4));
            let lane = ["x", "y", "z", "w"].choose(make.rng).copied().unwrap_or("x");
            let lane = Expression::new(Ty::FLOAT, Node::Lanes(Box::new(vector), lane.into()));
            let at = make.own_place();
            let target = make.element(Ty::FLOAT, at);
            vec![assignment(target, lane)]
        })
    }),
    ("declare-place", TOP, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let name = make.program.fresh_name();
            let dimension = ["0", "0", "1"].choose(make.rng).copied().unwrap_or("0");
            vec![declared(Ty::SIZE, &name, work_item("get_global_id", dimension))]
        })
    }),
    ("declare-place-int", TOP, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let name = make.program.fresh_name();
            let dimension = ["0", "0", "1"].choose(make.rng).copied().unwrap_or("0");
            vec![declared(Ty::INT, &name, work_item("get_global_id", dimension))]
        })
    }),
    ("declare-value", ANY, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let ty = make.number();
            let value = make.leaf(ty);
            let name = make.program.fresh_name();
            vec![declared(ty, &name, value)]
        })
    }),
    ("barrier", TOP, |program, zone, rng| {
        insert(program, zone, rng, |_| vec![super::call::fence("barrier", "CLK_GLOBAL_MEM_FENCE")])
    }),
    ("atomic", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let buffer = make.buffer(Ty::INT);
            let value = make.leaf(Ty::INT);
            let function = ["atomic_add", "atomic_max", "atomic_xor"].choose(make.rng).copied();
            let call =
                Expression::call(Ty::INT, function.unwrap_or("atomic_add"), vec![buffer, value]);
            vec![Statement::Evaluate(call)]
        })
    }),
    ("without-atomic", STATEMENTS, |program, zone, rng| {
        let point = random_statement(program, zone, rng, |statement| {
            matches!(statement, Statement::Evaluate(Expression { node: Node::Call(function, _), .. })
                if function.starts_with("atom"))
        })?;
        point.change(program, |list, at| {
            list.remove(at);
        });
        Some(())
    }),
    ("private-array", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make| {
            let name = make.program.fresh_name();
            let length = [4, 8, 16].choose(make.rng).copied().unwrap_or(8);
            let (first, second) = (make.leaf(Ty::INT), make.leaf(Ty::INT));
            let value = make.leaf(Ty::INT);
            let ty = Ty::Pointer {
                space: crate::program::Space::Private,
                scalar: Scalar::I32,
                lanes: 1,
                constant: false,
            };
            let within = |index: Expression| {
                let mask = Expression::literal(Ty::INT, (length - 1).to_string());
                Expression::binary(Ty::INT, "&", index, mask)
            };
            let element = |index: Expression| {
                Expression::index(Ty::INT, Expression::name(ty, name.clone()), within(index))
            };
            let at = make.own_place();
            let target = make.element(Ty::INT, at);
            vec![
                Statement::Declare {
                    prefix: format!("int {name}[{length}] = {{0}}"),
                    name: name.clone(),
                    ty,
                    value: None,
                },
                assignment(element(first), value),
                assignment(target, element(second)),
            ]
        })
    }),
];
