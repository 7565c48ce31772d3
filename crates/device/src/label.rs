//! Measurements and feature vectors joined into a table that heuristics learn from.

use crate::{Error, Result, RunRow, Transfers};
use arrow::{
    array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray},
    datatypes::{DataType, Field, Schema},
};
use dataset::{Dataset, Input, Notes, Row as _, stage::Context};
use rows::TaskHead;
use serde::Serialize;
use std::{collections::BTreeMap, path::Path, sync::Arc};

/// Which question the table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Task {
    /// On which of two devices, a processor and a GPU, is the kernel faster, with the transfers that
    /// count? (Grewe, Wang, O'Boyle: CGO 2013.)
    CpuGpu(Transfers),
}

/// What is held out together when a heuristic is scored on what it has not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum Grouping {
    /// Kernels of one package; of a program without one, of one path.
    #[default]
    Package,
    /// Near-duplicates; of a program without a family, kernels of one path.
    Family,
    /// Kernels of one path.
    Path,
}

impl Grouping {
    fn of(self, row: &RunRow) -> &str {
        let group = match self {
            Grouping::Package => &row.package,
            Grouping::Family => &row.family,
            Grouping::Path => &row.path,
        };
        if group.is_empty() { &row.path } else { group }
    }
}

/// Grewe's values by their names, per identity of a program and kernel in it.
pub type Vectors = BTreeMap<(String, String), BTreeMap<String, f64>>;

/// What [`label`] came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LabelReport {
    /// Rows written: kernels at sizes, measured on both devices and described.
    pub rows: u64,
    /// Rows per device that is faster.
    pub labels: BTreeMap<String, u64>,
    /// Kernels at sizes that gave no row, per reason: `unmeasured`, `undescribed`,
    /// `infinite-ratio`.
    pub left_out: BTreeMap<String, u64>,
}

const RAW: [&str; 6] = ["comp", "rational", "mem", "localmem", "coalesced", "atomic"];
const GREWE: [&str; 4] =
    ["F1:transfer/(comp+mem)", "F2:coalesced/mem", "F3:(localmem/mem)*avgws", "F4:comp/mem"];
const DEVICES: [&str; 2] = ["CPU", "GPU"];

/// One row to be.
struct Labelled {
    program: String,
    variant: String,
    group: String,
    licence: String,
    /// `RAW`, transfer, wgsize, `GREWE`.
    features: Vec<f64>,
    /// Seconds on the CPU and on the GPU, with the transfers that count.
    costs: [f64; 2],
}

/// Join the runs in `runs` (schema `run`) with Grewe's features of their kernels into a data set of
/// schema `task`.
///
/// `vectors` holds, by a program's identity (the hash of its text) and its kernel's name, the values
/// named `comp`, `rational`, `mem`, `localmem`, `coalesced` and `atomic`.
/// Columns: `program` (`PACKAGE/PATH:KERNEL@` and eight digits of its identity), `variant` (the
/// global size), `group`, `licence`, `label` (the faster device), the features with `transfer`
/// (bytes) and `wgsize`, F1 to F4, the seconds `cost_CPU` and `cost_GPU` (kernel, and the transfers
/// that count); and for readers of the CLgen paper's tables `oracle`, `speedup` (slower over faster
/// time) and `penalty` (its inverse), in single precision and so no features.
///
/// Nothing is written where there is no row. Of the context, `out`, `force` and `cancel` say something
/// here: joining takes moments, and a row needs those of both devices.
///
/// # Errors
/// When `runs` is no run, or the table cannot be written; [`Error::Stopped`].
pub fn label(
    runs: &Path,
    vectors: &Vectors,
    grouping: Grouping,
    task: Task,
    context: &Context<'_>,
) -> Result<LabelReport> {
    let dataset = Dataset::open(runs)?;
    let rows: Vec<RunRow> = dataset.rows::<RunRow>()?.collect::<dataset::Result<_>>()?;
    let mut report = LabelReport::default();
    let Task::CpuGpu(transfers) = task;
    let labelled = join(&rows, vectors, grouping, transfers, &mut report);
    if context.cancel.is_cancelled() {
        return Err(Error::Stopped);
    }
    if labelled.is_empty() {
        return Ok(report);
    }
    let batch = batch(&labelled)?;
    let configuration = serde_json::json!({ "task": task, "grouping": grouping });
    let notes = Notes {
        inputs: vec![Input {
            name: runs.display().to_string(),
            hash: dataset.manifest().identity.clone(),
        }],
        configuration,
        verdicts: report.left_out.clone(),
        summary: serde_json::to_value(&report).unwrap_or_default(),
        tools: dataset.manifest().notes.tools.clone(),
        seed: dataset.manifest().notes.seed,
        ..Notes::default()
    };
    let schema = (TaskHead::SCHEMA, TaskHead::VERSION);
    dataset::write_flat(&context.out, context.force, schema, &[batch], notes)?;
    Ok(report)
}

