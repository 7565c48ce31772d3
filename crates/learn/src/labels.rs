//! Labels: what each choice costs for a kernel, measured.

use crate::{Error, LearnedRow, travel::write_kernels};
use dataset::Dataset;
use device::{Options, RunRow, Transfers};
use std::{
    collections::{HashMap, HashSet},
    fs,
    path::Path,
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

/// Run each kernel at `global` work-items.
///
/// # Errors
/// When there is no device to run them on, and when it was stopped: what was run till then is kept.
pub(crate) fn label(
    task: &Task,
    kernels: &[LearnedRow],
    global: u64,
    folder: &Path,
    budget: Duration,
    stop: &Arc<AtomicBool>,
) -> Result<Costs, Error> {
    if kernels.is_empty() {
        return Ok(Costs::new());
    }
    let (input, out) = (folder.join("kernels"), folder.join("runs"));
    write_kernels(kernels, &input, true)?;
    let options = Options {
        devices: task.devices().to_owned(),
        global_sizes: vec![global],
        local_sizes: task.local_sizes(),
        budget,
        force: true,
        cancelled: Arc::clone(stop),
        ..Options::new(&input, &out)
    };
    match device::run(&options, &dataset::Silent) {
        Err(device::Error::Cancelled { .. }) => return Err(Error::Stopped),
        report => report?,
    };
    let costs = costs(task, kernels, global, &out)?;
    fs::remove_dir_all(&input)?;
    Ok(costs)
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
    let choices = task.choices();
    let mut seen = vec![false; choices.len()];
    let (mut passed, mut measured) = (false, false);
    let mut costs = Costs::new();
    for row in rows.into_iter().filter(|row| row.global_size == global) {
        let Some(choice) = task.choice_of(&row) else { continue };
        seen[choice] = true;
        passed |= row.outcome == "pass";
        let Some(seconds) = row.seconds(Transfers::Gpu) else { continue };
        measured = true;
        let entry = costs.entry(row.id).or_insert_with(|| vec![f64::INFINITY; choices.len()]);
        entry[choice] = entry[choice].min(seconds);
    }
    if let Some(choice) = seen.iter().position(|seen| !seen) {
        return lacks(format!("runs of the choice {}", choices[choice]));
    }
    if passed && !measured {
        return lacks("measurements (--budget 0s only checks)".to_owned());
    }
    costs.retain(|_, costs| costs.iter().all(|cost| cost.is_finite()));
    Ok(costs)
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
    use dataset::{Builder, Notes, content_hash};

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
