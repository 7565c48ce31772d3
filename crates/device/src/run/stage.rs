//! Runs as a stage: benchmarks come in, rows of outcomes and times go out.

use super::{
    Options, RunRow, Runner, Verify, executor::OF_HOST, source, wanted, worker_set::WorkerSet,
};
use crate::{
    About, DeviceInfo, Error, HostPayload, Outcome, Result,
    kernel::{Benchmark, Interface, Order},
};
use dataset::{
    Input, Row, content_hash_of,
    stage::{Cancel, Finish, Items, Stage, Units, Worked},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Rows written: kernels × devices × sizes.
    pub rows: u64,
    /// Rows per outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Rows per device and outcome; an outcome of which the driving is to blame has `(us)` behind it.
    pub by_device: BTreeMap<String, BTreeMap<String, u64>>,
    /// Benchmarks run.
    pub kernels: u64,
    /// Benchmarks that passed at one size at least, on every device.
    pub kernels_passing: u64,
    /// Of these the ones that are at fault at another size, on some device.
    pub kernels_passing_at_some_sizes: u64,
    /// Benchmarks that passed, or whose outcome at the smallest size is about the kernel, on every
    /// device.
    pub kernels_judged: u64,
    /// Benchmarks not begun because the time was up.
    pub kernels_left: u64,
    /// Benchmarks run with sizes and values of a suite's host programs; `None` without a suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub described: Option<u64>,
}

impl Report {
    /// Count the rows of one benchmark on so many devices.
    fn add(&mut self, rows: &[RunRow], devices: usize) {
        if rows.is_empty() {
            return;
        }
        let mut by_device: BTreeMap<&str, Vec<&RunRow>> = BTreeMap::new();
        for row in rows {
            self.rows += 1;
            *self.outcomes.entry(row.outcome.clone()).or_default() += 1;
            let us = if row.about == About::Us.name() { " (us)" } else { "" };
            let of_device = self.by_device.entry(row.device.clone()).or_default();
            *of_device.entry(format!("{}{us}", row.outcome)).or_default() += 1;
            by_device.entry(&row.device).or_default().push(row);
        }
        let passes = |row: &RunRow| row.outcome == Outcome::Pass.name();
        let idle = |row: &RunRow| !passes(row) && row.about == About::Kernel.name();
        let passing = |rows: &&Vec<&RunRow>| rows.iter().any(|row| passes(row));
        let judged = |rows: &&Vec<&RunRow>| {
            passing(rows) || rows.iter().min_by_key(|row| row.global_size).is_some_and(|r| idle(r))
        };
        let everywhere = |count: usize| u64::from(count == devices);
        self.kernels += 1;
        if let Some(described) = &mut self.described {
            *described += u64::from(rows.iter().any(|row| row.payload.starts_with(OF_HOST)));
        }
        let passing_everywhere = everywhere(by_device.values().filter(passing).count());
        self.kernels_passing += passing_everywhere;
        self.kernels_judged += everywhere(by_device.values().filter(judged).count());
        let mixed = |rows: &Vec<&RunRow>| passing(&rows) && rows.iter().any(|row| idle(row));
        if by_device.values().any(mixed) {
            self.kernels_passing_at_some_sizes += passing_everywhere;
        }
    }
}

/// A benchmark, as columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunItem {
    /// Hash of the text.
    pub id: String,
    /// Its package, as far as the data set knows it.
    pub package: String,
    /// Its license, as far as the data set knows it.
    pub license: String,
    /// Its family of near-duplicates, as far as the data set knows it.
    pub family: String,
    /// Where the program is from; payloads are drawn by it.
    pub path: String,
    /// The kernel's name as far as the data set knows it.
    pub name: String,
    /// Its name in its own file, where that was another.
    pub original_name: String,
    /// The program.
    pub text: String,
    /// JSON of its kernels' arguments; an empty list where only a compiler or driver can tell.
    pub interfaces: String,
    /// JSON of which kernels run in which order on which buffers.
    pub order: String,
    /// Whether a reference compiler has accepted it.
    pub compiled: bool,
    /// JSON of what a suite's host program launches it with; empty where that is not known.
    pub host: String,
}

impl Row for RunItem {
    const SCHEMA: &'static str = "run-item";
    const VERSION: u32 = 3;
}

impl From<&Benchmark> for RunItem {
    fn from(benchmark: &Benchmark) -> RunItem {
        let json = |value: serde_json::Result<String>| value.unwrap_or_default();
        RunItem {
            id: benchmark.id.clone(),
            package: benchmark.package.clone(),
            license: benchmark.license.clone(),
            family: benchmark.family.clone(),
            path: benchmark.path.clone(),
            name: benchmark.name.clone(),
            original_name: benchmark.original_name.clone(),
            text: benchmark.text.clone(),
            interfaces: json(serde_json::to_string(&benchmark.interfaces)),
            order: json(serde_json::to_string(&benchmark.order)),
            compiled: benchmark.compiled,
            host: benchmark.host.as_ref().map(serde_json::to_string).map(json).unwrap_or_default(),
        }
    }
}

