//! `stampmill fsck`: whether data sets are what they were when they were made.

use crate::{Global, output};
use serde::Serialize;
use std::{path::PathBuf, process::ExitCode};

/// Verify data sets completely and name each damaged file
#[derive(clap::Args, Debug)]
#[command(after_help = help!("fsck"))]
pub(crate) struct Fsck {
    /// Data sets to verify
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
        let (mut datasets, mut unread) = (Vec::new(), None);
        for path in &self.datasets {
            let checked = match dataset::check(path) {
                Ok(checked) => checked,
                // The others are checked nevertheless.
                Err(error) => {
                    unread.get_or_insert(error);
                    continue;
                }
            };
            let path = path.display().to_string();
            datasets.push(Answer { path, ok: checked.is_whole(), checked });
        }
        let report = Report { ok: datasets.iter().all(|answer| answer.ok), datasets };
        if !report.datasets.is_empty() {
            output::report(global, &report, || print(&report))?;
        }
        match unread {
            Some(error) => Err(error.into()),
            None => Ok(output::status(report.ok)),
        }
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
    if !report.ok {
        output::line(
            "a data set that is not whole: make it again, with --force over the old one, or take a copy; what is \
             no part of it has to be moved away",
        )?;
    }
    Ok(())
}
