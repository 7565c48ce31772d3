//! The judge of candidates for kernels: each beside the kernel that it is to replace, and both timed.

use super::{
    Options, RunRow, Runner,
    known::Known,
    operations::{self, OperationCounter},
    worker_set::{Allowance, WorkerSet, unexpected},
};
use crate::{
    DeviceInfo, Finding, Outcome, Result, VARIANTS,
    check::Contested,
    kernel::{Benchmark, Interface, Order, Step, interfaces, names, steps},
    measure::Effort,
    payload::Job,
    worker::{Answer, Request},
};
use dataset::{Row, content_hash_of};
use rows::{KernelEditRow, KernelEditVerdict as Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock, atomic::AtomicBool},
    time::Duration,
};

/// A kernel that moves as much as a device can: two arrays are read and one is written.
const TRIAD: &str = "kernel void A(global const float* a, global const float* b, global float* c) { size_t i = \
                     get_global_id(0); c[i] = a[i] + 3.0f * b[i]; }";
/// Work-items of it, four bytes of three arrays each.
const TRIAD_ITEMS: u64 = 1 << 22;
/// Limits of `run` that judging has: it executes so many times as often as the checker alone.
const EXECUTIONS: u32 = 3;
/// Draws of the bootstrap.
const DRAWS: usize = 1000;
const HELD: &str = "no thread panics with the lock held";

/// The steps of a slow program and of a candidate, or what is wrong with the candidate before it is built.
type Entry = std::result::Result<(Vec<Step>, Vec<Step>), Contested>;

/// A slow kernel and a candidate for its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelPair {
    /// The slow program, as the input names it; payloads are drawn by it.
    pub src_id: String,
    /// The candidate, as the input names it.
    pub tgt_id: String,
    /// The slow program.
    pub src_code: String,
    /// The candidate.
    pub tgt_code: String,
}

impl Row for KernelPair {
    const SCHEMA: &'static str = "kernel-pair";
    const VERSION: u32 = 1;
}

/// Verdicts on candidates that look right without being so.
pub const KERNEL_CHEATS: [Verdict; 1] = [Verdict::ChangesLater];

/// Judges candidates for kernels one at a time: the same buffers with the same contents have to give the same results, on
/// several payloads and at every size that is timed; then both are executed in turn. Any number of threads may share it; what
/// is timed has the machine to itself among them.
///
/// What it found out about a text is remembered while it lives: a slow kernel is checked once, whatever candidates there are
/// for it, and a worker keeps the programs that it built last.
pub struct KernelJudge {
    runner: Runner,
    payloads: u32,
    /// Counts the operations of candidates, where that is wanted.
    counter: Option<OperationCounter>,
    /// Bytes a second of the triad, per chosen device; measured once.
    bytes_peaks: OnceLock<Vec<Option<f64>>>,
    /// Floating-point operations a second, the same way.
    operations_peaks: OnceLock<Vec<Option<f64>>>,
    /// What the checker says of slow kernels, for each device and size.
    checked: Known<Arc<Vec<RunRow>>>,
    /// Why no driver is given a program.
    refused: Known<Option<Finding>>,
    /// What clang says of the kernels of programs; nothing where there is none.
    declared: Known<Option<std::result::Result<Vec<Interface>, String>>>,
}

impl KernelJudge {
    /// Find devices and workers. Candidates are compared on so many pairs of payloads. Of the options, those of a data set
    /// (`input`, `licenses`, `sample`) say nothing here. Raising `stop`, from any thread, ends what runs within moments.
    ///
    /// # Errors
    /// When there is no OpenCL, no such device, no worker, or a clang worker that does not start.
    pub fn new(options: Options, payloads: u32, stop: &Arc<AtomicBool>) -> Result<KernelJudge> {
        Ok(KernelJudge {
            runner: Runner::new(options, stop)?,
            payloads,
            counter: None,
            bytes_peaks: OnceLock::new(),
            operations_peaks: OnceLock::new(),
            checked: Known::default(),
            refused: Known::default(),
            declared: Known::default(),
        })
    }

