//! AArch64: base instructions, floating point and Advanced SIMD.
//!
//! A table of our own over the fixed 32-bit encodings (Arm Architecture Reference Manual, DDI 0487, chapter C4, whose
//! names the functions have). What the model asks for stands at fixed bits, so that this is shorter than taking apart
//! a disassembler's operands, and none that is written in Rust says which registers an instruction reads and
//! writes.

mod integer;
mod memory;
mod system;
mod vector;

use super::{Class, Decoder, decoded::Decoded};

/// Decodes AArch64.
pub(super) struct Aarch64;

impl Decoder for Aarch64 {
    fn decode(&mut self, _: u64, bytes: &[u8]) -> Decoded {
        let Ok(bytes) = bytes.try_into() else { return Decoded::new(Class::Microcode) };
        let word = Word(u32::from_le_bytes(bytes));
        match word.bits(25, 4) {
            0b1000 | 0b1001 => integer::immediate(word),
            0b1010 | 0b1011 => system::branch_or_system(word),
            0b0101 | 0b1101 => integer::registers(word),
            0b0111 | 0b1111 => vector::vector(word),
            op if op & 0b0101 == 0b0100 => memory::access(word),
            _ => Decoded::new(Class::Microcode),
        }
    }
}

/// The model's register for the stack pointer; those of integers are numbered as in the manual.
const STACK: u8 = 31;
/// The model's first vector register.
const VECTOR: u8 = 32;
/// The model's register for N, Z, C and V.
const NZCV: Option<u8> = Some(64);

/// An integer register, of which number 31 is the zero register.
fn x(number: u32) -> Option<u8> {
    (number != 31).then_some(number as u8)
}

/// An integer register, of which number 31 is the stack pointer.
fn x_or_sp(number: u32) -> Option<u8> {
    Some(if number == 31 { STACK } else { number as u8 })
}

/// A vector register.
fn v(number: u32) -> Option<u8> {
    Some(VECTOR + (number % 32) as u8)
}

/// An instruction's encoding.
#[derive(Clone, Copy)]
struct Word(u32);

impl Word {
    /// Some bits, as a number.
    fn bits(self, low: u32, count: u32) -> u32 {
        self.0 >> low & ((1 << count) - 1)
    }

    fn bit(self, at: u32) -> bool {
        self.0 >> at & 1 == 1
    }

    fn rd(self) -> u32 {
        self.bits(0, 5)
    }

    fn rn(self) -> u32 {
        self.bits(5, 5)
    }

    fn ra(self) -> u32 {
        self.bits(10, 5)
    }

    fn rm(self) -> u32 {
        self.bits(16, 5)
    }
}
