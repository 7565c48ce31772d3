//! `stampmill edits export`: pairs as lines for others.

use super::Reading;
use crate::{Global, choice::choice, destination, output};
use edits::{ExportFormat, ExportMethod, export, write_lines};
use std::{path::PathBuf, process::ExitCode};

/// Export pairs as fine-tuning data, or in PIE's formats
#[derive(clap::Args, Debug)]
#[command(mut_arg("out", destination::file("The file to write", "FILE")))]
#[command(after_help = help!("edits-export"))]
pub(crate) struct Export {
    /// Pairs: a data set or JSON lines
    pairs: PathBuf,
    /// Format of the lines
    #[arg(long, value_parser = choice(FORMATS))]
    format: ExportFormat,
    /// Prompt of each pair; self-play: as plain, for pairs made by `edits self-play`
    #[arg(long, default_value = "plain", value_parser = choice(METHODS))]
    method: ExportMethod,
    #[command(flatten)]
    output: destination::Output,
    #[command(flatten)]
    reading: Reading,
}

const FORMATS: &[(&str, ExportFormat)] = &[
    ("openai", ExportFormat::OpenAi),
    ("hf", ExportFormat::HuggingFace),
    ("pie-train", ExportFormat::PieTrain),
    ("pie-test", ExportFormat::PieTest),
];

const METHODS: &[(&str, ExportMethod)] = &[
    ("plain", ExportMethod::Plain),
    ("perf-conditioned", ExportMethod::PerfConditioned),
    ("self-play", ExportMethod::SelfPlay),
];

impl Export {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        self.output.is_free_file()?;
        let mut read = self.reading.pairs(&self.pairs, global)?;
        read.pairs.retain(|pair| pair.verdict == "accepted");
        let lines = export(&read.pairs, self.format, self.method)?;
        let out = &self.output.out;
        let count = write_lines(out, &lines)?;
        let report = serde_json::json!({"lines": count, "broken": read.broken.len()});
        output::report(global, &report, || {
            output::line(&format!("{} lines in {}", output::count(count), out.display()))
        })?;
        Ok(output::status(count > 0))
    }
}