impl RunItem {
    fn benchmark(&self) -> Result<Benchmark> {
        Ok(Benchmark {
            id: self.id.clone(),
            package: self.package.clone(),
            license: self.license.clone(),
            family: self.family.clone(),
            path: self.path.clone(),
            name: self.name.clone(),
            original_name: self.original_name.clone(),
            text: self.text.clone(),
            interfaces: self.read::<Vec<Interface>>("interfaces", &self.interfaces)?,
            order: self.read::<Order>("order", &self.order)?,
            compiled: self.compiled,
            host: match self.host.as_str() {
                "" => None,
                host => Some(self.read::<HostPayload>("host", host)?),
            },
        })
    }

    fn read<T: DeserializeOwned>(&self, column: &'static str, json: &str) -> Result<T> {
        serde_json::from_str(json).map_err(|error| Error::Column {
            path: (&self.path).into(),
            column,
            reason: error.to_string(),
        })
    }
}

/// Runs every kernel of an input on every device at every size: checked, then measured.
///
/// Whatever a kernel does costs its own rows at most. Equal options and seed give equal outcomes, but
/// for kernels that need just about the processor time of the limit.
pub struct Run {
    runner: Runner,
    benchmarks: Vec<Benchmark>,
    input: Input,
    left_out: BTreeMap<String, u64>,
    suite: Option<Value>,
}

impl Run {
    /// Find devices and workers, and read the input. Raising `cancel`, which is to be the run's own, ends
    /// what runs within moments.
    ///
    /// # Errors
    /// When there is no OpenCL, no such device, no worker, or no input.
    pub fn new(options: Options, cancel: &Cancel) -> Result<Run> {
        let runner = Runner::new(options, &cancel.flag())?;
        let options = runner.options();
        let (benchmarks, hash, left_out) = source::read(&options.input)?;
        let benchmarks = wanted(benchmarks, options);
        let input = Input { name: options.input.display().to_string(), hash };
        Ok(Run { runner, benchmarks, input, left_out, suite: None })
    }

    /// Launch kernels as the host programs of a published suite do, in place of sizes of the options: `payload` says how
    /// for the path of a program and the name that its kernel has there. What it does not know, or knows with another
    /// number of arguments, runs as without. `source` names the description in the manifest.
    #[must_use]
    pub fn with_suite(
        mut self,
        source: &str,
        payload: impl Fn(&str, &str) -> Option<HostPayload>,
    ) -> Run {
        let mut known: Vec<String> = Vec::new();
        for benchmark in &mut self.benchmarks {
            let [interface] = benchmark.interfaces.as_slice() else { continue };
            let name = match benchmark.original_name.as_str() {
                "" => benchmark.name.as_str(),
                name => name,
            };
            benchmark.host = payload(&benchmark.path, name)
                .filter(|host| host.arguments.len() == interface.arguments.len());
            known.extend(benchmark.host.as_ref().map(|host| format!("{host:?}")));
        }
        let payloads = content_hash_of(known.iter().map(|host| host.as_bytes()));
        self.suite = Some(json!({ "source": source, "payloads": payloads }));
        self
    }
}

impl Stage for Run {
    const NAME: &'static str = "run";
    const UNITS: &'static str = "kernels";
    type Item = RunItem;
    type Row = RunRow;
    type Facts = ();
    type Summary = Report;
    type Worker = WorkerSet;
    type Error = Error;

    fn settings(&self) -> Value {
        let mut said = settings(&self.runner);
        if let (Some(suite), Some(fields)) = (&self.suite, said.as_object_mut()) {
            fields.insert("suite".to_owned(), suite.clone());
        }
        said
    }

    fn seed(&self) -> u64 {
        self.runner.options().seed
    }

    fn inputs(&self) -> Result<Vec<Input>> {
        Ok(vec![self.input.clone()])
    }

    fn left_out(&self) -> Result<BTreeMap<String, u64>> {
        Ok(self.left_out.clone())
    }

    fn items(&self) -> Result<Items<'_, Run>> {
        let all = Box::new(self.benchmarks.iter().map(|benchmark| Ok(benchmark.into())));
        Ok(Items { total: Some(self.benchmarks.len() as u64), all })
    }

    fn key(&self, item: &RunItem) -> String {
        let pieces = [&item.id, &item.package, &item.path, &item.name];
        content_hash_of(pieces.map(|piece| piece.as_bytes()))
    }

    fn worker(&self) -> Result<WorkerSet> {
        self.runner.workers()
    }

    fn work(&self, workers: &mut WorkerSet, items: &[RunItem]) -> Result<Vec<Worked<RunRow>>> {
        let rows = |item: &RunItem| self.runner.run(workers, &item.benchmark()?).map(Worked::Rows);
        items.iter().map(rows).collect()
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn tools(&self) -> BTreeMap<String, String> {
        self.runner.tools()
    }

    fn finish<'a>(
        settings: &'a Value,
        (): (),
        units: &'a Units<RunRow>,
    ) -> Result<Finish<'a, RunRow, Report>> {
        let devices = settings["devices"].as_array().map_or(0, Vec::len);
        let described = settings.get("suite").map(|_| 0);
        let mut report = Report { kernels_left: units.left(), described, ..Report::default() };
        let (mut of_one, mut position) = (Vec::new(), None);
        for row in units.rows() {
            let (unit, row) = row?;
            if position.replace(unit.position) != Some(unit.position) {
                report.add(&of_one, devices);
                of_one.clear();
            }
            of_one.push(row);
        }
        report.add(&of_one, devices);
        Ok(Finish::all(report.outcomes.clone(), report))
    }
}

