//! Modules from what others left: objects and archives with embedded bitcode, ml-compiler-opt's
//! corpora, compilation databases, plain files.

mod commands;
mod container;
mod corpus;
mod object;
mod run;

pub use container::Container;
pub(crate) use corpus::{Description, FILE as CORPUS};
pub use object::Embedded;
pub(crate) use object::embedded;
pub use run::Extract;
pub(crate) use run::{of_store, tools};
