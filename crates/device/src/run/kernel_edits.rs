//! Candidates for kernels as a stage: judged beside the kernel that they are to replace, and both timed.

use super::{
    Options, Runner,
    worker_set::{Allowance, WorkerSet, unexpected},
};
use crate::{
    Error, Finding, Outcome, Result, VARIANTS,
    check::Contested,
    kernel::{Benchmark, Interface, Order, Step, interfaces, names, steps},
    measure::Effort,
    payload::Job,
    worker::{Answer, Request},
};
use dataset::{
    Input, Row, content_hash, content_hash_of,
    stage::{Cancel, Finish, Items, Stage, Units, Worked},
};
use rows::{KernelEditRow, KernelEditVerdict as Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, path::Path, sync::OnceLock, time::Duration};

/// A kernel that moves as much as a device can: two arrays are read and one is written.
const TRIAD: &str = "kernel void A(global const float* a, global const float* b, global float* c) { size_t i = \
                     get_global_id(0); c[i] = a[i] + 3.0f * b[i]; }";
/// Work-items of it, four bytes of three arrays each.
const TRIAD_ITEMS: u64 = 1 << 22;
/// Limits of `run` that judging has: it executes so many times as often as the checker alone.
const EXECUTIONS: u32 = 3;
/// Draws of the bootstrap.
const DRAWS: usize = 1000;

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

/// What judging came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KernelEditsReport {
    /// Candidates.
    pub candidates: u64,
    /// Candidates that are accepted on every device at every size.
    pub accepted: u64,
    /// Rows: candidates × devices × sizes.
    pub rows: u64,
    /// Rows per verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Accepted rows whose interval lies above 1, below 1, and around it.
    pub faster: u64,
    /// Below.
    pub slower: u64,
    /// Around: no difference was seen.
    pub equal: u64,
    /// Geometric mean of `slow / fast` over accepted rows that were timed; 1 where there are none.
    pub mean_speedup: f64,
}

/// Judges candidates for kernels: the same buffers with the same contents have to give the same results, on several
/// payloads and at every size that is timed; then both are executed in turn.
pub struct KernelEdits {
    runner: Runner,
    pairs: Vec<KernelPair>,
    input: Input,
    payloads: u32,
    /// Bytes a second of the triad, per chosen device; measured once.
    peaks: OnceLock<Vec<Option<f64>>>,
}

impl KernelEdits {
    /// Find devices and workers, and read the pairs: JSON lines with `src_id`, `src_code`, `tgt_code` and, if wanted,
    /// `tgt_id`; or a folder, in which each folder has a `slow.cl` and candidates, other `.cl` files.
    ///
    /// # Errors
    /// When there is no OpenCL, no such device, no worker or no pair, or a line is none.
    pub fn new(options: Options, payloads: u32, cancel: &Cancel) -> Result<KernelEdits> {
        let pairs = read(&options.input)?;
        let pieces = pairs.iter().flat_map(|pair| {
            [&pair.src_id, &pair.tgt_id, &pair.src_code, &pair.tgt_code].map(String::as_bytes)
        });
        let hash = content_hash_of(pieces);
        let input = Input { name: options.input.display().to_string(), hash };
        let runner = Runner::new(options, &cancel.flag())?;
        Ok(KernelEdits { runner, pairs, input, payloads, peaks: OnceLock::new() })
    }

