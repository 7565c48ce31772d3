//! Modules from what others left: objects and archives with embedded bitcode, ml-compiler-opt's
//! corpora, ComPile's Parquet, compilation databases, plain files.

mod commands;
mod container;
mod corpus;
mod object;
mod parquet;
mod run;

pub use container::Container;
pub(crate) use corpus::{Description, FILE as CORPUS, is_inside};
pub use object::Embedded;
pub(crate) use object::embedded;
pub use run::Extract;
pub(crate) use run::{described, of_store, tools};

/// For the fuzzer: the words of each command of a compilation database, and the object that it made.
pub(crate) fn commands_in(
    text: &[u8],
) -> serde_json::Result<Vec<(Vec<String>, Option<std::path::PathBuf>)>> {
    let entries: Vec<commands::Entry> = serde_json::from_slice(text)?;
    Ok(entries.iter().map(|entry| (entry.words(), entry.object())).collect())
}
