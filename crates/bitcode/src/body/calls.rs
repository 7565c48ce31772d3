//! Calls.

use super::{BROKEN, Got, Reading, opcode};
use crate::{Fate, Kind, Operand, Type, TypeId, Types, Unread};

impl Reading<'_> {
    pub(super) fn bundle(&mut self) -> Result<(), Unread> {
        self.next()?;
        while !self.is_done() {
            let got = self.pair()?;
            self.held.bundles.push(got);
        }
        Ok(())
    }

    pub(super) fn call(&mut self) -> Result<(), Unread> {
        let _attributes = self.next()?;
        let convention = self.next()?;
        if convention >> 17 & 1 == 1 {
            let flags = self.next()?;
            self.require(flags != 0)?;
        }
        self.explicit(convention >> 15)?;
        let signature = self.ty()?;
        let (callee, returned) = self.arguments(signature)?;
        let fate = self.fate(callee, signature)?;
        match fate {
            Fate::Goes => {
                self.body.operands.truncate(self.operands as usize);
                self.held.later.retain(|(place, ..)| *place < self.operands);
                self.goes = true;
                return self.require(self.get(returned) == Type::Void);
            }
            Fate::Lifetime => return self.lifetime(callee),
            Fate::Without(argument) => return self.without(argument, callee, returned),
            Fate::Stays | Fate::Unknown => {}
        }
        self.push(callee);
        self.emit(opcode::CALL, returned, 0);
        Ok(())
    }

    pub(super) fn invoke(&mut self) -> Result<(), Unread> {
        let _attributes = self.next()?;
        let convention = self.next()?;
        let normal = self.block()?;
        let unwind = self.block()?;
        self.explicit(convention >> 13)?;
        let signature = self.ty()?;
        let (callee, returned) = self.arguments(signature)?;
        if !matches!(self.fate(callee, signature)?, Fate::Stays) {
            return Err(Unread::Unknown("an invoke of a function of LLVM's own"));
        }
        self.push_block(normal);
        self.push_block(unwind);
        self.push(callee);
        self.terminate(opcode::INVOKE, returned);
        Ok(())
    }

    pub(super) fn explicit(&self, bit: u64) -> Result<(), Unread> {
        match bit & 1 {
            1 => Ok(()),
            _ => Err(Unread::Unknown("a call without its type")),
        }
    }

    /// Push the arguments of a call; the callee and what is returned.
    pub(super) fn arguments(&mut self, signature: TypeId) -> Result<(Got, TypeId), Unread> {
        let Type::Function { variadic, parts } = self.get(signature) else { return Err(BROKEN) };
        let callee = self.pair()?;
        self.require(self.is_pointer(callee.ty))?;
        for place in parts.range().skip(1) {
            let argument = self.value(self.flat.types.part(place))?;
            self.push(argument);
        }
        while !self.is_done() {
            self.require(variadic)?;
            let argument = self.pair()?;
            self.require(self.is_first_class(argument.ty))?;
            self.push(argument);
        }
        let mut bundles = std::mem::take(&mut self.held.bundles);
        bundles.drain(..).for_each(|got| self.push(got));
        self.held.bundles = bundles;
        Ok((callee, self.flat.types.part(parts.start as usize)))
    }

    /// What becomes of a call.
    pub(super) fn fate(&self, callee: Got, signature: TypeId) -> Result<Fate, Unread> {
        let Operand::Value(id) = callee.operand else { return Ok(Fate::Stays) };
        let Kind::Function(function) = self.flat.values[id as usize].kind else {
            return Ok(Fate::Stays);
        };
        let called = &self.flat.functions[function as usize];
        if !self.flat.bytes(called.name).starts_with(b"llvm.") {
            return Ok(Fate::Stays);
        }
        let fate = self.fates.get(function as usize).copied().unwrap_or_default();
        if fate == Fate::Unknown || called.ty != signature || !called.is_declaration {
            return Err(Unread::Unknown("a function of LLVM's own"));
        }
        Ok(fate)
    }

    /// A call of a function that takes one argument less.
    pub(super) fn without(
        &mut self,
        argument: u8,
        callee: Got,
        returned: TypeId,
    ) -> Result<(), Unread> {
        let place = self.operands as usize + usize::from(argument);
        self.require(self.held.later.last().is_none_or(|(at, ..)| *at < self.operands))?;
        self.require(place < self.body.operands.len())?;
        self.body.operands.remove(place);
        self.push(callee);
        self.emit(opcode::CALL, returned, 0);
        Ok(())
    }

    /// A mark of lifetime of size and variable: the variable alone stays, where it is one.
    pub(super) fn lifetime(&mut self, callee: Got) -> Result<(), Unread> {
        let begin = self.operands as usize;
        let [_, variable] = self.body.operands[begin..] else { return Err(BROKEN) };
        let stays = match variable {
            Operand::Local(u32::MAX) => {
                return Err(Unread::Unknown("a lifetime of what comes later"));
            }
            Operand::Local(at) => match at.checked_sub(self.arguments) {
                None => false,
                Some(at) => match self.body.instructions[at as usize].opcode {
                    opcode::ALLOCA => true,
                    opcode::GET_ELEMENT_POINTER
                    | opcode::BIT_CAST
                    | opcode::ADDRESS_SPACE_CAST
                    | opcode::CALL
                    | opcode::INVOKE => {
                        return Err(Unread::Unknown("a lifetime of an address"));
                    }
                    _ => false,
                },
            },
            _ => false,
        };
        self.body.operands.truncate(begin);
        if stays {
            self.body.operands.push(variable);
            self.push(callee);
            self.emit(opcode::CALL, Types::VOID, 0);
        }
        Ok(())
    }
}
