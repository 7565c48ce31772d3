//! Running kernels for real: payloads, executions, the dynamic checker, measurements, labels.
//!
//! A kernel becomes a benchmark when it runs, does predictable work, and has been timed. This crate
//! is the only one that knows OpenCL, and it is a driver in the tradition of CLgen's `cldrive`
//! (Cummins, Petoumenos, Wang, Leather: *Synthesizing Benchmarks for Predictive Modeling*, CGO
//! 2017, section 5), without its limits:
//!
//! - [`devices`] lists what is here, which can be used and why not; OpenCL is loaded at run time,
//!   and a machine without it gets told what to install.
//! - The stage [`Run`] takes every kernel × device × size of a data set, folder or schedule. A *payload* is
//!   made from the kernel's arguments as data (section 5.1; [`VARIANTS`] says what is tried beyond
//!   it), four executions decide whether the kernel does predictable work (section 5.2), and those
//!   that pass are measured until the median is known well enough, one measurement at a time.
//! - A [`Runner`] does the same with programs in memory.
//! - An [`Outcome`] is data: each row of the result ([`RunRow`]) has one, and says whether it is
//!   about the kernel or about us.
//! - The stage [`KernelEdits`] judges candidates for kernels: the same results on the same payloads, then
//!   both timed in turn. A [`KernelJudge`] does the same in memory, one candidate at a time.
//! - The stage [`Label`] joins measurements with feature vectors into the table heuristics learn from;
//!   [`unmeasured()`] makes the features of kernels that did not run.
//!
//! Drivers live in worker processes ([`serve_worker`]): a kernel that segfaults the processor's
//! driver or hangs the GPU costs its row, not the run.
//!
//! ```no_run
//! use dataset::stage::{Context, run};
//! use stampmill_device::{Options, Run};
//!
//! let context = Context::new("runs");
//! let options = Options { devices: "cpu,gpu".into(), ..Options::new("kernels") };
//! let report = run(&Run::new(options, &context.cancel)?, &context)?.summary;
//! println!("{} rows, {:?}", report.rows, report.outcomes);
//! # Ok::<(), stampmill_device::Error>(())
//! ```

mod check;
mod error;
mod kernel;
mod label;
mod listing;
mod measure;
mod opencl;
mod outcome;
mod payload;
mod refusal;
mod run;
mod schedule;
mod sizes;
mod unmeasured;
mod worker;

pub use error::{Error, Result};
pub use kernel::Benchmark;
pub use label::{Label, LabelFacts, LabelItem, LabelReport, Task, Vectors};
pub use listing::{DeviceInfo, DeviceType, devices, select};
pub use outcome::{About, Finding, Outcome};
pub use payload::{HostArgument, HostPayload, KernelLaunch, VARIANTS, Values, Variant};
pub use run::{
    CLDRIVE_COLUMNS, CldriveWriter, KERNEL_CHEATS, KernelEdits, KernelEditsReport, KernelJudge,
    KernelPair, OperationCounter, Options, Report, Run, RunItem, RunRow, Runner, Transfers, Verify,
    write_cldrive,
};
pub use sizes::sizes;
pub use unmeasured::{Unmeasured, unmeasured};
pub use worker::serve_worker;
