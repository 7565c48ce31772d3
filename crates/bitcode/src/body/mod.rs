//! Bodies of functions.

mod calls;
mod control;
mod memory;
mod opcode;
mod plain;

use crate::{
    Body, Constant, Fate, Flat, Instruction, Kind, Operand, Span, Type, TypeId, Types, Unread,
    bits::{Entry, Record, Stream},
    constants, types,
};

const BROKEN: Unread = Unread::Broken("the body of a function");

/// An operand as it was read.
#[derive(Clone, Copy)]
pub(crate) struct Got {
    operand: Operand,
    ty: TypeId,
    /// The number of a value that comes later; [`HERE`] where it is there.
    later: u32,
}

/// In the place of a number of a value that comes later.
const HERE: u32 = u32::MAX;

/// What is held while a body is read; kept from one to the next for its memory alone.
#[derive(Default)]
pub(crate) struct Decoder {
    /// All values by their numbers, those of the module first.
    values: Vec<Got>,
    /// Operands that come later: where they stand, their numbers and types.
    later: Vec<(u32, u32, TypeId)>,
    bundles: Vec<Got>,
}

/// One body.
struct Reading<'r> {
    flat: &'r mut Flat,
    table: &'r [TypeId],
    fates: &'r [Fate],
    alloca_space: u32,
    held: &'r mut Decoder,
    body: &'r mut Body,
    values: Vec<u64>,
    /// The next of the record's values.
    at: usize,
    /// Arguments of the function.
    arguments: u32,
    returned: TypeId,
    blocks: u32,
    /// Of the instruction that is read.
    operands: u32,
    extras: u32,
    mentions: bool,
    goes: bool,
}

impl Decoder {
    #[expect(clippy::too_many_arguments, reason = "parts of one reader, borrowed apart")]
    pub(crate) fn read(
        &mut self,
        stream: &mut Stream<'_>,
        flat: &mut Flat,
        table: &[TypeId],
        fates: &[Fate],
        alloca_space: u32,
        record: &mut Record,
        body: &mut Body,
    ) -> Result<(), Unread> {
        flat.forget();
        self.values.truncate(flat.shared);
        for value in &flat.values[self.values.len()..] {
            let id = self.values.len() as u32;
            self.values.push(Got { operand: Operand::Value(id), ty: value.ty, later: HERE });
        }
        self.later.clear();
        self.bundles.clear();
        let signature = flat.functions[body.function as usize].ty;
        let Type::Function { parts, .. } = flat.types.get(signature) else { return Err(BROKEN) };
        let arguments = parts.end - parts.start - 1;
        for place in parts.range().skip(1) {
            let ty = flat.types.part(place);
            flat.values.push(crate::Value { ty, kind: Kind::Local });
            let operand = Operand::Local((self.values.len() - flat.shared) as u32);
            self.values.push(Got { operand, ty, later: HERE });
        }
        let returned = flat.types.part(parts.start as usize);
        let mut reading = Reading {
            flat,
            table,
            fates,
            alloca_space,
            held: self,
            body,
            values: Vec::new(),
            at: 0,
            arguments,
            returned,
            blocks: 0,
            operands: 0,
            extras: 0,
            mentions: false,
            goes: false,
        };
        loop {
            match stream.entry()? {
                Entry::End => break,
                Entry::Block(11) if reading.body.instructions.is_empty() && !reading.goes => {
                    constants::read(stream, reading.flat, table, record)?;
                    reading.constants();
                }
                // Names, metadata, orders of uses.
                Entry::Block(id @ (14 | 15 | 16 | 18)) => stream.walk(id, record)?,
                Entry::Block(_) => return Err(Unread::Unknown("a block in a function")),
                Entry::Record(id) => {
                    stream.record(id, record)?;
                    std::mem::swap(&mut reading.values, &mut record.values);
                    let found = reading.record(record.code, stream.left());
                    std::mem::swap(&mut reading.values, &mut record.values);
                    found?;
                }
            }
        }
        reading.finish()
    }
}

