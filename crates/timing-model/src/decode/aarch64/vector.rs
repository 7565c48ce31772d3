//! Scalar floating point and Advanced SIMD.

use super::{NZCV, Word, v, x};
use crate::decode::{Class, decoded::Decoded};

/// Scalar floating point and Advanced SIMD.
pub(super) fn vector(w: Word) -> Decoded {
    let decoded = match (w.bits(29, 3), w.bit(28)) {
        (0b000 | 0b100, true) => scalar(w),
        (0b010 | 0b011, true) => simd(w),
        (0b000..=0b011, false) => simd(w),
        // Three-register hashes.
        _ => two(Class::Crypto, w).reads([v(w.rd()), v(w.ra())]),
    };
    decoded.on_vectors()
}

/// One source register, one destination.
fn one(class: Class, w: Word) -> Decoded {
    Decoded::new(class).reads([v(w.rn())]).writes([v(w.rd())])
}

/// Two source registers, one destination.
fn two(class: Class, w: Word) -> Decoded {
    Decoded::new(class).reads([v(w.rn()), v(w.rm())]).writes([v(w.rd())])
}

/// What accumulates reads its destination too.
fn onto(accumulates: bool, decoded: Decoded, w: Word) -> Decoded {
    if accumulates { decoded.reads([v(w.rd())]) } else { decoded }
}

/// Scalar floating point, and its conversions from and to integers.
fn scalar(w: Word) -> Decoded {
    let double = w.bit(22);
    if w.bit(24) {
        return two(Class::FloatFma, w).reads([v(w.ra())]);
    }
    if !w.bit(21) || w.bits(10, 6) == 0 {
        return to_or_from_integer(w);
    }
    if w.bits(10, 5) == 0b10000 {
        return scalar_of_one(w, double);
    }
    match w.bits(10, 2) {
        0b00 if w.bit(12) => Decoded::new(Class::VectorMove).writes([v(w.rd())]),
        0b00 => {
            let second = if w.bit(3) { None } else { v(w.rm()) };
            Decoded::new(Class::FloatCompare).reads([v(w.rn()), second]).writes([NZCV])
        }
        0b01 => {
            Decoded::new(Class::FloatCompare).reads([v(w.rn()), v(w.rm()), NZCV]).writes([NZCV])
        }
        0b11 => two(Class::VectorBlend, w).reads([NZCV]),
        _ => {
            let class = match w.bits(12, 4) {
                1 if double => Class::FloatDivideDouble,
                1 => Class::FloatDivideSingle,
                2 | 3 => Class::FloatAdd,
                4..=7 => Class::FloatMinMax,
                _ => Class::FloatMultiply,
            };
            two(class, w)
        }
    }
}

/// Scalar floating point with one source.
fn scalar_of_one(w: Word, double: bool) -> Decoded {
    let class = match w.bits(15, 6) {
        0 => {
            let copies = w.rd() != w.rn();
            return Decoded { copies, ..one(Class::VectorMove, w) };
        }
        1 | 2 => Class::VectorLogic,
        3 if double => Class::FloatRootDouble,
        3 => Class::FloatRootSingle,
        4..=7 => Class::ConvertFloat,
        _ => Class::FloatRound,
    };
    one(class, w)
}

/// Conversions between floating point and integers or fixed point, and moves between their registers.
fn to_or_from_integer(w: Word) -> Decoded {
    let (mode, operation, fixed) = (w.bits(19, 2), w.bits(16, 3), !w.bit(21));
    let from = |class| Decoded::new(class).reads([x(w.rn())]).writes([v(w.rd())]);
    let to = |class| Decoded::new(class).reads([v(w.rn())]).writes([x(w.rd())]);
    match operation {
        0b010 | 0b011 => from(Class::ConvertFromInteger),
        // To the upper half of a register, whose lower half stays.
        0b111 if mode == 0b01 => from(Class::IntegerToVector).reads([v(w.rd())]),
        0b111 if !fixed => from(Class::IntegerToVector),
        0b110 if mode != 0b11 && !fixed => to(Class::VectorToInteger),
        _ => to(Class::ConvertToInteger),
    }
}

