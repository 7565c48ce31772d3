use super::source::Source;
use crate::{Global, output};
use heuristics::CrossvalOptions;
use std::process::ExitCode;

/// Cross-validate models on held-out groups
#[derive(clap::Args, Debug)]
#[command(after_help = help!("heuristic-crossval"))]
pub(crate) struct Crossval {
    #[command(flatten)]
    source: Source,
    /// Models, comma-separated: tree, knn, forest, boosting, mlp
    #[arg(long, default_value = "tree")]
    model: String,
    /// Folds of whole groups; 0 leaves out one group at a time
    #[arg(long, default_value_t = 0, value_parser = folds)]
    folds: usize,
    /// Random seed of models, folds and intervals
    #[arg(long, default_value_t = 0)]
    seed: u32,
}

fn folds(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(1) => Err("one fold leaves nothing to train on; 2 or more, or 0".to_owned()),
        other => other.map_err(|_| "a number of folds".to_owned()),
    }
}

impl Crossval {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let (task, extra) = self.source.read(global)?;
        let models: Vec<String> =
            self.model.split(',').map(|model| model.trim().to_owned()).collect();
        let options = CrossvalOptions { models, folds: self.folds, extra, seed: self.seed };
        let report = heuristics::crossval(&task, &options)?;
        let leaking = self.source.leaking()?;
        if leaking > 0 && !global.is_quiet() {
            eprintln!(
                "warning: {leaking} rows are near-duplicates of rows of another group, and stand on both sides: a score of what \
                 was seen; `heuristic diagnose` keeps families together"
            );
        }
        if global.json {
            // The first model's scores stand at the top, where scripts look for them.
            let mut summary = serde_json::to_value(&report.models[0].scores)?;
            if let (Some(summary), serde_json::Value::Object(rest)) =
                (summary.as_object_mut(), serde_json::to_value(&report)?)
            {
                summary.extend(rest);
            }
            output::json(&summary)?;
            return Ok(ExitCode::SUCCESS);
        }
        output::line(&format!("{}; {}", report.validation, super::labels(&task)))?;
        let rows = report.models.iter().flat_map(|model| {
            let with = model.with_extra.as_ref().map(|with| {
                super::score_row(&format!("{} + extra rows", model.model), &with.scores)
            });
            std::iter::once(super::score_row(&model.model, &model.scores)).chain(with)
        });
        super::print_scores(rows, report.models.first().map(|model| &model.scores))?;
        for model in &report.models {
            output::line(&format!("{}:\n{}", model.model, super::recognition(&model.scores)))?;
            if let Some(with) = &model.with_extra {
                output::line(&format!(
                    "with the extra rows: {}",
                    serde_json::to_string(&with.paired)?
                ))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
