//! `stampmill label`: measurements and features become a task.

use super::features::extractor;
use crate::{Global, interrupt, output, progress::Bar};
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

/// Join runs with the features of their kernels into a table a heuristic learns from
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill label runs --features vectors --out task\n  \
    stampmill label runs --features kernels --out task        (describes them now)\n  \
    stampmill heuristic crossval task")]
pub(crate) struct Label {
    /// A data set that `run` made, with a processor and a GPU in it
    runs: PathBuf,
    /// The kernels' Grewe vectors, or the kernels themselves
    #[arg(long, value_name = "DATASET")]
    features: PathBuf,
    /// What is to be learnt
    #[arg(long, value_enum, default_value = "cpu-gpu")]
    task: What,
    /// On which devices transfers are a cost: on the GPU alone, since a processor reads the host's
    /// memory where it lies, or on both
    #[arg(long, value_enum, value_name = "DEVICES", default_value = "gpu")]
    transfers: Counted,
    /// What is held out together when a heuristic is scored
    #[arg(long, value_enum, default_value = "package")]
    group: Together,
    /// The data set to make
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Replace what is at --out
    #[arg(long)]
    force: bool,
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
        let context = Context { force: self.force, cancel, ..Context::new(&self.out) };
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
        match global.json {
            true => output::json(&report)?,
            false => {
                let labels: Vec<String> = report
                    .labels
                    .iter()
                    .map(|(device, n)| format!("{device} faster on {n}"))
                    .collect();
                let left: Vec<String> =
                    report.left_out.iter().map(|(why, n)| format!("{n} {why}")).collect();
                let left = if left.is_empty() { "none".to_owned() } else { left.join(", ") };
                let made = match report.rows {
                    0 => "no rows, and nothing written".to_owned(),
                    rows => format!("{rows} rows in {}: {}", self.out.display(), labels.join(", ")),
                };
                output::line(&format!("{made}; left out: {left}"))?;
            }
        }
        if report.rows == 0 {
            eprintln!(
                "nothing to learn from: a kernel counts where a processor and a GPU both passed it (`run --devices \
                 cpu,gpu`) and --features describes it"
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
