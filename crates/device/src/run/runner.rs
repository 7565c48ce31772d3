//! Programs run in memory: no input is read, no data set is written.

use super::{Options, RunRow, Verify, executor::Executor, worker_set::WorkerSet};
use crate::{
    DeviceInfo, Error, Outcome, Result,
    check::Oclgrind,
    kernel::Benchmark,
    select,
    worker::{Client, Launch},
};
use clang::Clang;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// What every device runs.
const PROBE: &str = "kernel void A(global float* a) { a[get_global_id(0)] += 1.0f; }";

/// Runs programs on the devices that its options name. Any number of threads may share it; what is
/// measured has the machine to itself among them.
pub struct Runner {
    options: Options,
    launch: Launch,
    devices: Vec<DeviceInfo>,
    /// Indices into `devices`.
    chosen: Vec<usize>,
    oclgrind: Option<Oclgrind>,
    clang: Option<Clang>,
    quiet: RwLock<()>,
    stop: Arc<AtomicBool>,
    /// Workers that no thread uses at the moment.
    idle: Mutex<Vec<WorkerSet>>,
}

impl Runner {
    /// Find devices and workers. Raising `stop`, from any thread, ends what runs within moments. Of
    /// the options, those of a data set (`input`, `licenses`, `sample`) say nothing here.
    ///
    /// # Errors
    /// When there is no OpenCL, no such device, no worker, no Oclgrind where it is asked for, or a clang worker that does
    /// not start.
    pub fn new(options: Options, stop: &Arc<AtomicBool>) -> Result<Runner> {
        let oclgrind = match options.verify {
            Verify::None => None,
            verify => {
                let uninitialised = verify == Verify::OclgrindUninitialised;
                Some(Oclgrind::find(uninitialised).ok_or(Error::NoOclgrind)?)
            }
        };
        let launch = Launch::find()?;
        let devices = Client::new(launch.clone())?.devices()?;
        let chosen = select(&devices, &options.devices)?;
        // Without a compiler the drivers are asked for what they know about arguments, and the words
        // of a program alone say whether they may be given it. One that is here and does not work is
        // no such machine.
        let clang = match Clang::start(usize::MAX) {
            Ok(clang) => Some(clang),
            Err(clang::Error::NotFound(_)) => None,
            Err(error) => return Err(Error::Clang(error.to_string())),
        };
        Ok(Runner {
            options,
            launch,
            devices,
            chosen,
            oclgrind,
            clang,
            quiet: RwLock::new(()),
            stop: Arc::clone(stop),
            idle: Mutex::default(),
        })
    }

    /// Whether a program runs and does predictable work: `Pass` where it does so on every device at
    /// every size, else what came of it at the smallest size of the first device where it
    /// does not. Nothing is measured.
    ///
    /// # Errors
    /// [`Error::Stopped`] when the flag is raised; otherwise only where workers or devices do not
    /// work, which says nothing of the program.
    pub fn check(&self, text: &str) -> Result<Outcome> {
        let (outcome, _) = self.outcome(text)?;
        if outcome == Outcome::OutOfResources {
            // Too much for the device, or is the device gone?
            let (probe, detail) = self.outcome(PROBE)?;
            if probe != Outcome::Pass {
                return Err(Error::Device(detail));
            }
        }
        Ok(outcome)
    }

    /// What came of a program, in a word and in detail.
    fn outcome(&self, text: &str) -> Result<(Outcome, String)> {
        let options = Options { budget: Duration::ZERO, ..self.options.clone() };
        let benchmark = Benchmark::of(text);
        // Payloads are drawn by the path: they are those of a file that is named by its content.
        let benchmark = Benchmark { path: format!("{}.cl", benchmark.id), ..benchmark };
        let rows = self.run_with(&options, &benchmark)?;
        let outcome = |row: &RunRow| row.outcome.parse::<Outcome>().ok();
        let failed = |row: &&RunRow| outcome(row) != Some(Outcome::Pass);
        let failed = rows
            .chunk_by(|a, b| a.device == b.device)
            .find_map(|rows| rows.iter().filter(failed).min_by_key(|row| row.global_size))
            .and_then(|row| Some((outcome(row)?, row.detail.clone())));
        let none = if rows.is_empty() { Outcome::NoKernel } else { Outcome::Pass };
        Ok(failed.unwrap_or((none, String::new())))
    }

