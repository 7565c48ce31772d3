//! `stampmill export`: programs as files.

use crate::{Global, output};
use dataset::Programs;
use std::{path::PathBuf, process::ExitCode};

/// Write the programs of a data set as files (.cl, .c, .cpp, .ll, .bc)
#[derive(clap::Args, Debug)]
#[command(after_help = help!("export"))]
pub(crate) struct Export {
    /// A data set of programs
    dataset: PathBuf,
    /// The folder to make; it must not exist
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Write at most N programs
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

impl Export {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let programs = Programs::open(&self.dataset)?;
        let written = programs.export(&self.to, self.limit.unwrap_or(usize::MAX))?;
        output::report(global, &serde_json::json!({ "programs": written, "to": self.to }), || {
            output::line(&format!("{written} programs in {}", self.to.display()))
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