    /// The same with the operations of candidates counted.
    #[must_use]
    pub fn counting(self, counter: OperationCounter) -> KernelJudge {
        KernelJudge { counter: Some(counter), ..self }
    }

    /// What comes of a candidate: a row for each device and size.
    ///
    /// # Errors
    /// [`crate::Error::Stopped`] when the flag is raised; otherwise only where workers or devices do not work, which says nothing of
    /// the candidate.
    pub fn judge(&self, pair: &KernelPair) -> Result<Vec<KernelEditRow>> {
        self.runner.with_workers(|workers| {
            let rows = self.rows(workers, pair)?;
            if !rows.iter().any(is_short) {
                return Ok(rows);
            }
            // What programs before this one have left in a worker that lives long is not its fault.
            workers.retire();
            self.rows(workers, pair)
        })
    }

    /// Identity of all that shapes a row besides the two programs.
    #[must_use]
    pub fn identity(&self) -> String {
        let mut settings = self.settings();
        // What else is said of a device may be another number at the next start. Of two drivers one device may have one name.
        let device = |device: &DeviceInfo| {
            format!("{}; {}; driver {}", device.name, device.platform_version, device.driver)
        };
        settings["devices"] = self.runner.devices().into_iter().map(device).collect();
        let (settings, tools) = (settings.to_string(), format!("{:?}", self.tools()));
        let version = KernelEditRow::VERSION.to_string();
        content_hash_of([&version, &settings, &tools].map(|piece| piece.as_bytes()))
    }

    /// Names of the devices that candidates are judged on.
    #[must_use]
    pub fn devices(&self) -> Vec<String> {
        self.runner.names()
    }

    /// What shapes rows, as a manifest has it.
    pub(super) fn settings(&self) -> Value {
        let mut settings = super::stage::settings(&self.runner);
        if let Some(settings) = settings.as_object_mut() {
            settings.insert("payloads".to_owned(), self.payloads.into());
            if self.counter.is_some() {
                settings.insert("operations".to_owned(), true.into());
            }
        }
        settings
    }

    /// Drivers, as a manifest names tools.
    pub(super) fn tools(&self) -> BTreeMap<String, String> {
        let mut tools = self.runner.tools();
        tools.extend(self.counter.iter().flat_map(|counter| counter.tools.clone()));
        tools
    }

    /// The seed of the payloads.
    pub(super) fn seed(&self) -> u64 {
        self.runner.options().seed
    }

    /// What one thread needs.
    ///
    /// # Errors
    /// When there is no place for what workers write.
    pub(super) fn workers(&self) -> Result<WorkerSet> {
        self.runner.workers()
    }

    /// [`KernelJudge::judge`] with the workers of a thread.
    ///
    /// # Errors
    /// The same.
    pub(super) fn rows(
        &self,
        workers: &mut WorkerSet,
        pair: &KernelPair,
    ) -> Result<Vec<KernelEditRow>> {
        let options = self.runner.options();
        let slow = Benchmark { path: pair.src_id.clone(), ..Benchmark::of(&pair.src_code) };
        let fast = Benchmark { path: pair.src_id.clone(), ..Benchmark::of(&pair.tgt_code) };
        let of_slow = self.checked(workers, &slow)?;
        let entry = self.entry(workers, &slow, &fast)?;
        let places = self.runner.places();
        let grid: Vec<_> = places
            .iter()
            .flat_map(|device| {
                self.runner.executor(options).grid().map(|cell| (*device, cell)).collect::<Vec<_>>()
            })
            .collect();
        let mut rows = Vec::new();
        let mut hung = None;
        for (row, (device, (size, group))) in of_slow.iter().zip(grid) {
            let contested = match (row.outcome.parse::<Outcome>(), &entry) {
                (Ok(Outcome::Pass), Ok(_)) if hung == Some(device) => {
                    Contested::of(Verdict::Timeout, "not tried: a smaller size ran into the limit")
                }
                (Ok(Outcome::Pass), Ok(steps)) => {
                    let variant = VARIANTS.iter().position(|one| one.name == row.payload);
                    let job = |steps: &Vec<Step>| Job {
                        path: pair.src_id.clone(),
                        steps: steps.clone(),
                        size,
                        group,
                        variant: variant.unwrap_or(0),
                        values: options.values,
                        seed: options.seed,
                    };
                    let (one, other) = (job(&steps.0), job(&steps.1));
                    self.contest(workers, device, (&slow, one), (&fast, other))?
                }
                (Ok(Outcome::Pass), Err(failed)) => failed.clone(),
                _ => {
                    Contested::of(Verdict::SourceFails, format!("{}: {}", row.outcome, row.detail))
                }
            };
            if contested.verdict == Verdict::Timeout {
                hung = Some(device);
            }
            let kernel = match &entry {
                Ok((steps, _)) => names(steps),
                Err(_) => row.kernel.clone(),
            };
            let operations = self.operations(pair, &contested)?;
            rows.push(self.row(pair, device, row, kernel, contested, operations));
        }
        Ok(rows)
    }

