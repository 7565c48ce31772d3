//! One benchmark from its text to its rows.

use super::{
    Options, RunRow,
    worker_set::{Allowance, WorkerSet, guesses, unexpected},
};
use crate::{
    DeviceInfo, DeviceType, Finding, Outcome, Result, VARIANTS,
    kernel::{Benchmark, Interface, Step, interfaces, names, reads_unset, steps},
    measure::{Effort, Measurement},
    opencl::KernelFacts,
    payload::{Job, Range},
    refusal,
    worker::{Answer, BuiltFacts, CellKey, Checked, Request},
};
use clang::Clang;
use std::{sync::RwLock, time::Duration};

/// Sizes at which a kernel may bring the driver down before the larger ones are not tried.
const MOST_CRASHES: u32 = 2;
/// Sizes at which all variants are tried for a kernel that has passed nowhere.
const FALLBACK_SIZES: u32 = 2;
/// Variants on which a kernel may bring the driver down at one size.
const MOST_CRASHED_VARIANTS: usize = 2;
/// Elements of a buffer per work-item, where they are most.
const MOST_ROOM: u64 = 16;
/// Work-items under Oclgrind, which interprets.
const VERIFIED_ITEMS: u64 = 1024;

/// What a payload's name begins with where a host program's sizes and values are in it.
pub(super) const OF_HOST: &str = "suite-";

/// What all threads of a run share.
pub(super) struct Executor<'a> {
    pub(super) options: &'a Options,
    pub(super) devices: &'a [DeviceInfo],
    /// Places in `devices`.
    pub(super) chosen: &'a [usize],
    pub(super) clang: Option<&'a Clang>,
    /// Held for writing while something is measured and for reading while something is built or
    /// checked: a measurement has the machine to itself.
    pub(super) calm: &'a RwLock<()>,
}

/// A kernel at one size on one device.
struct Case {
    device: usize,
    size: u64,
    group: Option<u64>,
    variant: usize,
    finding: Finding,
    range: Option<Range>,
    transferred_bytes: u64,
    measurement: Option<Measurement>,
}

impl Case {
    fn of(device: usize, size: u64, group: Option<u64>, variant: usize, checked: Checked) -> Case {
        let Checked { finding, range, transferred_bytes, .. } = checked;
        Case { device, size, group, variant, finding, range, transferred_bytes, measurement: None }
    }
}

/// A kernel's record on one device.
struct Record {
    allowance: Allowance,
    crashes: u32,
    with_fallbacks: u32,
}

/// One benchmark while it is run.
struct Trial<'a> {
    executor: &'a Executor<'a>,
    workers: &'a mut WorkerSet,
    benchmark: &'a Benchmark,
    interfaces: Vec<Interface>,
    /// Why no driver is given it.
    refused: Option<Finding>,
    steps: Vec<Step>,
    /// Work-items, and work-items of a group.
    grid: Vec<(u64, Option<u64>)>,
    /// Per chosen device.
    built: Vec<Option<BuiltFacts>>,
    /// The payload variant it passed on, the same on all devices and for all sizes.
    variant: Option<usize>,
    cases: Vec<Case>,
}

