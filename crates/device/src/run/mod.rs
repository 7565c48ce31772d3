//! Runs: every kernel × device × size of a data set, checked and measured.

mod cldrive;
mod executor;
mod runner;
mod source;
mod worker_set;

pub use cldrive::{CLDRIVE_COLUMNS, write_cldrive};
pub use rows::{RunRow, Transfers};
pub use runner::Runner;

use crate::{About, DeviceInfo, Error, Outcome, Result, Values, kernel::Benchmark};
use dataset::{Builder, Input, Licences, Notes, Progress};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

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
    /// Where the data set of schema `run` goes.
    pub out: PathBuf,
    /// Replace what is there.
    pub force: bool,
    /// `cpu`, `gpu`, `all` or parts of names, with commas; see [`select`].
    pub devices: String,
    /// Work-items, ascending.
    pub global_sizes: Vec<u64>,
    /// Work-items of a group; empty: the largest up to 256 that suits kernel, device and size.
    pub local_sizes: Vec<u64>,
    /// Distribution of the payloads' contents.
    pub values: Values,
    /// Of the payloads.
    pub seed: u64,
    /// Kernels that are built and checked at a time; measured is one at a time.
    pub jobs: usize,
    /// Limit of one kernel on one device, all its sizes together: processor time on processors, of
    /// all their cores together; else time on the wall.
    pub limit: Duration,
    /// Time to spend on measuring one kernel at one size on one device; zero: check only.
    pub budget: Duration,
    /// Relative width of the 95 % confidence interval of the median to reach.
    pub precision: f64,
    /// A second opinion.
    pub verify: Verify,
    /// Only programs under these licences; see [`Licences::admit`].
    pub licences: Licences,
    /// Only so many programs, drawn by the seed; they keep their order.
    pub sample: Option<usize>,
    /// Begin no further kernel after this time; those left are counted.
    pub time: Option<Duration>,
    /// A new worker process for every kernel and size, as cldrive has it: for comparison, and for
    /// drivers that leak.
    pub isolate: bool,
    /// Raise it, from any thread, to have the run end within moments; what is done is kept.
    pub cancelled: Arc<AtomicBool>,
}

impl Options {
    /// Run `input` into `out` with the defaults.
    #[must_use]
    pub fn new(input: impl Into<PathBuf>, out: impl Into<PathBuf>) -> Options {
        Options { input: input.into(), out: out.into(), ..Options::default() }
    }
}

