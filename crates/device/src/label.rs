//! Measurements and feature vectors joined into a table that heuristics learn from.

use crate::{Error, Result, RunRow, Transfers};
use dataset::{
    Dataset, Input, Row, content_hash_of,
    stage::{self, Finish, Items, Stage, Units, Worked},
};
use rows::{CpuGpuRow, Grouping, TaskVerdict, program_name};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// Which question the table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Task {
    /// On which of two devices, a processor and a GPU, is the kernel faster, with the transfers that
    /// count? (Grewe, Wang, O'Boyle: CGO 2013.)
    CpuGpu(Transfers),
}

/// Grewe's values by their names, per identity of a program and kernel in it.
pub type Vectors = BTreeMap<(String, String), BTreeMap<String, f64>>;

/// What [`Label`] came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LabelReport {
    /// Rows written: kernels at sizes, measured on both devices and described.
    pub rows: u64,
    /// Groups that they fall into.
    pub groups: u64,
    /// Rows per device that is faster.
    pub labels: BTreeMap<String, u64>,
    /// Rows whose label chance may have decided: the confidence intervals of the two times overlap, or one has none.
    pub uncertain: u64,
    /// Kernels at sizes that gave no row, per reason: `unmeasured`, `undescribed`,
    /// `infinite-ratio`.
    pub left_out: BTreeMap<String, u64>,
}

/// Grewe's features that are read of a vector, in the order of [`LabelItem::vector`].
const RAW: [&str; 6] = ["comp", "rational", "mem", "localmem", "coalesced", "atomic"];

/// A kernel at one size: its runs and its vector.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelItem {
    /// The package of its program; may be empty.
    pub package: String,
    /// Where its program is from.
    pub path: String,
    /// The kernel.
    pub kernel: String,
    /// Identity of its program.
    pub id: String,
    /// Work-items.
    pub global_size: u64,
    /// Its runs on processors and GPUs, whatever group sizes the devices chose by themselves, in the order
    /// of the data set.
    pub runs: Vec<RunRow>,
    /// Its `comp`, `rational`, `mem`, `localmem`, `coalesced` and `atomic`; `None`: it has no vector.
    pub vector: Option<Vec<f64>>,
}

impl Row for LabelItem {
    const SCHEMA: &'static str = "label-item";
    const VERSION: u32 = 1;
}

/// What rows do not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelFacts {
    /// Items without a row, per reason.
    left_out: BTreeMap<String, u64>,
    /// Rows whose label is uncertain.
    #[serde(default)]
    uncertain: u64,
}

impl stage::Facts for LabelFacts {
    fn absorb(&mut self, other: LabelFacts) {
        self.uncertain += other.uncertain;
        for (reason, count) in other.left_out {
            *self.left_out.entry(reason).or_default() += count;
        }
    }
}

/// Joins the runs of kernels with Grewe's features of them into a data set of schema `task`: a row for
/// each kernel and size that both devices passed.
pub struct Label {
    items: Vec<LabelItem>,
    inputs: Vec<Input>,
    tools: BTreeMap<String, String>,
    seed: u64,
    grouping: Grouping,
    task: Task,
}

impl Label {
    /// Group the rows of `runs` (schema `run`) by kernel and size.
    ///
    /// `vectors` holds, by a program's identity (the hash of its text) and its kernel's name, the values
    /// named `comp`, `rational`, `mem`, `localmem`, `coalesced` and `atomic`; `described` says where they
    /// are from. What is held out together is as [`Grouping::of_packages`] says, unless told.
    ///
    /// # Errors
    /// When `runs` is no data set of runs, was measured on several machines, or cannot be read.
    pub fn new(
        runs: &Path,
        vectors: &Vectors,
        described: Vec<Input>,
        grouping: Option<Grouping>,
        task: Task,
    ) -> Result<Label> {
        let dataset = Dataset::open(runs)?;
        let hosts: Vec<String> = dataset.manifest().hosts().collect();
        if hosts.len() > 1 {
            return Err(Error::SeveralMachines { path: runs.to_owned(), hosts });
        }
        let items = gather(dataset.rows::<RunRow>()?, vectors)?;
        let packages = items.iter().map(|item| item.package.as_str());
        let grouping = grouping.unwrap_or_else(|| Grouping::of_packages(packages));
        let manifest = dataset.manifest();
        let measured = Input { name: runs.display().to_string(), hash: manifest.identity.clone() };
        Ok(Label {
            items,
            inputs: [vec![measured], described].concat(),
            tools: manifest.notes.tools.clone(),
            seed: manifest.notes.seed,
            grouping,
            task,
        })
    }
}

