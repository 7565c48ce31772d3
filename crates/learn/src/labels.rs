//! Labels: what each choice costs for a kernel, measured.

use crate::{Error, LearnedRow, kernels::with_costs};
use dataset::{Builder, Dataset};
use device::{Benchmark, Options, RunRow, Runner, Transfers};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
    str::FromStr,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// The costs in seconds of a kernel's choices, by the identity of its text; absent where one of the
/// choices did not pass the checker.
pub(crate) type Costs = HashMap<String, Vec<f64>>;

/// What is to be chosen for a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Which device is faster; the GPU's transfers count.
    CpuGpu,
    /// Which of two sizes of a group is faster on the processor: a task without a GPU.
    LocalSize(u64, u64),
}

impl FromStr for Task {
    type Err = String;

    /// `cpu-gpu` or `local-size:A,B`.
    fn from_str(text: &str) -> Result<Task, String> {
        let wrong = || format!("`{text}` is no task: write cpu-gpu, or local-size:8,256");
        if text == "cpu-gpu" {
            return Ok(Task::CpuGpu);
        }
        let sizes = text.strip_prefix("local-size:").ok_or_else(wrong)?;
        let (one, other) = sizes.split_once(',').ok_or_else(wrong)?;
        match (one.parse(), other.parse()) {
            (Ok(one), Ok(other)) if one != other && one > 0 && other > 0 => {
                Ok(Task::LocalSize(one, other))
            }
            _ => Err(wrong()),
        }
    }
}

impl Task {
    /// The names of the choices.
    #[must_use]
    pub fn choices(&self) -> Vec<String> {
        match self {
            Task::CpuGpu => vec!["CPU".into(), "GPU".into()],
            Task::LocalSize(one, other) => vec![format!("local {one}"), format!("local {other}")],
        }
    }
    /// What `run` is to be given for the devices.
    #[must_use]
    pub fn devices(&self) -> &'static str {
        match self {
            Task::CpuGpu => "cpu,gpu",
            Task::LocalSize(..) => "cpu",
        }
    }

    /// What `run` is to be given for the sizes of groups; none: those that suit.
    fn local_sizes(&self) -> Vec<u64> {
        match self {
            Task::CpuGpu => Vec::new(),
            Task::LocalSize(one, other) => vec![*one, *other],
        }
    }

    /// The flags of a `stampmill run` that costs can be read from.
    #[must_use]
    pub fn flags(&self, global: u64) -> String {
        let local = match self {
            Task::CpuGpu => String::new(),
            Task::LocalSize(one, other) => format!(" --local-sizes {one},{other}"),
        };
        format!("--devices {} --global-sizes {global}{local}", self.devices())
    }

    /// The choice that a row is a run of, if it is one of any.
    fn choice_of(&self, row: &RunRow) -> Option<usize> {
        match self {
            Task::CpuGpu => ["cpu", "gpu"].iter().position(|kind| row.device_type == *kind),
            Task::LocalSize(one, other) if row.device_type == "cpu" => {
                [*one, *other].iter().position(|size| row.local_size == Some(*size))
            }
            Task::LocalSize(..) => None,
        }
    }
}

/// Measures kernels on the devices of this machine.
pub(crate) struct Labeler<'a> {
    pub(crate) task: &'a Task,
    /// Work-items of every execution.
    pub(crate) global_size: u64,
    /// Time to measure one kernel at one choice.
    pub(crate) measuring: Duration,
    pub(crate) stop: &'a Arc<AtomicBool>,
}

/// Kernels measured at a time: when a run is stopped, no more than these have to be measured again.
const CHUNK: usize = 4;

