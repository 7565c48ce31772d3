use super::{Layout, Leaf};
use clang::Scalar;
use half::f16;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// How the contents of buffers are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Values {
    /// Floats uniform in [0, 1), integers uniform over all of their range: CLgen's "random".
    #[default]
    Uniform,
    /// Whole numbers from 0 to 15, floats too.
    Small,
    /// Ascending.
    Sorted,
    /// All ones (the second payload: all twos).
    Ones,
}

impl Values {
    /// All of them.
    pub const ALL: [Values; 4] = [Values::Uniform, Values::Small, Values::Sorted, Values::Ones];

    /// Its word on the command line and in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Values::Uniform => "uniform",
            Values::Small => "small",
            Values::Sorted => "sorted",
            Values::Ones => "ones",
        }
    }

    /// The distribution of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Values> {
        Values::ALL.into_iter().find(|values| values.name() == name)
    }
}

/// Which of the two payloads of the dynamic checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Side {
    /// The first, which is measured too.
    A,
    /// The second.
    B,
}

/// Random numbers that depend on nothing but `seed`, the pieces of `what`, and the side.
pub(crate) fn stream(seed: u64, what: &[&str], size: u64, side: Side) -> ChaCha8Rng {
    let numbers = [seed.to_le_bytes(), size.to_le_bytes(), [side as u8; 8]];
    let pieces = what.iter().map(|piece| piece.as_bytes()).chain(numbers.iter().map(|n| &n[..]));
    let hash = dataset::content_hash_of(pieces);
    let mut key = [0; 32];
    for (to, from) in key.iter_mut().zip(hash.bytes()) {
        *to = from;
    }
    ChaCha8Rng::from_seed(key)
}

/// What shapes the contents of one buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) values: Values,
    pub(crate) side: Side,
    /// Values are indices: whole numbers below this, in floats too.
    pub(crate) below: Option<u64>,
}

/// `count` elements of `layout`.
pub(crate) fn fill(
    layout: &Layout,
    count: usize,
    shape: Shape,
    random: &mut ChaCha8Rng,
) -> Vec<u8> {
    let mut bytes = vec![0; layout.size * count];
    if let ([Leaf { scalar: Scalar::Float, size: 4, .. }], 4, Values::Uniform, None) =
        (layout.leaves.as_slice(), layout.size, shape.values, shape.below)
    {
        // As below, for what most buffers are: nothing is left to decide per element.
        for element in bytes.chunks_exact_mut(4) {
            element.copy_from_slice(&(unit(random.next_u64()) as f32).to_le_bytes());
        }
        return bytes;
    }
    for (at, element) in bytes.chunks_exact_mut(layout.size).enumerate() {
        for leaf in &layout.leaves {
            let draw = random.next_u64();
            let room = &mut element[leaf.offset..leaf.offset + leaf.size];
            put(*leaf, room, value(*leaf, draw, at, count, shape));
        }
    }
    bytes
}

/// One argument passed by value: integers are `integer`, all else is random.
pub(crate) fn by_value(
    layout: &Layout,
    integer: u64,
    shape: Shape,
    random: &mut ChaCha8Rng,
) -> Vec<u8> {
    let mut bytes = vec![0; layout.size];
    for leaf in &layout.leaves {
        let draw = random.next_u64();
        let number = match leaf.scalar {
            Scalar::Float => value(*leaf, draw, 0, 1, Shape { below: None, ..shape }),
            Scalar::Bool => Number::Whole(1),
            Scalar::Signed => Number::Whole(integer.min(greatest(leaf.size * 8 - 1))),
            Scalar::Unsigned => Number::Whole(integer.min(greatest(leaf.size * 8))),
        };
        put(*leaf, &mut bytes[leaf.offset..leaf.offset + leaf.size], number);
    }
    bytes
}

/// One argument passed by value: every number of it is `number`, as near as its type comes.
pub(crate) fn exactly(layout: &Layout, number: f64) -> Vec<u8> {
    let mut bytes = vec![0; layout.size];
    for leaf in &layout.leaves {
        let number = match leaf.scalar {
            Scalar::Float => Number::Real(number),
            Scalar::Bool => Number::Whole(u64::from(number != 0.0)),
            Scalar::Signed => Number::Whole(number as i64 as u64),
            Scalar::Unsigned => Number::Whole(number as u64),
        };
        put(*leaf, &mut bytes[leaf.offset..leaf.offset + leaf.size], number);
    }
    bytes
}

enum Number {
    Whole(u64),
    Real(f64),
}

/// The greatest number of `bits` bits.
fn greatest(bits: usize) -> u64 {
    u64::MAX >> (64 - bits.clamp(1, 64))
}

/// A uniform real in [0, 1).
fn unit(draw: u64) -> f64 {
    (draw >> 11) as f64 / (1_u64 << 53) as f64
}