/// The runs of each kernel and size, by package, path, kernel, identity and size.
fn gather(
    rows: impl IntoIterator<Item = dataset::Result<RunRow>>,
    vectors: &Vectors,
) -> Result<Vec<LabelItem>> {
    let mut items: BTreeMap<_, LabelItem> = BTreeMap::new();
    for row in rows {
        let row = row?;
        if !matches!(row.device_type.as_str(), "cpu" | "gpu") {
            continue;
        }
        let RunRow { package, path, kernel, id, global_size, .. } = row.clone();
        let key = (package.clone(), path.clone(), kernel.clone(), id.clone(), global_size);
        let item = items.entry(key).or_insert_with(|| {
            let vector = vectors.get(&(id.clone(), kernel.clone())).map(raw);
            LabelItem { package, path, kernel, id, global_size, runs: Vec::new(), vector }
        });
        item.runs.push(row);
    }
    Ok(items.into_values().collect())
}

/// The values of a vector that features are made of, in the order of [`RAW`].
pub(crate) fn raw(vector: &BTreeMap<String, f64>) -> Vec<f64> {
    RAW.iter().map(|name| vector.get(*name).copied().unwrap_or(0.0)).collect()
}

/// The features of a kernel that has this vector, transfers so many bytes and runs in groups of this size.
pub(crate) fn described(
    vector: &[f64],
    transfer: u64,
    wgsize: u64,
) -> std::result::Result<CpuGpuRow, TaskVerdict> {
    let &[comp, rational, mem, localmem, coalesced, atomic] = vector else {
        return Err(TaskVerdict::Undescribed);
    };
    let (transfer, wgsize) = (transfer as f64, wgsize as f64);
    let row = CpuGpuRow {
        comp,
        rational,
        mem,
        localmem,
        coalesced,
        atomic,
        transfer,
        wgsize,
        f1_transfer: transfer / (comp + mem),
        f2_coalesced: coalesced / mem,
        f3_local: localmem / mem * wgsize,
        f4_comp: comp / mem,
        ..CpuGpuRow::default()
    };
    match row.features().iter().all(|(_, value)| value.is_finite()) {
        true => Ok(row),
        false => Err(TaskVerdict::InfiniteRatio),
    }
}

impl LabelItem {
    /// Of several group sizes or devices of one kind the fastest, and its seconds.
    fn fastest(&self, device: &str, transfers: Transfers) -> Option<(&RunRow, f64)> {
        let runs = self.runs.iter().filter(|run| run.device_type == device);
        let timed = runs.filter_map(|run| Some((run, run.seconds(transfers)?)));
        timed.min_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    /// Whether the confidence intervals of both devices' times overlap, or one time has none.
    fn is_uncertain(&self, transfers: Transfers) -> bool {
        let ends = |device| {
            let (run, seconds) = self.fastest(device, transfers)?;
            let half = run.interval? / 2.0 * run.kernel_time_ns? as f64 * 1e-9;
            Some((seconds - half, seconds + half))
        };
        match (ends("cpu"), ends("gpu")) {
            (Some(cpu), Some(gpu)) => cpu.0 <= gpu.1 && gpu.0 <= cpu.1,
            _ => true,
        }
    }

    /// Its row, or why it has none.
    fn row(
        &self,
        grouping: Grouping,
        transfers: Transfers,
    ) -> std::result::Result<CpuGpuRow, TaskVerdict> {
        let timed = |device, lacking| match self.fastest(device, transfers) {
            Some(fastest) => Ok(fastest),
            None if self.runs.iter().any(|run| run.device_type == device) => {
                Err(TaskVerdict::Unmeasured)
            }
            None => Err(lacking),
        };
        let (_, on_cpu) = timed("cpu", TaskVerdict::NoCpuRun)?;
        let (gpu, on_gpu) = timed("gpu", TaskVerdict::NoGpuRun)?;
        let vector = self.vector.as_deref().unwrap_or_default();
        let transfer = gpu.transferred_bytes.unwrap_or(0);
        let features = described(vector, transfer, gpu.local_size.unwrap_or(1))?;
        let label = if on_gpu < on_cpu { "GPU" } else { "CPU" };
        let slower = on_cpu.max(on_gpu) / on_cpu.min(on_gpu);
        Ok(CpuGpuRow {
            program: program_name(&self.package, &self.path, Some(gpu.known_as()), &self.id),
            variant: self.global_size.to_string(),
            group: grouping.of(&gpu.package, &gpu.family, &gpu.path).to_owned(),
            license: gpu.license.clone(),
            label: label.to_owned(),
            oracle: label.to_owned(),
            cost_cpu: on_cpu,
            cost_gpu: on_gpu,
            speedup: slower as f32,
            penalty: (1.0 / slower) as f32,
            ..features
        })
    }
}

impl Label {
    fn row(&self, item: &LabelItem) -> std::result::Result<CpuGpuRow, TaskVerdict> {
        let Task::CpuGpu(transfers) = self.task;
        item.row(self.grouping, transfers)
    }
}

impl Stage for Label {
    const NAME: &'static str = "label";
    const UNITS: &'static str = "kernels at sizes";
    type Item = LabelItem;
    type Row = CpuGpuRow;
    type Facts = LabelFacts;
    type Summary = LabelReport;
    type Worker = ();
    type Error = Error;

