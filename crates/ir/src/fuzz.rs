//! For `fuzz/` alone: what is read of foreign objects, and of what builds leave behind.

use crate::{Embedded, extract, wrap};

/// The modules in an object, an archive or a file of bitcode.
#[must_use]
pub fn embedded(content: &[u8]) -> Vec<Embedded> {
    extract::embedded(content)
}

/// The commands of a compilation database, as words, each with the object that it made.
#[must_use]
pub fn commands(text: &[u8]) -> Option<Vec<(Vec<String>, Option<std::path::PathBuf>)>> {
    extract::commands_in(text).ok()
}

/// The words of a recorded command line.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    wrap::split(text)
}
