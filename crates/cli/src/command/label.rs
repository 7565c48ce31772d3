//! `stampmill label`: measurements and features, or programs and what they cost, become a task.

use super::features::extractor;
use crate::{Global, destination::StageOutput, interrupt, output, progress::Bar, stage};
use anyhow::bail;
use clap::ValueEnum as _;
use cost::{Bench, Pipeline};
use dataset::{Input, Programs, stage::Done};
use device::{LabelReport, Task, Transfers, Vectors};
use features::{FeatureSpace, Row, space};
use rows::Grouping;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Make a task, the training table of a heuristic, of measured runs or of programs and their exact costs
#[derive(clap::Args, Debug)]
#[command(after_help = help!("label"))]
pub(crate) struct Label {
    /// For cpu-gpu a data set made by `run` on a CPU and a GPU, for local-size one made by `run --local-sizes` on one
    /// device; for the others a data set, folder or file of
    /// programs (.cl .c .cpp .rs .ll .bc)
    #[arg(value_name = "DATASET")]
    labeled: PathBuf,
    /// Vectors made by `features`, which are put beside the labels; for cpu-gpu, which needs them, Grewe's, or
    /// the kernels (vectors are then extracted now)
    #[arg(long, value_name = "DATASET", required_if_eq("task", "cpu-gpu"))]
    features: Option<PathBuf>,
    /// What to predict
    #[arg(long, value_enum, default_value = "cpu-gpu")]
    task: What,
    /// Devices whose transfer time counts: the GPU only (a CPU reads host memory in place), or both
    #[arg(long, value_enum, value_name = "DEVICES", default_value = "gpu")]
    transfers: Counted,
    /// Rows held out together in cross-validation: those of one package, family or path [default: package; path where all
    /// programs are of one, or are plain files]
    #[arg(long, value_enum)]
    group: Option<Together>,
    /// Pipelines that `passes` compares, in the place of those that ship: lines NAME, minsize or -, PASSES
    #[arg(long, value_name = "FILE")]
    pipelines: Option<PathBuf>,
    #[command(flatten)]
    output: StageOutput,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum What {
    /// The faster of two devices
    CpuGpu,
    /// Bytes of machine code (x86-64, -O2)
    Size,
    /// Cycles of the blocks of machine code, weighted by loop depth
    Mca,
    /// Cycles of a kernel's work-item on a model of a processor
    Cost,
    /// The unroll count of a kernel's loops with the fewest of these cycles
    Unroll,
    /// The vectorization width of a kernel's loops with the fewest of these cycles
    Vectorize,
    /// The same of how many work-items of a kernel are done as one.
    Coarsen,
    /// The pipeline that leaves the fewest IR instructions
    Passes,
    /// The fastest size of work-groups on a device
    LocalSize,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Counted {
    Gpu,
    Both,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Together {
    Package,
    Family,
    Path,
}

impl Together {
    fn grouping(self) -> Grouping {
        match self {
            Together::Package => Grouping::Package,
            Together::Family => Grouping::Family,
            Together::Path => Grouping::Path,
        }
    }
}

impl Label {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        match self.task {
            What::CpuGpu => self.measured(global),
            What::LocalSize => self.group_sizes(global),
            exact => {
                let name = exact.to_possible_value().expect("no task is hidden");
                self.exact(name.get_name(), global)
            }
        }
    }

    fn group_sizes(self, global: &Global) -> anyhow::Result<ExitCode> {
        let cancelled = interrupt::flag()?;
        if self.pipelines.is_some() {
            bail!(cost::Error::NoPipelines("local-size".to_owned()));
        }
        let group = self.group.map(Together::grouping);
        let sizes = cost::GroupSizes::new(&self.labeled, self.features.as_deref(), group)?;
        let bar = Bar::new(global);
        stage::run(&sizes, &self.output.context(global.jobs(), &bar, &cancelled), global)
    }

    fn measured(self, global: &Global) -> anyhow::Result<ExitCode> {
        let cancelled = interrupt::flag()?;
        let Some(features) = &self.features else {
            bail!(
                "cpu-gpu is labeled from what `run` measured and its kernels' vectors: label RUNS --features VECTORS; other tasks: --task"
            )
        };
        if self.pipelines.is_some() {
            bail!(cost::Error::NoPipelines("cpu-gpu".to_owned()));
        }
        let (vectors, described) = vectors(features, global, &cancelled)?;
        let task = Task::CpuGpu(match self.transfers {
            Counted::Gpu => Transfers::Gpu,
            Counted::Both => Transfers::Both,
        });
        let group = self.group.map(Together::grouping);
        let label = device::Label::new(&self.labeled, &vectors, described, group, task)?;
        let bar = Bar::new(global);
        stage::run(&label, &self.output.context(global.jobs(), &bar, &cancelled), global)
    }

    fn exact(self, task: &str, global: &Global) -> anyhow::Result<ExitCode> {
        let cancelled = interrupt::flag()?;
        let pipelines = self.pipelines.as_deref().map(Pipeline::read).transpose()?;
        let task = cost::task(task, pipelines)?;
        let programs = Programs::open(&self.labeled)?;
        let grouping = match self.group {
            Some(group) => group.grouping(),
            None if programs.is_of_one_package()? => Grouping::Path,
            None => Grouping::Package,
        };
        let name = self.labeled.display().to_string();
        let programs = (programs, name.as_str());
        let bench = bench(global, &cancelled)?;
        let label = cost::Label::new(task, bench, programs, self.features.as_deref(), grouping)?;
        let bar = Bar::new(global);
        stage::run(&label, &self.output.context(global.jobs(), &bar, &cancelled), global)
    }
}

/// What labels are made with; modules are read in workers of this program.
pub(super) fn bench(global: &Global, cancelled: &Arc<AtomicBool>) -> anyhow::Result<Bench> {
    let arguments = vec!["worker".into(), "costs".into()];
    Ok(Bench::new(cost::Options {
        shim: Some(kernels::SHIM.to_owned()),
        jobs: global.jobs(),
        reader: (std::env::current_exe()?, arguments),
        cancelled: Arc::clone(cancelled),
    }))
}

fn print_labels(report: &cost::LabelReport, seconds: f64, out: &str) -> anyhow::Result<()> {
    let all = report.verdicts.values().sum();
    output::print_shares(["verdict", "programs", "share"], &report.verdicts, all)?;
    if report.labels.len() > 1 {
        let rows = report.labels.iter();
        let rows = rows.map(|(choice, n)| vec![choice.clone(), output::count(*n)]);
        output::print_table(&["cheapest (first of equals)", "programs"], rows)?;
    }
    output::line(&format!(
        "{} programs, {} labeled, {} of them with vectors, in {out} ({seconds:.1} s)",
        output::count(report.programs),
        output::count(report.rows),
        output::count(report.described),
    ))?;
    advise_vectors(report);
    advise_groups(report.rows, report.groups);
    Ok(())
}

impl stage::Shown for cost::Label {
    fn print(report: &cost::LabelReport, seconds: f64, out: &str) -> anyhow::Result<()> {
        print_labels(report, seconds, out)
    }

    fn json(done: &Done<cost::LabelReport>) -> anyhow::Result<()> {
        output::json(done)?;
        advise_vectors(&done.summary);
        advise_groups(done.summary.rows, done.summary.groups);
        Ok(())
    }

    fn is_good(report: &cost::LabelReport) -> bool {
        report.rows > 0
    }

    fn is_nothing(manifest: &dataset::Manifest) -> bool {
        stage::is_all_rejected(manifest)
    }
}

impl stage::Shown for cost::GroupSizes {
    fn print(report: &cost::LabelReport, seconds: f64, out: &str) -> anyhow::Result<()> {
        print_labels(report, seconds, out)
    }

    fn json(done: &Done<cost::LabelReport>) -> anyhow::Result<()> {
        output::json(done)?;
        advise_vectors(&done.summary);
        advise_groups(done.summary.rows, done.summary.groups);
        Ok(())
    }

    fn is_good(report: &cost::LabelReport) -> bool {
        report.rows > 0
    }

    fn is_nothing(manifest: &dataset::Manifest) -> bool {
        stage::is_all_rejected(manifest)
    }
}

impl stage::Shown for device::Label {
    fn json(done: &Done<LabelReport>) -> anyhow::Result<()> {
        output::json(&done.summary)?;
        advise(&done.summary);
        Ok(())
    }

    fn print(report: &LabelReport, _: f64, out: &str) -> anyhow::Result<()> {
        let labels: Vec<String> =
            report.labels.iter().map(|(device, n)| format!("{device} faster on {n}")).collect();
        let left: Vec<String> =
            report.left_out.iter().map(|(why, n)| format!("{n} {why}")).collect();
        let or_none = |words: Vec<String>| match words.is_empty() {
            true => "none".to_owned(),
            false => words.join(", "),
        };
        let (rows, labels, left) = (report.rows, or_none(labels), or_none(left));
        output::line(&format!("{rows} rows in {out}: {labels}; left out: {left}"))?;
        advise(report);
        Ok(())
    }

    fn is_good(report: &LabelReport) -> bool {
        report.rows > 0
    }
}

/// What to do where labels stand without vectors.
fn advise_vectors(report: &cost::LabelReport) {
    let each: Vec<String> = report
        .undescribed
        .iter()
        .map(|(why, count)| format!("{} {why}", output::count(*count)))
        .collect();
    if each.is_empty() {
        return;
    }
    let each = each.join(", ");
    let without: u64 = report.undescribed.values().sum();
    match report.described {
        0 => eprintln!(
            "warning: none of the {} labeled programs has vectors in --features ({each}): give it the vectors of \
             these programs",
            output::count(report.rows)
        ),
        _ => {
            let targets = match report.undescribed.contains_key("does-not-compile") {
                true => {
                    ". Vectors of OpenCL are of code for an NVIDIA GPU, labels of code for this machine: a program may \
                     compile for one alone"
                }
                false => "",
            };
            eprintln!(
                "warning: {} of the {} labeled programs have no vectors ({each}): `diagnose` and `arms` leave them \
                 out{targets}",
                output::count(without),
                output::count(report.rows)
            );
        }
    }
}

/// What to do where nothing could be held out.
fn advise_groups(rows: u64, groups: u64) {
    if rows > 1 && groups == 1 {
        eprintln!(
            "warning: all rows are one group, of which nothing can be held out: `--group path` makes a group of each file, \
             `--group family` one of near-duplicates"
        );
    }
}

/// What to do where there is nothing.
fn advise(report: &LabelReport) {
    advise_groups(report.rows, report.groups);
    if report.uncertain > 0 {
        eprintln!(
            "warning: {} of {} labels are uncertain (the 95 % intervals of the two times overlap, or are not known): \
             measure longer, `run --budget`",
            output::count(report.uncertain),
            output::count(report.rows)
        );
    }
    if report.rows == 0 {
        eprintln!(
            "no kernel can be labeled: it must pass on a CPU and on a GPU (`run --devices \
             cpu,gpu`) and --features must have its vector; on a CPU alone: `run --local-sizes 32,64,128`, \
             then `label --task local-size`"
        );
    }
}

/// Grewe's features by program and kernel: read from a data set of vectors, or extracted now; and what
/// they are of.
pub(super) fn vectors(
    path: &Path,
    global: &Global,
    cancelled: &AtomicBool,
) -> anyhow::Result<(Vectors, Vec<Input>)> {
    let grewe = space("grewe")?;
    let names = grewe.dimensions();
    let mut vectors = Vectors::new();
    let mut keep = |row: Row| {
        if let Some(vector) = row.vectors.get("grewe") {
            let named = names.iter().map(|name| (*name).to_owned()).zip(vector.iter().copied());
            vectors.insert((row.id.clone(), row.kernel.clone()), named.collect());
        }
    };
    let programs = Programs::open(path)?;
    let described = programs.inputs(&path.display().to_string())?;
    match &programs {
        Programs::Dataset(dataset)
            if dataset.manifest().schema == <rows::FeaturesHead as dataset::Row>::SCHEMA =>
        {
            for row in dataset.rows::<Row>()? {
                keep(row?);
            }
        }
        _ => {
            let extractor = extractor(vec![grewe as &dyn FeatureSpace], 1, global)?;
            extractor.describe_all(&programs, &Bar::new(global), |rows| {
                rows.into_iter().for_each(&mut keep);
                match cancelled.load(Ordering::Relaxed) {
                    true => Err(features::Error::Cancelled { done: 0 }),
                    false => Ok(()),
                }
            })?;
        }
    }
    Ok((vectors, described))
}
