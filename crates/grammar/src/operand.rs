//! Operands of expressions: values, and places that hold one.

use super::{
    parser::Symbol,
    types::{Scalar, Space, Type},
};

/// A value, or a place that holds one.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) struct Operand {
    pub(super) ty: Type,
    /// Whether it is a place.
    pub(super) place: bool,
    /// Whether that may not be assigned to.
    pub(super) constant: bool,
    pub(super) space: Space,
    /// Whether it is the literal 0.
    pub(super) zero: bool,
    /// Whether its value is known to the compiler.
    pub(super) fixed: bool,
    /// Whether it is a string.
    pub(super) text: bool,
    /// Whether the compiler knows where it is.
    pub(super) anchored: bool,
    /// Whether it is part of a vector: it has no address.
    pub(super) part: bool,
}

impl Operand {
    pub(super) fn value(ty: Type) -> Operand {
        Operand {
            ty,
            place: false,
            constant: false,
            space: Space::Private,
            zero: false,
            fixed: false,
            text: false,
            anchored: false,
            part: false,
        }
    }

    pub(super) fn literal(ty: Type) -> Operand {
        Operand { fixed: true, ..Operand::value(ty) }
    }

    /// Whether it is something that operators do nothing with.
    pub(super) fn is_handle(&self) -> bool {
        !self.ty.is_housed()
    }

    /// Whether it is neither nothing nor a function.
    pub(super) fn is_value(&self) -> bool {
        self.ty != Type::Void && !self.ty.is_code()
    }

    /// Whether the compiler knows its value: of an array that is where it is.
    pub(super) fn is_known(&self) -> bool {
        if matches!(self.ty, Type::Array(_)) { self.anchored } else { self.fixed }
    }

    pub(super) fn string() -> Operand {
        let ty = Type::pointer(Type::Scalar(Scalar::Char), true, Space::Constant);
        Operand { text: true, ..Operand::literal(ty) }
    }

    /// What a name stands for; `None` where it names a type.
    pub(super) fn named(symbol: &Symbol) -> Option<Operand> {
        Some(match symbol {
            Symbol::Variable { ty, constant, space, fixed } => {
                let anchored = matches!(space, Space::Global | Space::Constant);
                Operand { fixed: *fixed, anchored, ..Operand::at(ty.clone(), *constant, *space) }
            }
            Symbol::Function { ty, .. } => Operand::value(ty.clone()),
            Symbol::Enumerator => Operand::literal(Type::Scalar(Scalar::Int)),
            Symbol::Typedef(_) => return None,
        })
    }

    pub(super) fn at(ty: Type, constant: bool, space: Space) -> Operand {
        Operand { place: true, constant, space, ..Operand::value(ty) }
    }

    pub(super) fn is_assignable(&self) -> bool {
        let kind = !matches!(self.ty, Type::Array(_) | Type::Image { .. }) && !self.ty.is_code();
        let free = !self.constant && self.space != Space::Constant;
        self.place && kind && (free || self.ty == Type::Unknown)
    }
}
