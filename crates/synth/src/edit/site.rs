//! Drawing a place of a program at random.

use super::{Rng, Zone};
use crate::program::{Expression, Place, Program, Scope, Statement, Ty, Visitor};
use rand::Rng as _;
use std::ops::ControlFlow::{self, Break, Continue};

/// A value that was drawn: its place in the walk, a copy, what is known there.
pub(crate) struct DrawnValue {
    ordinal: usize,
    pub(crate) value: Expression,
    pub(crate) scope: Scope,
}

/// A place between statements that was drawn.
#[derive(Clone)]
pub(crate) struct DrawnPoint {
    ordinal: usize,
    pub(crate) scope: Scope,
}

impl Zone {
    fn of_place(place: Place) -> Zone {
        match place {
            Place::Value => Zone::Value,
            Place::Index => Zone::Index,
            Place::Condition => Zone::Condition,
        }
    }

    fn of_scope(scope: &Scope) -> Zone {
        match (scope.loops, scope.depth) {
            (0, 0) => Zone::Top,
            (0, _) => Zone::Branch,
            _ => Zone::Loop,
        }
    }

    fn holds(self, zone: Zone) -> bool {
        self == Zone::Any || self == zone
    }
}

/// A value of this zone that `accept` takes, each equally likely.
pub(crate) fn random_value(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    accept: impl Fn(&Expression) -> bool,
) -> Option<DrawnValue> {
    struct Draw<F> {
        zone: Zone,
        accept: F,
        /// Which of the places, once it is known how many there are.
        wanted: Option<usize>,
        seen: usize,
        ordinal: usize,
        drawn: Option<DrawnValue>,
    }
    impl<F: Fn(&Expression) -> bool> Visitor for Draw<F> {
        fn value(
            &mut self,
            value: &mut Expression,
            place: Place,
            scope: &Scope,
        ) -> ControlFlow<()> {
            if self.zone.holds(Zone::of_place(place)) && (self.accept)(value) {
                if self.wanted == Some(self.seen) {
                    self.drawn = Some(DrawnValue {
                        ordinal: self.ordinal,
                        value: value.clone(),
                        scope: scope.clone(),
                    });
                    return Break(());
                }
                self.seen += 1;
            }
            self.ordinal += 1;
            Continue(())
        }
    }
    // Counted first, then drawn: a copy of the scope for every place would take most of the time.
    let mut draw = Draw { zone, accept, wanted: None, seen: 0, ordinal: 0, drawn: None };
    program.walk(&mut draw);
    if draw.seen == 0 {
        return None;
    }
    draw = Draw { wanted: Some(rng.random_range(0..draw.seen)), seen: 0, ordinal: 0, ..draw };
    program.walk(&mut draw);
    draw.drawn
}

impl DrawnValue {
    /// Put `value` in its place.
    pub(crate) fn replace(self, program: &mut Program, value: Expression) {
        struct Put {
            ordinal: usize,
            value: Option<Expression>,
        }
        impl Visitor for Put {
            fn value(&mut self, old: &mut Expression, _: Place, _: &Scope) -> ControlFlow<()> {
                if self.ordinal == 0 {
                    if let Some(value) = self.value.take() {
                        *old = value;
                    }
                    return Break(());
                }
                self.ordinal -= 1;
                Continue(())
            }
        }
        program.walk(&mut Put { ordinal: self.ordinal, value: Some(value) });
    }
}

/// A place between statements of this zone that `accept` takes, given the statements behind it.
pub(crate) fn random_point(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    accept: impl Fn(&[Statement]) -> bool,
) -> Option<DrawnPoint> {
    struct Draw<F> {
        zone: Zone,
        accept: F,
        /// Which of the places, once it is known how many there are.
        wanted: Option<usize>,
        seen: usize,
        ordinal: usize,
        drawn: Option<DrawnPoint>,
    }
    impl<F: Fn(&[Statement]) -> bool> Visitor for Draw<F> {
        fn point(
            &mut self,
            list: &mut Vec<Statement>,
            at: usize,
            scope: &Scope,
        ) -> ControlFlow<()> {
            if self.zone.holds(Zone::of_scope(scope)) && (self.accept)(&list[at..]) {
                if self.wanted == Some(self.seen) {
                    self.drawn = Some(DrawnPoint { ordinal: self.ordinal, scope: scope.clone() });
                    return Break(());
                }
                self.seen += 1;
            }
            self.ordinal += 1;
            Continue(())
        }
    }
    let mut draw = Draw { zone, accept, wanted: None, seen: 0, ordinal: 0, drawn: None };
    program.walk(&mut draw);
    if draw.seen == 0 {
        return None;
    }
    draw = Draw { wanted: Some(rng.random_range(0..draw.seen)), seen: 0, ordinal: 0, ..draw };
    program.walk(&mut draw);
    draw.drawn
}

/// A place right in front of a statement that `accept` takes.
pub(crate) fn random_statement(
    program: &mut Program,
    zone: Zone,
    rng: &mut Rng,
    accept: impl Fn(&Statement) -> bool,
) -> Option<DrawnPoint> {
    random_point(program, zone, rng, |rest| rest.first().is_some_and(&accept))
}

impl DrawnPoint {
    /// Change the statement list there; the position is what was drawn.
    pub(crate) fn change(
        self,
        program: &mut Program,
        change: impl FnOnce(&mut Vec<Statement>, usize),
    ) {
        struct Put<F> {
            ordinal: usize,
            change: Option<F>,
        }
        impl<F: FnOnce(&mut Vec<Statement>, usize)> Visitor for Put<F> {
            fn point(
                &mut self,
                list: &mut Vec<Statement>,
                at: usize,
                _: &Scope,
            ) -> ControlFlow<()> {
                if self.ordinal == 0 {
                    if let Some(change) = self.change.take() {
                        change(list, at);
                    }
                    return Break(());
                }
                self.ordinal -= 1;
                Continue(())
            }
        }
        program.walk(&mut Put { ordinal: self.ordinal, change: Some(change) });
    }

    /// Put statements there.
    pub(crate) fn insert(self, program: &mut Program, statements: Vec<Statement>) {
        self.change(program, |list, at| {
            list.splice(at..at, statements);
        });
    }
}

/// Whether it is a number of one lane that arithmetic is done in as it is: narrower integers are
/// widened first.
pub(super) fn is_arithmetic(value: &Expression) -> bool {
    value.ty.scalar().is_some_and(|scalar| scalar.bits() >= 32)
}

/// The same, an integer.
pub(super) fn is_integer(value: &Expression) -> bool {
    is_arithmetic(value) && !is_float(value)
}

/// The same, floating point.
pub(super) fn is_float(value: &Expression) -> bool {
    value.ty.scalar().is_some_and(|scalar| scalar.is_float() && scalar.bits() >= 32)
}

/// Whether it is an OpenCL vector.
pub(super) fn is_vector(value: &Expression) -> bool {
    matches!(value.ty, Ty::Number(_, lanes) if lanes > 1)
}
