//! Runs: every kernel × device × size of a data set, checked and measured.

mod cldrive;
mod conduct;
mod crew;
mod row;
mod source;

pub use cldrive::{CLDRIVE_COLUMNS, write_cldrive};
pub use row::RunRow;

use crate::{
    DeviceInfo, Error, Result, Values,
    check::Oclgrind,
    kernel::Benchmark,
    select,
    worker::{Client, Launch},
};
use clang::Clang;
use conduct::Conductor;
use crew::Crew;
use dataset::{Builder, Input, Notes, Progress};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Mutex, RwLock,
        atomic::{AtomicUsize, Ordering},
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
    /// Wall-clock limit of one kernel on one device, all its sizes together.
    pub limit: Duration,
    /// Time to spend on measuring one kernel at one size on one device; zero: check only.
    pub budget: Duration,
    /// Relative width of the 95 % confidence interval of the median to reach.
    pub precision: f64,
    /// A second opinion.
    pub verify: Verify,
    /// A new worker process for every kernel and size, as cldrive has it: for comparison, and for
    /// drivers that leak.
    pub isolate: bool,
}

impl Options {
    /// Run `input` into `out` with the defaults: the processor and a GPU where there is one, 2^7 to
    /// 2^20 work-items, 20 s a kernel, 200 ms and 5 % a measurement.
    #[must_use]
    pub fn new(input: impl Into<PathBuf>, out: impl Into<PathBuf>) -> Options {
        Options {
            input: input.into(),
            out: out.into(),
            force: false,
            devices: "all".to_owned(),
            global_sizes: (7..=20).map(|exponent| 1 << exponent).collect(),
            local_sizes: Vec::new(),
            values: Values::Uniform,
            seed: 0,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            limit: conduct::LIMIT,
            budget: Duration::from_millis(200),
            precision: 0.05,
            verify: Verify::None,
            isolate: false,
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
    /// Benchmarks run.
    pub kernels: u64,
    /// Benchmarks that passed at one size at least, on every device.
    pub kernels_passing: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Run every kernel of the input on every device at every size and write the data set.
///
/// Whatever a kernel does costs its own rows at most; a run that was killed goes on where it was
/// when it is repeated with equal options. Equal options and seed give equal outcomes.
///
/// # Errors
/// When there is no OpenCL, no such device, no worker, no input, or no place for the output.
pub fn run(options: &Options, progress: &dyn Progress) -> Result<Report> {
    let started = Instant::now();
    let oclgrind = match options.verify {
        Verify::None => None,
        Verify::Oclgrind => Some(Oclgrind::find().ok_or(Error::NoOclgrind)?),
    };
    let launch = Launch::find()?;
    let devices = Client::new(launch.clone())?.devices()?;
    let chosen = select(&devices, &options.devices)?;
    let (benchmarks, identity) = source::read(&options.input)?;
    let wants_clang = benchmarks.iter().any(|benchmark| benchmark.interfaces.is_empty());
    // Without a compiler the drivers are asked for what they know about arguments.
    let clang = wants_clang.then(|| Clang::start(options.jobs.max(1)).ok()).flatten();
    let settings = settings(options, &identity, &devices, &chosen, clang.is_some());
    let builder = Builder::<RunRow>::create(&options.out, options.force, &settings)?;
    progress.begin("run", benchmarks.len() as u64);

    let calm = RwLock::new(());
    let conductor = Conductor {
        options,
        devices: &devices,
        chosen: &chosen,
        clang: clang.as_ref(),
        calm: &calm,
    };
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<Error>> = Mutex::new(None);
    let work = || -> Result<()> {
        let mut crew = Crew::new(&launch, oclgrind.as_ref())?;
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(benchmark) = benchmarks.get(at) else { return Ok(()) };
            let key = key(at, benchmark);
            if !builder.has(&key) {
                builder.add(&key, conductor.rows(&mut crew, benchmark)?)?;
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
    if let Some(error) = failure.into_inner().expect("no thread panics with the lock held") {
        return Err(error);
    }

    let mut rows = Vec::new();
    for (at, benchmark) in benchmarks.iter().enumerate() {
        rows.extend(builder.rows_of(&key(at, benchmark)).collect::<dataset::Result<Vec<_>>>()?);
    }
    let mut report = report(&rows, chosen.len());
    report.seconds = started.elapsed().as_secs_f64();
    let tools = chosen.iter().map(|at| {
        let device = &devices[*at];
        (device.name.clone(), format!("{}; driver {}", device.platform_version, device.driver))
    });
    let notes = Notes {
        inputs: vec![Input { name: options.input.display().to_string(), hash: identity.clone() }],
        configuration: serde_json::to_value(&settings).unwrap_or_default(),
        seed: options.seed,
        tools: tools.collect(),
        verdicts: report.outcomes.clone(),
        summary: serde_json::to_value(&report).unwrap_or_default(),
    };
    builder.finish(rows, notes)?;
    Ok(report)
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
    clang: bool,
}

fn settings<'a>(
    options: &'a Options,
    identity: &'a str,
    devices: &'a [DeviceInfo],
    chosen: &[usize],
    clang: bool,
) -> Settings<'a> {
    Settings {
        input: identity,
        devices: chosen.iter().map(|at| &devices[*at]).collect(),
        global_sizes: &options.global_sizes,
        local_sizes: &options.local_sizes,
        values: options.values.name(),
        seed: options.seed,
        limit_ms: options.limit.as_millis(),
        budget_ms: options.budget.as_millis(),
        precision: options.precision,
        verify: options.verify,
        clang,
    }
}

fn report(rows: &[RunRow], devices: usize) -> Report {
    let mut report = Report { rows: rows.len() as u64, ..Report::default() };
    for row in rows {
        *report.outcomes.entry(row.outcome.clone()).or_default() += 1;
    }
    for of_one in rows.chunk_by(|a, b| (&a.id, &a.path, &a.kernel) == (&b.id, &b.path, &b.kernel)) {
        let mut passing: Vec<&str> = of_one
            .iter()
            .filter(|row| row.outcome == "pass")
            .map(|row| row.device.as_str())
            .collect();
        passing.sort_unstable();
        passing.dedup();
        report.kernels += 1;
        report.kernels_passing += u64::from(passing.len() == devices);
    }
    report
}
