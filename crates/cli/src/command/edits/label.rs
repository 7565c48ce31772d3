//! `stampmill edits label`: what pairs change.

use super::Reading;
use crate::{Global, output};
use std::{collections::BTreeMap, path::PathBuf, process::ExitCode};

/// Say what each pair changes: algorithm, data structure, I/O or something else; runs nothing
#[derive(clap::Args, Debug)]
#[command(after_help = help!("edits-label"))]
pub(crate) struct Label {
    /// Pairs: a data set or JSON lines
    pairs: PathBuf,
    #[command(flatten)]
    reading: Reading,
}

#[derive(serde::Serialize)]
struct Report {
    pairs: usize,
    labels: BTreeMap<String, u64>,
    io_only: usize,
    array_shrunk: usize,
    broken: usize,
    rows: Vec<Row>,
}

/// One pair's label, in the order of the pairs.
#[derive(serde::Serialize)]
struct Row {
    problem_id: String,
    src_id: String,
    tgt_id: String,
    label: &'static str,
    io_only: bool,
    array_shrunk: bool,
}

impl Label {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let read = self.reading.pairs(&self.pairs, global)?;
        let rows: Vec<Row> = read
            .pairs
            .into_iter()
            .map(|pair| {
                let edits::Label { change, io_only, array_shrunk } =
                    edits::label(&pair.src_code, &pair.tgt_code);
                let (problem_id, src_id, tgt_id) = (pair.problem_id, pair.src_id, pair.tgt_id);
                Row { problem_id, src_id, tgt_id, label: change.name(), io_only, array_shrunk }
            })
            .collect();
        let mut labels: BTreeMap<String, u64> = BTreeMap::new();
        for row in &rows {
            *labels.entry(row.label.to_owned()).or_default() += 1;
        }
        let report = Report {
            pairs: rows.len(),
            labels,
            io_only: rows.iter().filter(|row| row.io_only).count(),
            array_shrunk: rows.iter().filter(|row| row.array_shrunk).count(),
            broken: read.broken.len(),
            rows,
        };
        output::report(global, &report, || {
            output::print_shares(
                ["what changed", "pairs", "share"],
                &report.labels,
                report.pairs as u64,
            )?;
            output::line(&format!(
                "{}; only I/O {}, array shorter {}",
                output::some(report.pairs as u64, "pair"),
                report.io_only,
                report.array_shrunk
            ))
        })?;
        Ok(output::status(report.pairs > 0))
    }
}
