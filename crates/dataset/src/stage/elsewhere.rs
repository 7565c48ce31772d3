//! What is asked of a cluster where rows are too many to be compared in this process.

use crate::{Error, Result, Row, shard};
use serde::{Deserialize, Serialize};
use std::{
    fmt, fs,
    ops::Range,
    path::{Path, PathBuf},
};

/// Rows of one file: a task reads one or more.
const FILE_ROWS: usize = 1 << 18;

/// What can be said of rows only when all are looked at. Files are Parquet files, named by path or by URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// Which of the rows in files of [`Keyed`] have a key that others have: [`Repeat`]s, in the order of their places.
    Repeats {
        /// The files.
        keys: Vec<PathBuf>,
        /// Whether ranks count.
        ranked: bool,
    },
    /// How many different ones there are in files of [`Hashed`]: one [`Count`].
    Distinct {
        /// The files.
        hashes: Vec<PathBuf>,
    },
    /// Which programs are one family by some of the bands of their signatures and were not known to be: [`Edge`]s, in
    /// any order.
    Near {
        /// Files of [`Signed`].
        signatures: Vec<PathBuf>,
        /// Files of [`Rooted`]: what is known; none of them where nothing is.
        roots: Vec<PathBuf>,
        /// The bands.
        bands: Range<usize>,
    },
}

impl Question {
    /// The same of files that stand elsewhere.
    ///
    /// # Errors
    /// Those of `place`.
    pub fn of_files<E>(
        mut self,
        mut place: impl FnMut(&Path) -> std::result::Result<PathBuf, E>,
    ) -> std::result::Result<Question, E> {
        let lists = match &mut self {
            Question::Repeats { keys, .. } => vec![keys],
            Question::Distinct { hashes } => vec![hashes],
            Question::Near { signatures, roots, .. } => vec![signatures, roots],
        };
        for file in lists.into_iter().flatten() {
            *file = place(file)?;
        }
        Ok(self)
    }
}

/// Answers questions outside of this process: on a cluster.
pub trait Elsewhere: fmt::Debug + Send + Sync {
    /// Rows that are compared in this process; of more, questions are asked.
    fn most_here(&self) -> u64;

    /// A folder for the files of questions; it need not be there yet, and is removed afterwards.
    fn folder(&self) -> PathBuf;

    /// Write the answer to a Parquet file.
    ///
    /// # Errors
    /// In words.
    fn answer(&self, question: Question, out: &Path) -> std::result::Result<(), String>;
}

/// A key, and the place of its row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyed {
    /// The row's number.
    pub place: u64,
    /// What is compared.
    pub key: String,
    /// Of the rows with one key that of the least rank is the first, of equal ranks that of the least number.
    pub rank: String,
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

/// A hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hashed {
    /// What is counted.
    pub hash: u64,
}

/// How many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// So many.
    pub count: u64,
}

/// A program's [`Signature`](crate::Signature).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// The program's number.
    pub place: u64,
    /// The signature's bytes.
    #[serde(with = "serde_bytes")]
    pub signature: Vec<u8>,
}

/// A program's family as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rooted {
    /// The program's number.
    pub place: u64,
    /// That of the first known member of its family.
    pub root: u64,
}

/// Two programs that are one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// The number of one.
    pub one: u64,
    /// That of the other.
    pub other: u64,
}

macro_rules! rows {
    ($($row:ty: $name:literal),+) => {$(
        impl Row for $row {
            const SCHEMA: &'static str = $name;
            const VERSION: u32 = 1;
        }
    )+};
}

rows!(Keyed: "key", Repeat: "repeat", Hashed: "hash", Count: "count", Signed: "signature", Rooted: "root", Edge: "edge");

