//! Published results, recomputed.
//!
//! A recipe is one folder here and one line in [`RECIPES`].

mod cgo17;

pub use cgo17::{COMPARED, PublishedVectors, published_benchmarks, published_vectors};

use crate::{Error, Result};
use std::path::PathBuf;

/// How a published result is recomputed.
pub trait Recipe: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// What is recomputed, in one line.
    fn describe(&self) -> &'static str;

    /// Recompute it.
    ///
    /// # Errors
    /// When the published data are missing, incomplete or not what the recipe expects.
    fn reproduce(&self, options: &ReproduceOptions) -> Result<Reproduction>;
}

/// All recipes.
pub static RECIPES: [&dyn Recipe; 1] = [&cgo17::Cgo17];

/// Options of `heuristic reproduce`.
#[derive(Clone, Debug)]
pub struct ReproduceOptions {
    /// Name of the recipe.
    pub recipe: String,
    /// Folder with the published data.
    pub data: PathBuf,
    /// Seeds 0 up to this number give the ranges of what depends on ties between equal splits.
    pub seeds: u32,
}

/// A recomputed result in four forms.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// The numbers, as `--json` prints them.
    pub numbers: serde_json::Value,
    /// The same for people, in Markdown.
    pub text: String,
    /// Pictures: file name and SVG.
    pub pictures: Vec<(String, String)>,
    /// Tables: file name and CSV.
    pub tables: Vec<(String, String)>,
}

/// Recompute a published result.
///
/// # Errors
/// When the recipe is unknown, or as [`Recipe::reproduce`].
pub fn reproduce(options: &ReproduceOptions) -> Result<Reproduction> {
    let recipe = RECIPES.into_iter().find(|recipe| recipe.name() == options.recipe);
    let recipe = recipe.ok_or_else(|| Error::UnknownRecipe {
        name: options.recipe.clone(),
        known: RECIPES.iter().map(|recipe| recipe.name().to_owned()).collect(),
    })?;
    recipe.reproduce(options)
}