impl Default for Options {
    /// The processor and a GPU where there is one, 2^7 to 2^20 work-items, 20 s a kernel, 200 ms and
    /// 5 % a measurement; from nowhere to nowhere, for a [`Runner`].
    fn default() -> Options {
        Options {
            input: PathBuf::new(),
            out: PathBuf::new(),
            force: false,
            devices: "all".to_owned(),
            global_sizes: (7..=20).map(|exponent| 1 << exponent).collect(),
            local_sizes: Vec::new(),
            values: Values::Uniform,
            seed: 0,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            limit: executor::LIMIT,
            budget: Duration::from_millis(200),
            precision: 0.05,
            verify: Verify::None,
            licences: Licences::All,
            sample: None,
            time: None,
            isolate: false,
            cancelled: Arc::default(),
        }
    }
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Rows written: kernels × devices × sizes.
    pub rows: u64,
    /// Rows per outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Rows per device and outcome; an outcome of which the driving is to blame has `(us)` behind it.
    pub by_device: BTreeMap<String, BTreeMap<String, u64>>,
    /// Benchmarks run.
    pub kernels: u64,
    /// Benchmarks that passed at one size at least, on every device.
    pub kernels_passing: u64,
    /// Benchmarks that passed on some device at some sizes and did no useful work there at others.
    pub kernels_passing_at_some_sizes: u64,
    /// Benchmarks that passed, or whose outcome at the smallest size is about the kernel, on every
    /// device.
    pub kernels_judged: u64,
    /// Benchmarks not begun because the time was up.
    pub kernels_left: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Run every kernel of the input on every device at every size and write the data set.
///
/// Whatever a kernel does costs its own rows at most; a run that was stopped or killed goes on where
/// it was when it is repeated with equal options. Equal options and seed give equal outcomes, but
/// for kernels that need just about the processor time of the limit.
///
/// # Errors
/// When there is no OpenCL, no such device, no worker, no input, or no place for the output,
/// and when it was cancelled.
pub fn run(options: &Options, progress: &dyn Progress) -> Result<Report> {
    let started = Instant::now();
    let runner = Runner::new(options.clone(), &options.cancelled)?;
    let (benchmarks, identity) = source::read(&options.input)?;
    let benchmarks = wanted(benchmarks, options);
    let settings = settings(options, &identity, &runner);
    let builder = Builder::<RunRow>::create(&options.out, options.force, &settings)?;
    progress.begin("run", benchmarks.len() as u64);

    let cancelled = || options.cancelled.load(Ordering::Relaxed);
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<Error>> = Mutex::new(None);
    let work = || -> Result<()> {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(benchmark) = benchmarks.get(at) else { return Ok(()) };
            if options.time.is_some_and(|time| started.elapsed() > time) || cancelled() {
                return Ok(());
            }
            let key = key(at, benchmark);
            if !builder.has(&key) {
                builder.add(&key, runner.run(benchmark)?)?;
            }
            progress.advance(1);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, benchmarks.len().max(1)) {
            scope.spawn(|| {
                if let Err(error) = work() {
                    // The others find nothing more to do; the first failure is reported.
                    next.store(benchmarks.len(), Ordering::Relaxed);
                    failure
                        .lock()
                        .expect("no thread panics with the lock held")
                        .get_or_insert(error);
                }
            });
        }
    });
    let all = benchmarks.len();
    let done = (0..all).filter(|at| builder.has(&key(*at, &benchmarks[*at]))).count();
    if cancelled() && done < all {
        return Err(Error::Cancelled { done, all, kept: builder.unfinished().to_owned() });
    }
    if let Some(error) = failure.into_inner().expect("no thread panics with the lock held") {
        return Err(error);
    }

    let mut rows = Vec::new();
    let mut left = 0;
    for (at, benchmark) in benchmarks.iter().enumerate() {
        let key = key(at, benchmark);
        if builder.has(&key) {
            rows.extend(builder.rows_of(&key).collect::<dataset::Result<Vec<_>>>()?);
        } else {
            left += 1;
        }
    }
    let mut report = report(&rows, runner.devices().len());
    report.kernels_left = left;
    report.seconds = started.elapsed().as_secs_f64();
    let tools = runner.devices().into_iter().map(|device| {
        (device.name.clone(), format!("{}; driver {}", device.platform_version, device.driver))
    });
    let notes = Notes {
        inputs: vec![Input { name: options.input.display().to_string(), hash: identity.clone() }],
        configuration: serde_json::to_value(&settings).unwrap_or_default(),
        seed: options.seed,
        tools: tools.collect(),
        verdicts: report.outcomes.clone(),
        summary: serde_json::to_value(&report).unwrap_or_default(),
        ..Notes::default()
    };
    builder.finish(rows, notes)?;
    Ok(report)
}

/// The benchmarks under the licences asked for, as many as asked for.
fn wanted(mut benchmarks: Vec<Benchmark>, options: &Options) -> Vec<Benchmark> {
    benchmarks.retain(|benchmark| options.licences.admit(&benchmark.licence));
    let Some(count) = options.sample else { return benchmarks };
    let mut places: Vec<usize> = (0..benchmarks.len()).collect();
    places.shuffle(&mut ChaCha8Rng::seed_from_u64(options.seed));
    let drawn: BTreeSet<usize> = places.into_iter().take(count).collect();
    let all = benchmarks.into_iter().enumerate();
    all.filter(|(at, _)| drawn.contains(at)).map(|(_, benchmark)| benchmark).collect()
}

/// Names a benchmark's part of the data set.
fn key(at: usize, benchmark: &Benchmark) -> String {
    format!("{at} {} {} {}", benchmark.id, benchmark.path, benchmark.name)
}

/// What shapes the rows.
#[derive(Serialize)]
struct Settings<'a> {
    input: &'a str,
    devices: Vec<&'a DeviceInfo>,
    global_sizes: &'a [u64],
    local_sizes: &'a [u64],
    values: &'static str,
    seed: u64,
    limit_ms: u128,
    budget_ms: u128,
    precision: f64,
    verify: Verify,
    licences: String,
    sample: Option<usize>,
    clang: bool,
}