impl Executor<'_> {
    /// Build, check and measure on all devices at all sizes.
    ///
    /// # Errors
    /// Only where the workers themselves do not work.
    pub(super) fn rows(
        &self,
        workers: &mut WorkerSet,
        benchmark: &Benchmark,
    ) -> Result<Vec<RunRow>> {
        if !self.options.isolate {
            return self.trial(workers, benchmark, self.grid_of(benchmark));
        }
        let mut rows = Vec::new();
        for cell in self.grid_of(benchmark) {
            workers.retire();
            rows.extend(self.trial(workers, benchmark, vec![cell])?);
        }
        Ok(rows)
    }

    fn trial(
        &self,
        workers: &mut WorkerSet,
        benchmark: &Benchmark,
        grid: Vec<(u64, Option<u64>)>,
    ) -> Result<Vec<RunRow>> {
        workers.forget();
        let mut trial = Trial {
            executor: self,
            workers,
            benchmark,
            interfaces: self.interfaces(benchmark)?,
            refused: self.refusal(benchmark)?,
            steps: Vec::new(),
            grid,
            built: vec![None; self.chosen.len()],
            variant: None,
            cases: Vec::new(),
        };
        for at in 0..self.chosen.len() {
            trial.check_all(at)?;
        }
        trial.verify()?;
        trial.measure()?;
        Ok(trial.rows())
    }

    /// What the data set or clang know of the kernels; nothing where neither does.
    fn interfaces(&self, benchmark: &Benchmark) -> Result<Vec<Interface>> {
        match self.clang {
            Some(clang) => Ok(interfaces(clang, benchmark)?.unwrap_or_default()),
            None => Ok(benchmark.interfaces.clone()),
        }
    }

    /// Why no driver is given the program, as far as can be told here.
    pub(super) fn refusal(&self, benchmark: &Benchmark) -> Result<Option<Finding>> {
        if benchmark.text.trim().is_empty() {
            // Drivers crash on it.
            return Ok(Some(Finding::new(Outcome::NoKernel, "the program is empty")));
        }
        match (refusal::of_text(&benchmark.text), self.clang) {
            (None, Some(clang)) => refusal::of_program(clang, &benchmark.text),
            (refused, _) => Ok(refused),
        }
    }

    /// The sizes of one benchmark: its host program's, where they are known.
    fn grid_of(&self, benchmark: &Benchmark) -> Vec<(u64, Option<u64>)> {
        match &benchmark.host {
            Some(host) => vec![(host.items(), host.group())],
            None => self.grid().collect(),
        }
    }

    pub(super) fn grid(&self) -> impl Iterator<Item = (u64, Option<u64>)> {
        let groups = match self.options.local_sizes.as_slice() {
            [] => vec![None],
            sizes => sizes.iter().copied().map(Some).collect(),
        };
        let sizes = self.options.global_sizes.clone();
        sizes.into_iter().flat_map(move |size| groups.clone().into_iter().map(move |g| (size, g)))
    }
}

