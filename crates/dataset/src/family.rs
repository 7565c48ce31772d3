use fnv::FnvHasher;
use std::{borrow::Cow, convert::Infallible, fs::File, hash::Hasher, io, os::unix::fs::FileExt};

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

    fn band(&self, band: usize) -> [u32; BAND] {
        std::array::from_fn(|at| self.0[band * BAND + at])
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
    let mut grouping = Grouping::of(signatures.len());
    for band in 0..WIDTH / BAND {
        let mut bands: Vec<_> = signatures.iter().map(|one| one.band(band)).zip(0..).collect();
        grouping
            .band(&mut bands, |at| Ok::<_, Infallible>(Cow::Borrowed(&signatures[at])))
            .expect("infallible");
    }
    grouping.families()
}

/// Signatures that are written down, half a KiB each: those of millions of programs need not be in memory together.
#[derive(Debug, Default)]
pub struct Signatures {
    /// The last ones, which are not written yet.
    held: Vec<Signature>,
    file: Option<File>,
    written: usize,
}

/// Signatures that are written at a time, and read.
const AT_A_TIME: usize = 1 << 15;
const BYTES: usize = WIDTH * size_of::<u32>();

impl Signatures {
    /// Add one.
    ///
    /// # Errors
    /// When there is no room for temporary files.
    pub fn push(&mut self, signature: Signature) -> io::Result<()> {
        self.held.push(signature);
        if self.held.len() < AT_A_TIME {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        let values = self.held.iter().flat_map(|one| one.0.iter());
        let bytes: Vec<u8> = values.flat_map(|value| value.to_le_bytes()).collect();
        file.write_all_at(&bytes, (self.written * BYTES) as u64)?;
        self.written += self.held.len();
        self.held.clear();
        Ok(())
    }

    /// As [`families()`].
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn families(&self) -> io::Result<Vec<usize>> {
        let mut grouping = Grouping::of(self.written + self.held.len());
        for band in 0..WIDTH / BAND {
            let mut bands = Vec::with_capacity(self.written + self.held.len());
            for at in (0..self.written).step_by(AT_A_TIME) {
                let some = self.read(at, AT_A_TIME)?;
                bands.extend(some.iter().map(|one| one.band(band)).zip(at as u32..));
            }
            bands.extend(self.held.iter().map(|one| one.band(band)).zip(self.written as u32..));
            grouping.band(&mut bands, |at| match at.checked_sub(self.written) {
                Some(held) => Ok::<_, io::Error>(Cow::Borrowed(&self.held[held])),
                None => Ok(Cow::Owned(self.read(at, 1)?.swap_remove(0))),
            })?;
        }
        Ok(grouping.families())
    }

    fn read(&self, at: usize, count: usize) -> io::Result<Vec<Signature>> {
        let mut bytes = vec![0; count * BYTES];
        if let Some(file) = &self.file {
            file.read_exact_at(&mut bytes, (at * BYTES) as u64)?;
        }
        let value =
            |bytes: &[u8]| bytes.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
        let signature = |bytes: &[u8]| {
            let mut values = Box::new([0; WIDTH]);
            for (slot, bytes) in values.iter_mut().zip(bytes.chunks(size_of::<u32>())) {
                *slot = value(bytes);
            }
            Signature(values)
        };
        Ok(bytes.chunks(BYTES).map(signature).collect())
    }
}

/// Families as they come together.
struct Grouping(Vec<u32>);

impl Grouping {
    fn of(count: usize) -> Grouping {
        Grouping(
            (0..u32::try_from(count).expect("fewer programs than four thousand million")).collect(),
        )
    }

    /// Look at all that are equal in one band; `bands` holds each one's values there and its index.
    fn band<'a, E>(
        &mut self,
        bands: &mut [([u32; BAND], u32)],
        signature: impl Fn(usize) -> Result<Cow<'a, Signature>, E>,
    ) -> Result<(), E> {
        bands.sort_unstable();
        let parent = &mut self.0;
        for members in bands.chunk_by(|a, b| a.0 == b.0) {
            let first = root(parent, members[0].1);
            if members.iter().all(|(_, one)| root(parent, *one) == first) {
                continue;
            }
            // Members met so far, by family: those of one's own need not be compared.
            let mut met: Vec<Vec<(u32, Cow<'_, Signature>)>> = Vec::new();
            for (_, one) in members {
                let its = signature(*one as usize)?;
                let mut own = Vec::new();
                met.retain_mut(|group| {
                    let is_near = |other: &(u32, Cow<'_, Signature>)| {
                        its.similarity(&other.1) >= FAMILY_THRESHOLD
                    };
                    let (a, b) = (root(parent, *one), root(parent, group[0].0));
                    if a != b && !group.iter().rev().any(is_near) {
                        return true;
                    }
                    parent[a.max(b) as usize] = a.min(b);
                    own.append(group);
                    false
                });
                own.push((*one, its));
                met.push(own);
            }
        }
        Ok(())
    }

    fn families(mut self) -> Vec<usize> {
        let count = self.0.len() as u32;
        (0..count).map(|at| root(&mut self.0, at) as usize).collect()
    }
}

fn root(parent: &mut [u32], mut at: u32) -> u32 {
    while parent[at as usize] != at {
        parent[at as usize] = parent[parent[at as usize] as usize];
        at = parent[at as usize];
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
    fn families_of_written_signatures_are_those_of_held_ones() {
        let all = AT_A_TIME + 500;
        let texts = (0..all).map(|n| {
            LONG.replace(' ', &format!("{} ", n % 9)) + &format!(" {}", n % 90).repeat(n % 4)
        });
        let held: Vec<Signature> = texts.map(|text| words(&text)).collect();
        let mut written = Signatures::default();
        for one in &held {
            written.push(one.clone()).unwrap();
        }
        assert_eq!((written.written, written.held.len()), (AT_A_TIME, 500));
        let families = families(&held);
        let distinct: std::collections::HashSet<_> = families.iter().collect();
        assert_eq!(distinct.len(), 9);
        assert_eq!(written.families().unwrap(), families);
    }

    #[test]
    fn an_empty_program_has_a_signature() {
        assert_eq!(words("").similarity(&words("")), 1.0);
    }
}
