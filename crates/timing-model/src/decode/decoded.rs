//! What an instruction is and does, whatever that costs.

use super::{Class, flag, register};
use crate::{block::Exit, verdict::Refusal};

/// What an instruction leads a fused pair as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// It leads none.
    No,
    /// A comparison.
    Compare,
    /// An addition, a subtraction or a logical operation.
    Arithmetic,
}

/// What an address in memory is made of, where that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A register, and 0 to 2047 bytes on.
    Near,
    /// Of an index, too.
    Indexed,
    /// None, or another one.
    Other,
}

/// What an instruction does with a stack pointer that a stack engine keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stack {
    /// Bytes by which it moves it, as pushes and pops do.
    pub(super) moved: i32,
    /// Whether it reads it as a register like others.
    pub(super) read: bool,
    /// Whether it writes it as a register like others.
    pub(super) written: bool,
}

/// One instruction, of whatever set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) class: Class,
    /// Of [`flag`]: accesses, and what makes an instruction a rare one by itself.
    pub(super) flags: u16,
    /// Bytes of its memory accesses.
    pub(super) bytes: u8,
    pub(super) sources: [u8; 4],
    pub(super) address: [u8; 2],
    pub(super) form: Form,
    /// Whether its load and its operation are too much for one µop where the address has an index.
    pub(super) parts: bool,
    pub(super) stack: Stack,
    pub(super) destinations: [u8; 3],
    /// Whether it works on vector registers.
    pub(super) vector: bool,
    /// Whether it copies a register to another one, which renaming can do.
    pub(super) copies: bool,
    /// Whether it clears its register whatever was in it.
    pub(super) clears: bool,
    pub(super) lead: Lead,
    /// Whether it is a branch that fuses with a leader before it.
    pub(super) follows: bool,
    /// How control leaves it.
    pub(super) exit: Exit,
    /// Why a program that gets here cannot be timed.
    pub(super) refusal: Option<Refusal>,
    /// Register of an address that is moved on besides: an addition of its own.
    pub(super) moved_on: Option<u8>,
    /// Further registers of a load or store of several, each a µop.
    pub(super) further: u8,
    /// Bytes from its first access to its last, where it makes several: the emulator reports each.
    pub(super) span: u8,
    /// Whether its bytes end before it does.
    pub(super) cut: bool,
}

impl Decoded {
    pub(super) fn new(class: Class) -> Decoded {
        Decoded {
            class,
            flags: 0,
            bytes: 0,
            sources: [register::NONE; 4],
            address: [register::NONE; 2],
            form: Form::Other,
            parts: false,
            stack: Stack::default(),
            destinations: [register::SINK; 3],
            vector: false,
            copies: false,
            clears: false,
            lead: Lead::No,
            follows: false,
            exit: Exit::Fall,
            refusal: None,
            moved_on: None,
            further: 0,
            span: 0,
            cut: false,
        }
    }

    /// A branch.
    pub(super) fn branch(exit: Exit) -> Decoded {
        Decoded { exit, ..Decoded::new(Class::Branch) }
    }

    /// A program that gets here cannot be timed.
    pub(super) fn refused(refusal: Refusal) -> Decoded {
        Decoded { refusal: Some(refusal), ..Decoded::new(Class::Microcode) }
    }

    /// It reads registers; what does not fit is dropped.
    pub(super) fn reads<const N: usize>(mut self, all: [Option<u8>; N]) -> Decoded {
        for one in all.into_iter().flatten() {
            put(&mut self.sources, one, register::NONE);
        }
        self
    }

    /// It writes registers; what does not fit is dropped.
    pub(super) fn writes<const N: usize>(mut self, all: [Option<u8>; N]) -> Decoded {
        for one in all.into_iter().flatten() {
            put(&mut self.destinations, one, register::SINK);
        }
        self
    }

    /// It accesses so many bytes of memory, as `access` of [`flag`] says, at an address made of registers.
    pub(super) fn at<const N: usize>(
        mut self,
        access: u16,
        bytes: u8,
        address: [Option<u8>; N],
    ) -> Decoded {
        self.flags |= access;
        self.bytes = bytes;
        for one in address.into_iter().flatten() {
            put(&mut self.address, one, register::NONE);
        }
        self
    }

    /// It works on vector registers.
    pub(super) fn on_vectors(mut self) -> Decoded {
        self.vector = true;
        self
    }

    /// Whether it loads or stores.
    pub(super) fn accesses(&self) -> bool {
        self.flags & (flag::LOAD | flag::STORE) != 0
    }
}

/// Put a register among others, once.
fn put(all: &mut [u8], one: u8, empty: u8) {
    if !all.contains(&one)
        && let Some(place) = all.iter_mut().find(|place| **place == empty)
    {
        *place = one;
    }
}
