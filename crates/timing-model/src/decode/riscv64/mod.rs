//! RV64GC: base instructions, multiplication, atomic operations, floating point and the compressed forms; of bit
//! manipulation, addresses (Zba) and basics (Zbb).
//!
//! A table of our own over the encodings (The RISC-V Instruction Set Manual, volume I, chapter "RV32/64G Instruction
//! Set Listings"): registers stand at fixed bits, and an opcode with its function codes names the work.

mod compressed;

use super::{Class, Decoder, decoded::Decoded, flag};
use crate::{block::Exit, verdict::Refusal};

/// Decodes RV64GC.
pub(super) struct Riscv64;

impl Decoder for Riscv64 {
    fn decode(&mut self, _: u64, bytes: &[u8]) -> Decoded {
        match *bytes {
            [low, high] => {
                let half = u16::from_le_bytes([low, high]);
                match compressed::expand(half) {
                    Some(word) => whole(Word(word)),
                    None => Decoded::new(Class::Microcode),
                }
            }
            [a, b, c, d] => whole(Word(u32::from_le_bytes([a, b, c, d]))),
            _ => Decoded::new(Class::Microcode),
        }
    }
}

/// The model's first floating-point register; those of integers are numbered as in the manual.
const FLOAT: u8 = 32;
/// The model's register for rounding mode and accrued exceptions.
const STATE: Option<u8> = Some(64);

/// An integer register, of which number 0 is zero.
fn x(number: u32) -> Option<u8> {
    (number != 0).then_some(number as u8)
}

/// A floating-point register.
fn f(number: u32) -> Option<u8> {
    Some(FLOAT + number as u8)
}

/// Whether a register holds return addresses, as the manual's hints for return stacks have it.
fn links(number: u32) -> bool {
    matches!(number, 1 | 5)
}

/// An instruction's encoding, of 32 bits.
#[derive(Clone, Copy)]
struct Word(u32);

impl Word {
    /// Some bits, as a number.
    fn bits(self, low: u32, count: u32) -> u32 {
        self.0 >> low & ((1 << count) - 1)
    }

    fn rd(self) -> u32 {
        self.bits(7, 5)
    }

    fn rs1(self) -> u32 {
        self.bits(15, 5)
    }

    fn rs2(self) -> u32 {
        self.bits(20, 5)
    }

    fn rs3(self) -> u32 {
        self.bits(27, 5)
    }

    /// `funct3`.
    fn function(self) -> u32 {
        self.bits(12, 3)
    }
}

fn whole(w: Word) -> Decoded {
    let (rd, rs1, rs2) = (w.rd(), w.rs1(), w.rs2());
    let address = [x(rs1), None];
    match w.bits(0, 7) {
        0x03 => plain(flag::LOAD, w.function() & 3, address).writes([x(rd)]),
        0x07 => plain(flag::LOAD, w.function() & 3, address).writes([f(rd)]).on_vectors(),
        0x23 => plain(flag::STORE, w.function() & 3, address).reads([x(rs2)]),
        0x27 => plain(flag::STORE, w.function() & 3, address).reads([f(rs2)]).on_vectors(),
        // Fences, of memory and of code.
        0x0f => Decoded::new(Class::Fence),
        0x13 | 0x1b => immediate(w),
        0x17 | 0x37 => Decoded::new(Class::Alu).writes([x(rd)]),
        0x33 | 0x3b => registers(w),
        0x2f => atomic(w),
        0x63 => Decoded::branch(Exit::Conditional).reads([x(rs1), x(rs2)]),
        0x6f => {
            let exit = if links(rd) { Exit::Call } else { Exit::Jump };
            Decoded::branch(exit).writes([x(rd)])
        }
        0x67 => {
            let exit = match (links(rd), links(rs1)) {
                (true, _) => Exit::IndirectCall,
                (false, true) => Exit::Return,
                (false, false) => Exit::Indirect,
            };
            Decoded::branch(exit).reads([x(rs1)]).writes([x(rd)])
        }
        0x43 | 0x47 | 0x4b | 0x4f => Decoded::new(Class::FloatFma)
            .reads([f(rs1), f(rs2), f(w.rs3())])
            .writes([f(rd)])
            .on_vectors(),
        0x53 => float(w),
        0x73 => system(w),
        _ => Decoded::new(Class::Microcode),
    }
}

/// A load or a store of 2 to the `size` bytes by itself.
fn plain(access: u16, size: u32, address: [Option<u8>; 2]) -> Decoded {
    Decoded::new(Class::Nothing).at(access, 1 << size, address)
}

