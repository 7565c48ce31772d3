use fnv::FnvHasher;
use std::{
    borrow::Cow, collections::HashMap, convert::Infallible, fs::File, hash::Hasher, io,
    os::unix::fs::FileExt,
};

/// Estimated Jaccard similarity of two programs' shingles from which on they are one family.
pub const FAMILY_THRESHOLD: f64 = 0.7;

/// Hash functions of a signature.
const WIDTH: usize = 128;
/// Rows of a locality-sensitive band: 32 bands of 4 find pairs at 0.7 with probability 0.9998.
const BAND: usize = 4;
/// Bands of a signature.
pub const BANDS: usize = WIDTH / BAND;
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

    /// Its four values in one of [`BANDS`].
    #[must_use]
    pub fn band(&self, band: usize) -> [u32; BAND] {
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

    /// Its values as bytes, for a column or a file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// The signature of [`Signature::to_bytes`]; `None` unless there are 512.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Signature> {
        let (values, rest) = bytes.as_chunks();
        let values: Vec<u32> = values.iter().map(|value| u32::from_le_bytes(*value)).collect();
        Signature::from_values(&values).filter(|_| rest.is_empty())
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
    for band in 0..BANDS {
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
        let bytes: Vec<u8> = self.held.iter().flat_map(Signature::to_bytes).collect();
        file.write_all_at(&bytes, (self.written * BYTES) as u64)?;
        self.written += self.held.len();
        self.held.clear();
        Ok(())
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.written + self.held.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As [`families()`].
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn families(&self) -> io::Result<Vec<usize>> {
        let mut grouping = Grouping::of(self.len());
        for band in 0..BANDS {
            let mut bands = Vec::with_capacity(self.len());
            for one in self.all() {
                bands.push((one?.band(band), bands.len() as u32));
            }
            grouping.band(&mut bands, |at| self.get(at))?;
        }
        Ok(grouping.families())
    }

    /// All of them, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = io::Result<Cow<'_, Signature>>> {
        let written = (0..self.written).step_by(AT_A_TIME).flat_map(|at| {
            let (read, failed) = match self.read(at, AT_A_TIME) {
                Ok(read) => (read, None),
                Err(error) => (Vec::new(), Some(Err(error))),
            };
            read.into_iter().map(|one| Ok(Cow::Owned(one))).chain(failed)
        });
        written.chain(self.held.iter().map(|one| Ok(Cow::Borrowed(one))))
    }

    fn get(&self, at: usize) -> io::Result<Cow<'_, Signature>> {
        match at.checked_sub(self.written) {
            Some(held) => Ok(Cow::Borrowed(&self.held[held])),
            None => Ok(Cow::Owned(self.read(at, 1)?.swap_remove(0))),
        }
    }

    fn read(&self, at: usize, count: usize) -> io::Result<Vec<Signature>> {
        let mut bytes = vec![0; count * BYTES];
        if let Some(file) = &self.file {
            file.read_exact_at(&mut bytes, (at * BYTES) as u64)?;
        }
        Ok(bytes.chunks(BYTES).filter_map(Signature::from_bytes).collect())
    }

    fn clear(&mut self) {
        self.held.clear();
        self.written = 0;
    }
}

/// Programs that are equal in one band, met in order, with what is known of their families: as [`families()`] compares
/// them, for whoever has the members of one band together and nothing else.
#[derive(Debug, Default)]
pub struct Alike {
    /// Their places, and the least place of the family of each as far as it is known.
    members: Vec<(u64, u64)>,
    signatures: Signatures,
}

impl Alike {
    /// Add one.
    ///
    /// # Errors
    /// When there is no room for temporary files.
    pub fn push(&mut self, place: u64, family: u64, signature: Signature) -> io::Result<()> {
        self.members.push((place, family));
        self.signatures.push(signature)
    }

    /// Pairs of places that are of one family and were not known to be: as few as tell it. Then there are none.
    ///
    /// # Errors
    /// When signatures cannot be read.
    pub fn edges(&mut self) -> io::Result<Vec<(u64, u64)>> {
        let members = std::mem::take(&mut self.members);
        let mut edges = Vec::new();
        if members.iter().any(|(_, family)| *family != members[0].1) {
            let mut firsts: HashMap<u64, u32> = HashMap::new();
            let known = members
                .iter()
                .zip(0..)
                .map(|((_, family), at)| *firsts.entry(*family).or_insert(at));
            let known: Vec<u32> = known.collect();
            let mut grouping = Grouping(known.clone());
            let mut band: Vec<_> = (0..members.len() as u32).map(|at| ([0; BAND], at)).collect();
            grouping.band(&mut band, |at| self.signatures.get(at))?;
            for (at, first) in grouping.families().into_iter().enumerate() {
                // One of each family that was known is enough.
                if known[at] as usize == at && first != at {
                    edges.push((members[first].0, members[at].0));
                }
            }
        }
        self.signatures.clear();
        Ok(edges)
    }
}

