//! IR data sets from production packages: a compiler wrapper, extraction, deduplication, statistics.
//!
//! ComPile (Grossman et al., 2023) showed that IR from real packages is worth collecting; this is
//! its job as a tool that can be rerun. One row is one [`Module`]: bitcode as the compiler first
//! made it, the exact command, the package and its license.
//!
//! - [`wrap()`] stands in a compiler's place and keeps what it makes;
//! - the stage [`Build`] builds packages with wrapped compilers, in a sandbox;
//! - [`Extract`] takes modules from objects, archives, corpora and compilation databases;
//! - [`structure()`] describes a module so that names, metadata and order do not matter, and
//!   [`Dedup`] drops what is there already and groups what is alike; [`structure_of`] gives the same of bitcode without
//!   LLVM's reader, where crate `bitcode` knows all that stands in it;
//! - [`Optimize`] runs a pipeline of passes, to its end or a part of it, and [`Passes`] keeps what each pass did;
//! - [`Cycles`] runs modules that have a `main`: simulated cycles of each program and of its functions;
//! - [`License`], [`Stats`] and [`export()`] judge, count and hand on; [`diff()`] compares.
//!
//! Foreign bitcode is read by [`Reader`], in worker processes of their own.
//!
//! ```
//! use llvm::{Context, Library};
//!
//! let Ok(library) = Library::newest() else { return Ok(()) };
//! let context = Context::new(library);
//! let one = context.parse("one", b"define i32 @f(i32 %a) { %b = add i32 %a, 1\n ret i32 %b }")?;
//! let two = context.parse("two", b"define i32 @g(i32 %x) { %y = add i32 %x, 1\n ret i32 %y }")?;
//! assert_eq!(stampmill_ir::structure(&one).module, stampmill_ir::structure(&two).module);
//! # Ok::<(), llvm::Error>(())
//! ```

mod build;
mod cycles;
mod dedup;
mod diff;
mod error;
mod export;
mod extract;
#[doc(hidden)]
pub mod fuzz;
mod input;
mod license;
mod module;
mod passes;
mod reader;
mod report;
mod stats;
mod store;
mod structure;
mod wrap;

pub use bitcode::Unread;
pub use build::{Build, BuildOptions, PackageItem, RECIPES, Recipe};
pub use cycles::{Cycles, CyclesReport, ProgramInput, ProgramItem, Stdin};
pub use dedup::{Dedup, DedupReport};
pub use diff::{Compared, DiffReport, Difference, diff};
pub use error::Error;
pub use export::{Export, ExportReport, Format, export};
pub use extract::{Container, Embedded, Extract};
pub use input::ModuleItem;
pub use license::{License, LicenseFacts, LicenseReport, Policy};
pub use module::Module;
pub use passes::{Optimize, PassSums, Passes, PassesReport, Plan, Stop};
pub use reader::{LONGEST, Look, MODULE_LIMIT, Measure, Reader, look, opcode_names, serve};
pub use report::{Report, STUB, Share};
pub use stats::{SIZES, Statistics, Stats, StatsReport, Sums, TokensFacts};
pub use store::{Record, Store};
#[doc(hidden)]
pub use structure::read_alone;
pub use structure::{Structure, WIDTH, structure, structure_of};
pub use wrap::{STORE, is_compiler, stand_ins, wrap};

use std::path::{Path, PathBuf};

/// The cache of downloads: the folder named, or where other commands keep theirs.
pub(crate) fn cache_folder(named: Option<&Path>) -> PathBuf {
    named.map_or_else(host::cache, PathBuf::from).join("ir")
}
