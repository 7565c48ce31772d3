//! Data processing with an immediate and with registers.

use super::{NZCV, Word, x, x_or_sp};
use crate::decode::{
    Class,
    decoded::{Decoded, Lead},
};

/// Data processing (immediate).
pub(super) fn immediate(w: Word) -> Decoded {
    let (rd, rn, sets_flags) = (w.rd(), w.rn(), w.bit(29));
    match w.bits(23, 3) {
        // Addresses relative to the instruction.
        0b000 | 0b001 => Decoded::new(Class::Alu).writes([x(rd)]),
        // Addition and subtraction.
        0b010 => {
            let decoded = Decoded::new(Class::Alu).reads([x_or_sp(rn)]);
            if sets_flags { compared(decoded, rd) } else { decoded.writes([x_or_sp(rd)]) }
        }
        0b011 => Decoded::new(Class::Alu).reads([x_or_sp(rn)]).writes([x_or_sp(rd)]),
        // Logic.
        0b100 => {
            let decoded = Decoded::new(Class::Alu).reads([x(rn)]);
            match w.bits(29, 2) {
                0b11 => compared(decoded, rd),
                _ => decoded.writes([x_or_sp(rd)]),
            }
        }
        // Moves of constants, one of which keeps the other bits.
        0b101 => {
            let kept = if w.bits(29, 2) == 0b11 { x(rd) } else { None };
            Decoded::new(Class::Alu).reads([kept]).writes([x(rd)])
        }
        // Bit fields, which simple shifts and extensions are.
        0b110 => match w.bits(29, 2) {
            0b01 => Decoded::new(Class::ShiftedAlu).reads([x(rn), x(rd)]).writes([x(rd)]),
            _ => Decoded::new(Class::Shift).reads([x(rn)]).writes([x(rd)]),
        },
        _ => {
            let class = if rn == w.rm() { Class::Shift } else { Class::ShiftDouble };
            Decoded::new(class).reads([x(rn), x(w.rm())]).writes([x(rd)])
        }
    }
}

/// What sets the flags; without another result it is a comparison.
fn compared(decoded: Decoded, rd: u32) -> Decoded {
    let lead = if rd == 31 { Lead::Compare } else { Lead::No };
    Decoded { lead, ..decoded.writes([x(rd), NZCV]) }
}

/// Data processing (register).
pub(super) fn registers(w: Word) -> Decoded {
    match (w.bit(28), w.bit(24)) {
        (false, false) => logical(w),
        (false, true) => addition(w),
        (true, false) => one_or_two_sources(w),
        (true, true) => multiplication(w),
    }
}

/// Logic of a shifted register.
fn logical(w: Word) -> Decoded {
    let (rd, rn, rm) = (w.rd(), w.rn(), w.rm());
    let (operation, inverted, amount) = (w.bits(29, 2), w.bit(21), w.bits(10, 6));
    let plain = amount == 0 && w.bits(22, 2) == 0;
    if operation == 0b01 && rn == 31 && !inverted && plain {
        let decoded = Decoded::new(Class::Move).reads([x(rm)]).writes([x(rd)]);
        return Decoded { copies: rd != rm, ..decoded };
    }
    let sets_flags = operation == 0b11;
    let class = if sets_flags && !plain { Class::ShiftedAlu } else { Class::Alu };
    let decoded = Decoded::new(class).reads([x(rn), x(rm)]);
    if sets_flags { compared(decoded, rd) } else { decoded.writes([x(rd)]) }
}

/// Addition and subtraction of a shifted or extended register.
fn addition(w: Word) -> Decoded {
    let (rd, rn, rm, sets_flags) = (w.rd(), w.rn(), w.rm(), w.bit(29));
    let extended = w.bit(21);
    // A shift to the left by at most four places takes no longer, nor does what extends nothing.
    let simple = match extended {
        true => w.bits(13, 2) == 0b11 && w.bits(10, 3) == 0,
        false => w.bits(10, 6) == 0 || w.bits(22, 2) == 0 && w.bits(10, 6) <= 4,
    };
    let class = if simple { Class::Alu } else { Class::ShiftedAlu };
    let first = if extended { x_or_sp(rn) } else { x(rn) };
    let decoded = Decoded::new(class).reads([first, x(rm)]);
    match (sets_flags, extended) {
        (true, _) => compared(decoded, rd),
        (false, true) => decoded.writes([x_or_sp(rd)]),
        (false, false) => decoded.writes([x(rd)]),
    }
}

/// Carries, conditional comparisons and selections, data processing with one and two sources.
fn one_or_two_sources(w: Word) -> Decoded {
    let (rd, rn, rm, wide) = (w.rd(), w.rn(), w.rm(), w.bit(31));
    match w.bits(21, 3) {
        0b000 if w.bits(10, 6) == 0 => {
            let flags = if w.bit(29) { NZCV } else { None };
            Decoded::new(Class::Carry).reads([x(rn), x(rm), NZCV]).writes([x(rd), flags])
        }
        // Flags made of a register.
        0b000 => Decoded::new(Class::Alu).reads([x(rn), NZCV]).writes([NZCV]),
        0b010 => {
            let second = if w.bit(11) { None } else { x(rm) };
            Decoded::new(Class::Conditional).reads([x(rn), second, NZCV]).writes([NZCV])
        }
        0b100 => Decoded::new(Class::Conditional).reads([x(rn), x(rm), NZCV]).writes([x(rd)]),
        0b110 if w.bit(30) => {
            let counts = w.rm() == 0 && matches!(w.bits(10, 6), 4 | 5);
            let class = if counts { Class::BitCount } else { Class::Alu };
            Decoded::new(class).reads([x(rn)]).writes([x(rd)])
        }
        0b110 => {
            let class = match w.bits(10, 6) {
                2 | 3 if wide => Class::Divide64,
                2 | 3 => Class::Divide32,
                8..=11 => Class::ShiftVariable,
                // Checksums.
                16..=23 => Class::Multiply,
                _ => Class::Alu,
            };
            Decoded::new(class).reads([x(rn), x(rm)]).writes([x(rd)])
        }
        _ => Decoded::new(Class::Microcode),
    }
}

/// Data processing with three sources.
fn multiplication(w: Word) -> Decoded {
    let class = match w.bits(21, 3) {
        0b000 if w.bit(31) => Class::Multiply64,
        0b000 | 0b001 | 0b101 => Class::Multiply,
        0b010 | 0b110 => Class::MultiplyWide,
        _ => return Decoded::new(Class::Microcode),
    };
    Decoded::new(class).reads([x(w.rn()), x(w.rm()), x(w.ra())]).writes([x(w.rd())])
}
