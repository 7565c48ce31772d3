//! `stampmill label`: measurements and features become a task.

use super::features::extractor;
use crate::{Global, destination::StageOutput, interrupt, output, progress::Bar, stage};
use dataset::{Input, Programs, stage::Done};
use device::{Grouping, LabelReport, Task, Transfers, Vectors};
use features::{FeatureSpace, Row, space};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

/// Join measured runs with kernel features into a task: the training table of a heuristic
#[derive(clap::Args, Debug)]
#[command(after_help = help!("label"))]
pub(crate) struct Label {
    /// A data set made by `run` on a CPU and a GPU
    runs: PathBuf,
    /// The kernels' Grewe vectors, or the kernels (vectors are then extracted now)
    #[arg(long, value_name = "DATASET")]
    features: PathBuf,
    /// What to predict
    #[arg(long, value_enum, default_value = "cpu-gpu")]
    task: What,
    /// Devices whose transfer time counts: the GPU only (a CPU reads host memory in place), or both
    #[arg(long, value_enum, value_name = "DEVICES", default_value = "gpu")]
    transfers: Counted,
    /// Rows held out together in cross-validation: those of one package, family or path
    #[arg(long, value_enum, default_value = "package")]
    group: Together,
    #[command(flatten)]
    output: StageOutput,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum What {
    CpuGpu,
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

impl Label {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let cancelled = interrupt::flag()?;
        let (vectors, described) = vectors(&self.features, global, &cancelled)?;
        let What::CpuGpu = self.task;
        let grouping = match self.group {
            Together::Package => Grouping::Package,
            Together::Family => Grouping::Family,
            Together::Path => Grouping::Path,
        };
        let task = Task::CpuGpu(match self.transfers {
            Counted::Gpu => Transfers::Gpu,
            Counted::Both => Transfers::Both,
        });
        let label = device::Label::new(&self.runs, &vectors, described, grouping, task)?;
        let bar = Bar::new(global);
        stage::run(&label, &self.output.context(global.jobs(), &bar, &cancelled), global)
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

/// What to do where there is nothing.
fn advise(report: &LabelReport) {
    if report.rows == 0 {
        eprintln!(
            "no kernel can be labeled: it must pass on a CPU and on a GPU (`run --devices \
             cpu,gpu`) and --features must have its vector"
        );
    }
}

/// Grewe's features by program and kernel: read from a data set of vectors, or extracted now; and what
/// they are of.
fn vectors(
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
