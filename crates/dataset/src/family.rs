use fnv::FnvHasher;
use std::{collections::HashMap, hash::Hasher};

/// Estimated Jaccard similarity of two programs' shingles from which on they are one family.
pub const FAMILY_THRESHOLD: f64 = 0.7;

/// Hash functions of a signature.
const WIDTH: usize = 128;
/// Rows of a locality-sensitive band: 32 bands of 4 find pairs at 0.7 with probability 0.9998.
const BAND: usize = 4;
/// Tokens of a shingle.
const SHINGLE: usize = 4;

/// MinHash signature of a sequence of tokens (Broder 1997): the least value of each of 128 hash
/// functions over all runs of four tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature(Box<[u32; WIDTH]>);

impl Signature {
    /// The signature of a token sequence; shorter ones than a shingle count as one shingle.
    pub fn of<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Signature {
        let hashes: Vec<u64> = tokens.into_iter().map(|token| fnv(token.as_bytes())).collect();
        let mut least = Box::new([u32::MAX; WIDTH]);
        let shingles = hashes.windows(SHINGLE.min(hashes.len().max(1)));
        for shingle in shingles {
            let joined = shingle.iter().fold(0, |all: u64, one| mix(all.rotate_left(17) ^ one));
            for (at, slot) in least.iter_mut().enumerate() {
                // The upper half of an odd multiple of the mixed hash, another odd number each.
                let multiplier = mix(at as u64 + 1) | 1;
                let value = (mix(joined).wrapping_mul(multiplier) >> 32) as u32;
                *slot = value.min(*slot);
            }
        }
        Signature(least)
    }

    /// Its 128 values, for a column.
    #[must_use]
    pub fn values(&self) -> &[u32] {
        &*self.0
    }

    /// The signature of [`Signature::values`]; `None` unless there are 128.
    #[must_use]
    pub fn from_values(values: &[u32]) -> Option<Signature> {
        <[u32; WIDTH]>::try_from(values).ok().map(|values| Signature(Box::new(values)))
    }

    /// Estimate of the Jaccard similarity, 0 to 1.
    #[must_use]
    pub fn similarity(&self, other: &Signature) -> f64 {
        let equal = self.0.iter().zip(other.0.iter()).filter(|(a, b)| a == b).count();
        equal as f64 / WIDTH as f64
    }
}

/// Group signatures into families: two programs of similarity [`FAMILY_THRESHOLD`] or more that
/// share a band are one family, and families that share a program are one.
///
/// The answer holds for each signature the index of its family's first member. Which programs
/// share a family does not depend on their order.
#[must_use]
pub fn families(signatures: &[Signature]) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..signatures.len()).collect();
    for band in 0..WIDTH / BAND {
        let mut buckets: HashMap<&[u32], Vec<usize>> = HashMap::new();
        for (at, signature) in signatures.iter().enumerate() {
            let key = &signature.0[band * BAND..(band + 1) * BAND];
            buckets.entry(key).or_default().push(at);
        }
        for members in buckets.values() {
            // Members met so far, by family: those of one's own need not be compared.
            let mut met: Vec<Vec<usize>> = Vec::new();
            for &one in members {
                let mut own = vec![one];
                met.retain_mut(|group| {
                    let is_near = |other: &usize| {
                        signatures[one].similarity(&signatures[*other]) >= FAMILY_THRESHOLD
                    };
                    let (a, b) = (root(&mut parent, one), root(&mut parent, group[0]));
                    if a != b && !group.iter().rev().any(is_near) {
                        return true;
                    }
                    parent[a.max(b)] = a.min(b);
                    own.append(group);
                    false
                });
                met.push(own);
            }
        }
    }
    (0..signatures.len()).map(|at| root(&mut parent, at)).collect()
}

fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}

/// The same on every machine.
fn fnv(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// The finaliser of SplitMix64.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Signature {
        Signature::of(text.split_whitespace())
    }

    const LONG: &str = "a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9";

    #[test]
    fn a_small_change_stays_in_the_family_and_another_text_does_not() {
        let changed = LONG.replace(" 9", " other");
        let other = "nothing at all of this stands in the alphabet above so it is far away";
        let signatures = [words(LONG), words(other), words(&changed)];
        assert_eq!(families(&signatures), [0, 1, 0]);
    }

    #[test]
    fn families_do_not_depend_on_order() {
        let texts: Vec<String> = (0..40)
            .map(|n| LONG.replace(" k ", &format!(" {} ", n % 7)).repeat(1 + n % 3))
            .collect();
        let forward: Vec<Signature> = texts.iter().map(|text| words(text)).collect();
        let backward: Vec<Signature> = forward.iter().rev().cloned().collect();
        let (one, two) = (families(&forward), families(&backward));
        let last = texts.len() - 1;
        for a in 0..texts.len() {
            for b in 0..texts.len() {
                assert_eq!(one[a] == one[b], two[last - a] == two[last - b]);
            }
        }
    }

    #[test]
    fn an_empty_program_has_a_signature() {
        assert_eq!(words("").similarity(&words("")), 1.0);
    }
}
