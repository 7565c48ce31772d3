use crate::payload::{Layout, Leaf, Object, Payload, Plan};
use clang::Scalar;
use half::f16;

/// What a kernel's outputs were before it ran.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a> {
    pub(super) plan: &'a Plan,
    pub(super) payload: &'a Payload,
    /// What buffers hold that were not sent.
    pub(super) pattern: u8,
}

impl Written<'_> {
    /// Whether the bytes of `object` from `at` on are other than before.
    fn changed(&self, object: usize, at: usize, now: &[u8]) -> bool {
        match self.plan.objects[object].read {
            true => self.payload.objects[object][at..at + now.len()] != *now,
            false => now.iter().any(|byte| *byte != self.pattern),
        }
    }
}

/// Whether `outputs` are what was there before.
pub(super) fn unchanged(before: Written<'_>, outputs: &[Vec<u8>]) -> bool {
    outputs.iter().enumerate().all(|(object, now)| is_unchanged(before, object, now))
}

/// Whether one object is what was there before.
pub(super) fn is_unchanged(before: Written<'_>, object: usize, now: &[u8]) -> bool {
    !before.changed(object, 0, now)
}

/// The largest relative difference of two results that are floating-point numbers.
pub(super) fn difference(plan: &Plan, one: &[Vec<u8>], other: &[Vec<u8>]) -> f64 {
    let of = |(object, kind): (usize, &Object)| {
        let leaves = leaves(&kind.layout, &one[object], &other[object]);
        let relative = leaves.filter_map(|(_, leaf, a, b)| {
            let (a, b, _) = (leaf.scalar == Scalar::Float).then(|| numbers(leaf, a, b))??;
            let size = a.abs().max(b.abs());
            (a.is_finite() && b.is_finite() && size > 0.0).then(|| (a - b).abs() / size)
        });
        relative.fold(0.0, f64::max)
    };
    plan.objects.iter().enumerate().map(of).fold(0.0, f64::max)
}

/// Where one object differs first, in words: the element and both values, where they are single numbers.
pub(super) fn first_difference(
    plan: &Plan,
    object: usize,
    wanted: &[Vec<u8>],
    given: &[Vec<u8>],
) -> String {
    let layout = &plan.objects[object].layout;
    let mut all = leaves(layout, &wanted[object], &given[object]);
    let Some((at, leaf, a, b)) = all.find(|(_, leaf, a, b)| !equal(*leaf, a, b)) else {
        return String::new();
    };
    let element = at / layout.size;
    format!("[{element}]: {}, where the slow kernel gives {}", number(leaf, b), number(leaf, a))
}

fn number(leaf: Leaf, bytes: &[u8]) -> String {
    if leaf.scalar == Scalar::Float {
        return numbers(leaf, bytes, bytes).map_or_else(String::new, |(a, _, _)| format!("{a:?}"));
    }
    let mut wide = [0; 16];
    wide[..bytes.len().min(16)].copy_from_slice(&bytes[..bytes.len().min(16)]);
    let whole = u128::from_le_bytes(wide);
    let bits = 8 * bytes.len().min(16) as u32;
    let negative = leaf.scalar == Scalar::Signed && bits > 0 && whole >> (bits - 1) & 1 == 1;
    match negative && bits < 128 {
        true => format!("-{}", (1_u128 << bits) - whole),
        false => whole.to_string(),
    }
}

/// Whether all that either execution has written is the same in both.
pub(crate) fn insensitive(
    before_a: Written<'_>,
    a: &[Vec<u8>],
    before_b: Written<'_>,
    b: &[Vec<u8>],
) -> bool {
    let objects = before_a.plan.objects.iter().enumerate().filter(|(at, _)| !a[*at].is_empty());
    let differs = |(object, kind): (usize, &Object)| {
        leaves(&kind.layout, &a[object], &b[object]).any(|(at, leaf, a, b)| {
            !equal(leaf, a, b)
                && (before_a.changed(object, at, a) || before_b.changed(object, at, b))
        })
    };
    !objects.into_iter().any(differs)
}

/// The first object in which two executions with one payload differ. Places that neither has
/// written hold each execution's guard bytes and are the same.
pub(crate) fn same(
    plan: &Plan,
    one: &[Vec<u8>],
    one_pattern: u8,
    other: &[Vec<u8>],
    other_pattern: u8,
) -> Option<usize> {
    let untouched = |bytes: &[u8], pattern: u8| bytes.iter().all(|byte| *byte == pattern);
    plan.objects.iter().enumerate().position(|(object, kind)| {
        leaves(&kind.layout, &one[object], &other[object]).any(|(_, leaf, a, b)| {
            !(equal(leaf, a, b) || untouched(a, one_pattern) && untouched(b, other_pattern))
        })
    })
}