    fn rows(&self, workers: &mut WorkerSet, pair: &KernelPair) -> Result<Vec<KernelEditRow>> {
        let options = self.runner.options();
        let checked = Options { budget: Duration::ZERO, ..options.clone() };
        let slow = Benchmark { path: pair.src_id.clone(), ..Benchmark::of(&pair.src_code) };
        let fast = Benchmark { path: pair.src_id.clone(), ..Benchmark::of(&pair.tgt_code) };
        let of_slow = self.runner.run_on(workers, &checked, &slow)?;
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
            rows.push(self.row(pair, device, row, kernel, contested));
        }
        Ok(rows)
    }

    /// The steps of both, or what is wrong with the candidate before it is built.
    fn entry(&self, workers: &mut WorkerSet, slow: &Benchmark, fast: &Benchmark) -> Result<Entry> {
        let executor = self.runner.executor(self.runner.options());
        if let Some(found) = executor.refusal(fast)? {
            return Ok(Err(Contested::found(found)));
        }
        let of_clang = |program| executor.clang.map(|clang| interfaces(clang, program)).transpose();
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
        if let Err(found) = workers.build(device, slow.0, false, &mut allowance)? {
            return Ok(Contested::of(Verdict::SourceFails, found.detail));
        }
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
        const HELD: &str = "no thread panics with the lock held";
        let is_timed = !budget.is_zero();
        let _calm = (!is_timed).then(|| executor.calm.read().expect(HELD));
        let _alone = is_timed.then(|| executor.calm.write().expect(HELD));
        let contested = match workers.ask(&request, &mut allowance)? {
            Ok(Answer::Contested(contested)) => contested,
            Ok(other) => Contested::found(unexpected(other)),
            Err(found) => Contested::found(found),
        };
        if contested.spoilt {
            workers.retire();
        }
        Ok(contested)
    }

    fn row(
        &self,
        pair: &KernelPair,
        device: usize,
        row: &super::RunRow,
        kernel: String,
        contested: Contested,
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
        let peak =
            self.peaks().get(self.runner.places().iter().position(|at| *at == device).unwrap_or(0));
        let share = |(_, fast): (f64, f64)| {
            Some(contested.bytes as f64 / (fast * 1e-9) / peak.copied().flatten()?)
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
            bandwidth_share: both.and_then(share),
        }
    }

    /// Bytes that each device moves in a second; `None` where that could not be measured or nothing is timed.
    fn peaks(&self) -> &[Option<f64>] {
        self.peaks.get_or_init(|| {
            let options =
                Options { global_sizes: vec![TRIAD_ITEMS], ..self.runner.options().clone() };
            if options.budget.is_zero() {
                return Vec::new();
            }
            let rows = self.runner.workers().and_then(|mut workers| {
                self.runner.run_on(&mut workers, &options, &Benchmark::of(TRIAD))
            });
            let peak = |row: &super::RunRow| {
                let time = row.kernel_time_ns.filter(|time| *time > 0)?;
                Some(row.transferred_bytes? as f64 / (time as f64 * 1e-9))
            };
            rows.iter().flatten().map(peak).collect()
        })
    }
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

impl Stage for KernelEdits {
    const NAME: &'static str = "edits judge-kernels";
    const UNITS: &'static str = "candidates";
    type Item = KernelPair;
    type Row = KernelEditRow;
    type Facts = ();
    type Summary = KernelEditsReport;
    type Worker = WorkerSet;
    type Error = Error;

    fn settings(&self) -> Value {
        let mut settings = super::stage::settings(&self.runner);
        if let Some(settings) = settings.as_object_mut() {
            settings.insert("payloads".to_owned(), self.payloads.into());
        }
        settings
    }

    fn seed(&self) -> u64 {
        self.runner.options().seed
    }

    fn inputs(&self) -> Result<Vec<Input>> {
        Ok(vec![self.input.clone()])
    }

