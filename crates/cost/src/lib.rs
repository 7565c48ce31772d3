//! What programs cost, exactly and without a device.
//!
//! A learned cost model wants labels by the ten thousand that mean the same on every machine. Here are
//! tasks of which a label takes milliseconds, and the tool that the task of choosing passes comes to:
//!
//! - [`Task`] is a task, a file each under `task`; [`task()`] finds it by name:
//!   `size` (bytes of machine code), `mca` (cycles of its blocks weighted by loop depth), `cost` (cycles of a kernel's
//!   work-item, run on a model of a processor), `unroll`, `vectorize` and `coarsen` (the same by what is done with its loops or work-items) and
//!   `passes` (instructions that each pipeline of a set leaves);
//! - [`costs()`] is what programs cost that no data set holds;
//! - [`Label`] is the stage that labels programs: rows of schema `task`, one for each program, its
//!   verdict where it has no label;
//! - [`GroupSizes`] labels kernels with the fastest size of work-groups, from runs on a device: measured, not exact;
//! - [`Bench`] does the work: programs are compiled and optimised, and their modules read, in workers
//!   of their own ([`serve`] is the workers' side);
//! - [`Pipeline`] is a list of passes; [`coreset`] is the set that `passes` knows, [`fixed_set`] what
//!   [`smallest()`] tries to make one module small.
//!
//! ```
//! use stampmill_cost::{coreset, fixed_set, task};
//!
//! assert_eq!(task("size", None)?.choices(), ["size"]);
//! let passes = task("passes", None)?;
//! assert_eq!(passes.choices().len(), coreset().len());
//! // What is tried for one module is a part of what was compared.
//! assert!(fixed_set().iter().all(|pipeline| coreset().contains(pipeline)));
//! # Ok::<(), stampmill_cost::Error>(())
//! ```

mod bench;
mod costs;
mod described;
mod error;
mod flags;
mod group_sizes;
mod mca;
mod native;
mod pipeline;
mod reader;
mod row;
mod smallest;
mod stage;
mod task;

pub use bench::{Bench, Module, Options};
pub use costs::costs;
pub use error::Error;
pub use flags::Flags;
pub use group_sizes::{GroupSizes, GroupSizesItem};
pub use pipeline::{Pipeline, coreset, fixed_set};
pub use reader::{Form, serve};
pub use row::LabelRow;
pub use smallest::{Smallest, Tried, smallest};
pub use stage::{Label, LabelItem, LabelReport};
pub use task::{NAMES, Task, task};

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
