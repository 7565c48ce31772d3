//! Which of the rows with one key is the first, and how many there are: two passes over the keys, in one order.

use super::Units;
use crate::{Error, Result, Row, reader::rows_of, shard};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    fmt, fs,
    path::{Path, PathBuf},
};

/// Rows of one file of keys.
const FILE_ROWS: usize = 1 << 20;

/// A key, and the place of its row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyed {
    /// The row's number.
    pub place: u64,
    /// What is compared.
    pub key: String,
}

/// A row whose key other rows have, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// The row's number.
    pub place: u64,
    /// That of the first row with its key.
    pub first: u64,
    /// How many rows have it.
    pub copies: u64,
}

impl Row for Keyed {
    const SCHEMA: &'static str = "key";
    const VERSION: u32 = 1;
}

impl Row for Repeat {
    const SCHEMA: &'static str = "repeat";
    const VERSION: u32 = 1;
}

/// Compares keys outside of this process: on a cluster.
pub trait Elsewhere: fmt::Debug + Send + Sync {
    /// So many keys are compared in this process, at about 100 bytes each; more are compared there.
    fn most_here(&self) -> u64;

    /// A folder that is seen there, too; it need not be there yet, and is removed afterwards.
    fn folder(&self) -> PathBuf;

    /// Of the rows in Parquet files of [`Keyed`], write those whose key several have to one of [`Repeat`], in the
    /// order of their places.
    ///
    /// # Errors
    /// In words.
    fn repeats(&self, keys: &[PathBuf], out: &Path) -> std::result::Result<(), String>;
}

/// Of rows that are met in order: which is the first with its key. The first pass.
pub struct Firsts(State);

/// The second pass, over the same rows: which is the first, and how many there are.
pub struct Fates {
    state: State,
    place: u64,
}

/// What becomes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// The row's number, from 0.
    pub place: u64,
    /// That of the first row with its key.
    pub first: u64,
    /// How many rows have it.
    pub copies: u64,
}

impl Fate {
    /// Whether no earlier row has its key.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.place == self.first
    }
}

enum State {
    /// Of each key the first row, and how many rows have it.
    Here(HashMap<String, (u64, u64)>, u64),
    Known(Known),
}

/// What was found elsewhere.
struct Known {
    folder: Scratch,
    file: PathBuf,
    repeats: Box<dyn Iterator<Item = Result<Repeat>>>,
    next: Option<Repeat>,
    place: u64,
}

/// A folder that goes with it.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // It is the client's, and goes with its parts where it stays.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl<T: Row + 'static> Units<T> {
    /// Begin to look for the first rows of `many`. Their keys are read beforehand where they are more than fit here.
    ///
    /// # Errors
    /// When a key cannot be read, or comparing them failed.
    pub fn firsts<I>(&self, many: u64, keys: impl FnOnce() -> I) -> Result<Firsts>
    where
        I: Iterator<Item = Result<String>>,
    {
        match self.elsewhere.as_ref().filter(|elsewhere| many > elsewhere.most_here()) {
            None => Ok(Firsts(State::Here(HashMap::new(), 0))),
            Some(elsewhere) => Ok(Firsts(State::Known(Known::find(elsewhere.as_ref(), keys())?))),
        }
    }
}

impl Firsts {
    /// Whether the next row is the first with its key.
    ///
    /// # Errors
    /// When what was found elsewhere cannot be read.
    pub fn meet(&mut self, key: &str) -> Result<bool> {
        match &mut self.0 {
            State::Known(known) => Ok(known.next()?.is_first()),
            State::Here(known, met) => {
                let place = *met;
                *met += 1;
                if let Some((_, copies)) = known.get_mut(key) {
                    *copies += 1;
                    return Ok(false);
                }
                known.insert(key.to_owned(), (place, 1));
                Ok(true)
            }
        }
    }

    /// All are met.
    ///
    /// # Errors
    /// As [`Firsts::meet`].
    pub fn met(self) -> Result<Fates> {
        let state = match self.0 {
            State::Known(known) => State::Known(Known::open(known.folder, known.file)?),
            here @ State::Here(..) => here,
        };
        Ok(Fates { state, place: 0 })
    }
}