impl Labeler<'_> {
    /// The kernels with their costs, each text measured once. What was measured is kept in parts of
    /// the unfinished data set that belong to `part`.
    ///
    /// # Errors
    /// When there is no device to run them on, and when it was stopped.
    pub(crate) fn labelled(
        &self,
        builder: &Builder<LearnedRow>,
        part: &str,
        kernels: Vec<LearnedRow>,
    ) -> Result<Vec<LearnedRow>, Error> {
        if self.measuring.is_zero() {
            return Err(Error::NotMeasured);
        }
        let unique: BTreeMap<&str, &LearnedRow> =
            kernels.iter().map(|kernel| (kernel.path.as_str(), kernel)).collect();
        let unique: Vec<&LearnedRow> = unique.into_values().collect();
        let mut runner = None;
        let mut costs = Costs::new();
        for (number, chunk) in unique.chunks(CHUNK).enumerate() {
            let key = format!("costs {part} {number}");
            if !builder.has(&key) {
                let runner = match &runner {
                    Some(runner) => runner,
                    None => runner.insert(self.runner()?),
                };
                let programs: Vec<Benchmark> =
                    chunk.iter().map(|kernel| Benchmark::of(&kernel.text)).collect();
                let rows = match runner.rows(&programs) {
                    Err(device::Error::Stopped) => return Err(Error::Stopped),
                    rows => rows?,
                };
                let mut of_chunk = fastest(self.task, self.global_size, rows);
                let chunk = chunk.iter().map(|kernel| (*kernel).clone()).collect();
                builder.add(&key, with_costs(chunk, |path| of_chunk.remove(path)))?;
            }
            for row in builder.rows_of(&key) {
                let row = row?;
                if !row.costs.is_empty() {
                    costs.insert(row.path, row.costs);
                }
            }
        }
        Ok(with_costs(kernels, |path| costs.get(path).cloned()))
    }

    fn runner(&self) -> Result<Runner, Error> {
        let options = Options {
            devices: self.task.devices().to_owned(),
            global_sizes: vec![self.global_size],
            local_sizes: self.task.local_sizes(),
            budget: self.measuring,
            ..Options::default()
        };
        Ok(Runner::new(options, self.stop)?)
    }
}

/// What each choice costs for each kernel by the data set `runs` of schema `run`: the kernel on its
/// device, and a GPU's transfers; of several runs the fastest counts.
/// Kernels are known by their text, wherever they were run under whatever name.
///
/// # Errors
/// When none of the kernels was run, when none was run at `global` work-items or at some choice, and
/// when they were checked alone.
pub(crate) fn costs(
    task: &Task,
    kernels: &[LearnedRow],
    global: u64,
    runs: &Path,
) -> Result<Costs, Error> {
    let rows = runs_of(kernels, runs)?;
    if rows.is_empty() {
        let kernels = kernels.iter().map(|kernel| &kernel.path).collect::<HashSet<_>>().len();
        return Err(Error::OtherRuns { runs: runs.to_owned(), kernels });
    }
    let lacks = |what: String| {
        let flags = task.flags(global);
        Err(Error::LackingRuns { runs: runs.to_owned(), what, flags })
    };
    if rows.iter().all(|row| row.global_size != global) {
        return lacks(format!(
            "runs at {global} work-items (the first has {})",
            rows[0].global_size
        ));
    }
    let at_size = || rows.iter().filter(|row| row.global_size == global);
    let is_run = |choice: usize| at_size().any(|row| task.choice_of(row) == Some(choice));
    let choices = task.choices();
    if let Some(choice) = (0..choices.len()).find(|choice| !is_run(*choice)) {
        return lacks(format!("runs of the choice {}", choices[choice]));
    }
    let of_choices = || at_size().filter(|row| task.choice_of(row).is_some());
    let passed = of_choices().any(|row| row.outcome == "pass");
    if passed && of_choices().all(|row| row.seconds(Transfers::Gpu).is_none()) {
        return lacks("measurements (--budget 0s only checks)".to_owned());
    }
    Ok(fastest(task, global, rows))
}

/// What each choice costs by these runs, of several runs the fastest.
fn fastest(task: &Task, global: u64, rows: Vec<RunRow>) -> Costs {
    let choices = task.choices().len();
    let mut costs = Costs::new();
    for row in rows.into_iter().filter(|row| row.global_size == global) {
        let (Some(choice), Some(seconds)) = (task.choice_of(&row), row.seconds(Transfers::Gpu))
        else {
            continue;
        };
        let entry = costs.entry(row.id).or_insert_with(|| vec![f64::INFINITY; choices]);
        entry[choice] = entry[choice].min(seconds);
    }
    costs.retain(|_, costs| costs.iter().all(|cost| cost.is_finite()));
    costs
}

