//! `stampmill label`: measurements and features become a task.

use super::features::extractor;
use crate::{Global, destination::Output, interrupt, output, progress::Bar};
use dataset::{
    Dataset, Programs,
    stage::{Cancel, Context},
};
use device::{Grouping, Task, Transfers, Vectors};
use features::{FeatureSpace, Row, space};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Join measured runs with kernel features into a task: the training table of a heuristic
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill label runs --features vectors --out task\n  \
    stampmill label runs --features kernels --out task        (extracts the vectors now)\n  \
    stampmill heuristic crossval task")]
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
    output: Output,
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
        let cancel = Cancel::from(interrupt::flag()?);
        let context =
            Context { force: self.output.force, cancel, ..Context::new(&self.output.out) };
        let vectors = vectors(&self.features, global, &context.cancel)?;
        let What::CpuGpu = self.task;
        let report = device::label(
            &self.runs,
            &vectors,
            match self.group {
                Together::Package => Grouping::Package,
                Together::Family => Grouping::Family,
                Together::Path => Grouping::Path,
            },
            Task::CpuGpu(match self.transfers {
                Counted::Gpu => Transfers::Gpu,
                Counted::Both => Transfers::Both,
            }),
            &context,
        )?;
        output::report(global, &report, || {
            let labels: Vec<String> =
                report.labels.iter().map(|(device, n)| format!("{device} faster on {n}")).collect();
            let left: Vec<String> =
                report.left_out.iter().map(|(why, n)| format!("{n} {why}")).collect();
            let left = if left.is_empty() { "none".to_owned() } else { left.join(", ") };
            let made = match report.rows {
                0 => "no rows, and nothing written".to_owned(),
                rows => {
                    format!("{rows} rows in {}: {}", self.output.out.display(), labels.join(", "))
                }
            };
            output::line(&format!("{made}; left out: {left}"))
        })?;
        if report.rows == 0 {
            eprintln!(
                "no kernel can be labeled: it must pass on a CPU and on a GPU (`run --devices \
                 cpu,gpu`) and --features must have its vector"
            );
        }
        Ok(if report.rows > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
    }
}

/// Grewe's features by program and kernel: read from a data set of vectors, or extracted now.
fn vectors(path: &Path, global: &Global, cancel: &Cancel) -> anyhow::Result<Vectors> {
    let grewe = space("grewe")?;
    let names = grewe.dimensions();
    let mut vectors = Vectors::new();
    let mut keep = |row: Row| {
        if let Some(vector) = row.vectors.get("grewe") {
            let named = names.iter().map(|name| (*name).to_owned()).zip(vector.iter().copied());
            vectors.insert((row.id.clone(), row.kernel.clone()), named.collect());
        }
    };
    let described = Dataset::is_at(path)
        && Dataset::open(path)?.manifest().schema == <rows::FeaturesHead as dataset::Row>::SCHEMA;
    if described {
        for row in Dataset::open(path)?.rows::<Row>()? {
            keep(row?);
        }
    } else {
        let extractor = extractor(vec![grewe as &dyn FeatureSpace], 1, global)?;
        extractor.describe_all(&Programs::open(path)?, &Bar::new(global), |rows| {
            rows.into_iter().for_each(&mut keep);
            match cancel.is_cancelled() {
                true => Err(features::Error::Cancelled { done: 0 }),
                false => Ok(()),
            }
        })?;
    }
    Ok(vectors)
}