/// Advanced SIMD, of whole vectors and of single elements.
fn simd(w: Word) -> Decoded {
    let (by_bit_10, by_bit_21) = (w.bit(10), w.bit(21));
    if w.bit(24) {
        return match (by_bit_10, w.bit(23)) {
            (false, _) => by_element(w),
            (true, false) if w.bits(19, 4) == 0 => immediate(w),
            _ => shift(w),
        };
    }
    match (by_bit_21, by_bit_10) {
        (true, true) => three_same(w),
        (true, false) if !w.bit(11) => three_different(w),
        (true, false) => match w.bits(17, 4) {
            0b0000 => two_registers(w),
            0b1000 if w.bit(28) => pairwise(w),
            0b1000 => across(w),
            // Half precision.
            0b1100 => two_registers(w),
            _ => one(Class::Crypto, w).reads([v(w.rd())]),
        },
        (false, true) if w.bit(15) => two(Class::FloatFma, w).reads([v(w.rd())]),
        (false, true) if w.bits(21, 3) == 0 => copy(w),
        // Half precision.
        (false, true) => half_same(w),
        (false, false) if w.bit(28) => two(Class::Crypto, w).reads([v(w.rd())]),
        (false, false) if w.bit(29) => two(Class::VectorShuffle, w),
        (false, false) if !w.bit(11) => table(w),
        (false, false) => two(Class::VectorShuffle, w),
    }
}

/// Moves between elements, and from and to integer registers.
fn copy(w: Word) -> Decoded {
    let to_integer = || Decoded::new(Class::VectorToInteger).reads([v(w.rn())]).writes([x(w.rd())]);
    if w.bit(28) {
        return one(Class::VectorShuffle, w);
    }
    match (w.bit(29), w.bits(11, 4)) {
        (true, _) => one(Class::VectorShuffle, w).reads([v(w.rd())]),
        (false, 0b0000) => one(Class::VectorShuffle, w),
        (false, 0b0001) => {
            Decoded::new(Class::IntegerToVector).reads([x(w.rn())]).writes([v(w.rd())])
        }
        (false, 0b0011) => {
            Decoded::new(Class::IntegerToVector).reads([x(w.rn()), v(w.rd())]).writes([v(w.rd())])
        }
        (false, _) => to_integer(),
    }
}

/// Look-ups in a table of one to four registers.
fn table(w: Word) -> Decoded {
    let count = w.bits(13, 2) + 1;
    let registers = [0, 1, 2, 3].map(|at| if at < count { v(w.rn() + at) } else { None });
    let decoded = Decoded::new(Class::VectorShuffle).reads([v(w.rm())]).reads(registers);
    onto(w.bit(12), decoded, w).writes([v(w.rd())])
}

/// Half-precision operations on three registers of one shape.
fn half_same(w: Word) -> Decoded {
    let (class, accumulates) = float_same(w.bits(11, 3), w.bit(29), w.bit(23), false);
    onto(accumulates, two(class, w), w)
}

/// Operations on three registers of one shape.
fn three_same(w: Word) -> Decoded {
    let (unsigned, size, whole) = (w.bit(29), w.bits(22, 2), w.bit(30) && !w.bit(28));
    let operation = w.bits(11, 5);
    if operation >= 0b11000 {
        let (class, accumulates) =
            float_same(operation & 0b111, unsigned, size & 0b10 != 0, size & 1 == 1);
        return onto(accumulates, two(class, w), w);
    }
    let product = if whole { Class::VectorMultiply32 } else { Class::VectorMultiply };
    match operation {
        // One register twice is a move.
        0b00011 if !unsigned && size == 0b10 && w.rn() == w.rm() => {
            Decoded { copies: w.rd() != w.rn(), ..one(Class::VectorMove, w) }
        }
        0b00011 => onto(unsigned && size != 0, two(Class::VectorLogic, w), w),
        0b01000..=0b01011 => two(Class::VectorShift, w),
        0b01111 => onto(true, two(Class::VectorSad, w), w),
        0b10010 => onto(true, two(product, w), w),
        0b10000 if w.bit(28) => two(Class::VectorAlu, w),
        0b10011 | 0b10110 => two(product, w),
        // With the third extension of crypto these are hashes; by size they are rounded products.
        _ => two(Class::VectorAlu, w),
    }
}

/// The class of a floating-point operation on three registers, and whether it accumulates.
fn float_same(operation: u32, unsigned: bool, negated: bool, double: bool) -> (Class, bool) {
    match operation {
        0b001 => (Class::FloatFma, true),
        0b010 => (Class::FloatAdd, false),
        0b011 => (Class::FloatMultiply, false),
        0b111 if !unsigned => (Class::FloatFma, false),
        0b111 if !negated && double => (Class::FloatDivideDouble, false),
        0b111 if !negated => (Class::FloatDivideSingle, false),
        _ => (Class::FloatMinMax, false),
    }
}

