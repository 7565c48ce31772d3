//! Branches, exceptions and system instructions.

use super::{NZCV, Word, x};
use crate::{
    block::Exit,
    decode::{Class, decoded::Decoded, flag},
    verdict::Refusal,
};

/// Branches, exception generation and system instructions.
pub(super) fn branch_or_system(w: Word) -> Decoded {
    match w.bits(29, 3) {
        0b000 => Decoded::branch(Exit::Jump),
        0b100 => Decoded::branch(Exit::Call).writes([x(30)]),
        // `cbz`, `cbnz`, `tbz`, `tbnz`.
        0b001 | 0b101 => Decoded::branch(Exit::Conditional).reads([x(w.rd())]),
        0b010 => {
            let decoded = Decoded::branch(Exit::Conditional).reads([NZCV]);
            Decoded { follows: true, ..decoded }
        }
        0b110 => match w.bits(24, 2) {
            0b00 => exception(w),
            0b01 => system(w),
            _ => to_register(w),
        },
        _ => Decoded::new(Class::Microcode),
    }
}

/// Branches to a register.
fn to_register(w: Word) -> Decoded {
    let target = x(w.rn());
    match w.bits(21, 4) & 0b0111 {
        0b000 => Decoded::branch(Exit::Indirect).reads([target]),
        0b001 => Decoded::branch(Exit::IndirectCall).reads([target]).writes([x(30)]),
        // What authenticates the address first names no register.
        0b010 if w.bits(10, 6) != 0 => Decoded::branch(Exit::Return).reads([x(30)]),
        0b010 => Decoded::branch(Exit::Return).reads([target]),
        _ => Decoded::new(Class::Microcode),
    }
}

fn exception(w: Word) -> Decoded {
    let decoded = Decoded::new(Class::Microcode);
    let calls_system = w.bits(21, 3) == 0 && w.bits(0, 5) == 1;
    Decoded { flags: if calls_system { flag::SYSTEM_CALL } else { 0 }, ..decoded }
}

/// Hints, barriers, maintenance of caches, and registers of the system.
fn system(w: Word) -> Decoded {
    let register = x(w.rd());
    match (w.bits(19, 5), w.bits(12, 4)) {
        (0b00000, 2) => Decoded::new(Class::Nothing),
        (0b00000, 3) => Decoded::new(Class::Fence),
        // `cfinv` and its like, and immediates to the processor's state.
        (0b00000, _) => Decoded::new(Class::Alu).reads([NZCV]).writes([NZCV]),
        (0b00001, _) => Decoded::new(Class::Alu).reads([register]),
        (0b00101, _) => Decoded::new(Class::Microcode).writes([register]),
        (from, _) if from & 0b00100 != 0 => read(w),
        _ => {
            let flags = if w.bits(5, 15) == FLAGS { NZCV } else { None };
            Decoded::new(Class::Microcode).reads([register]).writes([flags])
        }
    }
}

/// The number of a system register whose `op0` is 3, without the highest bit.
const fn number(op1: u32, n: u32, m: u32, op2: u32) -> u32 {
    1 << 14 | op1 << 11 | n << 7 | m << 3 | op2
}

/// N, Z, C and V.
const FLAGS: u32 = number(3, 4, 2, 0);

/// `mrs`: what counts time or is random cannot be read.
fn read(w: Word) -> Decoded {
    const COUNTERS: [u32; 5] = [
        number(3, 14, 0, 1),
        number(3, 14, 0, 2),
        number(3, 14, 0, 5),
        number(3, 14, 0, 6),
        // The cycle counter.
        number(3, 9, 13, 0),
    ];
    const RANDOM: [u32; 2] = [number(3, 2, 4, 0), number(3, 2, 4, 1)];
    let from = w.bits(5, 15);
    if COUNTERS.contains(&from) {
        return Decoded::refused(Refusal::Clock);
    }
    if RANDOM.contains(&from) {
        return Decoded::refused(Refusal::Random);
    }
    let flags = if from == FLAGS { NZCV } else { None };
    Decoded::new(Class::Alu).reads([flags]).writes([x(w.rd())])
}