fn value(leaf: Leaf, draw: u64, at: usize, count: usize, shape: Shape) -> Number {
    if leaf.scalar == Scalar::Bool {
        return Number::Whole(draw & 1);
    }
    let float = leaf.scalar == Scalar::Float;
    let most = greatest(leaf.size * 8 - usize::from(leaf.scalar == Scalar::Signed));
    let whole = |number: u64| match float {
        true => Number::Real(number as f64),
        false => Number::Whole(number.min(most)),
    };
    if let Some(below) = shape.below {
        let below = below.max(1);
        return match shape.values {
            Values::Sorted => whole((at as u64).min(below - 1)),
            Values::Ones => whole((1 + shape.side as u64).min(below - 1)),
            Values::Small => whole(draw % below.min(16)),
            Values::Uniform => whole(draw % below),
        };
    }
    match shape.values {
        Values::Uniform if float => Number::Real(unit(draw)),
        Values::Uniform => Number::Whole(draw & greatest(leaf.size * 8)),
        Values::Small => whole(draw % 16),
        Values::Ones => whole(1 + shape.side as u64),
        Values::Sorted => {
            let share = (at as f64 + unit(draw)) / count.max(1) as f64;
            match float {
                true => Number::Real(share),
                // Four values per element, as far as the type reaches.
                false => Number::Whole((share * (count as f64 * 4.0).min(most as f64)) as u64),
            }
        }
    }
}

fn put(leaf: Leaf, room: &mut [u8], number: Number) {
    match (leaf.scalar, number) {
        (Scalar::Float, Number::Real(real)) => match leaf.size {
            2 => room.copy_from_slice(&f16::from_f64(real).to_le_bytes()),
            4 => room.copy_from_slice(&(real as f32).to_le_bytes()),
            _ => room[..8].copy_from_slice(&real.to_le_bytes()),
        },
        (_, Number::Whole(whole)) => room.copy_from_slice(&whole.to_le_bytes()[..leaf.size]),
        (_, Number::Real(real)) => room.copy_from_slice(&(real as u64).to_le_bytes()[..leaf.size]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ints(bytes: &[u8]) -> Vec<u32> {
        bytes
            .chunks_exact(4)
            .map(|four| u32::from_le_bytes(four.try_into().expect("four")))
            .collect()
    }

    fn any_values() -> impl Strategy<Value = Values> {
        prop::sample::select(Values::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn indices_stay_below_their_bound(below in 1_u64..5000, values in any_values(), seed: u64) {
            let layout = Layout::lanes(Scalar::Unsigned, 4, 1);
            let shape = Shape { values, side: Side::A, below: Some(below) };
            let bytes = fill(&layout, 100, shape, &mut stream(seed, &["k"], 7, Side::A));
            prop_assert!(ints(&bytes).into_iter().all(|index| u64::from(index) < below));
        }

        #[test]
        fn sorted_buffers_ascend(size in 1_usize..3, seed: u64) {
            let layout = Layout::lanes(Scalar::Unsigned, 4 * size, 1);
            let shape = Shape { values: Values::Sorted, side: Side::A, below: None };
            let bytes = fill(&layout, 500, shape, &mut stream(seed, &["k"], 7, Side::A));
            let numbers: Vec<u64> = bytes
                .chunks_exact(4 * size)
                .map(|one| one.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)))
                .collect();
            prop_assert!(numbers.is_sorted());
        }

        #[test]
        fn the_same_seed_gives_the_same_payload_and_the_other_side_another(seed: u64) {
            let layout = Layout::lanes(Scalar::Float, 4, 1);
            let draw = |side| {
                let shape = Shape { values: Values::Uniform, side, below: None };
                fill(&layout, 64, shape, &mut stream(seed, &["path", "kernel"], 64, side))
            };
            prop_assert_eq!(draw(Side::A), draw(Side::A));
            prop_assert_ne!(draw(Side::A), draw(Side::B));
        }
    }

    #[test]
    fn floats_are_the_same_alone_and_as_elements_of_a_struct() {
        let leaf = Leaf { offset: 0, scalar: Scalar::Float, size: 4 };
        let bare = Layout { size: 4, leaves: vec![leaf] };
        let padded = Layout { size: 8, leaves: vec![leaf] };
        let shape = Shape { values: Values::Uniform, side: Side::A, below: None };
        let draw = |layout| fill(layout, 100, shape, &mut stream(1, &["k"], 7, Side::A));
        let (alone, inside) = (draw(&bare), draw(&padded));
        assert!(alone.chunks_exact(4).eq(inside.chunks_exact(8).map(|element| &element[..4])));
    }

    #[test]
    fn a_struct_by_value_has_sizes_for_integers_and_its_narrow_ones_saturate() {
        let layout = Layout {
            size: 8,
            leaves: vec![
                Leaf { offset: 0, scalar: Scalar::Signed, size: 4 },
                Leaf { offset: 4, scalar: Scalar::Signed, size: 1 },
            ],
        };
        let shape = Shape { values: Values::Uniform, side: Side::A, below: None };
        let bytes = by_value(&layout, 4096, shape, &mut stream(0, &[], 0, Side::A));
        assert_eq!(bytes, [0, 16, 0, 0, 127, 0, 0, 0]);
    }
}
