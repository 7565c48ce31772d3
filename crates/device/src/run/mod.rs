//! Runs: every kernel × device × size of a data set, checked and measured.

mod cldrive;
mod executor;
mod kernel_edits;
mod kernel_judge;
mod known;
mod operations;
mod runner;
mod source;
mod stage;
mod worker_set;

pub use cldrive::{CLDRIVE_COLUMNS, CldriveWriter, write_cldrive};
pub use kernel_edits::{KernelEdits, KernelEditsReport};
pub use kernel_judge::{KERNEL_CHEATS, KernelJudge, KernelPair};
pub use operations::OperationCounter;
pub use rows::{RunRow, Transfers};
pub use runner::Runner;
pub(crate) use source::read as benchmarks;
pub use stage::{Report, Run, RunItem};

use crate::{Values, kernel::Benchmark};
use dataset::Licenses;
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::{collections::BTreeSet, path::PathBuf, time::Duration};

/// A second opinion on kernels that pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum Verify {
    /// None.
    #[default]
    None,
    /// Oclgrind interprets the kernel once and looks for data races and accesses out of bounds.
    Oclgrind,
    /// And for results that depend on memory nobody has written: `non-deterministic`.
    OclgrindUninitialised,
}

/// What to run where.
#[derive(Clone, Debug)]
pub struct Options {
    /// A data set, a folder or file of programs, or a schedule file (`.toml`).
    pub input: PathBuf,
    /// `cpu`, `gpu`, `all` or parts of names, with commas; see [`select`](crate::select).
    pub devices: String,
    /// Work-items, ascending.
    pub global_sizes: Vec<u64>,
    /// Work-items of a group; empty: the largest up to 256 that suits kernel, device and size.
    pub local_sizes: Vec<u64>,
    /// Distribution of the payloads' contents.
    pub values: Values,
    /// Of the payloads.
    pub seed: u64,
    /// Limit of one kernel on one device, all its sizes together: processor time on processors, of
    /// all their cores together; else time on the wall.
    pub limit: Duration,
    /// Time to spend on measuring one kernel at one size on one device; zero: check only.
    pub budget: Duration,
    /// Relative width of the 95 % confidence interval of the median to reach.
    pub precision: f64,
    /// A second opinion.
    pub verify: Verify,
    /// Only programs under these licenses; see [`Licenses::admit`].
    pub licenses: Licenses,
    /// Only so many programs, drawn by the seed; they keep their order.
    pub sample: Option<usize>,
    /// A new worker process for every kernel and size, as cldrive has it: for comparison, and for
    /// drivers that leak.
    pub isolate: bool,
}

impl Options {
    /// Run `input` with the defaults.
    #[must_use]
    pub fn new(input: impl Into<PathBuf>) -> Options {
        Options { input: input.into(), ..Options::default() }
    }
}

impl Default for Options {
    /// The processor and a GPU where there is one, 2^7 to 2^20 work-items, 20 s a kernel, 200 ms and
    /// 5 % a measurement; from nowhere, for a [`Runner`].
    fn default() -> Options {
        Options {
            input: PathBuf::new(),
            devices: "all".to_owned(),
            global_sizes: (7..=20).map(|exponent| 1 << exponent).collect(),
            local_sizes: Vec::new(),
            values: Values::Uniform,
            seed: 0,
            limit: executor::LIMIT,
            budget: Duration::from_millis(200),
            precision: 0.05,
            verify: Verify::None,
            licenses: Licenses::All,
            sample: None,
            isolate: false,
        }
    }
}

/// The benchmarks under the licenses asked for, as many as asked for.
fn wanted(mut benchmarks: Vec<Benchmark>, options: &Options) -> Vec<Benchmark> {
    benchmarks.retain(|benchmark| options.licenses.admit(&benchmark.license));
    let Some(count) = options.sample else { return benchmarks };
    let mut places: Vec<usize> = (0..benchmarks.len()).collect();
    places.shuffle(&mut ChaCha8Rng::seed_from_u64(options.seed));
    let drawn: BTreeSet<usize> = places.into_iter().take(count).collect();
    let all = benchmarks.into_iter().enumerate();
    all.filter(|(at, _)| drawn.contains(at)).map(|(_, benchmark)| benchmark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_drawn_by_the_seed_keeps_its_order_and_respects_licenses() {
        let benchmark = |at: usize| Benchmark {
            path: format!("{at:03}"),
            license: if at < 40 { "MIT" } else { "GPL-3.0-only" }.to_owned(),
            ..Benchmark::default()
        };
        let drawn = |seed| {
            let options = Options {
                licenses: Licenses::Permissive,
                sample: Some(10),
                seed,
                ..Options::new("a")
            };
            let all = wanted((0..80).map(benchmark).collect(), &options);
            all.into_iter().map(|benchmark| benchmark.path).collect::<Vec<_>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        assert!(drawn(1).is_sorted() && drawn(1).len() == 10);
        assert!(drawn(1).iter().all(|path| path.as_str() < "040"));
    }
}