    fn items(&self) -> Result<Items<'_, KernelEdits>> {
        let all = Box::new(self.pairs.iter().cloned().map(Ok));
        Ok(Items { total: Some(self.pairs.len() as u64), all })
    }

    fn key(&self, item: &KernelPair) -> String {
        let pieces = [&item.src_id, &item.tgt_id, &item.src_code, &item.tgt_code];
        content_hash_of(pieces.map(|piece| piece.as_bytes()))
    }

    fn worker(&self) -> Result<WorkerSet> {
        self.runner.workers()
    }

    fn work(
        &self,
        workers: &mut WorkerSet,
        items: &[KernelPair],
    ) -> Result<Vec<Worked<KernelEditRow>>> {
        items.iter().map(|pair| self.rows(workers, pair).map(Worked::Rows)).collect()
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn tools(&self) -> BTreeMap<String, String> {
        self.runner.tools()
    }

    fn finish<'a>(
        _: &'a Value,
        (): (),
        units: &'a Units<KernelEditRow>,
    ) -> Result<Finish<'a, KernelEditRow, KernelEditsReport>> {
        let mut report = KernelEditsReport::default();
        let (mut speedups, mut position, mut right) = (Vec::new(), None, false);
        for row in units.rows() {
            let (unit, row) = row?;
            if position.replace(unit.position) != Some(unit.position) {
                report.candidates += 1;
                report.accepted += u64::from(right);
                right = true;
            }
            right &= row.verdict == Verdict::Accepted.name();
            report.rows += 1;
            *report.verdicts.entry(row.verdict).or_default() += 1;
            speedups.extend(row.speedup);
            match (row.speedup_low, row.speedup_high) {
                (Some(low), _) if low > 1.0 => report.faster += 1,
                (_, Some(high)) if high < 1.0 => report.slower += 1,
                (Some(_), Some(_)) => report.equal += 1,
                _ => {}
            }
        }
        report.accepted += u64::from(right);
        report.mean_speedup = statistics::geometric_mean(speedups);
        Ok(Finish::all(report.verdicts.clone(), report))
    }
}

fn read(path: &Path) -> Result<Vec<KernelPair>> {
    let failed = |reason: String| Error::Pairs { path: path.to_owned(), reason };
    let pairs = match path.is_dir() {
        true => read_folder(path).map_err(|error| failed(error.to_string()))?,
        false => {
            let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            lines
                .map(|(at, line)| {
                    read_line(line).map_err(|reason| failed(format!("line {}: {reason}", at + 1)))
                })
                .collect::<Result<_>>()?
        }
    };
    match pairs.is_empty() {
        true => Err(failed(
            "holds no pair: JSON lines have src_id, src_code and tgt_code; a folder has folders with slow.cl and \
             candidates beside it"
                .to_owned(),
        )),
        false => Ok(pairs),
    }
}

fn read_line(line: &str) -> std::result::Result<KernelPair, String> {
    let fields: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| error.to_string())?;
    let word = |name: &str| match fields.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("`{name}` is no text")),
        None => Err(format!("`{name}` is missing")),
    };
    let tgt_code = word("tgt_code")?;
    let tgt_id = match fields.contains_key("tgt_id") {
        true => word("tgt_id")?,
        false => content_hash(tgt_code.as_bytes()),
    };
    Ok(KernelPair { src_id: word("src_id")?, tgt_id, src_code: word("src_code")?, tgt_code })
}

/// A pair for each `.cl` beside a `slow.cl`, in the order of their names.
fn read_folder(path: &Path) -> std::io::Result<Vec<KernelPair>> {
    let sorted = |folder: &Path| -> std::io::Result<Vec<_>> {
        let mut all = std::fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<Vec<_>>>()?;
        all.sort();
        Ok(all)
    };
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut pairs = Vec::new();
    for folder in sorted(path)?.into_iter().filter(|path| path.join("slow.cl").is_file()) {
        let src_code = std::fs::read_to_string(folder.join("slow.cl"))?;
        for file in sorted(&folder)? {
            if file.extension().is_none_or(|extension| extension != "cl")
                || name(&file) == "slow.cl"
            {
                continue;
            }
            pairs.push(KernelPair {
                src_id: name(&folder),
                tgt_id: name(&file),
                src_code: src_code.clone(),
                tgt_code: std::fs::read_to_string(&file)?,
            });
        }
    }
    Ok(pairs)
}
