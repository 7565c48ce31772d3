//! Modules from what others left: objects and archives with embedded bitcode, ml-compiler-opt's
//! corpora, compilation databases, plain files.

mod commands;
mod corpus;
mod object;
mod run;

pub(crate) use corpus::{Description, FILE as CORPUS};
pub use object::Embedded;
pub(crate) use object::embedded;
pub use run::{Extract, extract};
pub(crate) use run::{finish, of_store, tools};