/// Families as they come together: of each program another of its family, or itself.
#[derive(Debug)]
pub(crate) struct Grouping(Vec<u32>);

impl Grouping {
    pub(crate) fn of(count: usize) -> Grouping {
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
            // Members met so far, by family: those of one's own need not be compared. Of very many the later ones are
            // read again.
            let mut met: Vec<Vec<(u32, Option<Cow<'a, Signature>>)>> = Vec::new();
            for (number, (_, one)) in members.iter().enumerate() {
                let its = signature(*one as usize)?;
                let is_near = |(other, held): &(u32, Option<Cow<'a, Signature>>)| {
                    let similarity = match held {
                        Some(held) => its.similarity(held),
                        None => its.similarity(signature(*other as usize)?.as_ref()),
                    };
                    Ok(similarity >= FAMILY_THRESHOLD)
                };
                let (mut own, mut others) = (Vec::new(), Vec::new());
                for mut group in met.drain(..) {
                    let (a, b) = (root(parent, *one), root(parent, group[0].0));
                    let mut near = group.iter().rev().map(is_near);
                    let mut is_one = || near.find(|near| !matches!(near, Ok(false)));
                    if a != b && !is_one().unwrap_or(Ok(false))? {
                        others.push(group);
                        continue;
                    }
                    parent[a.max(b) as usize] = a.min(b);
                    // The larger one stays where it is.
                    if own.len() < group.len() {
                        std::mem::swap(&mut own, &mut group);
                    }
                    own.append(&mut group);
                }
                own.push((*one, (number < AT_A_TIME).then_some(its)));
                others.push(own);
                met = others;
            }
        }
        Ok(())
    }

    /// Two programs are one family.
    pub(crate) fn unite(&mut self, one: u32, other: u32) {
        let (a, b) = (root(&mut self.0, one), root(&mut self.0, other));
        self.0[a.max(b) as usize] = a.min(b);
    }

    /// Of each program the first member of its family.
    pub(crate) fn families(mut self) -> Vec<usize> {
        self.roots();
        self.0.into_iter().map(|first| first as usize).collect()
    }

    /// The same as far as it is known.
    pub(crate) fn roots(&mut self) -> &[u32] {
        for at in 0..self.0.len() as u32 {
            self.0[at as usize] = root(&mut self.0, at);
        }
        &self.0
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
    fn families_of_bands_looked_at_by_themselves_are_the_same() {
        let all: Vec<Signature> = (0..900_usize)
            .map(|n| {
                let shift = n % 20 * 1000 + n / 20 % 25;
                let words: Vec<String> = (0..90).map(|at| (at + shift).to_string()).collect();
                Signature::of(words.iter().map(String::as_str))
            })
            .collect();
        let expected = families(&all);
        assert!(expected.iter().collect::<std::collections::HashSet<_>>().len() > 5);
        let mut grouping = Grouping::of(all.len());
        for bands in [0..2, 2..BANDS] {
            let known: Vec<u32> = grouping.roots().to_vec();
            for band in bands {
                let mut alike: HashMap<_, Alike> = HashMap::new();
                for (at, one) in all.iter().enumerate() {
                    let alike = alike.entry(one.band(band)).or_default();
                    alike.push(at as u64, u64::from(known[at]), one.clone()).unwrap();
                }
                for alike in alike.values_mut() {
                    for (a, b) in alike.edges().unwrap() {
                        grouping.unite(a as u32, b as u32);
                    }
                    assert!(alike.edges().unwrap().is_empty());
                }
            }
        }
        assert_eq!(grouping.families(), expected);
    }

    #[test]
    fn a_signature_is_its_bytes() {
        let one = words(LONG);
        assert_eq!(Signature::from_bytes(&one.to_bytes()).as_ref(), Some(&one));
        for wrong in [0, 511, 513] {
            assert_eq!(Signature::from_bytes(&vec![0; wrong]), None);
        }
    }

    #[test]
    fn an_empty_program_has_a_signature() {
        assert_eq!(words("").similarity(&words("")), 1.0);
    }
}