/// The leaves of two buffers where their elements are not equal byte by byte: byte offset, leaf
/// and both contents.
fn leaves<'a>(
    layout: &'a Layout,
    one: &'a [u8],
    other: &'a [u8],
) -> impl Iterator<Item = (usize, Leaf, &'a [u8], &'a [u8])> {
    let elements = one.chunks_exact(layout.size).zip(other.chunks_exact(layout.size)).enumerate();
    elements.filter(|(_, (a, b))| a != b).flat_map(move |(element, (a, b))| {
        layout.leaves.iter().map(move |leaf| {
            let part = leaf.offset..leaf.offset + leaf.size;
            (element * layout.size + leaf.offset, *leaf, &a[part.clone()], &b[part])
        })
    })
}

/// Equality of two values of a type: floats up to rounding that the order of a sum explains, NaN
/// equal to NaN, everything else to the bit.
fn equal(leaf: Leaf, a: &[u8], b: &[u8]) -> bool {
    if a == b {
        return true;
    }
    if leaf.scalar != Scalar::Float {
        return false;
    }
    let Some((a, b, epsilon)) = numbers(leaf, a, b) else { return false };
    // Relative, but sums that cancel out to almost nothing keep the error of their terms; an
    // infinity is near to nothing but itself.
    let near = || (a - b).abs() <= epsilon * a.abs().max(b.abs()).max(1e-3);
    a == b || a.is_nan() && b.is_nan() || a.is_finite() && b.is_finite() && near()
}

/// Two floating-point numbers, and how near they have to be.
fn numbers(leaf: Leaf, a: &[u8], b: &[u8]) -> Option<(f64, f64, f64)> {
    Some(match (leaf.size, a.try_into(), b.try_into()) {
        (4, Ok(a), Ok(b)) => {
            (f64::from(f32::from_le_bytes(a)), f64::from(f32::from_le_bytes(b)), 1e-4)
        }
        _ => match (a.try_into(), b.try_into(), half(a), half(b)) {
            (Ok(a), Ok(b), _, _) => (f64::from_le_bytes(a), f64::from_le_bytes(b), 1e-9),
            (_, _, Some(a), Some(b)) => (a, b, 2e-2),
            _ => return None,
        },
    })
}

fn half(bytes: &[u8]) -> Option<f64> {
    bytes.try_into().ok().map(|two| f16::from_le_bytes(two).to_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn float(a: f32, b: f32) -> bool {
        let leaf = Leaf { offset: 0, scalar: Scalar::Float, size: 4 };
        equal(leaf, &a.to_le_bytes(), &b.to_le_bytes())
    }

    #[test]
    fn nan_is_equal_to_nan_and_to_nothing_else() {
        assert!(float(f32::NAN, -f32::NAN));
        assert!(!float(f32::NAN, 0.0));
        assert!(!float(f32::INFINITY, 1e30));
        assert!(float(f32::INFINITY, f32::INFINITY));
    }

    #[test]
    fn numbers_are_told_by_their_type() {
        let told =
            |scalar, bytes: &[u8]| number(Leaf { offset: 0, scalar, size: bytes.len() }, bytes);
        assert_eq!(told(Scalar::Signed, &(-7_i32).to_le_bytes()), "-7");
        assert_eq!(told(Scalar::Unsigned, &u64::MAX.to_le_bytes()), u64::MAX.to_string());
        assert_eq!(told(Scalar::Float, &1.5_f32.to_le_bytes()), "1.5");
    }

    #[test]
    fn rounding_is_forgiven_by_the_width_of_the_type() {
        assert!(float(1.0, 1.000_01));
        assert!(!float(1.0, 1.001));
        let double = Leaf { offset: 0, scalar: Scalar::Float, size: 8 };
        assert!(!equal(double, &1.0_f64.to_le_bytes(), &1.000_01_f64.to_le_bytes()));
        let half = Leaf { offset: 0, scalar: Scalar::Float, size: 2 };
        let bytes = |value: f32| f16::from_f32(value).to_le_bytes();
        assert!(equal(half, &bytes(1.0), &bytes(1.01)));
        assert!(!equal(half, &bytes(1.0), &bytes(1.1)));
        let int = Leaf { offset: 0, scalar: Scalar::Signed, size: 4 };
        assert!(!equal(int, &1000_i32.to_le_bytes(), &1001_i32.to_le_bytes()));
    }

    proptest! {
        #[test]
        fn equality_has_no_preferred_side(a: f32, b: f32) {
            prop_assert_eq!(float(a, b), float(b, a));
            prop_assert!(float(a, a));
        }
    }
}
