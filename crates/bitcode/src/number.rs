//! Numbers as LLVM's C API tells them: floating-point ones in double precision, integers of more than 64 bits as text.

/// A layout of floating-point numbers with an implicit leading bit.
struct Layout {
    exponent: u32,
    fraction: u32,
}

/// A number of 16 bits.
pub(crate) fn half(bits: u64) -> f64 {
    of(bits.into(), &Layout { exponent: 5, fraction: 10 })
}

/// A number of 16 bits with the range of 32.
pub(crate) fn bfloat(bits: u64) -> f64 {
    of(bits.into(), &Layout { exponent: 8, fraction: 7 })
}

/// A number of 32 bits.
pub(crate) fn single(bits: u64) -> f64 {
    of(bits.into(), &Layout { exponent: 8, fraction: 23 })
}

/// A number of 128 bits.
pub(crate) fn quad(bits: u128) -> f64 {
    of(bits, &Layout { exponent: 15, fraction: 112 })
}

/// A number of 80 bits: significand with its leading bit, sign and exponent. `None` for what x87 has no meaning for.
pub(crate) fn extended(significand: u64, head: u64) -> Option<f64> {
    let negative = head >> 15 & 1 == 1;
    let exponent = (head & 0x7fff) as i32;
    let leads = significand >> 63 == 1;
    match (exponent, leads) {
        (0, false) => Some(value(negative, i128::from(significand).unsigned_abs(), -16382 - 63)),
        (0x7fff, true) => Some(special(negative, u128::from(significand << 1), 64)),
        (1..0x7fff, true) => Some(value(negative, u128::from(significand), exponent - 16383 - 63)),
        _ => None,
    }
}

fn of(bits: u128, layout: &Layout) -> f64 {
    let Layout { exponent, fraction } = *layout;
    let negative = bits >> (exponent + fraction) & 1 == 1;
    let part = bits & ((1 << fraction) - 1);
    let most = (1 << exponent) - 1;
    let power = (bits >> fraction) as i32 & most;
    let bias = most >> 1;
    match power {
        0 => value(negative, part, 1 - bias - fraction as i32),
        power if power == most => special(negative, part << (128 - fraction), 128),
        power => value(negative, part | 1 << fraction, power - bias - fraction as i32),
    }
}

/// Infinity, or no number: a quiet one, with the first bits of its fraction. `fraction` fills `width` bits from the left.
fn special(negative: bool, fraction: u128, width: u32) -> f64 {
    let sign = u64::from(negative) << 63;
    let payload = (fraction >> (width - 52)) as u64;
    let quiet = if fraction == 0 { 0 } else { 1 << 51 };
    f64::from_bits(sign | 0x7ff << 52 | payload | quiet)
}

/// The double nearest to `significand` times two to the power of `exponent`, ties to even.
fn value(negative: bool, significand: u128, exponent: i32) -> f64 {
    let sign = u64::from(negative) << 63;
    if significand == 0 {
        return f64::from_bits(sign);
    }
    let length = 128 - significand.leading_zeros() as i32;
    // Of the leading bit; below -1022 there are fewer bits left.
    let power = length - 1 + exponent;
    if power > 1023 {
        return f64::from_bits(sign | 0x7ff << 52);
    }
    let kept = if power < -1022 { 53 - (-1022 - power) } else { 53 };
    if kept < 0 {
        return f64::from_bits(sign);
    }
    let dropped = length - kept;
    let mut whole = match dropped {
        ..=0 => significand << -dropped,
        128.. => 0,
        dropped => significand >> dropped,
    };
    if dropped > 0 {
        let rest = match dropped {
            128.. => significand,
            dropped => significand & ((1 << dropped) - 1),
        };
        let middle = 1_u128 << (dropped - 1);
        whole += u128::from(rest > middle || rest == middle && whole & 1 == 1);
    }
    let whole = whole as u64;
    let bits = match power < -1022 {
        // A carry into the leading bit makes it a normal number by itself.
        true => whole,
        false => {
            let carried = whole >> 53 == 1;
            let power = power + i32::from(carried);
            if power > 1023 {
                return f64::from_bits(sign | 0x7ff << 52);
            }
            let fraction = if carried { whole >> 1 } else { whole } & ((1 << 52) - 1);
            ((power + 1023) as u64) << 52 | fraction
        }
    };
    f64::from_bits(sign | bits)
}