impl Trial<'_> {
    fn job(&self, size: u64, group: Option<u64>, variant: usize) -> Job {
        let options = self.executor.options;
        Job {
            path: self.benchmark.path.clone(),
            steps: self.steps.clone(),
            size,
            group,
            variant,
            values: options.values,
            seed: options.seed,
        }
    }

    fn check_all(&mut self, at: usize) -> Result<()> {
        let device = self.executor.chosen[at];
        let limit = self.executor.options.limit;
        let kind = self.executor.devices[device].r#type;
        let mut record =
            Record { allowance: Allowance::new(limit, kind), crashes: 0, with_fallbacks: 0 };
        let built = match &self.refused {
            Some(finding) => Err(finding.clone()),
            None => self.build(device, &mut record.allowance)?,
        };
        let ready = match built {
            Ok(facts) => {
                let interfaces = match self.interfaces.is_empty() {
                    true => facts.kernels.iter().map(|kernel| kernel.interface.clone()).collect(),
                    false => self.interfaces.clone(),
                };
                self.built[at] = Some(facts);
                steps(&interfaces, &self.benchmark.order).and_then(|mut steps| {
                    if let [step] = steps.as_mut_slice() {
                        step.host.clone_from(&self.benchmark.host);
                    }
                    let unset = reads_unset(&steps);
                    self.steps = steps;
                    unset.map_or(Ok(()), Err)
                })
            }
            Err(finding) => Err(finding),
        };
        for (size, group) in self.grid.clone() {
            let (variant, checked) = match &ready {
                Err(finding) => (0, Checked::nowhere(finding.clone())),
                Ok(()) => self.check(device, size, group, &mut record)?,
            };
            self.cases.push(Case::of(device, size, group, variant, checked));
        }
        match self.variant {
            Some(kept) if at == 0 => self.suit_all(device, kept, &mut record),
            _ => Ok(()),
        }
    }

    /// Where the variant that suits the smallest sizes does not suit the others: the next one that suits all.
    fn suit_all(&mut self, device: usize, kept: usize, record: &mut Record) -> Result<()> {
        if !self.cases.iter().any(|case| worth_another(case.finding.outcome)) {
            return Ok(());
        }
        let others = (kept + 1..VARIANTS.len()).filter(|at| !VARIANTS[*at].is_apart());
        for variant in others {
            self.variant = Some(variant);
            let mut cases = Vec::new();
            for (size, group) in self.grid.clone() {
                let (_, checked) = self.check(device, size, group, record)?;
                if checked.finding.outcome != Outcome::Pass {
                    break;
                }
                cases.push(Case::of(device, size, group, variant, checked));
            }
            if cases.len() == self.grid.len() {
                self.cases = cases;
                return Ok(());
            }
        }
        self.variant = Some(kept);
        Ok(())
    }

    fn build(
        &mut self,
        device: usize,
        allowance: &mut Allowance,
    ) -> Result<std::result::Result<BuiltFacts, Finding>> {
        let _calm = self.executor.calm.read().expect("no thread panics with the lock held");
        self.workers.build(device, self.benchmark, self.interfaces.is_empty(), allowance)
    }

    /// Check at one size: on the variant that is known to suit the kernel, or in order up to the
    /// first that does. Without one, what the first variant found stands.
    fn check(
        &mut self,
        device: usize,
        size: u64,
        group: Option<u64>,
        record: &mut Record,
    ) -> Result<(usize, Checked)> {
        if record.crashes >= MOST_CRASHES {
            let detail = "not tried: smaller sizes crash";
            return Ok((0, Checked::nowhere(Finding::new(Outcome::Crash, detail))));
        }
        let variants = match self.variant {
            Some(variant) => variant..variant + 1,
            None if record.with_fallbacks < FALLBACK_SIZES => 0..VARIANTS.len(),
            None => 0..1,
        };
        let mut first: Option<(usize, Checked)> = None;
        let (mut crashed, mut tried, mut insensitive) = (0, 0, 0);
        for variant in variants.clone() {
            // What crashes may want room: the most that there is, next.
            if crashed > 0 && VARIANTS[variant].room < MOST_ROOM {
                continue;
            }
            if variants.len() > 1 && VARIANTS[variant].is_apart() && insensitive == 0 {
                continue;
            }
            let checked = self.check_once(device, &self.job(size, group, variant), record)?;
            let outcome = checked.finding.outcome;
            tried += 1;
            insensitive += usize::from(outcome == Outcome::InputInsensitive);
            if outcome == Outcome::Pass {
                self.variant = Some(variant);
                return Ok((variant, checked));
            }
            crashed += usize::from(outcome == Outcome::Crash);
            first.get_or_insert((variant, checked));
            if !worth_another(outcome) || crashed >= MOST_CRASHED_VARIANTS {
                break;
            }
        }
        if let Some((_, checked)) = &mut first
            && tried > 1
            && insensitive == tried
        {
            checked.finding.detail = "the same output for all payloads that were tried".to_owned();
        }
        let (variant, checked) = first.unwrap_or_else(|| {
            (0, Checked::nowhere(Finding::new(Outcome::Crash, "no variant was tried")))
        });
        record.with_fallbacks += 1 + u32::from(crashed > 0);
        record.crashes += u32::from(checked.finding.outcome == Outcome::Crash);
        Ok((variant, checked))
    }

    fn check_once(&mut self, device: usize, job: &Job, record: &mut Record) -> Result<Checked> {
        if record.allowance.is_spent() {
            let detail = format!("not tried: smaller sizes took {}", record.allowance.words());
            return Ok(Checked::nowhere(Finding::new(Outcome::Timeout, detail)));
        }
        // The worker may be a new one.
        if let Err(finding) = self.build(device, &mut record.allowance)? {
            return Ok(Checked::nowhere(finding));
        }
        let _calm = self.executor.calm.read().expect("no thread panics with the lock held");
        self.workers.check(device, job, &mut record.allowance)
    }

    /// Oclgrind's word counts for the kernel at every size.
    fn verify(&mut self) -> Result<()> {
        let passes = |case: &&Case| case.finding.outcome == Outcome::Pass;
        let Some(case) = self.cases.iter().filter(passes).min_by_key(|case| case.size) else {
            return Ok(());
        };
        if case.size > VERIFIED_ITEMS {
            return Ok(());
        }
        let job = self.job(case.size, case.group, case.variant);
        let mut allowance = Allowance::new(self.executor.options.limit, DeviceType::Cpu);
        let _calm = self.executor.calm.read().expect("no thread panics with the lock held");
        if let Some(finding) = self.workers.verify(self.benchmark, &job, &mut allowance)? {
            for case in self.cases.iter_mut().filter(|case| case.finding.outcome == Outcome::Pass) {
                case.finding = finding.clone();
            }
        }
        Ok(())
    }

    fn measure(&mut self) -> Result<()> {
        let options = self.executor.options;
        let passing: Vec<usize> = (0..self.cases.len())
            .filter(|at| self.cases[*at].finding.outcome == Outcome::Pass)
            .collect();
        if passing.is_empty() || options.budget.is_zero() {
            return Ok(());
        }
        let key = |at: &usize| {
            let case = &self.cases[*at];
            CellKey { device: case.device, job: self.job(case.size, case.group, case.variant) }
        };
        let cells: Vec<CellKey> = passing.iter().map(key).collect();
        let cost = options.budget * 2 * u32::try_from(cells.len()).unwrap_or(u32::MAX);
        // What passed has been executed as often as this within its limit.
        let mut devices: Vec<usize> = cells.iter().map(|cell| cell.device).collect();
        devices.dedup();
        let kind = |device: &usize| self.executor.devices[*device].r#type;
        let on_processors = devices.iter().all(|device| kind(device) == DeviceType::Cpu);
        let mut allowance = Allowance::ample(options.limit, cost, on_processors);
        for device in devices {
            // A worker that died meanwhile has forgotten the program; a failure shows below.
            let _known = self.build(device, &mut allowance)?;
        }
        let effort = Effort { precision: options.precision, budget: options.budget };
        let alone = self.executor.calm.write().expect("no thread panics with the lock held");
        let asked = self.workers.ask(&Request::Measure { cells, effort }, &mut allowance)?;
        drop(alone);
        let results = match asked {
            Ok(Answer::Measured(results)) => results,
            Ok(other) => return Err(unexpected(other)),
            Err(finding) => vec![Err(while_measured(finding)); passing.len()],
        };
        for (at, result) in passing.into_iter().zip(results) {
            match result {
                Ok(measurement) => self.cases[at].measurement = Some(measurement),
                Err(finding) => self.cases[at].finding = finding,
            }
        }
        Ok(())
    }

    fn rows(&self) -> Vec<RunRow> {
        let guessed = guesses(&self.steps);
        let kernel = match self.steps.is_empty() {
            true => self.benchmark.name.clone(),
            false => names(&self.steps),
        };
        self.cases.iter().map(|case| self.row(case, &kernel, guessed)).collect()
    }

    fn row(&self, case: &Case, kernel: &str, guessed: bool) -> RunRow {
        let device = &self.executor.devices[case.device];
        let at = self.executor.chosen.iter().position(|chosen| *chosen == case.device);
        let facts = at.and_then(|at| self.built[at].as_ref());
        let sum = |part: fn(&KernelFacts) -> u64| {
            let used = |kernel: &&KernelFacts| {
                self.steps.iter().any(|step| step.interface.name == kernel.interface.name)
            };
            facts.map(|facts| facts.kernels.iter().filter(used).map(part).max().unwrap_or(0))
        };
        let range = case.range.as_ref();
        let measured = case.measurement.as_ref();
        let outcome = case.finding.outcome;
        let compiled = self.benchmark.compiled || !self.interfaces.is_empty();
        let driven = outcome == Outcome::Pass;
        RunRow {
            id: self.benchmark.id.clone(),
            package: self.benchmark.package.clone(),
            license: self.benchmark.license.clone(),
            family: self.benchmark.family.clone(),
            path: self.benchmark.path.clone(),
            kernel: kernel.to_owned(),
            original_name: self.benchmark.original_name.clone(),
            device: device.name.clone(),
            device_type: device.r#type.name().to_owned(),
            platform: device.platform.clone(),
            driver: device.driver.clone(),
            compiler: format!("{}; {}", device.platform_version, device.language),
            clock_mhz: device.clock_mhz,
            build_options: facts.map(|facts| facts.options.clone()).unwrap_or_default(),
            global_size: case.size,
            local_size: range.map(Range::group).or(case.group),
            global_shape: range.map(|range| range.text(range.global)).unwrap_or_default(),
            local_shape: range.map(|range| range.text(range.local)).unwrap_or_default(),
            payload: match self.benchmark.host {
                Some(_) => format!("{OF_HOST}{}", VARIANTS[case.variant].name),
                None => VARIANTS[case.variant].name.to_owned(),
            },
            values: self.executor.options.values.name().to_owned(),
            outcome: outcome.name().to_owned(),
            about: outcome.about(compiled, guessed).name().to_owned(),
            detail: case.finding.detail.clone(),
            work_item_local_mem_size: sum(|kernel| kernel.local_bytes),
            work_item_private_mem_size: sum(|kernel| kernel.private_bytes),
            transferred_bytes: driven.then_some(case.transferred_bytes),
            transfer_time_ns: measured.map(|measured| measured.transfer_time_ns),
            kernel_time_ns: measured.map(|measured| measured.kernel_time_ns),
            wall_time_ns: measured.map(|measured| measured.wall_time_ns),
            repeats: measured.map(|measured| measured.repeats),
            interval: measured.and_then(|measured| measured.interval),
        }
    }
}

/// Whether another payload may do better.
fn worth_another(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Crash
            | Outcome::OutOfBounds
            | Outcome::NoOutput
            | Outcome::InputInsensitive
            | Outcome::NonDeterministic
    )
}

fn while_measured(finding: Finding) -> Finding {
    Finding::new(finding.outcome, format!("while measured: {}", finding.detail))
}

/// The limit of a kernel on a device unless the user names another.
pub(super) const LIMIT: Duration = Duration::from_secs(20);
