//! What instructions hold besides opcode and operands.

use crate::{Instruction, Opcode, Type};

impl<'m> Instruction<'m> {
    /// The type an `alloca` makes room for or a `getelementptr` steps through.
    #[must_use]
    pub fn accessed_type(self) -> Option<Type<'m>> {
        let ask = match self.opcode() {
            Opcode::Alloca => self.library.symbols.allocated_type,
            Opcode::GetElementPtr => self.library.symbols.indexed_type,
            _ => return None,
        };
        // SAFETY: it is an instruction of the kind asked.
        Some(Type::borrow(self.library, unsafe { ask(self.raw.as_ptr()) }))
    }

    /// The indices of `extractvalue` and `insertvalue`; empty for others.
    #[must_use]
    pub fn indices(self) -> &'m [u32] {
        if !matches!(self.opcode(), Opcode::ExtractValue | Opcode::InsertValue) {
            return &[];
        }
        // SAFETY: it is an instruction with indices.
        let count = unsafe { (self.library.symbols.count_indices)(self.raw.as_ptr()) };
        // SAFETY: as above.
        let start = unsafe { (self.library.symbols.indices)(self.raw.as_ptr()) };
        if start.is_null() {
            return &[];
        }
        // SAFETY: the instruction holds as many indices as it counts, and they stay while the
        // module is borrowed.
        unsafe { std::slice::from_raw_parts(start, count as usize) }
    }

    /// The mask of a `shufflevector`, -1 for lanes that do not matter; empty for others.
    pub fn mask(self) -> impl Iterator<Item = i32> {
        let count = match self.opcode() {
            // SAFETY: it is a shuffle.
            Opcode::ShuffleVector => unsafe {
                (self.library.symbols.count_mask)(self.raw.as_ptr())
            },
            _ => 0,
        };
        // SAFETY: the index is below the count.
        (0..count)
            .map(move |at| unsafe { (self.library.symbols.mask_value)(self.raw.as_ptr(), at) })
    }

    /// One number for what makes a memory access or landing pad special: volatile, the ordering of
    /// an atomic, the operation of an `atomicrmw`, a cleanup. 0 for the plain ones.
    #[must_use]
    pub fn manner(self) -> u32 {
        let symbols = &self.library.symbols;
        let raw = self.raw.as_ptr();
        match self.opcode() {
            Opcode::Load | Opcode::Store | Opcode::AtomicRMW | Opcode::AtomicCmpXchg => {
                // SAFETY: it is an access to memory.
                let volatile = unsafe { (symbols.is_volatile)(raw) }.unsigned_abs();
                let ordering = match self.opcode() {
                    Opcode::AtomicCmpXchg => 0,
                    // SAFETY: it is an access that has an ordering.
                    _ => unsafe { (symbols.ordering)(raw) },
                };
                let operation = match self.opcode() {
                    // SAFETY: it is an `atomicrmw`.
                    Opcode::AtomicRMW => unsafe { (symbols.atomic_operation)(raw) },
                    _ => 0,
                };
                volatile | ordering << 1 | operation << 8
            }
            // SAFETY: it is a landing pad.
            Opcode::LandingPad => unsafe { (symbols.is_cleanup)(raw) }.unsigned_abs(),
            _ => 0,
        }
    }
}
