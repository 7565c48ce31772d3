use super::source::Columns;
use crate::{Global, output};
use anyhow::Context;
use heuristics::Heuristic;
use std::{path::PathBuf, process::ExitCode};

/// Predict the best choice for every row of a task
#[derive(clap::Args, Debug)]
#[command(after_help = help!("heuristic-predict"))]
pub(crate) struct Predict {
    /// A file written by `heuristic train`
    model: PathBuf,
    /// A data set of `label` or `features`, or a CSV table; if it has costs, predictions are scored
    task: PathBuf,
    #[command(flatten)]
    columns: Columns,
}

impl Predict {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let heuristic = Heuristic::load(&self.model)
            .with_context(|| format!("cannot use {}", self.model.display()))?;
        let task = self.columns.read(&self.task, global)?.task;
        // What the model learned from is enough; where it is not there, the error says so.
        let task = task.select(heuristic.features()).unwrap_or(task);
        let report = heuristics::predict(&heuristic, &task)?;
        output::report(global, &report, || {
            let rows = report.predictions.iter().map(|prediction| {
                vec![
                    prediction.program.clone(),
                    prediction.variant.clone(),
                    prediction.choice.clone(),
                    prediction.label.clone().unwrap_or_else(|| "unknown".into()),
                ]
            });
            output::print_table(&["program", "input", "choice", "best"], rows)?;
            if let Some(scores) = &report.scores {
                let rows = [super::score_row(&report.model, scores)];
                super::print_scores(rows, Some(scores))?;
            }
            Ok(())
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
