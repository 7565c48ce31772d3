//! Numbers, vectors and aggregates.

use super::{BROKEN, Reading, opcode};
use crate::{Constant, Type, TypeId, Unread, cast};

/// Masks of more lanes than this are not looked at.
const MOST_LANES: usize = 1 << 16;

impl Reading<'_> {
    pub(super) fn binary(&mut self) -> Result<(), Unread> {
        const OF_INTEGERS: [u32; 13] = [8, 10, 12, 14, 15, 17, 18, 20, 21, 22, 23, 24, 25];
        let left = self.pair()?;
        let right = self.value(left.ty)?;
        let number = self.next()? as usize;
        let opcode = match (self.is_lane_integer(left.ty), self.is_lane_float(left.ty), number) {
            (true, _, 0..=12) => OF_INTEGERS[number],
            (_, true, 0) => 9,
            (_, true, 1) => 11,
            (_, true, 2) => 13,
            (_, true, 4) => 16,
            (_, true, 6) => 19,
            _ => return Err(BROKEN),
        };
        self.push(left);
        self.push(right);
        self.emit(opcode, left.ty, 0);
        Ok(())
    }

    pub(super) fn unary(&mut self) -> Result<(), Unread> {
        let got = self.pair()?;
        let number = self.next()?;
        self.require(number == 0 && self.is_lane_float(got.ty))?;
        self.push(got);
        self.emit(opcode::FNEG, got.ty, 0);
        Ok(())
    }

    pub(super) fn cast(&mut self) -> Result<(), Unread> {
        let got = self.pair()?;
        let to = self.ty()?;
        let number = self.next()? as usize;
        let opcode = cast::OPCODES.get(number).copied();
        let opcode = opcode.ok_or(Unread::Unknown("a conversion"))?;
        if !cast::is_valid(&self.flat.types, opcode, got.ty, to) {
            return Err(Unread::Unknown("a conversion between these types"));
        }
        self.push(got);
        self.emit(opcode, to, 0);
        Ok(())
    }

    pub(super) fn freeze(&mut self) -> Result<(), Unread> {
        let got = self.pair()?;
        self.push(got);
        self.require(self.is_done() && self.is_first_class(got.ty))?;
        self.emit(opcode::FREEZE, got.ty, 0);
        Ok(())
    }

    pub(super) fn extract_element(&mut self) -> Result<(), Unread> {
        let vector = self.pair()?;
        let index = self.pair()?;
        let Type::Vector { element, .. } = self.get(vector.ty) else { return Err(BROKEN) };
        self.require(matches!(self.get(index.ty), Type::Integer(_)))?;
        self.push(vector);
        self.push(index);
        self.emit(opcode::EXTRACT_ELEMENT, element, 0);
        Ok(())
    }

    pub(super) fn insert_element(&mut self) -> Result<(), Unread> {
        let vector = self.pair()?;
        let Type::Vector { element, .. } = self.get(vector.ty) else { return Err(BROKEN) };
        let value = self.value(element)?;
        let index = self.pair()?;
        self.require(matches!(self.get(index.ty), Type::Integer(_)))?;
        [vector, value, index].into_iter().for_each(|got| self.push(got));
        self.emit(opcode::INSERT_ELEMENT, vector.ty, 0);
        Ok(())
    }

    pub(super) fn shuffle(&mut self) -> Result<(), Unread> {
        let first = self.pair()?;
        let second = self.value(first.ty)?;
        let mask = self.pair()?;
        let Type::Vector { element, lanes: from, scalable: scales } = self.get(first.ty) else {
            return Err(BROKEN);
        };
        let Type::Vector { lanes, scalable, element: of_mask } = self.get(mask.ty) else {
            return Err(BROKEN);
        };
        let count = lanes as usize;
        if count > MOST_LANES || self.get(of_mask) != Type::Integer(32) || scales != scalable {
            return Err(Unread::Unknown("a mask"));
        }
        let start = self.body.extras.len();
        match self.constant(mask) {
            Some(Constant::Zero) => self.body.extras.resize(start + count, 0),
            Some(Constant::Undefined) => self.body.extras.resize(start + count, u32::MAX),
            Some(Constant::Data(span)) if !scalable => {
                let bytes = self.flat.bytes(span).chunks_exact(4);
                let lane = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
                self.body.extras.extend(bytes.map(lane));
            }
            Some(Constant::Aggregate(parts)) if !scalable => {
                for part in self.flat.parts(parts) {
                    let lane = match self.constant(self.held.values[*part as usize]) {
                        Some(Constant::Integer(lane)) => lane as u32,
                        Some(Constant::Undefined) => u32::MAX,
                        _ => return Err(BROKEN),
                    };
                    self.body.extras.push(lane);
                }
            }
            _ => return Err(Unread::Unknown("a mask")),
        }
        let most = u64::from(from) * 2;
        let fits = |lane: &u32| *lane == u32::MAX || u64::from(*lane) < most;
        self.require(self.body.extras[start..].iter().all(fits))?;
        let ty = self.flat.types.plain(Type::Vector { lanes, element, scalable });
        self.push(first);
        self.push(second);
        self.emit(opcode::SHUFFLE_VECTOR, ty, 0);
        Ok(())
    }

    /// The type that an index leads to.
    pub(super) fn member(&self, ty: TypeId, index: u64) -> Result<TypeId, Unread> {
        match self.get(ty) {
            Type::Struct { fields, .. } => {
                let fields = self.flat.types.parts(fields);
                usize::try_from(index).ok().and_then(|at| fields.get(at).copied()).ok_or(BROKEN)
            }
            Type::Array(length, element) if index < length => Ok(element),
            _ => Err(BROKEN),
        }
    }

    pub(super) fn indices(&mut self, mut ty: TypeId) -> Result<TypeId, Unread> {
        self.require(!self.is_done())?;
        while !self.is_done() {
            let index = self.next()?;
            ty = self.member(ty, index)?;
            self.body.extras.push(u32::try_from(index).map_err(|_| BROKEN)?);
        }
        Ok(ty)
    }

    pub(super) fn extract_value(&mut self) -> Result<(), Unread> {
        let aggregate = self.pair()?;
        let ty = self.indices(aggregate.ty)?;
        self.push(aggregate);
        self.emit(opcode::EXTRACT_VALUE, ty, 0);
        Ok(())
    }

    pub(super) fn insert_value(&mut self) -> Result<(), Unread> {
        let aggregate = self.pair()?;
        let value = self.pair()?;
        let ty = self.indices(aggregate.ty)?;
        self.require(ty == value.ty)?;
        self.push(aggregate);
        self.push(value);
        self.emit(opcode::INSERT_VALUE, aggregate.ty, 0);
        Ok(())
    }

    pub(super) fn compare(&mut self) -> Result<(), Unread> {
        let left = self.pair()?;
        let right = self.value(left.ty)?;
        let predicate = self.next()? as u32;
        // Flags.
        if !self.is_done() {
            self.next()?;
        }
        self.require(self.is_done())?;
        let opcode = match (self.flat.types.lane(left.ty), predicate) {
            (Type::Float(_), 0..=15) => opcode::FCMP,
            (Type::Integer(_) | Type::Pointer(_), 32..=41) => opcode::ICMP,
            _ => return Err(BROKEN),
        };
        self.push(left);
        self.push(right);
        let ty = self.flat.types.bits(left.ty);
        self.emit(opcode, ty, predicate);
        Ok(())
    }

    pub(super) fn select(&mut self) -> Result<(), Unread> {
        let yes = self.pair()?;
        let no = self.value(yes.ty)?;
        let condition = self.pair()?;
        let shape = |ty| match self.get(ty) {
            Type::Vector { lanes, scalable, .. } => Some((lanes, scalable)),
            _ => None,
        };
        let fits = shape(condition.ty).is_none() || shape(condition.ty) == shape(yes.ty);
        let is_bit = self.flat.types.lane(condition.ty) == Type::Integer(1);
        self.require(fits && is_bit && self.is_storable(yes.ty))?;
        [condition, yes, no].into_iter().for_each(|got| self.push(got));
        self.emit(opcode::SELECT, yes.ty, 0);
        Ok(())
    }
}