/// Operations on a register and an immediate.
fn immediate(w: Word) -> Decoded {
    let (rd, rs1) = (w.rd(), w.rs1());
    let is_addition = w.function() == 0;
    if w.bits(0, 7) == 0x13 && is_addition && w.bits(20, 12) == 0 {
        if rd == 0 {
            return Decoded::new(Class::Nothing);
        }
        if rs1 != 0 {
            let decoded = Decoded::new(Class::Move).reads([x(rs1)]).writes([x(rd)]);
            return Decoded { copies: rd != rs1, ..decoded };
        }
    }
    let class = match w.function() {
        // Counts of bits and extensions are coded among the shifts.
        1 if w.bits(25, 7) == 0x30 && w.bits(20, 5) == 2 => Class::Multiply64,
        1 if w.bits(25, 7) == 0x30 => Class::Alu,
        1 | 5 => Class::Shift,
        _ => Class::Alu,
    };
    Decoded::new(class).reads([x(rs1)]).writes([x(rd)])
}

/// Operations on two registers.
fn registers(w: Word) -> Decoded {
    let short = w.bits(0, 7) == 0x3b;
    let class = match (w.bits(25, 7), w.function()) {
        (0x01, 0) if short => Class::Multiply,
        (0x01, 0) => Class::Multiply64,
        (0x01, 1..=3) => Class::MultiplyWide,
        (0x01, _) if short => Class::Divide32,
        (0x01, _) => Class::Divide64,
        (0x10, 2 | 4 | 6) => Class::Lea,
        (0x00 | 0x20 | 0x30, 1 | 5) => Class::ShiftVariable,
        _ => Class::Alu,
    };
    Decoded::new(class).reads([x(w.rs1()), x(w.rs2())]).writes([x(w.rd())])
}

/// Load-reserved, store-conditional and operations on memory.
fn atomic(w: Word) -> Decoded {
    let (size, address) = (w.function() & 3, [x(w.rs1()), None]);
    match w.bits(27, 5) {
        0b00010 => plain(flag::LOAD, size, address).writes([x(w.rd())]),
        operation => {
            let stores = operation == 0b00011;
            let access = if stores { flag::STORE } else { flag::LOAD | flag::STORE };
            Decoded::new(Class::Atomic)
                .at(access, 1 << size, address)
                .reads([x(w.rs2())])
                .writes([x(w.rd())])
        }
    }
}

/// Floating-point operations but multiplication and addition in one.
fn float(w: Word) -> Decoded {
    let (rd, rs1, rs2, double) = (w.rd(), w.rs1(), w.rs2(), w.bits(25, 2) == 1);
    let two = |class| Decoded::new(class).reads([f(rs1), f(rs2)]).writes([f(rd)]);
    let one = |class| Decoded::new(class).reads([f(rs1)]).writes([f(rd)]);
    let to_integer = |class| Decoded::new(class).reads([f(rs1)]).writes([x(rd)]);
    let from_integer = |class| Decoded::new(class).reads([x(rs1)]).writes([f(rd)]);
    let decoded = match w.bits(27, 5) {
        0b00000 | 0b00001 => two(Class::FloatAdd),
        0b00010 => two(Class::FloatMultiply),
        0b00011 if double => two(Class::FloatDivideDouble),
        0b00011 => two(Class::FloatDivideSingle),
        0b01011 if double => one(Class::FloatRootDouble),
        0b01011 => one(Class::FloatRootSingle),
        // The sign of one register on the other; of itself it is a move.
        0b00100 if rs1 == rs2 && w.function() == 0 => {
            Decoded { copies: rd != rs1, ..one(Class::VectorMove) }
        }
        0b00100 => two(Class::VectorLogic),
        0b00101 => two(Class::FloatMinMax),
        0b01000 => one(Class::ConvertFloat),
        0b10100 => Decoded::new(Class::FloatCompare).reads([f(rs1), f(rs2)]).writes([x(rd)]),
        0b11000 => to_integer(Class::ConvertToInteger),
        0b11010 => from_integer(Class::ConvertFromInteger),
        0b11100 => to_integer(Class::VectorToInteger),
        0b11110 => from_integer(Class::IntegerToVector),
        _ => Decoded::new(Class::Microcode),
    };
    decoded.on_vectors()
}

/// Calls of the system, and control registers: what counts time or is random cannot be read.
fn system(w: Word) -> Decoded {
    /// `cycle`, `time`, `instret` and the counters behind them.
    const COUNTERS: std::ops::RangeInclusive<u32> = 0xc00..=0xc1f;
    const SEED: u32 = 0x015;
    if w.function() == 0 {
        let calls_system = w.bits(7, 25) == 0;
        let flags = if calls_system { flag::SYSTEM_CALL } else { 0 };
        return Decoded { flags, ..Decoded::new(Class::Microcode) };
    }
    let register = w.bits(20, 12);
    if COUNTERS.contains(&register) {
        return Decoded::refused(Refusal::Clock);
    }
    if register == SEED {
        return Decoded::refused(Refusal::Random);
    }
    let source = if w.function() & 4 == 0 { x(w.rs1()) } else { None };
    Decoded::new(Class::Microcode).reads([source, STATE]).writes([x(w.rd()), STATE])
}
