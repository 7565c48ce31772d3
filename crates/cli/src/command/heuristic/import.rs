use super::source::Columns;
use crate::{Global, destination::Output, output};
use anyhow::bail;
use dataset::{Input, Notes};
use std::{path::PathBuf, process::ExitCode};

/// Import a table as a task; rows that cannot be used get a verdict
#[derive(clap::Args, Debug)]
#[command(after_help = help!("heuristic-import"))]
pub(crate) struct Import {
    /// A CSV table (.csv, .csv.gz), a Parquet file's data set or a `task` data set
    table: PathBuf,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    columns: Columns,
}

impl Import {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let import = self.columns.read(&self.table, global)?;
        if import.task.rows.is_empty() {
            bail!(
                "no row of {} has a label and vectors (`stampmill label --features VECTORS` puts vectors in)",
                self.table.display()
            );
        }
        let content = std::fs::read(&self.table).unwrap_or_default();
        let report = serde_json::json!({
            "rows": import.task.rows.len(),
            "features": import.task.features,
            "labels": import.task.labels(),
            "verdicts": import.verdicts,
        });
        let notes = Notes {
            inputs: vec![Input {
                name: self.table.display().to_string(),
                hash: dataset::content_hash(&content),
            }],
            configuration: serde_json::json!({ "columns": self.columns }),
            verdicts: import.verdicts.clone(),
            summary: report.clone(),
            ..Notes::default()
        };
        import.task.save(&self.output.out, self.output.force, notes)?;
        output::report(global, &report, || {
            output::line(&format!(
                "{} rows, {} features ({}): {}",
                import.task.rows.len(),
                import.task.features.len(),
                import.task.features.join(", "),
                super::labels(&import.task)
            ))
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
