//! What a model was trained on: enough to tell whether it holds a kernel, or a near-duplicate of one, and no text.

use crate::Result;
use fnv::FnvHasher;
use leak::{Print, Shingles};
use nn::{Array, Numbers};
use std::{
    collections::{BTreeMap, HashMap},
    hash::Hasher,
    path::Path,
};

/// File of a checkpoint with what it was trained on.
const FILE: &str = "training-set.safetensors";

/// Shorter runs of lexemes are in every kernel and are not looked for.
const SHORTEST_RUN: usize = 8;

/// The kernels of a training set: the names they had, the shingles of their texts as the leak rule compares them, and
/// hashes of their lexemes in order.
#[derive(Clone, Debug, Default)]
pub struct TrainingSet {
    names: Vec<String>,
    shingles: Vec<Shingles>,
    lexemes: Vec<u16>,
    /// Where each kernel's lexemes begin, and the end.
    starts: Vec<usize>,
    /// Places of every run of [`SHORTEST_RUN`] lexemes.
    runs: HashMap<u64, Vec<u32>>,
}

impl TrainingSet {
    /// Of kernels, each with the name that it had.
    pub fn of<'a>(kernels: impl IntoIterator<Item = (&'a str, &'a str)>) -> TrainingSet {
        let mut set = TrainingSet { starts: vec![0], ..TrainingSet::default() };
        for (name, text) in kernels {
            // One name a line.
            set.names.push(name.replace(['\n', '\r'], " "));
            set.shingles.push(Print::of_text(text).text);
            set.lexemes.extend(lexemes(text));
            set.starts.push(set.lexemes.len());
        }
        set.index()
    }

    /// Read it from a checkpoint's folder; `None` of a checkpoint that does not say.
    ///
    /// # Errors
    /// When the file is broken.
    pub fn read(folder: &Path) -> Result<Option<TrainingSet>> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let mut arrays = nn::read(&path)?;
        let broken =
            || nn::Error::Config { path: path.clone(), why: "it is no training set".to_owned() };
        let mut take = |name: &str| arrays.remove(name).map(|array| array.numbers);
        let (Some(Numbers::U8(names)), Some(Numbers::U32(hashes)), Some(Numbers::U16(counts))) =
            (take("names"), take("hashes"), take("counts"))
        else {
            return Err(broken().into());
        };
        let (Some(Numbers::I64(parts)), Some(Numbers::U16(lexemes)), Some(Numbers::I64(starts))) =
            (take("parts"), take("lexemes"), take("starts"))
        else {
            return Err(broken().into());
        };
        let names = String::from_utf8(names).map_err(|_| broken())?;
        let names: Vec<String> = names.lines().map(str::to_owned).collect();
        let ends = |all: Vec<i64>, size: usize| -> Option<Vec<usize>> {
            let all: Vec<usize> =
                all.into_iter().map(usize::try_from).collect::<std::result::Result<_, _>>().ok()?;
            let is_whole = all.first() == Some(&0) && all.last() == Some(&size) && all.is_sorted();
            (is_whole && all.len() == names.len() + 1).then_some(all)
        };
        let parts = ends(parts, hashes.len()).ok_or_else(broken)?;
        let starts = ends(starts, lexemes.len()).ok_or_else(broken)?;
        if counts.len() != hashes.len() {
            return Err(broken().into());
        }
        let pairs: Vec<(u32, u16)> = hashes.into_iter().zip(counts).collect();
        let of = |ends: &[usize]| Shingles::from_counts(pairs[ends[0]..ends[1]].to_vec());
        let shingles = parts.windows(2).map(of).collect();
        let set = TrainingSet { names, shingles, lexemes, starts, runs: HashMap::new() };
        Ok(Some(set.index()))
    }

    /// Write it into a checkpoint's folder.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let mut names = self.names.join("\n");
        names.push('\n');
        let (mut hashes, mut counts, mut parts) = (Vec::new(), Vec::new(), vec![0_i64]);
        for shingles in &self.shingles {
            hashes.extend(shingles.counts().iter().map(|(hash, _)| *hash));
            counts.extend(shingles.counts().iter().map(|(_, count)| *count));
            parts.push(hashes.len() as i64);
        }
        let starts = self.starts.iter().map(|start| *start as i64).collect();
        let arrays = BTreeMap::from([
            ("names".to_owned(), Array::list(Numbers::U8(names.into_bytes()))),
            ("hashes".to_owned(), Array::list(Numbers::U32(hashes))),
            ("counts".to_owned(), Array::list(Numbers::U16(counts))),
            ("parts".to_owned(), Array::list(Numbers::I64(parts))),
            ("lexemes".to_owned(), Array::list(Numbers::U16(self.lexemes.clone()))),
            ("starts".to_owned(), Array::list(Numbers::I64(starts))),
        ]);
        Ok(nn::write(&folder.join(FILE), &arrays)?)
    }

    /// How many kernels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The kernels: the names that they had, which may be empty, and the shingles of their texts.
    pub fn kernels(&self) -> impl Iterator<Item = (&str, &Shingles)> {
        self.names.iter().map(String::as_str).zip(&self.shingles)
    }

    /// Lexemes of the longest run that a text has in common with one of the kernels, whatever the layout; 0 where
    /// none is as long as eight.
    #[must_use]
    pub fn longest_run(&self, text: &str) -> usize {
        let text: Vec<u16> = lexemes(text).collect();
        let mut longest = 0;
        for (at, window) in text.windows(SHORTEST_RUN).enumerate() {
            for place in self.runs.get(&key(window)).into_iter().flatten() {
                let place = *place as usize;
                // What began a lexeme earlier was looked at there.
                let is_begun = at > 0
                    && self.starts.binary_search(&place).is_err()
                    && self.lexemes[place - 1] == text[at - 1];
                if is_begun {
                    continue;
                }
                let end = self.starts[self.starts.partition_point(|start| *start <= place)];
                let pairs = text[at..].iter().zip(&self.lexemes[place..end]);
                longest = longest.max(pairs.take_while(|(a, b)| a == b).count());
            }
        }
        longest
    }

    fn index(mut self) -> TrainingSet {
        for ends in self.starts.windows(2) {
            for (at, window) in self.lexemes[ends[0]..ends[1]].windows(SHORTEST_RUN).enumerate() {
                self.runs.entry(key(window)).or_default().push((ends[0] + at) as u32);
            }
        }
        self
    }
}

