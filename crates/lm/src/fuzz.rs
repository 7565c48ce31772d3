//! For `fuzz/` alone: what is read of files of settings.

use crate::{Kind, Recipe};

/// The settings of a kind with those of a TOML text in their place.
///
/// # Errors
/// What is wrong with the text.
pub fn recipe(kind: Kind, text: &str) -> Result<Recipe, String> {
    Recipe::parse(kind, text)
}
