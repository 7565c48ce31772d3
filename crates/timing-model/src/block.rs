//! A run of instructions with one entry and one exit, decoded once and executed many times.

use crate::{
    branch::Hashes,
    decode::{Operation, flag},
    sampling::BUCKETS,
    verdict::Refusal,
};

/// All of a block that counts where nothing follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Brief {
    /// Number of the interval in which it ran last.
    pub(crate) seen: u32,
    pub(crate) instructions: u32,
    /// Of the code vector.
    pub(crate) bucket: u8,
    /// Whether it ends in a branch.
    pub(crate) branches: bool,
    /// Whether there is more to it: a system call or a repeated instruction.
    pub(crate) is_special: bool,
}

/// How control leaves a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Fall,
    Conditional,
    Jump,
    Indirect,
    Call,
    IndirectCall,
    Return,
    /// A repeated string instruction, which may be its own successor.
    Repeat,
}

/// What an instruction of a block is to who reports its accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Index of the operation that accesses memory.
    pub(crate) operation: u16,
    /// Bytes from its first access to its last.
    pub(crate) span: u8,
}

/// A decoded block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Among all blocks, in the order of their translation.
    pub(crate) number: u32,
    pub(crate) start: u64,
    /// Address behind its last instruction.
    pub(crate) end: u64,
    /// Address of its last instruction.
    pub(crate) last: u64,
    pub(crate) exit: Exit,
    /// Instructions in it; fused ones share an operation.
    pub(crate) instructions: u64,
    pub(crate) uops: u64,
    /// First and last cache line of its code.
    pub(crate) lines: (u64, u64),
    pub(crate) operations: Vec<Operation>,
    /// Its instructions in order; fused ones have none.
    pub(crate) parts: Vec<Part>,
    /// Its accesses in order: slot of the address (see [`crate::Core::access`]) and whether it is
    /// the instruction's store.
    pub(crate) accesses: Vec<u16>,
    /// Of the branch it ends with.
    pub(crate) hashes: Hashes,
    /// Whether it holds a system call.
    pub(crate) system_call: bool,
    pub(crate) refusal: Option<Refusal>,
}

impl Block {
    pub(crate) fn empty(start: u64) -> Block {
        Block {
            number: 0,
            start,
            end: start,
            last: start,
            exit: Exit::Fall,
            instructions: 0,
            uops: 0,
            lines: (0, 0),
            operations: Vec::new(),
            parts: Vec::new(),
            accesses: Vec::new(),
            hashes: Hashes::default(),
            system_call: false,
            refusal: None,
        }
    }

    pub(crate) fn brief(&self) -> Brief {
        let hash = self.start.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        Brief {
            seen: u32::MAX,
            instructions: self.instructions as u32,
            bucket: (hash % BUCKETS as u64) as u8,
            branches: !matches!(self.exit, Exit::Fall | Exit::Repeat),
            is_special: self.system_call || self.exit == Exit::Repeat,
        }
    }

    /// Derive what follows from the operations.
    pub(crate) fn finish(&mut self) {
        self.hashes = Hashes::of(self.last);
        for (at, operation) in self.operations.iter().enumerate() {
            for (kind, wanted) in [(0, flag::LOAD), (1, flag::STORE)] {
                if operation.flags & wanted != 0 {
                    self.accesses.push((at * 2 + kind) as u16);
                }
            }
            self.system_call |= operation.flags & flag::SYSTEM_CALL != 0;
        }
    }
}
