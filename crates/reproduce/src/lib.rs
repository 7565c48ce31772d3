//! Published evaluations again: what can be made from data that one has, beside what the papers print.
//!
//! A recipe reads the data sets of a folder, up to three folders deep, whatever they are called: each is known by its schema. It gives
//! tables, as Markdown and as CSV, and pictures; what would need data that are not there is named as *not made*, with what makes them.
//! The papers' numbers stand in `published.csv` with their table or figure; the others of a paper are not here, and are not guessed.
//!
//! ```
//! use stampmill_reproduce::{Error, Options, reproduce};
//!
//! let empty = tempfile::tempdir()?;
//! let options = Options { recipe: "pie".into(), data: empty.path().into(), seeds: 1 };
//! assert!(matches!(reproduce(&options), Err(Error::Nothing { .. })));
//! # Ok::<(), std::io::Error>(())
//! ```

mod benchpress;
mod cgo17;
mod compile;
mod page;
mod pie;
mod plane;

use dataset::Dataset;
pub use heuristics::ReproduceOptions as Options;
use page::Page;
use serde_json::Value;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What is recomputed, and of what.
const RECIPES: [(&str, &str, Make, &str); 3] = [
    (
        "benchpress",
        "BenchPress (PACT 2022): Table 1, Figures 2, 6, 8 and 9",
        benchpress::make,
        "`sample` (Table 1, Figure 6), `steer` (Figure 8), `features --space grewe` (Figures 2 and 9)",
    ),
    (
        "pie",
        "PIE (ICLR 2024): its scores and its data set, of the answers that are given",
        pie::make,
        "`edits judge` (scores), `edits pairs` (the data set)",
    ),
    (
        "compile",
        "ComPile (2023): Tables 1 and 3, Figure 1 by package",
        compile::make,
        "`ir build`, `extract` or `dedup`, and `ir stats`",
    ),
];

type Make = fn(&[Set], &mut Page) -> dataset::Result<()>;

/// The names that `--recipe` takes.
pub fn names() -> Vec<&'static str> {
    std::iter::once("cgo17").chain(RECIPES.iter().map(|(name, ..)| *name)).collect()
}

/// Why nothing is recomputed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A recipe that nobody wrote.
    #[error("no recipe `{name}`; there are {}", known.join(", "))]
    Unknown {
        /// As it was asked for.
        name: String,
        /// Those that there are.
        known: Vec<&'static str>,
    },
    /// The folder holds nothing that the recipe reads.
    #[error("{recipe} finds nothing to read in {}: it takes data sets of {takes}", folder.display())]
    Nothing {
        /// The recipe.
        recipe: &'static str,
        /// The folder.
        folder: PathBuf,
        /// What it takes.
        takes: &'static str,
    },
    /// The folder cannot be read.
    #[error("{}", dataset::refusal("read", folder, source))]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A data set cannot be read.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// The paper's recipe failed.
    #[error(transparent)]
    Heuristics(#[from] heuristics::Error),
}

/// A recomputed evaluation.
#[derive(Clone, Debug)]
pub struct Reproduced {
    /// The numbers, as `--json` prints them.
    pub numbers: Value,
    /// A page of them, in Markdown.
    pub text: String,
    /// Tables as CSV and pictures as SVG, by file name.
    pub files: Vec<(String, String)>,
}

/// A data set of the folder.
struct Set {
    /// Its path in the folder.
    name: String,
    dataset: Dataset,
}

impl Set {
    fn is(&self, schema: &str) -> bool {
        self.dataset.manifest().schema == schema
    }
}

/// Recompute a published evaluation.
///
/// # Errors
/// When there is no such recipe, and where the folder holds nothing for it or cannot be read.
pub fn reproduce(options: &Options) -> Result<Reproduced, Error> {
    if options.recipe == "cgo17" {
        return cgo17::make(options);
    }
    let found = RECIPES.iter().find(|(name, ..)| *name == options.recipe);
    let Some((recipe, title, make, takes)) = found else {
        return Err(Error::Unknown { name: options.recipe.clone(), known: names() });
    };
    let mut sets = Vec::new();
    find(&options.data, &options.data, 3, &mut sets)?;
    let mut page = Page::new(recipe, title);
    make(&sets, &mut page)?;
    if page.is_empty() {
        return Err(Error::Nothing { recipe, folder: options.data.clone(), takes });
    }
    Ok(page.finish())
}

fn find(root: &Path, folder: &Path, depth: u32, sets: &mut Vec<Set>) -> Result<(), Error> {
    if Dataset::is_at(folder) {
        let name = folder.strip_prefix(root).unwrap_or(folder).display().to_string();
        let name = if name.is_empty() { "data".to_owned() } else { name };
        sets.push(Set { name, dataset: Dataset::open(folder)? });
        return Ok(());
    }
    let failed = |source| Error::Folder { folder: folder.to_owned(), source };
    let mut inner: Vec<PathBuf> =
        fs::read_dir(folder).map_err(failed)?.flatten().map(|entry| entry.path()).collect();
    inner.retain(|path| path.is_dir() && depth > 0);
    inner.sort();
    inner.iter().try_for_each(|path| find(root, path, depth - 1, sets))
}