/// Package, path, kernel, identity and size.
type Case<'a> = (&'a str, &'a str, &'a str, &'a str, u64);

fn join(
    rows: &[RunRow],
    vectors: &Vectors,
    grouping: Grouping,
    transfers: Transfers,
    report: &mut LabelReport,
) -> Vec<Labelled> {
    // The same kernel at the same size, whatever group sizes the devices chose by themselves.
    let mut cases: BTreeMap<Case<'_>, [Option<&RunRow>; 2]> = BTreeMap::new();
    for row in rows {
        let place = match row.device_type.as_str() {
            "cpu" => 0,
            "gpu" => 1,
            _ => continue,
        };
        let key = (&*row.package, &*row.path, &*row.kernel, &*row.id, row.global_size);
        let case = cases.entry(key).or_default();
        // Of several group sizes or devices the fastest stands for its kind.
        let rank = |row: Option<&RunRow>| {
            row.and_then(|row| row.seconds(transfers)).unwrap_or(f64::INFINITY)
        };
        if case[place].is_none() || rank(Some(row)) < rank(case[place]) {
            case[place] = Some(row);
        }
    }
    let mut labelled = Vec::new();
    for ((package, path, kernel, id, size), [cpu, gpu]) in cases {
        let mut left_out = |why: &str| *report.left_out.entry(why.to_owned()).or_default() += 1;
        let (Some(cpu), Some(gpu)) = (cpu, gpu) else {
            left_out("unmeasured");
            continue;
        };
        let (Some(on_cpu), Some(on_gpu)) = (cpu.seconds(transfers), gpu.seconds(transfers)) else {
            left_out("unmeasured");
            continue;
        };
        let Some(vector) = vectors.get(&(id.to_owned(), kernel.to_owned())) else {
            left_out("undescribed");
            continue;
        };
        let transfer = gpu.transferred_bytes.unwrap_or(0) as f64;
        let features = features(vector, transfer, gpu.local_size.unwrap_or(1) as f64);
        if features.iter().any(|value| !value.is_finite()) {
            left_out("infinite-ratio");
            continue;
        }
        let costs = [on_cpu, on_gpu];
        // Isolated kernels of one file share its path and often their name.
        let mark = id.get(..8).unwrap_or(id);
        let best = DEVICES[usize::from(on_gpu < on_cpu)];
        *report.labels.entry(best.to_owned()).or_default() += 1;
        report.rows += 1;
        labelled.push(Labelled {
            program: match package {
                "" => format!("{path}:{kernel}@{mark}"),
                package => format!("{package}/{path}:{kernel}@{mark}"),
            },
            variant: size.to_string(),
            group: grouping.of(gpu).to_owned(),
            licence: gpu.licence.clone(),
            features,
            costs,
        });
    }
    labelled
}

fn features(vector: &BTreeMap<String, f64>, transfer: f64, wgsize: f64) -> Vec<f64> {
    let raw = |name: &str| vector.get(name).copied().unwrap_or(0.0);
    let (comp, mem) = (raw("comp"), raw("mem"));
    let mut features: Vec<f64> = RAW.iter().map(|name| raw(name)).collect();
    features.extend([transfer, wgsize]);
    features.extend([
        transfer / (comp + mem),
        raw("coalesced") / mem,
        raw("localmem") / mem * wgsize,
        comp / mem,
    ]);
    features
}

/// A column's name and what a row has in it.
type Column<'a, T> = (&'a str, &'a dyn Fn(&Labelled) -> T);

