//! Which of the rows with one key is the first, and how many there are: two passes over the keys, in one order.

use super::{
    Units,
    elsewhere::{Elsewhere, Keyed, Question, Repeat, Scratch},
};
use crate::{Error, Result, Row, reader::rows_of};
use std::{collections::HashMap, path::PathBuf};

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
            Some(elsewhere) => {
                let keys = keys().map(|key| Ok((key?, String::new())));
                Ok(Firsts(State::Known(Known::find(elsewhere.as_ref(), keys, false)?)))
            }
        }
    }

    /// What becomes of `many` rows, by their keys and ranks: the first of a key is the row of the least rank, of equal
    /// ranks that which is met first.
    ///
    /// # Errors
    /// When a key cannot be read, or comparing them failed.
    pub fn ranked(
        &self,
        many: u64,
        keys: impl Iterator<Item = Result<(String, String)>>,
    ) -> Result<Fates> {
        let state = match self.elsewhere.as_ref().filter(|elsewhere| many > elsewhere.most_here()) {
            Some(elsewhere) => State::Known(Known::find(elsewhere.as_ref(), keys, true)?),
            None => {
                let mut known: HashMap<String, (String, (u64, u64))> = HashMap::new();
                for (place, row) in keys.enumerate() {
                    let (key, rank) = row?;
                    // As it is compared elsewhere: before the row's number.
                    let rank = rank + " ";
                    let first = (place as u64, 0);
                    let (least, (first, copies)) =
                        known.entry(key).or_insert_with(|| (rank.clone(), first));
                    *copies += 1;
                    if rank < *least {
                        (*least, *first) = (rank, place as u64);
                    }
                }
                State::Here(known.into_iter().map(|(key, (_, fate))| (key, fate)).collect(), 0)
            }
        };
        Ok(Fates { state, place: 0 })
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
        Fates { state: self.0, place: 0 }.again()
    }
}

impl Fates {
    /// From the first row on.
    ///
    /// # Errors
    /// As [`Firsts::meet`].
    pub fn again(self) -> Result<Fates> {
        let state = match self.state {
            State::Known(known) => State::Known(Known::open(known.folder, known.file)?),
            here @ State::Here(..) => here,
        };
        Ok(Fates { state, place: 0 })
    }

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
        keys: impl Iterator<Item = Result<(String, String)>>,
        ranked: bool,
    ) -> Result<Known> {
        let folder = Scratch::of(elsewhere, "keys")?;
        let rows = keys.zip(0..).map(|(row, place)| {
            let (key, rank) = row?;
            Ok(Keyed { place, key, rank })
        });
        let keys = folder.write("keys", rows)?;
        let out = folder.file("repeats");
        let question = Question::Repeats { keys, ranked };
        elsewhere.answer(question, &out).map_err(Error::Compare)?;
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
    use crate::stage::elsewhere::stand_in::Other;
    use std::{marker::PhantomData, sync::Arc};

    fn units(elsewhere: Option<Arc<dyn Elsewhere>>) -> Units<Keyed> {
        Units { units: Vec::new(), parts: Vec::new(), left: 0, elsewhere, row: PhantomData }
    }

    fn fates(elsewhere: Option<Arc<dyn Elsewhere>>, keys: &[&str]) -> Vec<Fate> {
        let units = units(elsewhere);
        let all = || keys.iter().map(|key| Ok((*key).to_owned()));
        let mut firsts = units.firsts(keys.len() as u64, all).unwrap();
        let met: Vec<bool> = keys.iter().map(|key| firsts.meet(key).unwrap()).collect();
        let mut fates = firsts.met().unwrap();
        let fates: Vec<Fate> = keys.iter().map(|key| fates.next(key).unwrap()).collect();
        assert_eq!(met, fates.iter().map(Fate::is_first).collect::<Vec<_>>());
        fates
    }

    /// Of rows with keys and ranks, twice.
    fn ranked(elsewhere: Option<Arc<dyn Elsewhere>>, rows: &[(&str, &str)]) -> Vec<Fate> {
        let all = rows.iter().map(|(key, rank)| Ok(((*key).to_owned(), (*rank).to_owned())));
        let mut fates = units(elsewhere).ranked(rows.len() as u64, all).unwrap();
        let each = |fates: &mut Fates| -> Vec<Fate> {
            rows.iter().map(|(key, _)| fates.next(key).unwrap()).collect()
        };
        let once = each(&mut fates);
        assert_eq!(each(&mut fates.again().unwrap()), once);
        once
    }

    #[test]
    fn what_is_compared_elsewhere_is_what_is_compared_here() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("keys");
        for keys in [&["a", "b", "a", "c", "b", "a"][..], &["a", "b"], &["a", "a"], &[]] {
            let here = fates(None, keys);
            assert_eq!(fates(Some(Other::at(&folder)), keys), here);
            assert!(!folder.exists());
        }
        let of = fates(None, &["a", "b", "a"]);
        assert_eq!((of[0].copies, of[2].first, of[1].copies), (2, 0, 1));
    }

    #[test]
    fn the_first_is_that_of_the_least_rank() {
        let home = tempfile::tempdir().unwrap();
        let rows = [
            ("a", "1b"),
            ("b", "9"),
            ("a", "0d"),
            ("a", "0c"),
            ("a", "0c"),
            ("b", "1b1"),
            ("b", "1b"),
        ];
        let here = ranked(None, &rows);
        let firsts: Vec<u64> = here.iter().map(|fate| fate.first).collect();
        assert_eq!(firsts, [3, 6, 3, 3, 3, 6, 6]);
        assert_eq!((here[0].copies, here[1].copies), (4, 3));
        assert_eq!(ranked(Some(Other::at(&home.path().join("keys"))), &rows), here);
    }
}
