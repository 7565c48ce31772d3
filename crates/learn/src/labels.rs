//! Labels: what each choice costs for a kernel, measured.

use crate::Error;
use dataset::Dataset;
use device::{Options, RunRow};
use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
    time::Duration,
};

/// What is to be chosen for a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Which device is faster; transfers count.
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
}

/// Run each text at `global` work-items; the costs in seconds by text, absent where one of the
/// choices did not pass the checker.
///
/// # Errors
/// When there is no device to run them on.
pub(crate) fn label(
    task: &Task,
    texts: &[String],
    global: u64,
    folder: &Path,
    budget: Duration,
) -> Result<HashMap<String, Vec<f64>>, Error> {
    let input = folder.join("kernels");
    fs::create_dir_all(&input)?;
    let mut names: BTreeMap<String, &String> = BTreeMap::new();
    for (place, text) in texts.iter().enumerate() {
        let name = format!("{place:06}.cl");
        fs::write(input.join(&name), text)?;
        names.insert(name, text);
    }
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let (devices, local_sizes) = match task {
        Task::CpuGpu => ("cpu,gpu", Vec::new()),
        Task::LocalSize(one, other) => ("cpu", vec![*one, *other]),
    };
    let out = folder.join("runs");
    let options = Options {
        devices: devices.to_owned(),
        global_sizes: vec![global],
        local_sizes,
        budget,
        force: true,
        ..Options::new(&input, &out)
    };
    device::run(&options, &dataset::Silent)?;
    let mut costs: HashMap<String, Vec<f64>> = HashMap::new();
    for row in Dataset::open(&out)?.rows::<RunRow>()? {
        let row = row?;
        let (Some(text), Some(kernel)) = (names.get(&row.path), row.kernel_time_ns) else {
            continue;
        };
        let choice = match task {
            Task::CpuGpu => usize::from(row.device_type == "gpu"),
            Task::LocalSize(_, other) => usize::from(row.local_size == Some(*other)),
        };
        let transfers = match task {
            Task::CpuGpu => row.transfer_time_ns.unwrap_or(0),
            Task::LocalSize(..) => 0,
        };
        let entry = costs.entry((*text).clone()).or_insert_with(|| vec![f64::INFINITY; 2]);
        entry[choice] = entry[choice].min((kernel + transfers).max(1) as f64 * 1e-9);
    }
    costs.retain(|_, costs| costs.iter().all(|cost| cost.is_finite()));
    fs::remove_dir_all(&input)?;
    Ok(costs)
}