/// Hashes of a text's lexemes.
fn lexemes(text: &str) -> impl Iterator<Item = u16> {
    lexer::tokens(text).map(|token| (fnv(token.text.as_bytes()) >> 48) as u16)
}

fn key(window: &[u16]) -> u64 {
    fnv(&window.iter().flat_map(|lexeme| lexeme.to_le_bytes()).collect::<Vec<_>>())
}

/// FNV-1a, its halves mixed.
fn fnv(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(bytes);
    let hash = hasher.finish();
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str =
        "kernel void A(global int* a, int b) { for (int c = 0; c < b; c++) a[c] ^= c << 3; }";
    const TWO: &str =
        "kernel void A(global float* a) { a[get_global_id(0)] = sqrt(a[get_local_id(0)]); }";

    #[test]
    fn the_longest_run_ends_where_a_kernel_does() {
        let set = TrainingSet::of([("one", ONE), ("two", TWO)]);
        let count = |text: &str| lexer::tokens(text).count();
        assert_eq!(set.longest_run(ONE), count(ONE));
        assert_eq!(set.longest_run(&format!("{ONE} {TWO}")), count(ONE).max(count(TWO)));
        assert_eq!(set.longest_run(&ONE.replace("c << 3", "c >> 3")), count(ONE) - 4);
        assert_eq!(set.longest_run("kernel void B() {}"), 0);
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(TrainingSet::read(folder.path()).expect("nothing is broken").is_none());
        let set = TrainingSet::of([("one", ONE), ("", TWO)]);
        set.write(folder.path()).expect("is written");
        let read = TrainingSet::read(folder.path()).expect("is whole").expect("is there");
        assert_eq!(read.kernels().collect::<Vec<_>>(), set.kernels().collect::<Vec<_>>());
        assert_eq!(read.longest_run(TWO), set.longest_run(TWO));
        std::fs::write(folder.path().join(FILE), "broken").expect("is written");
        assert!(TrainingSet::read(folder.path()).is_err());
    }
}
