//! `stampmill export`: programs as files, or a data set to share.

use crate::{Global, output};
use dataset::{Dataset, Programs};
use std::{path::PathBuf, process::ExitCode};

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A file for each program, and index.jsonl with their packages, names and licenses
    Files,
    /// The data set with a card and a Croissant file, as Hugging Face wants it
    Huggingface,
}

/// Write the programs of a data set as files (.cl, .c, .cpp, .ll, .bc), or the data set to share
#[derive(clap::Args, Debug)]
#[command(after_help = help!("export"))]
pub(crate) struct Export {
    /// A data set; of programs where these are written as files
    dataset: PathBuf,
    /// The folder to make; it must not exist
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Files)]
    format: Format,
    /// Write at most N programs
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

impl Export {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let to = self.to.display();
        let (report, said) = match self.format {
            Format::Files => {
                let programs = Programs::open(&self.dataset)?;
                let written = programs.export(&self.to, self.limit.unwrap_or(usize::MAX))?;
                let rejected = match &programs {
                    Programs::Dataset(dataset) if self.limit.is_none() => {
                        dataset.manifest().rows.saturating_sub(written)
                    }
                    _ => 0,
                };
                let report =
                    serde_json::json!({ "programs": written, "rejected": rejected, "to": self.to });
                let left = match rejected {
                    0 => String::new(),
                    rows => format!("; {rows} rows that were rejected have no file"),
                };
                (report, format!("{written} programs in {to}{left}"))
            }
            Format::Huggingface => {
                anyhow::ensure!(
                    self.limit.is_none(),
                    "--limit is of `--format files`; take some rows with `stampmill query`"
                );
                let dataset = Dataset::open(&self.dataset)?;
                report::share(&dataset, &self.to)?;
                let rows = dataset.manifest().rows;
                let report = serde_json::json!({ "rows": rows, "to": self.to });
                (report, format!("{to}: {rows} rows, README.md and croissant.json"))
            }
        };
        output::report(global, &report, || output::line(&said))?;
        Ok(ExitCode::SUCCESS)
    }
}
