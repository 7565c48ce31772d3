use super::source::Columns;
use crate::{Global, destination, output};
use heuristics::{CostModel, TrainOptions};
use std::{path::PathBuf, process::ExitCode};

/// Fit a model to a whole task and write it to a file
#[derive(clap::Args, Debug)]
#[command(mut_arg("out", destination::file("The file to write", "FILE")))]
#[command(after_help = help!("heuristic-train"))]
pub(crate) struct Train {
    /// A `task` data set or a CSV table
    task: PathBuf,
    /// tree, knn, forest, boosting or mlp, with settings: `knn:k=3`, `forest:trees=100`. Of a task with one choice: forest,
    /// boosting or lin1, without [default: tree; of one choice forest]
    #[arg(long)]
    model: Option<String>,
    #[command(flatten)]
    output: destination::Output,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    seed: u32,
    #[command(flatten)]
    columns: Columns,
}

impl Train {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        self.output.is_free_file()?;
        if let Some(table) = super::costs_of(&self.task)? {
            let (model, report) =
                CostModel::train(&table, self.model.as_deref().unwrap_or("forest"), self.seed)?;
            model.save(&self.output.out)?;
            return output::report(global, &report, || {
                output::line(&format!(
                    "{} ({}): error {:.3}, {} rows, {} of {} features differ",
                    self.output.out.display(),
                    report.validation,
                    report.error.root,
                    report.rows,
                    report.features[0],
                    report.features[1]
                ))
            })
            .map(|()| ExitCode::SUCCESS);
        }
        let task = self.columns.read(&self.task, global)?.task;
        let model = self.model.unwrap_or_else(|| "tree".to_owned());
        let options = TrainOptions { model, seed: self.seed };
        let (heuristic, report) = heuristics::train(&task, &options)?;
        heuristic.save(&self.output.out)?;
        output::report(global, &report, || {
            let rows = [super::score_row(&report.model, &report.scores)];
            super::print_scores(rows, Some(&report.scores))?;
            output::line(&format!("{} ({})", self.output.out.display(), report.validation))
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