/// The rows of `runs` that are runs of one of the kernels.
pub(crate) fn runs_of(kernels: &[LearnedRow], runs: &Path) -> Result<Vec<RunRow>, Error> {
    let wanted: HashSet<&String> = kernels.iter().map(|kernel| &kernel.path).collect();
    let mut rows = Vec::new();
    for row in Dataset::open(runs)?.rows::<RunRow>()? {
        let row = row?;
        if wanted.contains(&row.id) {
            rows.push(row);
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::{Notes, content_hash};

    const TASK: Task = Task::LocalSize(8, 256);

    fn seconds(nanoseconds: u32) -> f64 {
        f64::from(nanoseconds) * 1e-9
    }

    fn kernel(text: &str) -> LearnedRow {
        let path = content_hash(text.as_bytes());
        LearnedRow { path, text: text.to_owned(), ..LearnedRow::default() }
    }

    /// A run of the kernel of this text.
    fn run(text: &str, device: &str, local: u64, nanoseconds: Option<u64>) -> RunRow {
        RunRow {
            id: content_hash(text.as_bytes()),
            path: "renamed.cl".to_owned(),
            device_type: device.to_owned(),
            global_size: 1024,
            local_size: Some(local),
            outcome: if nanoseconds.is_some() { "pass" } else { "crash" }.to_owned(),
            kernel_time_ns: nanoseconds,
            transfer_time_ns: nanoseconds.map(|_| 5_000),
            ..RunRow::default()
        }
    }

    fn read(task: &Task, kernels: &[LearnedRow], rows: Vec<RunRow>) -> Result<Costs, Error> {
        let folder = tempfile::tempdir().expect("a folder");
        let runs = folder.path().join("runs");
        let builder = Builder::create(&runs, false, &"").expect("begins");
        builder.finish(rows, Notes::default()).expect("is written");
        costs(task, kernels, 1024, &runs)
    }

    fn complaint(task: &Task, rows: Vec<RunRow>) -> String {
        read(task, &[kernel("a"), kernel("b")], rows).expect_err("is refused").to_string()
    }

    #[test]
    fn a_kernel_costs_what_its_fastest_run_took_if_every_choice_was_measured() {
        let kernels = ["a", "b", "c", "d"].map(kernel);
        let rows = vec![
            run("a", "cpu", 8, Some(3_000)),
            run("a", "cpu", 256, Some(2_000)),
            run("a", "cpu", 8, Some(1_000)),
            run("a", "cpu", 64, Some(1)),
            run("a", "gpu", 8, Some(1)),
            RunRow { global_size: 64, ..run("a", "cpu", 8, Some(1)) },
            run("b", "cpu", 8, Some(1_000)),
            run("b", "cpu", 256, None),
            run("other", "cpu", 8, Some(1_000)),
        ];
        let costs = read(&TASK, &kernels, rows).expect("they are runs");
        assert_eq!(
            costs,
            Costs::from([(kernels[0].path.clone(), vec![seconds(1_000), seconds(2_000)])])
        );
    }

    #[test]
    fn the_transfers_of_a_gpu_cost() {
        let rows = vec![run("a", "cpu", 8, Some(1_000)), run("a", "gpu", 64, Some(2_000))];
        let costs = read(&Task::CpuGpu, &[kernel("a")], rows).expect("they are runs");
        assert_eq!(costs[&kernel("a").path], [seconds(1_000), seconds(7_000)]);
    }

    #[test]
    fn runs_that_are_not_of_what_waits_are_refused() {
        let both = |local| run("a", "cpu", local, Some(1_000));
        let none = complaint(&TASK, vec![run("c", "cpu", 8, Some(1_000))]);
        assert!(none.contains("no row of the 2 kernels"), "{none}");
        let small = |local| RunRow { global_size: 64, ..both(local) };
        let sizes = complaint(&TASK, vec![small(8), small(256)]);
        assert!(sizes.contains("runs at 1024 work-items (the first has 64)"), "{sizes}");
        assert!(sizes.contains("--devices cpu --global-sizes 1024 --local-sizes 8,256"), "{sizes}");
        let group = complaint(&TASK, vec![both(8)]);
        assert!(group.contains("runs of the choice local 256"), "{group}");
        let device = complaint(&Task::CpuGpu, vec![both(8)]);
        assert!(device.contains("runs of the choice GPU"), "{device}");
        let checked = |local| RunRow { kernel_time_ns: None, ..both(local) };
        let budget = complaint(&TASK, vec![checked(8), checked(256)]);
        assert!(budget.contains("lacks measurements"), "{budget}");
    }

    #[test]
    fn kernels_of_which_none_passes_have_no_costs_and_that_is_no_error() {
        let rows = vec![run("a", "cpu", 8, None), run("a", "cpu", 256, None)];
        assert!(read(&TASK, &[kernel("a")], rows).expect("they are runs").is_empty());
    }
}
