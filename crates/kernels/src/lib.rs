//! From content files to kernels that a model can learn from.
//!
//! A content file as `mine` finds it may lack definitions that its package's build supplies, holds
//! several kernels and much else, and spells everything its own way. [`Prepare`] makes of it one
//! program per kernel, each judged, isolated and in normal form (CLgen, CGO'17, section 4.1;
//! BenchPress, PACT'22, section 3.1):
//!
//! 1. *Rejection filter*: what clang does not compile, or compiles to next to nothing, is
//!    rejected with its first diagnostic.
//! 2. *Shim and repair*: what is missing is taken from the program's own inactive parts, from a
//!    header of what everybody means, and else inferred from how it is used. [`Status`] says what a
//!    kernel needed.
//! 3. *Isolation*: of the preprocessed text only what the kernel reaches is kept, in order.
//! 4. *Rewriting*: functions `A, B, …`, variables `a, b, …`, one spelling, one layout. For every
//!    kernel the canonical IR of the content file's kernel and of the rewritten text are compared;
//!    where they differ the kernel is kept as isolated, with the verdict `rewrite-changed-ir`, or
//!    `isolation-changed-ir` where that is not proved equal either.
//! 5. Equal texts are one kernel; near-duplicates are one family.
//!
//! A C program goes the same way as far as it is OpenCL C: one row for each of its functions, which
//! models are pre-trained on. A C++ program is read as C, as far as its free functions are.
//!
//! A file of CUDA or HIP is translated first, kernel by kernel, where that is proved equal; or its kernels stay as they
//! are, each with what it needs.
//!
//! Everything is a [`KernelRow`] in the end, what was rejected too; the [`Report`] counts.
//!
//! ```no_run
//! use dataset::stage::{Context, run};
//! use stampmill_kernels::{Options, Prepare};
//!
//! let done = run(&Prepare::new(&Options::new("raw"))?, &Context::new("kernels"))?;
//! println!("{} files gave {} unique kernels", done.summary.files, done.summary.unique_kernels);
//! # Ok::<(), stampmill_kernels::Error>(())
//! ```

mod chunks;
mod compiler;
mod cuda;
mod cxx;
mod dead;
mod enumeration;
mod error;
mod file;
mod functions;
mod input;
mod isolate;
mod judge;
mod names;
mod parentheses;
mod place;
mod prepare;
mod printer;
mod reduce;
mod repair;
mod report;
mod rewrite;
mod row;
mod setting;
mod solve;

pub use error::Error;
pub use file::{MINIMUM_INSTRUCTIONS, Source};
pub use judge::{Judge, Judged};
pub use names::Series;
pub use prepare::{Options, Prepare, Survey};
pub use printer::{Printed, Printer};
pub use repair::SHIM;
pub use report::{PackageReport, Report, SameIr};
pub use row::{KernelRow, Status};
use setting::Setting;

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