/// A signed integer of `width` bits in words, the least first, in decimal.
pub(crate) fn decimal(words: &[u64], width: u32) -> String {
    let count = width.div_ceil(64) as usize;
    let mut words: Vec<u64> =
        words.iter().copied().chain(std::iter::repeat(0)).take(count).collect();
    let spare = (count as u32 * 64) - width;
    let Some(last) = words.last_mut() else { return "0".to_owned() };
    *last &= u64::MAX >> spare;
    let negative = *last >> (63 - spare) & 1 == 1;
    if negative {
        *last |= !(u64::MAX >> spare);
        let mut carry = true;
        for word in &mut words {
            let (value, over) = (!*word).overflowing_add(u64::from(carry));
            (*word, carry) = (value, over);
        }
    }
    let mut pieces = Vec::new();
    while words.iter().any(|word| *word != 0) {
        let mut rest = 0_u128;
        for word in words.iter_mut().rev() {
            let whole = rest << 64 | u128::from(*word);
            *word = (whole / 10_000_000_000_000_000_000) as u64;
            rest = whole % 10_000_000_000_000_000_000;
        }
        pieces.push(rest);
    }
    let mut text = String::from(if negative { "-" } else { "" });
    match pieces.pop() {
        None => text.push('0'),
        Some(first) => {
            text.push_str(&first.to_string());
            pieces.iter().rev().for_each(|piece| text.push_str(&format!("{piece:019}")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_numbers_are_what_the_processor_makes_of_them() {
        let mut state = 1_u64;
        for number in 0..200_000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let bits = if number < 1000 { number } else { state >> 32 };
            let expected = f64::from(f32::from_bits(bits as u32));
            assert_eq!(single(bits).is_nan(), expected.is_nan(), "{bits:x}");
            if !expected.is_nan() {
                assert_eq!(single(bits).to_bits(), expected.to_bits(), "{bits:x}");
            }
        }
        assert_eq!(
            (half(0x3c00), half(0x0001), half(0xfc00)),
            (1.0, 2_f64.powi(-24), f64::NEG_INFINITY)
        );
        assert_eq!((bfloat(0x3f80), bfloat(0x4049)), (1.0, 3.140_625));
    }

    #[test]
    fn wide_numbers_are_rounded_to_even() {
        assert_eq!(quad(0x3fff << 112), 1.0);
        // One, and half of the last bit of a double: down; with more: up; the odd one: up.
        assert_eq!(quad(0x3fff << 112 | 1 << 59), 1.0);
        assert_eq!(quad(0x3fff << 112 | 1 << 59 | 1), 1.0 + f64::EPSILON);
        assert_eq!(quad(0x3fff << 112 | 3 << 59), 1.0 + 2.0 * f64::EPSILON);
        assert_eq!(quad(0x7ffe << 112), f64::INFINITY);
        assert_eq!(quad((16383 - 1074) << 112), f64::from_bits(1));
        assert_eq!(quad((16383 - 1075) << 112), 0.0);
        assert_eq!(quad((16383 - 1075) << 112 | 1), f64::from_bits(1));
        assert_eq!(extended(1 << 63, 0x3fff), Some(1.0));
        assert_eq!(extended(0xc000_0000_0000_0000, 0xc000), Some(-3.0));
        assert_eq!(extended(1 << 62, 0x3fff), None);
        assert_eq!(extended(1 << 63, 0x7fff), Some(f64::INFINITY));
    }

    #[test]
    fn integers_are_decimal() {
        assert_eq!(decimal(&[5], 128), "5");
        assert_eq!(decimal(&[0], 128), "0");
        assert_eq!(decimal(&[u64::MAX, u64::MAX], 128), "-1");
        assert_eq!(decimal(&[0, 1 << 63], 128), i128::MIN.to_string());
        assert_eq!(decimal(&[u64::MAX, u64::MAX >> 1], 128), i128::MAX.to_string());
        assert_eq!(decimal(&[0, 1], 65), "-18446744073709551616");
        assert_eq!(decimal(&[10_000_000_000_000_000_001], 80), "10000000000000000001");
    }
}