fn batch(rows: &[Labelled]) -> Result<RecordBatch> {
    let mut fields = Vec::new();
    let mut columns: Vec<ArrayRef> = Vec::new();
    let mut add = |name: &str, r#type: DataType, column: ArrayRef| {
        fields.push(Field::new(name, r#type, false));
        columns.push(column);
    };
    let best = |row: &Labelled| DEVICES[usize::from(row.costs[1] < row.costs[0])].to_owned();
    let texts: [Column<'_, String>; 6] = [
        ("program", &|row: &Labelled| row.program.clone()),
        ("variant", &|row: &Labelled| row.variant.clone()),
        ("group", &|row: &Labelled| row.group.clone()),
        ("licence", &|row: &Labelled| row.licence.clone()),
        ("label", &best),
        ("oracle", &best),
    ];
    for (name, text) in texts {
        let values = rows.iter().map(|row| Some(text(row)));
        add(name, DataType::Utf8, Arc::new(values.collect::<StringArray>()));
    }
    let names = RAW.iter().chain(&["transfer", "wgsize"]).chain(&GREWE);
    for (place, name) in names.enumerate() {
        let values = rows.iter().map(|row| row.features[place]);
        add(name, DataType::Float64, Arc::new(Float64Array::from_iter_values(values)));
    }
    for (place, name) in DEVICES.iter().enumerate() {
        let values = rows.iter().map(|row| row.costs[place]);
        let column = Arc::new(Float64Array::from_iter_values(values));
        add(&format!("cost_{name}"), DataType::Float64, column);
    }
    let slower = |row: &Labelled| row.costs[0].max(row.costs[1]) / row.costs[0].min(row.costs[1]);
    let singles: [Column<'_, f64>; 2] =
        [("speedup", &slower), ("penalty", &|row: &Labelled| 1.0 / slower(row))];
    for (name, value) in singles {
        let values = rows.iter().map(|row| value(row) as f32);
        add(name, DataType::Float32, Arc::new(Float32Array::from_iter_values(values)));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|error| {
        Error::Dataset(dataset::Error::Columns {
            schema: TaskHead::SCHEMA.into(),
            reason: error.to_string(),
        })
    })
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

    fn joined(rows: &[RunRow], report: &mut LabelReport) -> Vec<Labelled> {
        join(rows, &vectors(2.0), Grouping::Package, Transfers::Gpu, report)
    }

    #[test]
    fn a_row_has_both_costs_and_the_ratios_of_the_paper() {
        let rows = [row("cpu", 128, 9000), row("gpu", 128, 4000), row("cpu", 256, 1)];
        let mut report = LabelReport::default();
        let labelled = joined(&rows, &mut report);
        assert_eq!(labelled.len(), 1);
        assert_eq!((&*labelled[0].program, &*labelled[0].group), ("p/a.cl:A@1", "p"));
        assert!((labelled[0].costs[0] - 9e-6).abs() < 1e-12);
        assert!((labelled[0].costs[1] - 5e-6).abs() < 1e-12);
        assert_eq!(labelled[0].features[6..], [4096.0, 64.0, 512.0, 1.0, 32.0, 3.0]);
        assert_eq!(report.labels, BTreeMap::from([("GPU".to_owned(), 1)]));
        assert_eq!(report.left_out, BTreeMap::from([("unmeasured".to_owned(), 1)]));
    }

    #[test]
    fn a_processor_needs_no_transfers_unless_they_are_to_count_on_both() {
        let rows = [row("cpu", 128, 9000), row("gpu", 128, 8500)];
        let labels = |transfers| {
            let mut report = LabelReport::default();
            join(&rows, &vectors(2.0), Grouping::Package, transfers, &mut report);
            report.labels.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(labels(Transfers::Gpu), ["CPU"]);
        assert_eq!(labels(Transfers::Both), ["GPU"]);
    }

    #[test]
    fn programs_of_one_path_in_two_packages_are_two() {
        let other = |device, time| RunRow { package: "q".into(), ..row(device, 128, time) };
        let rows = [row("cpu", 128, 9000), row("gpu", 128, 4000), other("cpu", 1), other("gpu", 2)];
        let mut report = LabelReport::default();
        let labelled = joined(&rows, &mut report);
        let groups: Vec<&str> = labelled.iter().map(|row| &*row.group).collect();
        assert_eq!(groups, ["p", "q"]);
        assert_eq!(report.labels, BTreeMap::from([("CPU".to_owned(), 1), ("GPU".to_owned(), 1)]));
    }

    #[test]
    fn kernels_without_features_or_memory_are_left_out_and_counted() {
        let rows = [row("cpu", 128, 9000), row("gpu", 128, 4000)];
        let count = |vectors: &Vectors| {
            let mut report = LabelReport::default();
            let rows = join(&rows, vectors, Grouping::Package, Transfers::Gpu, &mut report);
            assert!(rows.is_empty());
            report.left_out.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(count(&vectors(0.0)), ["infinite-ratio"]);
        assert_eq!(count(&BTreeMap::new()), ["undescribed"]);
    }

    #[test]
    fn the_table_holds_a_column_for_everything_the_task_promises() {
        let rows = [row("cpu", 128, 9000), row("gpu", 128, 4000)];
        let mut report = LabelReport::default();
        let batch = batch(&joined(&rows, &mut report)).expect("a table");
        for column in
            ["program", "label", "transfer", "wgsize", "F4:comp/mem", "cost_GPU", "speedup"]
        {
            assert!(batch.column_by_name(column).is_some(), "{column}");
        }
    }
}