    /// The rows of programs, in their order: for each, devices × sizes.
    ///
    /// # Errors
    /// As [`Runner::check`].
    pub fn rows(&self, programs: &[Benchmark]) -> Result<Vec<RunRow>> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Result<Vec<RunRow>>)>> = Mutex::default();
        std::thread::scope(|scope| {
            for _ in 0..threads.min(programs.len()) {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(program) = programs.get(index) else { return };
                        let rows = self.run_with(&self.options, program);
                        if rows.is_err() {
                            // The others find nothing more to do.
                            next.store(programs.len(), Ordering::Relaxed);
                        }
                        done.lock().unwrap_or_else(PoisonError::into_inner).push((index, rows));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(index, _)| *index);
        let mut all = Vec::new();
        for (_, rows) in done {
            all.extend(rows?);
        }
        Ok(all)
    }

    /// The rows of one program, by these workers.
    ///
    /// # Errors
    /// As [`Runner::check`].
    pub(super) fn run(&self, workers: &mut WorkerSet, program: &Benchmark) -> Result<Vec<RunRow>> {
        self.run_on(workers, &self.options, program)
    }

    /// What one thread needs.
    ///
    /// # Errors
    /// When there is no place for what workers write.
    pub(super) fn workers(&self) -> Result<WorkerSet> {
        let stop = Arc::clone(&self.stop);
        WorkerSet::new(&self.launch, &self.devices, self.oclgrind.as_ref(), stop)
    }

    /// The options.
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// The devices that are used, in their order.
    pub(super) fn devices(&self) -> Vec<&DeviceInfo> {
        self.chosen.iter().map(|index| &self.devices[*index]).collect()
    }

    /// Names of the devices that are used.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.devices().into_iter().map(|device| device.name.clone()).collect()
    }

    /// Their drivers, as a manifest names tools.
    pub(super) fn tools(&self) -> BTreeMap<String, String> {
        let tool = |device: &DeviceInfo| {
            (device.name.clone(), format!("{}; driver {}", device.platform_version, device.driver))
        };
        self.devices().into_iter().map(tool).collect()
    }

    /// Their places among all devices.
    pub(super) fn places(&self) -> &[usize] {
        &self.chosen
    }

    /// A device by its place.
    pub(super) fn device(&self, place: usize) -> &DeviceInfo {
        &self.devices[place]
    }

    /// Whether there is a compiler that says what programs hold.
    pub(super) fn has_clang(&self) -> bool {
        self.clang.is_some()
    }

    /// Do something with workers that no other thread uses meanwhile.
    ///
    /// # Errors
    /// As `work`, or when there is no place for what workers write.
    pub(super) fn with_workers<T>(
        &self,
        work: impl FnOnce(&mut WorkerSet) -> Result<T>,
    ) -> Result<T> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = idle().pop();
        let mut workers = match waiting {
            Some(workers) => workers,
            None => self.workers()?,
        };
        let done = work(&mut workers);
        idle().push(workers);
        done
    }

    fn run_with(&self, options: &Options, program: &Benchmark) -> Result<Vec<RunRow>> {
        self.with_workers(|workers| self.run_on(workers, options, program))
    }

    pub(super) fn executor<'a>(&'a self, options: &'a Options) -> Executor<'a> {
        Executor {
            options,
            devices: &self.devices,
            chosen: &self.chosen,
            clang: self.clang.as_ref(),
            calm: &self.quiet,
        }
    }

    pub(super) fn run_on(
        &self,
        workers: &mut WorkerSet,
        options: &Options,
        program: &Benchmark,
    ) -> Result<Vec<RunRow>> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let rows = self.executor(options).rows(workers, program);
        // Whatever failed while everything was being stopped failed because of that.
        rows.map_err(|error| match self.stop.load(Ordering::Relaxed) {
            true => Error::Stopped,
            false => error,
        })
    }
}
