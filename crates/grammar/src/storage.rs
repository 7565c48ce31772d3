//! Where what is declared may live, and its name from then on.

use super::{
    declaration::{Declaration, Place},
    parser::{Parser, Refusal, Symbol},
    types::{Handle, Scalar, Space, Type},
};
use std::sync::Arc;

/// Whether samplers and handles may be where they are declared.
pub(super) fn keeps(d: &Declaration) -> bool {
    match (&d.current, d.place) {
        (Type::Sampler | Type::Opaque(_), Place::Member(_)) => false,
        (Type::Sampler, place) if place != Place::Parameter => {
            let known = d.constant || d.space == Some(Space::Constant);
            let placed = matches!(d.space, Some(Space::Global | Space::Local));
            !placed && (known || place != Place::File)
        }
        (Type::Opaque(handle), Place::File) => *handle == Handle::Queue,
        _ => true,
    }
}

impl Parser {
    /// Whether there are values of a type: of `half` only with its extension, of a struct once it is complete.
    pub(super) fn holds(&self, ty: &Type) -> bool {
        (self.halves || *ty != Type::Scalar(Scalar::Half)) && self.is_complete(ty)
    }

    /// Whether a type's size is known: a struct's is once its members are.
    pub(super) fn is_complete(&self, ty: &Type) -> bool {
        match ty {
            Type::Struct(at) => self.structs[*at].complete,
            _ => true,
        }
    }

    /// Whether something that is no pointer may live where it is declared to.
    pub(super) fn houses(&self, d: &Declaration) -> bool {
        let kernel = matches!(self.function, Some((_, true)));
        match (d.place, d.home()) {
            (Place::File, space) => matches!(space, Space::Global | Space::Constant),
            (Place::Member(_), space) => space == Space::Private,
            (Place::Block, Space::Constant) if d.fixed_home => true,
            // In the outermost block of a kernel: the file's scope, the function's own.
            (Place::Block, Space::Local | Space::Constant) => {
                kernel && self.scopes.len() == 2 && !d.fixed_home
            }
            (Place::Block | Place::ForFirst, space) => space == Space::Private,
            (Place::Parameter | Place::TypeName, _) => true,
        }
    }

    /// Declare what has been named.
    pub(super) fn put(&mut self, d: &Declaration) -> Result<(), Refusal> {
        if self.kernel_only && d.place == Place::File {
            return Err(Refusal::Context);
        }
        let Some(name) = d.name.clone() else { return Err(Refusal::Syntax) };
        let ty = d.whole();
        if d.typedef {
            self.declare(name, Symbol::Typedef(ty));
            return Ok(());
        }
        let overloaded = d.place == Place::File && self.attributes.contains(&"overloadable");
        if ty == Type::Void || d.inline || overloaded || !self.holds(&d.current) {
            return Err(Refusal::Type);
        }
        if d.stars == 0 && !d.inner && !(self.houses(d) && keeps(d)) {
            return Err(Refusal::Context);
        }
        if let Place::Member(at) = d.place {
            let frozen =
                matches!(d.current, Type::Struct(inner) if self.structs[inner].is_frozen());
            let members = &mut Arc::make_mut(&mut self.structs)[at];
            if d.is_constant() || frozen && d.stars == 0 {
                members.constant.push(name.clone());
            }
            members.all.push((name, ty));
            return Ok(());
        }
        let symbol =
            Symbol::Variable { ty, constant: d.is_constant(), space: d.home(), fixed: false };
        if d.place == Place::File && d.home() == Space::Global {
            if self.old {
                return Err(Refusal::Context);
            }
            self.new = true;
        }
        self.declare(name, symbol);
        Ok(())
    }
}
