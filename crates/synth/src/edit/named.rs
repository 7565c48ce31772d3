//! Edits that reach memory by the work-item's own place in a variable, `int i = get_global_id(0);`, as most people write it.
//! Some feature spaces (Grewe's) tell `a[i]` from `a[get_global_id(0)]`.

use super::{
    Entry, Rng, STATEMENTS, TOP, Zone,
    make::Maker,
    memory::{accumulated, copied, store},
    pointer::tile,
    random_point, random_value,
    site::is_arithmetic,
    value::{is_plain, with_element},
};
use crate::program::{Expression, Node, Program, Scope, Statement, Ty, Variable};
use rand::seq::IndexedRandom;

/// Places that are drawn until one is behind the variable.
const TRIES: usize = 4;

const VALUE: &[Zone] = &[Zone::Value];

/// Puts what `make` makes of the place at a random one of the zone where it is known.
fn insert(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    make: impl FnOnce(&mut Maker<'_>, Expression) -> Vec<Statement>,
) -> Option<()> {
    let place = program.own_place();
    let point = (0..TRIES).find_map(|_| {
        random_point(program, zone, rng, |_| true).filter(|point| knows(&point.scope, &place))
    })?;
    let statements = make(&mut Maker { program, scope: &point.scope, rng }, place);
    point.insert(program, statements);
    Some(())
}

/// Puts what `make` makes of a value and of the place where such a value is, and the place is known.
fn wrap(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    accept: impl Fn(&Expression) -> bool,
    make: impl FnOnce(&mut Maker<'_>, Expression, Expression) -> Expression,
) -> Option<()> {
    let place = program.own_place();
    let mut drawn = (0..TRIES).find_map(|_| {
        random_value(program, zone, rng, &accept).filter(|drawn| knows(&drawn.scope, &place))
    })?;
    let old = drawn.value.take();
    let new = make(&mut Maker { program, scope: &drawn.scope, rng }, old, place);
    drawn.replace(program, new);
    Some(())
}

fn knows(scope: &Scope, place: &Expression) -> bool {
    let is_it = |known: &Variable| matches!(&place.node, Node::Name(name) if *name == known.name);
    scope.variables.iter().any(|known| known.ready && is_it(known))
}

/// `place + 1` and its like.
fn near(make: &mut Maker<'_>, place: Expression) -> Expression {
    let by = ["1", "2", "3"].choose(make.rng).copied().unwrap_or("1");
    Expression::binary(Ty::INT, "+", place, Expression::literal(Ty::INT, by))
}

pub(super) const EDITS: &[Entry] = &[
    ("store-named", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make, place| vec![store(make, place)])
    }),
    ("copy-named", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make, place| {
            let ty = make.number();
            vec![copied(make, ty, place)]
        })
    }),
    ("accumulate-named", STATEMENTS, |program, zone, rng| {
        insert(program, zone, rng, |make, place| vec![accumulated(make, place)])
    }),
    ("through-tile-named", TOP, |program, zone, rng| insert(program, zone, rng, tile)),
    ("add-load-named", VALUE, |program, zone, rng| {
        wrap(program, zone, rng, is_arithmetic, with_element)
    }),
    ("add-load-named-near", VALUE, |program, zone, rng| {
        wrap(program, zone, rng, is_arithmetic, |make, value, place| {
            let place = near(make, place);
            with_element(make, value, place)
        })
    }),
    ("load-named-instead", VALUE, |program, zone, rng| {
        let is_leaf = |value: &Expression| is_arithmetic(value) && is_plain(value);
        wrap(program, zone, rng, is_leaf, |make, value, place| make.element(value.ty, place))
    }),
];
