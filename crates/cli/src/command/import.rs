//! `stampmill import`: rows in formats of others, as a data set.

use crate::{Global, destination::Output, interrupt, output};
use std::{path::PathBuf, process::ExitCode};

/// Read CSV, JSON Lines, Parquet, a folder from Hugging Face or a folder of programs into a data set
#[derive(clap::Args, Debug)]
#[command(after_help = help!("import"))]
pub(crate) struct Import {
    /// A file (.csv, .jsonl, .parquet), or a folder: a data set, Parquet files, or programs
    #[arg(value_name = "FILE|DIR")]
    from: PathBuf,
    #[command(flatten)]
    output: Output,
    /// The schema of the rows [default: the one whose columns these are]
    #[arg(long, value_name = "NAME")]
    schema: Option<String>,
    /// Write what stands for nothing known in missing columns: empty text, 0, false, an empty list; the hash of `text` in `id`, `accepted` in `verdict`
    #[arg(long)]
    fill: bool,
    /// A column of the schema, and what the input calls it; may be repeated
    #[arg(long, value_name = "NAME=THEIRS", value_parser = column)]
    column: Vec<(String, String)>,
    /// Leave out columns that the schema does not know
    #[arg(long)]
    ignore_unknown: bool,
}

impl Import {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let asked = interchange::Import {
            from: self.from,
            out: self.output.out,
            force: self.output.force,
            schema: self.schema,
            fill: self.fill,
            ignore_unknown: self.ignore_unknown,
            columns: self.column,
        };
        let stop = interrupt::quiet_flag()?;
        let imported = interchange::import(&asked, &stop)?;
        let out = asked.out.display();
        output::report(global, &imported, || {
            output::line(&format!(
                "{out}: {} rows of schema {} from {}",
                output::count(imported.rows),
                imported.schema,
                match imported.format {
                    "files" => "programs",
                    format => format,
                }
            ))?;
            if !imported.filled.is_empty() {
                let names = imported.filled.join(", ");
                output::line(&format!("not in the input: {names}"))?;
            }
            output::hint(&format!("next: stampmill show {out}"))
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn column(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((ours, theirs)) if !ours.is_empty() && !theirs.is_empty() => {
            Ok((ours.to_owned(), theirs.to_owned()))
        }
        _ => Err("a column is NAME=THEIRS, for example text=src".to_owned()),
    }
}
