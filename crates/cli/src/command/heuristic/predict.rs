use super::source::Columns;
use crate::{Global, output};
use anyhow::Context;
use dataset::Dataset;
use heuristics::{CostModel, Heuristic, Table, Task};
use std::{path::PathBuf, process::ExitCode};

/// Predict the best choice, or the cost, for every row of a task
#[derive(clap::Args, Debug)]
#[command(after_help = help!("heuristic-predict"))]
pub(crate) struct Predict {
    /// A file written by `heuristic train`, or a folder with one named model.json
    model: PathBuf,
    /// A data set of `label` or `features`, or a CSV table; if it has costs, predictions are scored
    task: PathBuf,
    #[command(flatten)]
    columns: Columns,
}

impl Predict {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if let Some(model) = CostModel::load(&self.model)? {
            return self.predict_costs(&model, global);
        }
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

    fn predict_costs(&self, model: &CostModel, global: &Global) -> anyhow::Result<ExitCode> {
        let table = match super::costs_of(&self.task)? {
            Some(table) => table,
            None if Dataset::is_at(&self.task) && !Task::is_at(&self.task) => {
                Table::of_vectors(&self.task)?
            }
            None => self.columns.read_table(&self.task, global)?,
        };
        let left_out: Vec<String> =
            table.left_out.iter().map(|(why, count)| format!("{count} rows {why}")).collect();
        if !left_out.is_empty() && !global.is_quiet() {
            eprintln!("{}: {}", self.task.display(), left_out.join(", "));
        }
        let report = model.predict(&table)?;
        output::report(global, &report, || {
            let rows = report.predictions.iter().map(|one| {
                let cost = one.cost.map_or("unknown".to_owned(), |cost| format!("{cost:.1}"));
                vec![
                    one.program.clone(),
                    one.variant.clone(),
                    format!("{:.1}", one.predicted),
                    cost,
                ]
            });
            let predicted = format!("predicted {}", report.choice);
            output::print_table(&["program", "input", &predicted, &report.choice], rows)?;
            if let Some(error) = &report.error {
                output::line(&format!(
                    "error: {:.3} (root of the mean squared difference of log2), half of them within a factor of {:.2}",
                    error.root, error.median_factor
                ))?;
            }
            Ok(())
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
