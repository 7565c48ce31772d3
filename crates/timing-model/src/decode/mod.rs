//! From machine code to [`Operation`]s.
//!
//! A [`Decoder`] says what an instruction is and does: its [`Class`], what it waits for, what it
//! writes, how control leaves it. There is one for each instruction set. The processor file says what a class
//! costs, and `translator.rs` makes operations of both.

mod aarch64;
mod class;
mod decoded;
mod operation;
mod riscv64;
mod translator;
mod x86_64;

pub use class::Class;
pub use operation::Cost;
pub(crate) use operation::{Operation, flag, register};
pub(crate) use translator::Translator;

use crate::Architecture;
use decoded::Decoded;

/// Sets of ports by index; [`Operation`]s hold the index.
pub(crate) const PORT_SETS: usize = 64;

/// Reads the instructions of one set.
trait Decoder: Send {
    /// Decode one instruction. What is none, or is not known, is [`Class::Microcode`].
    fn decode(&mut self, address: u64, bytes: &[u8]) -> Decoded;
}

/// The decoder of an instruction set.
fn decoder(architecture: Architecture) -> Box<dyn Decoder> {
    match architecture {
        Architecture::X86_64 => Box::new(x86_64::X86_64::new()),
        Architecture::Aarch64 => Box::new(aarch64::Aarch64),
        Architecture::Riscv64 => Box::new(riscv64::Riscv64),
    }
}

#[cfg(test)]
mod tests;
