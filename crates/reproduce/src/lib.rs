//! Published evaluations again: what can be made from data that one has, beside what the papers print.
//!
//! | recipe | paper | from |
//! |---|---|---|
//! | `cgo17` | CLgen (CGO 2017): Table 1, Figures 3, 7, 8 and 9 | the published files; for Figure 9 data sets of `features`, too |
//! | `benchpress` | BenchPress (PACT 2022): Tables 1 and 2, Figures 2, 6, 8 and 9 | data sets of `sample`, `learn`, `steer`, `features` |
//! | `pie` | PIE (ICLR 2024): Tables 1 to 8 | data sets of `edits judge` and `edits pairs` |
//! | `compile` | ComPile (2023): Tables 1 and 3, Figure 1 by package | data sets of `ir build` and the like, and of `ir stats` |
//! | `suites` | CLgen's Table 1 for tasks of one's own | tasks |
//!
//! A recipe reads the data sets of a folder, up to three folders deep, whatever they are called: each is known by its schema. It gives
//! tables, as Markdown and as CSV, and pictures as SVG ([`Reproduced`]); what would need data that are not there is named as *not made*,
//! with what makes them. The same data give the same bytes.
//!
//! The papers' numbers stand in `published.csv` with their table or figure, and come before ours in each table; the others of a paper are
//! not here, and are not guessed. To add a recipe, write a file beside these and name it in `RECIPES`; to add a paper's number, add a line
//! to `published.csv`.
//!
//! ```
//! use dataset::{Builder, Notes};
//! use rows::Pair;
//! use stampmill_reproduce::{Options, reproduce};
//!
//! let home = tempfile::tempdir()?;
//! let builder = Builder::<Pair>::create(&home.path().join("pairs"), false, &"by hand")?;
//! let pair = Pair {
//!     problem_id: "p1".into(), split: "test".into(),
//!     src_code: "int main() { return 0 + 0; }".into(), tgt_code: "int main() { return 0; }".into(),
//!     ..Pair::default()
//! };
//! builder.finish([pair], Notes::default())?;
//! let made = reproduce(&Options::new("pie", home.path()))?;
//! assert!(made.text.contains("| *PIE, test* | *test* | *978* | *41* |"), "theirs");
//! assert!(made.text.contains("| pairs | test | 1 | 1 | made here |"), "ours");
//! assert!(made.files.iter().any(|(name, _)| name == "table8.csv"));
//! assert_eq!(made.numbers["not_made"][0], "scores: a data set of `edits judge`");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bars;
mod benchpress;
mod cgo17;
mod compile;
mod matches;
mod neighbors;
mod page;
mod pie;
mod plane;
mod suites;

use dataset::{Dataset, Row as _};
use page::Page;
use serde_json::Value;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What is recomputed, and of what.
const RECIPES: [(&str, &str, Make, &str); 4] = [
    (
        "benchpress",
        "BenchPress (PACT 2022): Tables 1 and 2, Figures 2, 6, 8 and 9",
        benchpress::make,
        "`sample` (Table 1, Figure 6), `learn --experiment` (Table 2), `steer` (Figure 8), `features --space grewe` (Figures 2 and 9)",
    ),
    (
        "pie",
        "PIE (ICLR 2024): Tables 1 to 8, of the answers and pairs that are given",
        pie::make,
        "`edits judge` (Tables 1 to 5), `edits pairs` (Tables 6 to 8)",
    ),
    (
        "suites",
        "Trained on one group, tested on another: CLgen's Table 1 (CGO 2017) for tasks of one's own",
        suites::make,
        "`label`, `heuristic import` and others that make tasks",
    ),
    (
        "compile",
        "ComPile (2023): Tables 1 and 3, Figure 1 by package",
        compile::make,
        "`ir build`, `extract` or `dedup`, and `ir stats`",
    ),
];

type Make = fn(&[Set], &Options, &mut Page) -> Result<(), Error>;

/// The names that `--recipe` takes.
pub fn names() -> Vec<&'static str> {
    std::iter::once("cgo17").chain(RECIPES.iter().map(|(name, ..)| *name)).collect()
}

/// What is to be recomputed, and of what.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the recipe.
    pub recipe: String,
    /// Folder with the data: the published files of cgo17, data sets of the others.
    pub data: PathBuf,
    /// Of cgo17: seeds 0 up to this number give the ranges of what depends on ties between equal splits.
    pub seeds: u32,
    /// Of cgo17: a folder with data sets of `features`, whose kernels stand in Figure 9 beside the paper's.
    pub kernels: Option<PathBuf>,
    /// Of pie: a `tokenizer.json` in Hugging Face's format, whose tokens programs are counted in beside those of C++.
    pub tokenizer: Option<PathBuf>,
}

impl Options {
    /// With one seed.
    pub fn new(recipe: &str, data: &Path) -> Options {
        let (recipe, data) = (recipe.to_owned(), data.to_owned());
        Options { recipe, data, seeds: 1, kernels: None, tokenizer: None }
    }
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
    /// Vectors cannot be put on a plane.
    #[error(transparent)]
    Features(#[from] features::Error),
    /// A tokenizer cannot be read.
    #[error(transparent)]
    Tokenizer(#[from] lm::Error),
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
        let mut sets = Vec::new();
        if let Some(folder) = &options.kernels {
            find(folder, folder, 3, &mut sets)?;
            sets.retain(|set| set.is(features::Row::SCHEMA));
            if sets.is_empty() {
                let (recipe, takes) = ("Figure 9", "`features --space grewe`");
                return Err(Error::Nothing { recipe, folder: folder.clone(), takes });
            }
        }
        return cgo17::make(options, &sets);
    }
    let found = RECIPES.iter().find(|(name, ..)| *name == options.recipe);
    let Some((recipe, title, make, takes)) = found else {
        return Err(Error::Unknown { name: options.recipe.clone(), known: names() });
    };
    let mut sets = Vec::new();
    find(&options.data, &options.data, 3, &mut sets)?;
    let mut page = Page::new(recipe, title);
    make(&sets, options, &mut page)?;
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