fn later(id: u32, ty: TypeId) -> Got {
    Got { operand: Operand::Local(u32::MAX), ty, later: id }
}

impl Reading<'_> {
    fn record(&mut self, code: u64, left: u64) -> Result<(), Unread> {
        match code {
            1 => {
                let count = *self.values.first().ok_or(BROKEN)?;
                if self.blocks != 0 || count == 0 || count > left {
                    return Err(BROKEN);
                }
                self.blocks = u32::try_from(count).map_err(|_| BROKEN)?;
                return Ok(());
            }
            // Lines, and users of the addresses of blocks.
            33 | 35 | 60 => return Ok(()),
            61..=65 => {
                self.mentions = true;
                return Ok(());
            }
            _ => {}
        }
        if self.body.blocks.len() as u32 >= self.blocks {
            return Err(BROKEN);
        }
        if self.body.instructions.len() > self.flat.most {
            return Err(Unread::Unknown("more instructions than bytes"));
        }
        self.at = 0;
        self.operands = self.body.operands.len() as u32;
        self.extras = self.body.extras.len() as u32;
        self.instruction(code)
    }

    fn finish(&mut self) -> Result<(), Unread> {
        if self.body.blocks.len() as u32 != self.blocks || self.blocks == 0 {
            return Err(BROKEN);
        }
        if !self.held.bundles.is_empty() || self.mentions && self.goes {
            return Err(BROKEN);
        }
        for (place, id, ty) in &self.held.later {
            let found = self.held.values.get(*id as usize).ok_or(BROKEN)?;
            if found.ty != *ty {
                return Err(BROKEN);
            }
            self.body.operands[*place as usize] = found.operand;
        }
        Ok(())
    }

    /// Number the constants that were read.
    fn constants(&mut self) {
        for value in &self.flat.values[self.held.values.len()..] {
            let id = self.held.values.len() as u32;
            self.held.values.push(Got { operand: Operand::Value(id), ty: value.ty, later: HERE });
        }
    }

    /// The number of the next value.
    fn now(&self) -> u32 {
        self.held.values.len() as u32
    }

    fn next(&mut self) -> Result<u64, Unread> {
        let value = self.values.get(self.at).copied().ok_or(BROKEN)?;
        self.at += 1;
        Ok(value)
    }

    fn is_done(&self) -> bool {
        self.at >= self.values.len()
    }

    fn ty(&mut self) -> Result<TypeId, Unread> {
        types::of(self.table, self.next()?)
    }

    fn block(&mut self) -> Result<u32, Unread> {
        let block = self.next()?;
        if block >= u64::from(self.blocks) {
            return Err(BROKEN);
        }
        Ok(block as u32)
    }

    /// A value, with its type where it comes later.
    #[inline]
    fn pair(&mut self) -> Result<Got, Unread> {
        let id = self.now().wrapping_sub(self.next()? as u32);
        match self.held.values.get(id as usize) {
            Some(got) => Ok(*got),
            None => self.ty().map(|ty| later(id, ty)),
        }
    }

    /// A value of a type that is known.
    #[inline]
    fn value(&mut self, ty: TypeId) -> Result<Got, Unread> {
        if self.flat.types.get(ty) == Type::Other("metadata") {
            self.next()?;
            return Ok(Got { operand: Operand::Metadata(ty), ty, later: HERE });
        }
        let id = self.now().wrapping_sub(self.next()? as u32);
        self.typed(id, ty)
    }

    #[inline]
    fn typed(&self, id: u32, ty: TypeId) -> Result<Got, Unread> {
        match self.held.values.get(id as usize) {
            Some(got) if got.ty != ty => Err(BROKEN),
            Some(got) => Ok(*got),
            None => Ok(later(id, ty)),
        }
    }

    #[inline]
    fn push(&mut self, got: Got) {
        if got.later != HERE {
            self.held.later.push((self.body.operands.len() as u32, got.later, got.ty));
        }
        self.body.operands.push(got.operand);
    }

    fn push_block(&mut self, block: u32) {
        self.body.operands.push(Operand::Block(block));
    }

    /// The instruction whose operands and extras were pushed.
    fn emit(&mut self, opcode: u32, ty: TypeId, detail: u32) {
        let place = self.body.instructions.len() as u32;
        let operands = Span { start: self.operands, end: self.body.operands.len() as u32 };
        let extras = Span { start: self.extras, end: self.body.extras.len() as u32 };
        self.body.instructions.push(Instruction { opcode, ty, detail, operands, extras });
        if ty != Types::VOID {
            let operand = Operand::Local(self.arguments + place);
            self.held.values.push(Got { operand, ty, later: HERE });
        }
    }

    /// The same for an instruction that ends a block.
    fn terminate(&mut self, opcode: u32, ty: TypeId) {
        self.emit(opcode, ty, 0);
        self.body.blocks.push(self.body.instructions.len() as u32);
    }

    fn get(&self, ty: TypeId) -> Type {
        self.flat.types.get(ty)
    }

    /// Whether a value of this type can be in memory or a register.
    fn is_first_class(&self, ty: TypeId) -> bool {
        !matches!(
            self.get(ty),
            Type::Void | Type::Function { .. } | Type::Other("label" | "metadata")
        )
    }

    fn is_storable(&self, ty: TypeId) -> bool {
        self.is_first_class(ty) && self.get(ty) != Type::Other("token")
    }

    fn require(&self, holds: bool) -> Result<(), Unread> {
        if holds { Ok(()) } else { Err(BROKEN) }
    }

    fn is_pointer(&self, ty: TypeId) -> bool {
        matches!(self.get(ty), Type::Pointer(_))
    }

    fn is_lane_integer(&self, ty: TypeId) -> bool {
        matches!(self.flat.types.lane(ty), Type::Integer(_))
    }

    fn is_lane_float(&self, ty: TypeId) -> bool {
        matches!(self.flat.types.lane(ty), Type::Float(_))
    }

    fn constant(&self, got: Got) -> Option<Constant> {
        let Operand::Value(id) = got.operand else { return None };
        match self.flat.values[id as usize].kind {
            Kind::Constant(place) => Some(self.flat.constants[place as usize]),
            _ => None,
        }
    }

    fn instruction(&mut self, code: u64) -> Result<(), Unread> {
        if !self.held.bundles.is_empty() && !matches!(code, 13 | 34 | 55) {
            return Err(BROKEN);
        }
        match code {
            2 => self.binary(),
            3 => self.cast(),
            6 => self.extract_element(),
            7 => self.insert_element(),
            8 => self.shuffle(),
            10 => self.ret(),
            11 => self.branch(),
            12 => self.switch(),
            13 => self.invoke(),
            15 => {
                self.terminate(opcode::UNREACHABLE, Types::VOID);
                Ok(())
            }
            16 => self.phi(),
            19 => self.alloca(),
            20 | 41 => self.load(code == 41),
            23 => self.next_argument(),
            26 => self.extract_value(),
            27 => self.insert_value(),
            28 => self.compare(),
            29 => self.select(),
            31 => self.indirect_branch(),
            34 => self.call(),
            36 => self.fence(),
            39 => self.resume(),
            43 => self.element_pointer(),
            44 | 45 => self.store(code == 45),
            46 => self.compare_exchange(),
            47 => self.landing_pad(),
            48 => self.cleanup_ret(),
            49 => self.catch_ret(),
            50 => self.pad(opcode::CATCH_PAD),
            51 => self.pad(opcode::CLEANUP_PAD),
            52 => self.catch_switch(),
            55 => self.bundle(),
            56 => self.unary(),
            58 => self.freeze(),
            59 => self.read_modify_write(),
            _ => Err(Unread::Unknown("an instruction of another kind")),
        }
    }
}