/// A folder that goes with it.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// An empty one, for questions of one kind.
    pub(super) fn of(elsewhere: &dyn Elsewhere, name: &str) -> Result<Scratch> {
        let folder = elsewhere.folder().join(name);
        // One that a killed run left is of no use.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
        Ok(Scratch(folder))
    }

    /// A file in it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.parquet"))
    }

    /// Write rows, in as many files as they need.
    pub(super) fn write<T: Row>(
        &self,
        name: &str,
        rows: impl Iterator<Item = Result<T>>,
    ) -> Result<Vec<PathBuf>> {
        let (mut rows, mut files) = (rows.peekable(), Vec::new());
        // One at least: columns are asked for, whatever their number of rows.
        while files.is_empty() || rows.peek().is_some() {
            let file = self.file(&format!("{name}-{}", files.len()));
            shard::write(&file, rows.by_ref().take(FILE_ROWS))?;
            files.push(file);
        }
        Ok(files)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It is the client's, and goes with its parts where it stays.
        let _ = fs::remove_dir_all(&self.0);
        let _ = self.0.parent().map(fs::remove_dir);
    }
}

/// A cluster, as far as questions go.
#[cfg(test)]
pub(super) mod stand_in {
    use super::*;
    use crate::{Alike, Signature, reader::rows_of};
    use std::{
        collections::{BTreeMap, BTreeSet},
        sync::Arc,
    };

    /// Answers as an engine would.
    #[derive(Debug)]
    pub(crate) struct Other(PathBuf);

    impl Other {
        pub(crate) fn at(folder: &Path) -> Arc<dyn Elsewhere> {
            Arc::new(Other(folder.to_owned()))
        }
    }

    fn all<T: Row + 'static>(files: &[PathBuf]) -> Vec<T> {
        rows_of(files.to_vec()).map(|row| row.unwrap()).collect()
    }

    fn repeats(rows: &[Keyed]) -> Vec<Repeat> {
        let mut places: BTreeMap<&str, Vec<(&str, u64)>> = BTreeMap::new();
        for row in rows {
            places.entry(&row.key).or_default().push((&row.rank, row.place));
        }
        let repeat = |row: &Keyed| {
            let all = &places[row.key.as_str()];
            let (first, copies) = (all.iter().min().unwrap().1, all.len() as u64);
            (copies > 1).then_some(Repeat { place: row.place, first, copies })
        };
        rows.iter().filter_map(repeat).collect()
    }

    fn near(signatures: &[Signed], roots: &[Rooted], bands: Range<usize>) -> Vec<Edge> {
        let roots: BTreeMap<u64, u64> = roots.iter().map(|row| (row.place, row.root)).collect();
        let mut alike: BTreeMap<_, Alike> = BTreeMap::new();
        for row in signatures {
            let signature = Signature::from_bytes(&row.signature).unwrap();
            let root = roots.get(&row.place).copied().unwrap_or(row.place);
            for band in bands.clone() {
                let alike = alike.entry((band, signature.band(band))).or_default();
                alike.push(row.place, root, signature.clone()).unwrap();
            }
        }
        let edges = alike.values_mut().flat_map(|alike| alike.edges().unwrap());
        edges.map(|(one, other)| Edge { one, other }).collect()
    }

    impl Elsewhere for Other {
        fn most_here(&self) -> u64 {
            0
        }

        fn folder(&self) -> PathBuf {
            self.0.clone()
        }

        fn answer(&self, question: Question, out: &Path) -> std::result::Result<(), String> {
            fn write<T: Row>(out: &Path, rows: Vec<T>) -> std::result::Result<(), String> {
                let rows = rows.into_iter().map(Ok);
                shard::write(out, rows).map(drop).map_err(|error| error.to_string())
            }
            match question {
                Question::Repeats { keys, .. } => write(out, repeats(&all(&keys))),
                Question::Distinct { hashes } => {
                    let hashes = all::<Hashed>(&hashes).into_iter().map(|row| row.hash);
                    write(out, vec![Count { count: hashes.collect::<BTreeSet<_>>().len() as u64 }])
                }
                Question::Near { signatures, roots, bands } => {
                    write(out, near(&all(&signatures), &all(&roots), bands))
                }
            }
        }
    }
}