    fn settings(&self) -> Value {
        serde_json::json!({ "task": self.task, "grouping": self.grouping })
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn inputs(&self) -> Result<Vec<Input>> {
        Ok(self.inputs.clone())
    }

    fn items(&self) -> Result<Items<'_, Label>> {
        let all = Box::new(self.items.iter().cloned().map(Ok));
        Ok(Items { total: Some(self.items.len() as u64), all })
    }

    fn key(&self, item: &LabelItem) -> String {
        let size = item.global_size.to_string();
        let pieces = [&item.package, &item.path, &item.kernel, &item.id, &size];
        content_hash_of(pieces.map(|piece| piece.as_bytes()))
    }

    fn batch_size(&self) -> usize {
        1024
    }

    fn worker(&self) -> Result<()> {
        Ok(())
    }

    fn work(&self, (): &mut (), items: &[LabelItem]) -> Result<Vec<Worked<CpuGpuRow>>> {
        Ok(items.iter().map(|item| Worked::Rows(self.row(item).into_iter().collect())).collect())
    }

    fn observe(&self, item: &LabelItem, _: Option<&[CpuGpuRow]>, facts: &mut LabelFacts) {
        let Task::CpuGpu(transfers) = self.task;
        match self.row(item) {
            Err(reason) => *facts.left_out.entry(reason.to_string()).or_default() += 1,
            Ok(_) => facts.uncertain += u64::from(item.is_uncertain(transfers)),
        }
    }

    fn tools(&self) -> BTreeMap<String, String> {
        self.tools.clone()
    }