/// What shapes the rows of what this runs.
pub(super) fn settings(runner: &Runner) -> Value {
    serde_json::to_value(Settings::of(runner.options(), runner)).unwrap_or_default()
}

/// A device without the size of its memory, which PoCL takes from what is free at the time.
fn described(device: &DeviceInfo) -> Value {
    let mut said = serde_json::to_value(device).expect("a device is plain data");
    if let Some(fields) = said.as_object_mut() {
        fields.remove("memory_bytes");
    }
    said
}

/// What shapes the rows.
#[derive(Serialize)]
struct Settings<'a> {
    devices: Vec<Value>,
    global_sizes: &'a [u64],
    local_sizes: &'a [u64],
    values: &'static str,
    seed: u64,
    limit_ms: u128,
    budget_ms: u128,
    precision: f64,
    verify: Verify,
    licenses: String,
    sample: Option<usize>,
    clang: bool,
}

impl<'a> Settings<'a> {
    fn of(options: &'a Options, runner: &'a Runner) -> Settings<'a> {
        Settings {
            devices: runner.devices().into_iter().map(described).collect(),
            global_sizes: &options.global_sizes,
            local_sizes: &options.local_sizes,
            values: options.values.name(),
            seed: options.seed,
            limit_ms: options.limit.as_millis(),
            budget_ms: options.budget.as_millis(),
            precision: options.precision,
            verify: options.verify,
            licenses: format!("{:?}", options.licenses).to_lowercase(),
            sample: options.sample,
            clang: runner.has_clang(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HostArgument;

    fn row(kernel: &str, device: &str, global_size: u64, outcome: Outcome, about: About) -> RunRow {
        let name = str::to_owned;
        let (outcome, about) = (name(outcome.name()), name(about.name()));
        let (kernel, device) = (name(kernel), name(device));
        RunRow { kernel, device, global_size, outcome, about, ..RunRow::default() }
    }

    #[test]
    fn a_kernel_passes_where_it_passes_at_some_size_of_every_device() {
        let (kernel, us) = (About::Kernel, About::Us);
        let rows = [
            row("A", "cpu", 128, Outcome::Pass, kernel),
            row("A", "cpu", 256, Outcome::NoOutput, kernel),
            row("A", "gpu", 128, Outcome::Pass, kernel),
            row("B", "cpu", 128, Outcome::Pass, kernel),
            row("B", "gpu", 128, Outcome::Race, kernel),
            row("C", "cpu", 128, Outcome::Crash, us),
            row("C", "gpu", 128, Outcome::Pass, kernel),
        ];
        let mut report = Report::default();
        for of_one in rows.chunk_by(|a, b| a.kernel == b.kernel) {
            report.add(of_one, 2);
        }
        assert_eq!((report.kernels, report.kernels_passing, report.kernels_judged), (3, 1, 2));
        assert_eq!(report.kernels_passing_at_some_sizes, 1);
        assert_eq!(report.by_device["cpu"]["crash (us)"], 1);
    }

    #[test]
    fn a_benchmark_as_columns_is_the_same_benchmark() {
        let interface = Interface {
            name: "A".into(),
            arguments: vec![clang::Argument {
                name: "a".into(),
                type_name: "float".into(),
                r#type: clang::Type::Void,
                constant: false,
                indexes: true,
                read: true,
                written: false,
            }],
            dimensions: 2,
            required_group_size: Some([8, 8, 1]),
        };
        let order = Order {
            kernels: vec!["A".into(), "A".into()],
            buffers: BTreeMap::from([("A.a".to_owned(), "b".to_owned())]),
        };
        // No field is left at its default.
        let benchmark = Benchmark {
            id: "id".into(),
            package: "package".into(),
            license: "MIT".into(),
            family: "family".into(),
            path: "a.cl".into(),
            name: "A".into(),
            original_name: "add".into(),
            text: "kernel".into(),
            interfaces: vec![interface],
            order,
            compiled: true,
            host: Some(HostPayload {
                global: vec![64, 16],
                local: vec![8, 8],
                arguments: vec![HostArgument {
                    elements: Some(9),
                    value: Some(0.5),
                    below: Some(3),
                }],
            }),
        };
        let item = RunItem::from(&benchmark);
        let batch = RunItem::to_batch(std::slice::from_ref(&item)).expect("columns");
        assert_eq!(RunItem::from_batch(&batch).expect("the item"), std::slice::from_ref(&item));
        assert_eq!(item.benchmark().expect("a benchmark"), benchmark);
    }
}