    /// What the checker says of a slow kernel.
    fn checked(&self, workers: &mut WorkerSet, slow: &Benchmark) -> Result<Arc<Vec<RunRow>>> {
        let key = content_hash_of([slow.path.as_bytes(), slow.text.as_bytes()]);
        let check = || {
            let options = Options { budget: Duration::ZERO, ..self.runner.options().clone() };
            self.runner.run_on(workers, &options, slow).map(Arc::new)
        };
        // Another time there may be more of it.
        let short = [Outcome::OutOfResources, Outcome::Timeout].map(Outcome::name);
        let is_short = |row: &RunRow| short.contains(&row.outcome.as_str());
        self.checked.of(&key, slow.text.len(), check, |rows| !rows.iter().any(is_short))
    }

    /// The steps of both, or what is wrong with the candidate before it is built.
    fn entry(&self, workers: &mut WorkerSet, slow: &Benchmark, fast: &Benchmark) -> Result<Entry> {
        let executor = self.runner.executor(self.runner.options());
        let refuse = || executor.refusal(fast);
        if let Some(found) = self.refused.of(&fast.id, fast.text.len(), refuse, |_| true)? {
            return Ok(Err(Contested::found(found)));
        }
        let of_clang = |program: &Benchmark| {
            let declare = || executor.clang.map(|clang| interfaces(clang, program)).transpose();
            self.declared.of(&program.id, program.text.len(), declare, |_| true)
        };
        let (mine, theirs) = match (of_clang(slow)?, of_clang(fast)?) {
            (Some(Ok(mine)), Some(Ok(theirs))) => (mine, theirs),
            (Some(Ok(_)), Some(Err(why))) => {
                return Ok(Err(Contested::of(Verdict::DoesNotCompile, why)));
            }
            // What is the device's own, such as its built-in functions, clang does not know.
            _ => match self.told(workers, slow)? {
                Ok(mine) => match self.told(workers, fast)? {
                    Ok(theirs) => (mine, theirs),
                    Err(found) => return Ok(Err(Contested::found(found))),
                },
                Err(found) => return Ok(Err(Contested::of(Verdict::SourceFails, found.detail))),
            },
        };
        if let Some(why) = differs(&mine, &theirs) {
            return Ok(Err(Contested::of(Verdict::InterfaceDiffers, why)));
        }
        let of = |all: &[Interface]| steps(all, &Order::default()).map_err(Contested::found);
        Ok(of(&mine).and_then(|mine| Ok((mine, of(&theirs)?))))
    }