    fn finish<'a>(
        _: &'a Value,
        LabelFacts { left_out, uncertain }: LabelFacts,
        units: &'a Units<CpuGpuRow>,
    ) -> Result<Finish<'a, CpuGpuRow, LabelReport>> {
        let mut report = LabelReport { left_out, uncertain, ..LabelReport::default() };
        let mut groups = BTreeSet::new();
        for row in units.rows() {
            let (_, row) = row?;
            report.rows += 1;
            groups.insert(row.group);
            *report.labels.entry(row.label).or_default() += 1;
        }
        report.groups = groups.len() as u64;
        Ok(Finish::all(report.left_out.clone(), report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(device: &str, size: u64, kernel_ns: u64) -> RunRow {
        RunRow {
            id: "1".into(),
            package: "p".into(),
            path: "a.cl".into(),
            kernel: "A".into(),
            device_type: device.into(),
            global_size: size,
            local_size: Some(64),
            outcome: "pass".into(),
            transferred_bytes: Some(4096),
            transfer_time_ns: Some(1000),
            kernel_time_ns: Some(kernel_ns),
            ..RunRow::default()
        }
    }

    fn vectors(mem: f64) -> Vectors {
        let values = [("comp", 6.0), ("mem", mem), ("localmem", 1.0), ("coalesced", 2.0)];
        let vector = values.map(|(name, value)| (name.to_owned(), value)).into();
        BTreeMap::from([(("1".to_owned(), "A".to_owned()), vector)])
    }

    /// The rows of all items, and how many have none for which reason.
    fn labelled(
        rows: &[RunRow],
        vectors: &Vectors,
        transfers: Transfers,
    ) -> (Vec<CpuGpuRow>, BTreeMap<&'static str, u64>) {
        let items = gather(rows.iter().cloned().map(Ok), vectors).expect("they are read");
        let (mut made, mut left_out) = (Vec::new(), BTreeMap::new());
        for item in items {
            match item.row(Grouping::Package, transfers) {
                Ok(row) => made.push(row),
                Err(reason) => *left_out.entry(reason.name()).or_default() += 1,
            }
        }
        (made, left_out)
    }

    #[test]
    fn runs_of_two_machines_are_no_costs_of_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let save = |name: &str, hosts: &[&str]| {
            let path = folder.path().join(name);
            let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            let notes = dataset::Notes { hosts, ..dataset::Notes::default() };
            let builder = dataset::Builder::create(&path, false, &()).expect("begins");
            builder.finish([row("cpu", 128, 9000), row("gpu", 128, 4000)], notes).expect("writes");
            path
        };
        let label = |path: &Path| {
            let task = Task::CpuGpu(Transfers::Gpu);
            Label::new(path, &vectors(2.0), Vec::new(), None, task).map(|_| ())
        };
        assert!(label(&save("one", &["a"])).is_ok());
        let error = label(&save("two", &["a", "b"])).expect_err("they are two");
        assert!(error.to_string().contains("2 machines (a, b)"), "{error}");
    }

    #[test]
    fn a_row_has_both_costs_and_the_ratios_of_the_paper() {
        let rows = [row("cpu", 128, 9000), row("gpu", 128, 4000), row("cpu", 256, 1)];
        let (made, left_out) = labelled(&rows, &vectors(2.0), Transfers::Gpu);
        let [row] = made.as_slice() else { panic!("{made:?}") };
        assert_eq!((&*row.program, &*row.group), ("p/a.cl:A@1", "p"));
        assert!((row.cost_cpu - 9e-6).abs() < 1e-12);
        assert!((row.cost_gpu - 5e-6).abs() < 1e-12);
        assert_eq!([row.transfer, row.wgsize], [4096.0, 64.0]);
        let ratios = [row.f1_transfer, row.f2_coalesced, row.f3_local, row.f4_comp];
        assert_eq!(ratios, [512.0, 1.0, 32.0, 3.0]);
        assert_eq!((&*row.label, row.speedup), ("GPU", 1.8));
        assert_eq!(left_out, BTreeMap::from([("no-gpu-run", 1)]));
    }

    #[test]
    fn of_several_runs_on_a_kind_of_device_the_fastest_counts() {
        let failed = RunRow { outcome: "race".into(), ..row("gpu", 128, 1) };
        let rows = [failed, row("cpu", 128, 9000), row("gpu", 128, 4000), row("gpu", 128, 3000)];
        let (made, _) = labelled(&rows, &vectors(2.0), Transfers::Gpu);
        assert!((made[0].cost_gpu - 4e-6).abs() < 1e-12);
    }

    #[test]
    fn a_processor_needs_no_transfers_unless_they_are_to_count_on_both() {
        let rows = [row("cpu", 128, 9000), row("gpu", 128, 8500)];
        let label = |transfers| labelled(&rows, &vectors(2.0), transfers).0.remove(0).label;
        assert_eq!(label(Transfers::Gpu), "CPU");
        assert_eq!(label(Transfers::Both), "GPU");
    }

    #[test]
    fn a_label_is_uncertain_where_the_intervals_overlap_or_are_not_known() {
        let timed = |device, time, interval| RunRow { interval, ..row(device, 128, time) };
        let uncertain = |cpu, gpu| {
            let items = gather([cpu, gpu].map(Ok), &vectors(2.0)).expect("they are read");
            items[0].is_uncertain(Transfers::Gpu)
        };
        // The GPU's time has 1 us of transfers: 9 us +- 0.9 against 6 us +- 0.5 and 8 us +- 0.7.
        assert!(!uncertain(timed("cpu", 9000, Some(0.2)), timed("gpu", 5000, Some(0.2))));
        assert!(uncertain(timed("cpu", 9000, Some(0.2)), timed("gpu", 7000, Some(0.2))));
        assert!(uncertain(timed("cpu", 9000, None), timed("gpu", 5000, Some(0.2))));
    }

    #[test]
    fn programs_of_one_path_in_two_packages_are_two() {
        let other = |device, time| RunRow { package: "q".into(), ..row(device, 128, time) };
        let rows = [row("cpu", 128, 9000), row("gpu", 128, 4000), other("cpu", 1), other("gpu", 2)];
        let (made, _) = labelled(&rows, &vectors(2.0), Transfers::Gpu);
        let found: Vec<_> = made.iter().map(|row| (&*row.group, &*row.label)).collect();
        assert_eq!(found, [("p", "GPU"), ("q", "CPU")]);
    }

    #[test]
    fn kernels_without_features_or_memory_are_left_out_and_counted() {
        let rows = [row("cpu", 128, 9000), row("gpu", 128, 4000)];
        let reasons = |vectors: &Vectors| {
            let (made, left_out) = labelled(&rows, vectors, Transfers::Gpu);
            assert!(made.is_empty());
            left_out.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(reasons(&vectors(0.0)), ["infinite-ratio"]);
        assert_eq!(reasons(&BTreeMap::new()), ["undescribed"]);
    }

    #[test]
    fn an_item_as_columns_is_the_same_item() {
        let rows = [row("cpu", 128, 9000), row("gpu", 256, 4000)];
        let mut items = gather(rows.map(Ok), &vectors(2.0)).expect("they are read");
        items[1].vector = None;
        let batch = LabelItem::to_batch(&items).expect("columns");
        assert_eq!(LabelItem::from_batch(&batch).expect("the items"), items);
    }

    /// What a manifest says of a measurement.
    fn measured() -> dataset::Notes {
        let tools = BTreeMap::from([("PoCL".to_owned(), "7".to_owned())]);
        dataset::Notes { tools, ..dataset::Notes::default() }
    }

    /// Runs of six kernels, of which one has no run on a GPU.
    fn stage(folder: &Path) -> Label {
        let runs = (0..6).flat_map(|at| {
            let devices: &[&str] = if at == 3 { &["cpu"] } else { &["gpu", "cpu"] };
            devices.iter().map(move |device| RunRow {
                path: format!("{at}.cl"),
                ..row(device, 128, 9000 - 1000 * at)
            })
        });
        let made = dataset::Builder::<RunRow>::create(&folder.join("runs"), true, &"")
            .and_then(|builder| builder.finish(runs, dataset::Notes { seed: 7, ..measured() }));
        let task = Task::CpuGpu(Transfers::Gpu);
        let grouping = Some(Grouping::Package);
        Label::new(made.expect("runs").folder(), &vectors(2.0), Vec::new(), grouping, task)
            .expect("they are read")
    }

    #[test]
    fn labels_made_in_parts_and_merged_are_the_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let label = stage(folder.path());
        let context = |name: &str| stage::Context::new(folder.path().join(name));
        let whole = stage::run(&label, &context("whole")).expect("labels").summary;
        assert_eq!((whole.rows, whole.left_out["no-gpu-run"]), (5, 1));
        let part = |index| {
            let context = stage::Context {
                share: Some(stage::Share { index, count: 3 }),
                ..context(&format!("part{index}"))
            };
            stage::run(&label, &context).expect("a part");
            context.out
        };
        let parts: Vec<_> = (1..=3).map(part).collect();
        let merged = stage::merge::<Label>(&parts, &context("merged")).expect("one data set");
        assert_eq!(merged.summary, whole);
        let rows = |name: &str| -> Vec<CpuGpuRow> {
            let dataset = Dataset::open(&folder.path().join(name)).expect("a data set");
            dataset.rows().expect("rows").collect::<dataset::Result<_>>().expect("rows")
        };
        assert_eq!(rows("merged"), rows("whole"));
        for name in ["merged", "whole"] {
            let dataset = Dataset::open(&folder.path().join(name)).expect("a data set");
            let notes = &dataset.manifest().notes;
            assert_eq!((notes.seed, &notes.tools), (7, &measured().tools), "{name}");
        }
        let paths: Vec<_> = rows("whole").into_iter().map(|row| row.program).collect();
        assert!(paths.is_sorted() && paths.len() == 5, "{paths:?}");
    }

    #[test]
    fn where_nothing_can_be_labelled_there_is_a_data_set_without_rows() {
        let folder = tempfile::tempdir().expect("a folder");
        let label = Label { items: Vec::new(), ..stage(folder.path()) };
        let out = folder.path().join("task");
        stage::run(&label, &stage::Context::new(&out)).expect("a data set");
        let dataset = Dataset::open(&out).expect("a data set");
        assert_eq!(dataset.rows::<rows::TaskHead>().expect("rows").count(), 0);
    }
}
