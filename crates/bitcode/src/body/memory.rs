//! Memory and addresses.

use super::{BROKEN, Reading, opcode};
use crate::{Constant, Type, Types, Unread};

impl Reading<'_> {
    pub(super) fn alloca(&mut self) -> Result<(), Unread> {
        let ty = self.ty()?;
        let of_size = self.ty()?;
        let size = u32::try_from(self.next()?).map_err(|_| BROKEN)?;
        let flags = self.next()?;
        if flags >> 6 & 1 == 0 {
            return Err(Unread::Unknown("room for a type that is not said"));
        }
        let space = match self.is_done() {
            true => self.alloca_space,
            false => u32::try_from(self.next()?).map_err(|_| BROKEN)?,
        };
        let size = self.typed(size, of_size)?;
        let holds = self.is_storable(ty) && matches!(self.get(of_size), Type::Integer(_));
        self.require(holds && self.is_done())?;
        self.push(size);
        let pointer = self.flat.types.plain(Type::Pointer(space));
        self.emit(opcode::ALLOCA, pointer, ty);
        Ok(())
    }

    /// An ordering by its number in LLVM's C API.
    pub(super) fn ordering(&mut self) -> Result<u32, Unread> {
        const ORDERINGS: [u32; 7] = [0, 1, 2, 4, 5, 6, 7];
        let number = self.next()? as usize;
        ORDERINGS.get(number).copied().ok_or(Unread::Unknown("an ordering"))
    }

    pub(super) fn load(&mut self, is_atomic: bool) -> Result<(), Unread> {
        let pointer = self.pair()?;
        let ty = self.ty()?;
        let _alignment = self.next()?;
        let volatile = u32::from(self.next()? != 0);
        let mut detail = volatile;
        if is_atomic {
            let ordering = self.ordering()?;
            self.require(!matches!(ordering, 0 | 5 | 6))?;
            detail |= ordering << 1;
            self.next()?;
        }
        self.require(self.is_done() && self.is_pointer(pointer.ty) && self.is_storable(ty))?;
        self.push(pointer);
        self.emit(opcode::LOAD, ty, detail);
        Ok(())
    }

    pub(super) fn store(&mut self, is_atomic: bool) -> Result<(), Unread> {
        let pointer = self.pair()?;
        let value = self.pair()?;
        let _alignment = self.next()?;
        let mut detail = u32::from(self.next()? != 0);
        if is_atomic {
            let ordering = self.ordering()?;
            self.require(!matches!(ordering, 0 | 4 | 6))?;
            detail |= ordering << 1;
            self.next()?;
        }
        self.require(self.is_done() && self.is_pointer(pointer.ty) && self.is_storable(value.ty))?;
        self.push(value);
        self.push(pointer);
        self.emit(opcode::STORE, Types::VOID, detail);
        Ok(())
    }

    pub(super) fn compare_exchange(&mut self) -> Result<(), Unread> {
        let pointer = self.pair()?;
        let expected = self.pair()?;
        let new = self.value(expected.ty)?;
        let volatile = u32::from(self.next()? != 0);
        let success = self.ordering()?;
        self.next()?;
        let failure = self.ordering()?;
        let _weak = self.next()?;
        if !self.is_done() {
            self.next()?;
        }
        let holds = success >= 2 && !matches!(failure, 0 | 1 | 5 | 6);
        let compares = matches!(self.get(expected.ty), Type::Integer(_) | Type::Pointer(_));
        self.require(self.is_done() && holds && compares && self.is_pointer(pointer.ty))?;
        [pointer, expected, new].into_iter().for_each(|got| self.push(got));
        let ty = self.flat.types.literal(false, &[expected.ty, Types::BIT]);
        self.emit(opcode::CMPXCHG, ty, volatile);
        Ok(())
    }

    pub(super) fn read_modify_write(&mut self) -> Result<(), Unread> {
        let pointer = self.pair()?;
        let value = self.pair()?;
        let operation = self.next()?;
        let volatile = u32::from(self.next()? != 0);
        let ordering = self.ordering()?;
        self.next()?;
        if !self.is_done() {
            self.next()?;
        }
        let holds = match operation {
            0 => matches!(self.get(value.ty), Type::Integer(_) | Type::Float(_) | Type::Pointer(_)),
            1..=10 | 15..=18 => matches!(self.get(value.ty), Type::Integer(_)),
            11..=14 => self.is_lane_float(value.ty),
            _ => return Err(Unread::Unknown("an atomic operation")),
        };
        self.require(self.is_done() && holds && ordering >= 2 && self.is_pointer(pointer.ty))?;
        self.push(pointer);
        self.push(value);
        let detail = volatile | ordering << 1 | (operation as u32) << 8;
        self.emit(opcode::ATOMIC_RMW, value.ty, detail);
        Ok(())
    }

    pub(super) fn fence(&mut self) -> Result<(), Unread> {
        let ordering = self.ordering()?;
        self.next()?;
        self.require(self.is_done() && ordering > 2)?;
        self.emit(opcode::FENCE, Types::VOID, 0);
        Ok(())
    }

    pub(super) fn next_argument(&mut self) -> Result<(), Unread> {
        let of_list = self.ty()?;
        let list = self.value(of_list)?;
        let ty = self.ty()?;
        self.require(self.is_pointer(of_list) && self.is_storable(ty))?;
        self.push(list);
        self.emit(opcode::VA_ARG, ty, 0);
        Ok(())
    }

    pub(super) fn element_pointer(&mut self) -> Result<(), Unread> {
        let _flags = self.next()?;
        let source = self.ty()?;
        let base = self.pair()?;
        self.push(base);
        let mut lanes = match self.get(base.ty) {
            Type::Vector { lanes, scalable, .. } => Some((lanes, scalable)),
            _ => None,
        };
        let Type::Pointer(space) = self.flat.types.lane(base.ty) else { return Err(BROKEN) };
        let mut ty = source;
        let mut first = true;
        while !self.is_done() {
            let index = self.pair()?;
            self.require(self.is_lane_integer(index.ty))?;
            if let Type::Vector { lanes: count, scalable, .. } = self.get(index.ty) {
                self.require(lanes.is_none_or(|lanes| lanes == (count, scalable)))?;
                lanes = Some((count, scalable));
            }
            if !first {
                ty = match (self.get(ty), self.constant(index)) {
                    (Type::Struct { .. }, Some(Constant::Integer(at))) => self.member(ty, at)?,
                    (Type::Array(_, element) | Type::Vector { element, .. }, _) => element,
                    _ => return Err(Unread::Unknown("a step to nowhere")),
                };
            }
            first = false;
            self.push(index);
        }
        self.require(!first && self.is_storable(source))?;
        let mut result = self.flat.types.plain(Type::Pointer(space));
        if let Some((lanes, scalable)) = lanes {
            result = self.flat.types.plain(Type::Vector { lanes, element: result, scalable });
        }
        self.emit(opcode::GET_ELEMENT_POINTER, result, source);
        Ok(())
    }
}
