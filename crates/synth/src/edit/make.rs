//! Operands and addresses for what edits add.

use super::Rng;
use crate::program::{Expression, Node, Program, Scalar, Scope, Space, Statement, Ty};
use rand::{Rng as _, seq::IndexedRandom};

/// Builds expressions that can stand where `scope` holds.
pub(super) struct Maker<'a> {
    pub(super) program: &'a mut Program,
    pub(super) scope: &'a Scope,
    pub(super) rng: &'a mut Rng,
}

impl Maker<'_> {
    /// Something of this type that the compiler knows nothing of: a variable there, or a new
    /// parameter.
    pub(super) fn leaf(&mut self, ty: Ty) -> Expression {
        let known: Vec<&str> = self
            .scope
            .variables
            .iter()
            .filter(|variable| variable.ready && variable.ty == ty)
            .map(|variable| variable.name.as_str())
            .collect();
        let crowded = self.program.parameters.len() >= self.program.style.parameters;
        let reuse = if self.program.style.sparing { 0.9 } else { 0.4 };
        match known.choose(self.rng) {
            Some(name) if crowded || self.rng.random_bool(reuse) => Expression::name(ty, *name),
            None if crowded => self.literal(ty),
            _ => self.program.add_parameter(ty),
        }
    }

    /// A constant that no strength reduction likes.
    pub(super) fn literal(&mut self, ty: Ty) -> Expression {
        let text = match ty.scalar() {
            Some(Scalar::F32 | Scalar::F16) => {
                ["1.5f", "2.5f", "0.3f", "7.25f", "11.1f"].choose(self.rng).copied()
            }
            Some(Scalar::F64) => ["1.5", "2.5", "0.3", "7.25", "11.1"].choose(self.rng).copied(),
            _ => ["3", "5", "7", "11", "13", "19", "23", "37", "101"].choose(self.rng).copied(),
        };
        Expression::literal(ty, text.unwrap_or("3"))
    }

    /// How far to shift.
    pub(super) fn distance(&mut self) -> Expression {
        let text = ["2", "3", "4", "5", "7"].choose(self.rng).copied().unwrap_or("2");
        Expression::literal(Ty::INT, text)
    }

    /// A number type for something new.
    pub(super) fn number(&mut self) -> Ty {
        if self.rng.random_bool(0.5) { Ty::INT } else { Ty::FLOAT }
    }

    /// A buffer to read from or write to.
    pub(super) fn buffer(&mut self, element: Ty) -> Expression {
        let Ty::Number(scalar, lanes) = element else { return self.leaf(Ty::INT) };
        let ty = Ty::Pointer { space: Space::Global, scalar, lanes, constant: false };
        let known: Vec<&str> = self
            .scope
            .variables
            .iter()
            .filter(|variable| variable.ty == ty)
            .map(|variable| variable.name.as_str())
            .collect();
        let crowded = self.program.parameters.len() >= self.program.style.parameters;
        let reuse = if self.program.style.sparing { 0.4 } else { 0.15 };
        match known.choose(self.rng) {
            Some(name) if crowded || self.rng.random_bool(reuse) => Expression::name(ty, *name),
            _ => self.program.add_parameter(ty),
        }
    }

    /// The work-item's own place: a variable that holds one, or the call.
    pub(super) fn own_place(&mut self) -> Expression {
        let known: Vec<&str> = self
            .scope
            .variables
            .iter()
            .filter(|variable| variable.ready && variable.ty == Ty::SIZE)
            .map(|variable| variable.name.as_str())
            .collect();
        match known.choose(self.rng) {
            Some(name) => Expression::name(Ty::SIZE, *name),
            None => work_item("get_global_id", "0"),
        }
    }

    /// Where local memory is accessed.
    pub(super) fn local_place(&mut self) -> Expression {
        match self.program.style.sparing {
            true => work_item("get_local_id", "0"),
            false => self.leaf(Ty::INT),
        }
    }

    /// `buffer[at]`.
    pub(super) fn element(&mut self, element: Ty, at: Expression) -> Expression {
        let buffer = self.buffer(element);
        Expression::index(element, buffer, at)
    }

    /// A comparison of two things the compiler knows nothing of.
    pub(super) fn comparison(&mut self, ty: Ty) -> Expression {
        let operator = ["<", ">", "==", "<="].choose(self.rng).copied().unwrap_or("<");
        let (left, right) = (self.leaf(ty), self.leaf(ty));
        // Nothing is compared with itself.
        let right = if right == left { self.literal(ty) } else { right };
        Expression::binary(Ty::INT, operator, left, right)
    }

    /// The same against a constant.
    pub(super) fn comparison_with_constant(&mut self) -> Expression {
        let operator = ["<", ">", "==", "!="].choose(self.rng).copied().unwrap_or("<");
        let left = self.leaf(Ty::INT);
        let right = match self.rng.random_range(0..3) {
            0 => Expression::literal(Ty::INT, "0"),
            1 => Expression::literal(Ty::INT, "1"),
            _ => self.literal(Ty::INT),
        };
        Expression::binary(Ty::INT, operator, left, right)
    }
}

/// `get_global_id(0)` and its like.
pub(super) fn work_item(function: &str, dimension: &str) -> Expression {
    Expression::call(Ty::SIZE, function, vec![Expression::literal(Ty::INT, dimension)])
}

/// `target = value;`
pub(super) fn assignment(target: Expression, value: Expression) -> Statement {
    Statement::Evaluate(Expression::assign(target, value))
}

/// `int NAME = value;`
pub(super) fn declared(ty: Ty, name: &str, value: Expression) -> Statement {
    Statement::Declare {
        prefix: format!("{} {name} = ", ty.word()),
        name: name.to_owned(),
        ty,
        value: Some(value),
    }
}

/// `int NAME = 0;`
pub(super) fn from_zero(ty: Ty, name: &str) -> Statement {
    declared(ty, name, zero())
}

/// `counter++`.
pub(super) fn increment(ty: Ty, counter: Expression) -> Expression {
    Expression::new(ty, Node::Postfix("++".into(), Box::new(counter)))
}

/// `0`.
pub(super) fn zero() -> Expression {
    Expression::literal(Ty::INT, "0")
}
