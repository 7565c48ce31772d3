use fnv::FnvHasher;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;

/// A multiset of hashed shingles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shingles {
    /// Each shingle once, in order, and how often it is there.
    counts: Vec<(u32, u16)>,
    size: u32,
}

/// How much two multisets have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlap {
    /// Shingles in both over shingles in either, 0 to 1.
    pub jaccard: f64,
    /// Shingles in both over shingles of the smaller, 0 to 1.
    pub containment: f64,
    /// Shingles of the smaller.
    pub smaller: u32,
}

impl Shingles {
    /// Of these hashes.
    #[must_use]
    pub fn of(hashes: impl IntoIterator<Item = u32>) -> Shingles {
        let mut all: Vec<u32> = hashes.into_iter().collect();
        all.sort_unstable();
        let counts =
            all.chunk_by(|a, b| a == b).map(|same| (same[0], same.len().min(0xffff) as u16));
        Shingles::from_counts(counts.collect())
    }

    /// Of what [`Shingles::counts`] gave.
    #[must_use]
    pub fn from_counts(mut counts: Vec<(u32, u16)>) -> Shingles {
        counts.sort_unstable();
        counts.dedup_by_key(|(hash, _)| *hash);
        let size = counts.iter().map(|(_, count)| u32::from(*count)).sum();
        Shingles { counts, size }
    }

    /// Each shingle once, in order, and how often it is there.
    #[must_use]
    pub fn counts(&self) -> &[(u32, u16)] {
        &self.counts
    }

    /// How many there are, repetitions counted.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// What it has in common with another; nothing where one of them is empty.
    #[must_use]
    pub fn overlap(&self, other: &Shingles) -> Overlap {
        let (mut one, mut two) = (self.counts.iter().peekable(), other.counts.iter().peekable());
        let mut shared = 0;
        while let (Some(a), Some(b)) = (one.peek(), two.peek()) {
            match a.0.cmp(&b.0) {
                std::cmp::Ordering::Less => drop(one.next()),
                std::cmp::Ordering::Greater => drop(two.next()),
                std::cmp::Ordering::Equal => {
                    shared += u32::from(a.1.min(b.1));
                    one.next();
                    two.next();
                }
            }
        }
        self.overlap_of(shared, other.size)
    }

    /// The same, of the number that both have and the size of the other.
    pub(crate) fn overlap_of(&self, shared: u32, size: u32) -> Overlap {
        let smaller = self.size.min(size);
        if smaller == 0 {
            return Overlap::default();
        }
        Overlap {
            jaccard: f64::from(shared) / f64::from(self.size + size - shared),
            containment: f64::from(shared) / f64::from(smaller),
            smaller,
        }
    }
}

/// A hash that is the same on every machine: FNV-1a, finished as SplitMix64 does.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(bytes);
    mix(hasher.finish())
}

/// Of a sequence of hashes.
pub(crate) fn join(hashes: &[u64]) -> u64 {
    hashes.iter().fold(0x9e37_79b9_7f4a_7c15, |all, one| mix(all.rotate_left(23) ^ one))
}

/// The half of a hash that is kept.
pub(crate) fn short(hash: u64) -> u32 {
    (hash >> 32) as u32
}

fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_count_and_a_part_is_contained() {
        let (whole, part) = (Shingles::of([1, 1, 2, 3, 4, 9]), Shingles::of([4, 1, 1, 1]));
        let overlap = whole.overlap(&part);
        assert_eq!((overlap.jaccard, overlap.containment, overlap.smaller), (3.0 / 7.0, 0.75, 4));
        assert_eq!(part.overlap(&whole), overlap);
        assert_eq!(whole.overlap(&whole).jaccard, 1.0);
        assert_eq!(whole.overlap(&Shingles::default()), Overlap::default());
        assert_eq!(Shingles::from_counts(whole.counts().to_vec()), whole);
    }

    #[test]
    fn hashes_are_those_that_prints_were_stored_with() {
        // What SplitMix64 answers first from the seed 0.
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0xe220_a839_7b1d_cdaf);
        // FNV-1a of nothing is its offset.
        assert_eq!(hash(b""), mix(0xcbf2_9ce4_8422_2325));
        assert_eq!(join(&[]), 0x9e37_79b9_7f4a_7c15);
        assert_eq!(join(&[5]), mix(0x9e37_79b9_7f4a_7c15_u64.rotate_left(23) ^ 5));
        assert_ne!(join(&[1, 2]), join(&[2, 1]));
        assert_eq!(short(0x1234_5678_9abc_def0), 0x1234_5678);
    }

    #[test]
    fn a_shingle_is_held_once_whatever_gave_it() {
        assert_eq!(Shingles::from_counts(vec![(7, 2), (3, 1)]).counts(), [(3, 1), (7, 2)]);
        assert_eq!(Shingles::from_counts(vec![(7, 2), (7, 2)]).size(), 2);
        assert_eq!(Shingles::of([9, 9, 9]).counts(), [(9, 3)]);
    }
}
