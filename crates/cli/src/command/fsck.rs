//! `stampmill fsck`: whether data sets are what they were when they were made.

use crate::{Global, output};
use serde::Serialize;
use std::{path::PathBuf, process::ExitCode};

/// Check data sets to the last byte, and name each part that is not as it was made
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill fsck kernels\n  \
    stampmill fsck raw kernels vectors --json\n\n\
Of each data set: its manifest; of each part presence, size, hash, columns and all of its rows; the\n\
counts of verdicts against the rows; and that nothing else lies in its folder. Exit status 1 where\n\
anything is wrong. Every command that reads a data set checks presence, sizes and counts of rows by\n\
itself, and with --verify-hashes the hashes too.")]
pub(crate) struct Fsck {
    /// Data sets
    #[arg(value_name = "DATASET", required = true)]
    datasets: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    ok: bool,
    datasets: Vec<Answer>,
}

#[derive(Serialize)]
struct Answer {
    path: String,
    ok: bool,
    #[serde(flatten)]
    checked: dataset::Checked,
}

impl Fsck {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let mut datasets = Vec::new();
        for path in &self.datasets {
            let checked = dataset::check(path)?;
            let path = path.display().to_string();
            datasets.push(Answer { path, ok: checked.is_whole(), checked });
        }
        let report = Report { ok: datasets.iter().all(|answer| answer.ok), datasets };
        match global.json {
            true => output::json(&report)?,
            false => print(&report)?,
        }
        Ok(if report.ok { ExitCode::SUCCESS } else { output::NEGATIVE })
    }
}

fn print(report: &Report) -> anyhow::Result<()> {
    for Answer { path, ok, checked } in &report.datasets {
        let state = if *ok { "ok" } else { "BROKEN" };
        let parts = match checked.parts {
            1 => "1 part".to_owned(),
            parts => format!("{} parts", output::count(parts as u64)),
        };
        output::line(&match checked.schema.as_str() {
            "" => format!("{path}: {state}"),
            schema => format!(
                "{path}: {state}, {} rows of schema {schema} in {parts}",
                output::count(checked.rows)
            ),
        })?;
        for problem in &checked.problems {
            output::line(&format!("  {path}/{}: {}", problem.file, problem.problem))?;
        }
    }
    Ok(())
}