    /// What the first device's driver says of a program's kernels.
    fn told(
        &self,
        workers: &mut WorkerSet,
        program: &Benchmark,
    ) -> Result<std::result::Result<Vec<Interface>, Finding>> {
        let Some(device) = self.runner.places().first() else { return Ok(Ok(Vec::new())) };
        let limit = self.runner.options().limit;
        let mut allowance = Allowance::new(limit, self.runner.device(*device).r#type);
        workers.forget();
        let facts = workers.build(*device, program, true, &mut allowance)?;
        workers.forget();
        Ok(facts.map(|facts| facts.kernels.into_iter().map(|kernel| kernel.interface).collect()))
    }

    /// What comes of a candidate. Where it hangs or crashes, and the slow kernel does so too with other integers than it
    /// was checked with, integers stay as they were.
    fn contest(
        &self,
        workers: &mut WorkerSet,
        device: usize,
        slow: (&Benchmark, Job),
        fast: (&Benchmark, Job),
    ) -> Result<Contested> {
        let budget = self.runner.options().budget;
        let contested = self.ask(workers, device, (&slow, &fast), true, budget)?;
        if !matches!(contested.verdict, Verdict::Timeout | Verdict::Crashes) {
            return Ok(contested);
        }
        let itself = self.ask(workers, device, (&slow, &slow), true, Duration::ZERO)?;
        match itself.verdict {
            Verdict::Accepted => Ok(contested),
            _ => self.ask(workers, device, (&slow, &fast), false, budget),
        }
    }

    fn ask(
        &self,
        workers: &mut WorkerSet,
        device: usize,
        (slow, fast): (&(&Benchmark, Job), &(&Benchmark, Job)),
        alter: bool,
        budget: Duration,
    ) -> Result<Contested> {
        let options = self.runner.options();
        let kind = self.runner.device(device).r#type;
        let mut allowance = Allowance::timed(options.limit * EXECUTIONS, budget * 4, kind);
        // A worker that died over another candidate has forgotten the device.
        workers.open(device)?;
        let entrant = |(program, job): &(&Benchmark, Job)| (program.text.clone(), job.clone());
        let request = Request::Contest {
            device,
            slow: entrant(slow),
            fast: entrant(fast),
            payloads: self.payloads,
            alter,
            effort: Effort { precision: options.precision, budget },
        };
        let executor = self.runner.executor(options);
        // What is timed has the machine to itself.
        let is_timed = !budget.is_zero();
        let _calm = (!is_timed).then(|| executor.calm.read().expect(HELD));
        let _alone = is_timed.then(|| executor.calm.write().expect(HELD));
        let contested = match workers.ask(&request, &mut allowance)? {
            Ok(Answer::Contested(contested)) => contested,
            Ok(other) => return Err(unexpected(other)),
            Err(found) => Contested::found(found),
        };
        if contested.spoilt {
            workers.retire();
        }
        Ok(contested)
    }

    /// Floating-point operations of a candidate that is accepted, where they are counted: while nothing is timed.
    fn operations(&self, pair: &KernelPair, contested: &Contested) -> Result<Option<f64>> {
        match &self.counter {
            Some(counter) if contested.verdict == Verdict::Accepted => {
                let executor = self.runner.executor(self.runner.options());
                let _calm = executor.calm.read().expect(HELD);
                counter.of(&pair.tgt_code, &contested.launches)
            }
            _ => Ok(None),
        }
    }

    fn row(
        &self,
        pair: &KernelPair,
        device: usize,
        row: &RunRow,
        kernel: String,
        contested: Contested,
        operations: Option<f64>,
    ) -> KernelEditRow {
        let times: Vec<(f64, f64)> = contested
            .times
            .iter()
            .filter(|(slow, fast)| *slow > 0 && *fast > 0)
            .map(|(slow, fast)| (*slow as f64, *fast as f64))
            .collect();
        let medians = |drawn: &[usize]| {
            let slow = statistics::median(drawn.iter().map(|at| times[*at].0))?;
            Some((slow, statistics::median(drawn.iter().map(|at| times[*at].1))?))
        };
        let ratio = |drawn: &[usize]| medians(drawn).map_or(f64::NAN, |(slow, fast)| slow / fast);
        let all: Vec<usize> = (0..times.len()).collect();
        let both = medians(&all);
        let interval = statistics::bootstrap_interval(times.len(), DRAWS, 0, ratio);
        let executed = contested.verdict == Verdict::Accepted;
        let place = self.runner.places().iter().position(|at| *at == device).unwrap_or(0);
        let share = |amount: f64, peaks: &[Option<f64>]| {
            let (_, fast) = both?;
            Some(amount / (fast * 1e-9) / peaks.get(place).copied().flatten()?)
        };
        KernelEditRow {
            src_id: pair.src_id.clone(),
            tgt_id: pair.tgt_id.clone(),
            kernel,
            device: row.device.clone(),
            device_type: row.device_type.clone(),
            platform: row.platform.clone(),
            driver: row.driver.clone(),
            global_size: row.global_size,
            payload: row.payload.clone(),
            verdict: contested.verdict.name().to_owned(),
            detail: contested.detail,
            slow_ns: both.map(|(slow, _)| slow as u64),
            fast_ns: both.map(|(_, fast)| fast as u64),
            speedup: both.map(|(slow, fast)| slow / fast),
            speedup_low: interval.map(|[low, _]| low),
            speedup_high: interval.map(|[_, high]| high),
            repeats: (!times.is_empty()).then(|| u32::try_from(times.len()).unwrap_or(u32::MAX)),
            difference: (executed || contested.difference > 0.0).then_some(contested.difference),
            bytes: executed.then_some(contested.bytes),
            bandwidth_share: share(contested.bytes as f64, self.bytes_peaks()),
            operations: operations.map(|operations| operations.round() as u64),
            operations_share: operations.and_then(|all| share(all, self.operations_peaks())),
        }
    }

    /// Bytes that each device moves in a second; `None` where that could not be measured or nothing is timed.
    fn bytes_peaks(&self) -> &[Option<f64>] {
        let bytes = |row: &RunRow| row.transferred_bytes.map(|bytes| bytes as f64);
        self.bytes_peaks.get_or_init(|| self.measured(TRIAD, TRIAD_ITEMS, bytes))
    }

    /// Floating-point operations of each device in a second, the same way.
    fn operations_peaks(&self) -> &[Option<f64>] {
        let (items, all) = (operations::ITEMS, |_: &RunRow| Some(operations::OPERATIONS));
        self.operations_peaks.get_or_init(|| self.measured(operations::MULTIPLY_ADDS, items, all))
    }

    /// So much `of` a run of a kernel in a second, per chosen device; nothing where nothing is timed.
    fn measured(
        &self,
        text: &str,
        items: u64,
        of: impl Fn(&RunRow) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        let options = Options { global_sizes: vec![items], ..self.runner.options().clone() };
        if options.budget.is_zero() {
            return Vec::new();
        }
        let rows = self.runner.workers().and_then(|mut workers| {
            self.runner.run_on(&mut workers, &options, &Benchmark::of(text))
        });
        let peak = |row: &RunRow| {
            let time = row.kernel_time_ns.filter(|time| *time > 0)?;
            Some(of(row)? / (time as f64 * 1e-9))
        };
        rows.iter().flatten().map(peak).collect()
    }
}

/// Whether a row says that something was used up.
fn is_short(row: &KernelEditRow) -> bool {
    let of_slow = row.verdict == Verdict::SourceFails.name()
        && row.detail.starts_with(Outcome::OutOfResources.name());
    of_slow || row.verdict == Verdict::OutOfResources.name()
}

/// How kernels and arguments of a candidate differ from the slow program's; their names may.
fn differs(slow: &[Interface], fast: &[Interface]) -> Option<String> {
    if slow.len() != fast.len() {
        return Some(format!("{} kernels, where the slow program has {}", fast.len(), slow.len()));
    }
    slow.iter().zip(fast).find_map(|(one, other)| {
        let (mine, theirs) = (&one.arguments, &other.arguments);
        if mine.len() != theirs.len() {
            let (name, count) = (&other.name, theirs.len());
            return Some(format!(
                "`{name}` takes {count} arguments, `{}` takes {}",
                one.name,
                mine.len()
            ));
        }
        let other = mine.iter().zip(theirs).find(|(one, other)| one.r#type != other.r#type)?;
        let (one, other) = other;
        Some(format!(
            "`{} {}`, where the slow kernel has `{} {}`",
            other.type_name, other.name, one.type_name, one.name
        ))
    })
}
