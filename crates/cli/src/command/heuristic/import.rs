use super::source::Columns;
use crate::{Global, output};
use dataset::{Input, Notes};
use std::{path::PathBuf, process::ExitCode};

/// Read a table as a task, with a verdict for every row that cannot be learnt from
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill heuristic import task --out clean\n  \
    stampmill heuristic import measured.csv --program name --group suite --features x,y \\\n      \
    --costs CPU=cpu_ms,GPU=gpu_ms --out task")]
pub(crate) struct Import {
    /// A CSV table (.csv, .csv.gz), a Parquet file's data set or a `task` data set
    table: PathBuf,
    /// The data set to make
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Replace what is at --out
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    columns: Columns,
}

impl Import {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let import = self.columns.read(&self.table, global)?;
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
            configuration: serde_json::json!({ "columns": format!("{:?}", self.columns) }),
            verdicts: import.verdicts.clone(),
            summary: report.clone(),
            ..Notes::default()
        };
        import.task.save(&self.out, self.force, notes)?;
        match global.json {
            true => output::json(&report)?,
            false => output::line(&format!(
                "{} rows, {} features ({}): {}",
                import.task.rows.len(),
                import.task.features.len(),
                import.task.features.join(", "),
                super::labels(&import.task)
            ))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