impl Fates {
    /// What becomes of the next row.
    ///
    /// # Errors
    /// As [`Firsts::meet`].
    pub fn next(&mut self, key: &str) -> Result<Fate> {
        let place = self.place;
        self.place += 1;
        match &mut self.state {
            State::Known(known) => known.next(),
            State::Here(known, _) => {
                let (first, copies) = known.get(key).copied().unwrap_or((place, 1));
                Ok(Fate { place, first, copies })
            }
        }
    }
}

impl Known {
    fn find(
        elsewhere: &dyn Elsewhere,
        keys: impl Iterator<Item = Result<String>>,
    ) -> Result<Known> {
        let folder = Scratch(elsewhere.folder());
        // One that a killed run left is of no use.
        let _ = fs::remove_dir_all(&folder.0);
        fs::create_dir_all(&folder.0).map_err(Error::file("create", &folder.0))?;
        let mut rows =
            keys.enumerate().map(|(place, key)| Ok(Keyed { place: place as u64, key: key? }));
        let mut rows = rows.by_ref().peekable();
        let mut files = Vec::new();
        while rows.peek().is_some() {
            let file = folder.0.join(format!("keys-{}.parquet", files.len()));
            shard::write(&file, rows.by_ref().take(FILE_ROWS))?;
            files.push(file);
        }
        let out = folder.0.join("repeats.parquet");
        elsewhere.repeats(&files, &out).map_err(Error::Compare)?;
        Known::open(folder, out)
    }

    fn open(folder: Scratch, file: PathBuf) -> Result<Known> {
        let repeats = Box::new(rows_of::<Repeat>(vec![file.clone()]));
        let mut known = Known { folder, file, repeats, next: None, place: 0 };
        known.next = known.repeats.next().transpose()?;
        Ok(known)
    }

    fn next(&mut self) -> Result<Fate> {
        let place = self.place;
        self.place += 1;
        match self.next {
            Some(Repeat { place: at, first, copies }) if at == place => {
                self.next = self.repeats.next().transpose()?;
                Ok(Fate { place, first, copies })
            }
            _ => Ok(Fate { place, first: place, copies: 1 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeMap, marker::PhantomData, sync::Arc};

    /// As an engine would.
    #[derive(Debug)]
    struct Other(PathBuf);

    impl Elsewhere for Other {
        fn most_here(&self) -> u64 {
            0
        }

        fn folder(&self) -> PathBuf {
            self.0.clone()
        }

        fn repeats(&self, keys: &[PathBuf], out: &Path) -> std::result::Result<(), String> {
            let rows: Vec<Keyed> = rows_of(keys.to_vec()).map(|row| row.unwrap()).collect();
            let mut places: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
            for row in &rows {
                places.entry(&row.key).or_default().push(row.place);
            }
            let repeats = rows.iter().filter_map(|row| {
                let all = &places[row.key.as_str()];
                let (first, copies) = (all[0], all.len() as u64);
                (copies > 1).then_some(Ok(Repeat { place: row.place, first, copies }))
            });
            shard::write(out, repeats).map(drop).map_err(|error| error.to_string())
        }
    }

    fn fates(elsewhere: Option<Arc<dyn Elsewhere>>, keys: &[&str]) -> Vec<Fate> {
        let units: Units<Keyed> =
            Units { units: Vec::new(), parts: Vec::new(), left: 0, elsewhere, row: PhantomData };
        let all = || keys.iter().map(|key| Ok((*key).to_owned()));
        let mut firsts = units.firsts(keys.len() as u64, all).unwrap();
        let met: Vec<bool> = keys.iter().map(|key| firsts.meet(key).unwrap()).collect();
        let mut fates = firsts.met().unwrap();
        let fates: Vec<Fate> = keys.iter().map(|key| fates.next(key).unwrap()).collect();
        assert_eq!(met, fates.iter().map(Fate::is_first).collect::<Vec<_>>());
        fates
    }

    #[test]
    fn what_is_compared_elsewhere_is_what_is_compared_here() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("keys");
        for keys in [&["a", "b", "a", "c", "b", "a"][..], &["a", "b"], &["a", "a"], &[]] {
            let elsewhere: Arc<dyn Elsewhere> = Arc::new(Other(folder.clone()));
            let here = fates(None, keys);
            assert_eq!(fates(Some(elsewhere), keys), here);
            assert!(!folder.exists());
        }
        let of = fates(None, &["a", "b", "a"]);
        assert_eq!((of[0].copies, of[2].first, of[1].copies), (2, 0, 1));
    }
}