/// Operations that widen or narrow.
fn three_different(w: Word) -> Decoded {
    // The second half is put beside the first.
    let upper = w.bit(30) && !w.bit(28);
    match w.bits(12, 4) {
        0b0000..=0b0011 => two(Class::VectorAlu, w),
        0b0100 | 0b0110 => onto(upper, two(Class::VectorAlu, w), w),
        0b0101 => onto(true, two(Class::VectorSad, w), w),
        0b0111 => two(Class::VectorSad, w),
        0b1000..=0b1011 => onto(true, two(Class::VectorMultiply, w), w),
        0b1110 => two(Class::Crypto, w),
        _ => two(Class::VectorMultiply, w),
    }
}

/// Operations on one register, of integers and of floating point.
fn two_registers(w: Word) -> Decoded {
    let (unsigned, upper) = (w.bit(29), w.bit(30) && !w.bit(28));
    let (high, double) = (w.bit(23), w.bit(22));
    match w.bits(12, 5) {
        0b00000 | 0b00001 => one(Class::VectorShuffle, w),
        0b00011 => onto(true, one(Class::VectorAlu, w), w),
        0b00110 => onto(true, one(Class::VectorSad, w), w),
        0b10010 | 0b10100 => onto(upper, one(Class::VectorShuffle, w), w),
        0b10011 => one(Class::VectorShift, w),
        0b01100..=0b01110 => one(Class::FloatMinMax, w),
        0b01111 => one(Class::VectorLogic, w),
        0b10110 => onto(upper, one(Class::ConvertFloat, w), w),
        0b10111 => one(Class::ConvertFloat, w),
        0b11000 | 0b11001 => one(Class::FloatRound, w),
        0b11010..=0b11110 => one(Class::ConvertFloat, w),
        0b11111 if unsigned && high && double => one(Class::FloatRootDouble, w),
        0b11111 if unsigned => one(Class::FloatRootSingle, w),
        0b11111 => one(Class::ConvertFloat, w),
        _ => one(Class::VectorAlu, w),
    }
}

/// Reductions of a vector to one element.
fn across(w: Word) -> Decoded {
    one(Class::VectorHorizontal, w)
}

/// Sums and extremes of two neighboring elements.
fn pairwise(w: Word) -> Decoded {
    let class = match w.bits(12, 5) {
        0b11011 => Class::VectorAlu,
        0b01101 => Class::FloatAdd,
        _ => Class::FloatMinMax,
    };
    one(class, w)
}

/// Constants, and logic with them.
fn immediate(w: Word) -> Decoded {
    let mode = w.bits(12, 4);
    let keeps = mode & 1 == 1 && mode < 12;
    let class = if keeps { Class::VectorLogic } else { Class::VectorMove };
    onto(keeps, Decoded::new(class).writes([v(w.rd())]), w)
}

/// Shifts by a constant, and conversions from and to fixed point.
fn shift(w: Word) -> Decoded {
    let upper = w.bit(30) && !w.bit(28);
    match w.bits(11, 5) {
        0b00010 | 0b00110 => onto(true, one(Class::VectorSad, w), w),
        0b01000 => onto(true, one(Class::VectorShift, w), w),
        0b01010 if w.bit(29) => onto(true, one(Class::VectorShift, w), w),
        0b10000..=0b10011 => onto(upper, one(Class::VectorShift, w), w),
        0b11100 | 0b11111 => one(Class::ConvertFloat, w),
        _ => one(Class::VectorShift, w),
    }
}

/// Operations with one element of a register.
fn by_element(w: Word) -> Decoded {
    let (unsigned, size, whole) = (w.bit(29), w.bits(22, 2), w.bit(30) && !w.bit(28));
    // Elements of 16 bits are in the lower half of the registers.
    let rm = if size < 2 { w.bits(16, 4) } else { w.rm() };
    let with = |class| Decoded::new(class).reads([v(w.rn()), v(rm)]).writes([v(w.rd())]);
    let product = if whole { Class::VectorMultiply32 } else { Class::VectorMultiply };
    match (w.bits(12, 4), unsigned) {
        (0b0001 | 0b0101, false) => onto(true, with(Class::FloatFma), w),
        (0b1001, _) => with(Class::FloatMultiply),
        (0b0000 | 0b0100, true) | (0b1101 | 0b1111, true) => onto(true, with(product), w),
        (0b0010 | 0b0110 | 0b0011 | 0b0111, _) => onto(true, with(Class::VectorMultiply), w),
        (0b1010 | 0b1011, _) => with(Class::VectorMultiply),
        (0b1110, _) => onto(true, with(Class::FloatFma), w),
        (0b0001 | 0b0101, true) => onto(true, with(Class::FloatFma), w),
        _ => with(product),
    }
}