fn settings<'a>(options: &'a Options, identity: &'a str, runner: &'a Runner) -> Settings<'a> {
    Settings {
        input: identity,
        devices: runner.devices(),
        global_sizes: &options.global_sizes,
        local_sizes: &options.local_sizes,
        values: options.values.name(),
        seed: options.seed,
        limit_ms: options.limit.as_millis(),
        budget_ms: options.budget.as_millis(),
        precision: options.precision,
        verify: options.verify,
        licences: format!("{:?}", options.licences).to_lowercase(),
        sample: options.sample,
        clang: runner.has_clang(),
    }
}

fn report(rows: &[RunRow], devices: usize) -> Report {
    let mut report = Report { rows: rows.len() as u64, ..Report::default() };
    for row in rows {
        *report.outcomes.entry(row.outcome.clone()).or_default() += 1;
        let us = if row.about == About::Us.name() { " (us)" } else { "" };
        let of_device = report.by_device.entry(row.device.clone()).or_default();
        *of_device.entry(format!("{}{us}", row.outcome)).or_default() += 1;
    }
    for of_one in rows.chunk_by(|a, b| (&a.id, &a.path, &a.kernel) == (&b.id, &b.path, &b.kernel)) {
        let mut by_device: BTreeMap<&str, Vec<&RunRow>> = BTreeMap::new();
        for row in of_one {
            by_device.entry(&row.device).or_default().push(row);
        }
        let passes = |row: &RunRow| row.outcome == Outcome::Pass.name();
        let idle = |row: &RunRow| !passes(row) && row.about == About::Kernel.name();
        let passing = |rows: &&Vec<&RunRow>| rows.iter().any(|row| passes(row));
        let judged = |rows: &&Vec<&RunRow>| {
            passing(rows) || rows.iter().min_by_key(|row| row.global_size).is_some_and(|r| idle(r))
        };
        let everywhere = |count: usize| u64::from(count == devices);
        report.kernels += 1;
        report.kernels_passing += everywhere(by_device.values().filter(passing).count());
        report.kernels_judged += everywhere(by_device.values().filter(judged).count());
        let mixed = |rows: &Vec<&RunRow>| passing(&rows) && rows.iter().any(|row| idle(row));
        report.kernels_passing_at_some_sizes += u64::from(by_device.values().any(mixed));
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kernel: &str, device: &str, global_size: u64, outcome: Outcome, about: About) -> RunRow {
        let name = str::to_owned;
        let (outcome, about) = (name(outcome.name()), name(about.name()));
        let (kernel, device) = (name(kernel), name(device));
        RunRow { kernel, device, global_size, outcome, about, ..RunRow::default() }
    }

    #[test]
    fn a_kernel_passes_where_it_passes_at_some_size_of_every_device() {
        let (kernel, us) = (About::Kernel, About::Us);
        let rows = [
            row("A", "cpu", 128, Outcome::Pass, kernel),
            row("A", "cpu", 256, Outcome::NoOutput, kernel),
            row("A", "gpu", 128, Outcome::Pass, kernel),
            row("B", "cpu", 128, Outcome::Pass, kernel),
            row("B", "gpu", 128, Outcome::Race, kernel),
            row("C", "cpu", 128, Outcome::Crash, us),
            row("C", "gpu", 128, Outcome::Pass, kernel),
        ];
        let report = report(&rows, 2);
        assert_eq!((report.kernels, report.kernels_passing, report.kernels_judged), (3, 1, 2));
        assert_eq!(report.kernels_passing_at_some_sizes, 1);
        assert_eq!(report.by_device["cpu"]["crash (us)"], 1);
    }

    #[test]
    fn a_sample_is_drawn_by_the_seed_keeps_its_order_and_respects_licences() {
        let benchmark = |at: usize| Benchmark {
            path: format!("{at:03}"),
            licence: if at < 40 { "MIT" } else { "GPL-3.0-only" }.to_owned(),
            ..Benchmark::default()
        };
        let drawn = |seed| {
            let options = Options {
                licences: Licences::Permissive,
                sample: Some(10),
                seed,
                ..Options::new("a", "b")
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
