//! `stampmill edits export`: pairs as lines, and tests as a folder, for others.

use super::Reading;
use crate::{Global, choice::choice, destination, output};
use edits::{ExportFormat, ExportMethod, TestSet, export, write_lines};
use std::{path::PathBuf, process::ExitCode};

/// Export pairs as fine-tuning data or in PIE's formats, or tests as PIE keeps them
#[derive(clap::Args, Debug)]
#[command(mut_arg("out", |out| destination::file("The file to write; of tests, the folder", "FILE")(out).alias("to")))]
#[command(after_help = help!("edits-export"))]
pub(crate) struct Export {
    /// Pairs: a data set or JSON lines; or tests: a data set of `edits tests`
    #[arg(value_name = "PAIRS")]
    input: PathBuf,
    /// Format of the lines, or which tests
    #[arg(long, value_parser = choice(FORMATS))]
    format: Format,
    /// Prompt of each pair; self-play: as plain, for pairs made by `edits self-play`
    #[arg(long, default_value = "plain", value_parser = choice(METHODS))]
    method: ExportMethod,
    #[command(flatten)]
    output: destination::Output,
    #[command(flatten)]
    reading: Reading,
}

/// What is exported, and how.
#[derive(Clone, Copy, Debug)]
enum Format {
    Pairs(ExportFormat),
    Tests,
    HiddenTests,
}

const FORMATS: &[(&str, Format)] = &[
    ("openai", Format::Pairs(ExportFormat::OpenAi)),
    ("hf", Format::Pairs(ExportFormat::HuggingFace)),
    ("pie-train", Format::Pairs(ExportFormat::PieTrain)),
    ("pie-test", Format::Pairs(ExportFormat::PieTest)),
    ("tests", Format::Tests),
    ("hidden-tests", Format::HiddenTests),
];

const METHODS: &[(&str, ExportMethod)] = &[
    ("plain", ExportMethod::Plain),
    ("perf-conditioned", ExportMethod::PerfConditioned),
    ("self-play", ExportMethod::SelfPlay),
];

impl Export {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let format = match self.format {
            Format::Pairs(format) => format,
            Format::Tests => return self.tests(&TestSet::visible(&self.input)?, global),
            Format::HiddenTests => return self.tests(&TestSet::hidden(&self.input)?, global),
        };
        self.output.is_free_file()?;
        let mut read = self.reading.pairs(&self.input, global)?;
        let all = read.pairs.len();
        read.pairs.retain(|pair| pair.verdict == "accepted");
        let rejected = all - read.pairs.len();
        let lines = export(&read.pairs, format, self.method)?;
        let out = &self.output.out;
        let count = write_lines(out, &lines)?;
        let broken = read.broken.len();
        let report = serde_json::json!({"lines": count, "rejected": rejected, "broken": broken});
        output::report(global, &report, || {
            let left_out = match rejected {
                0 => String::new(),
                1 => "; 1 rejected pair is left out".to_owned(),
                n => format!("; {n} rejected pairs are left out"),
            };
            let lines = output::some(count, "line");
            output::line(&format!("{lines} in {}{left_out}", out.display()))
        })?;
        Ok(output::status(count > 0))
    }
    fn tests(&self, tests: &TestSet, global: &Global) -> anyhow::Result<ExitCode> {
        let count = tests.export(&self.output.out, self.output.force)?;
        output::report(global, &serde_json::json!({"tests": count}), || {
            let out = self.output.out.display();
            output::line(&format!("{} in {out}", output::some(count, "test")))
        })?;
        Ok(output::status(count > 0))
    }
}
