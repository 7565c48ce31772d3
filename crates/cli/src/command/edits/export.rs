//! `stampmill edits export`: pairs as lines, and tests as a folder, for others.

use super::{OnBroken, tell_broken};
use crate::{
    Global,
    destination::{self, Output},
    output,
};
use edits::{ExportFormat, ExportMethod, TestSet, export, write_lines};
use std::{path::PathBuf, process::ExitCode};

/// Export pairs as fine-tuning data or in PIE's formats, or tests as PIE keeps them
#[derive(clap::Args, Debug)]
#[command(mut_arg("out", destination::file("The file to write; of tests, the folder", "FILE")))]
#[command(after_help = "Examples:\n  \
    stampmill edits export pairs --format openai --split train --out train.jsonl\n  \
    stampmill edits export pairs --format hf --method perf-conditioned --out train.jsonl\n  \
    stampmill edits export pairs --format pie-test --split test --out test.jsonl\n  \
    stampmill edits export play/pairs --format openai --method self-play --out play.jsonl\n  \
    stampmill edits export tests --format tests --out folder\n\n\
openai: {\"messages\": [...]}, the last by the assistant. hf: {\"prompt\", \"completion\"}; train on the\n\
completion alone. tests, hidden-tests: FOLDER/PROBLEM/input.N.txt and output.N.txt.")]
pub(crate) struct Export {
    /// Pairs: a data set or JSON lines; or tests: a data set of `edits tests`
    #[arg(value_name = "PAIRS")]
    input: PathBuf,
    /// Format of the lines, or which tests
    #[arg(long, value_enum)]
    format: Format,
    /// Prompt of each pair
    #[arg(long, value_enum, default_value = "plain")]
    method: Method,
    /// Only pairs of this split: train, val or test
    #[arg(long, value_name = "PART")]
    split: Option<String>,
    #[command(flatten)]
    output: Output,
    /// On a line that cannot be read: stop, or skip and count it
    #[arg(long, value_enum, default_value = "stop")]
    on_broken: OnBroken,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Format {
    #[value(name = "openai")]
    OpenAi,
    Hf,
    PieTrain,
    PieTest,
    Tests,
    HiddenTests,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Method {
    Plain,
    PerfConditioned,
    /// As plain, for pairs made by `edits self-play`
    SelfPlay,
}

impl Export {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let format = match self.format {
            Format::OpenAi => ExportFormat::OpenAi,
            Format::Hf => ExportFormat::HuggingFace,
            Format::PieTrain => ExportFormat::PieTrain,
            Format::PieTest => ExportFormat::PieTest,
            Format::Tests => return self.tests(&TestSet::visible(&self.input)?, global),
            Format::HiddenTests => return self.tests(&TestSet::hidden(&self.input)?, global),
        };
        self.output.is_free_file()?;
        let mut read = edits::Pairs::read(&self.input, self.on_broken.into())?;
        tell_broken(&self.input, &read.broken, global);
        read.pairs.retain(|pair| pair.verdict == "accepted");
        if let Some(part) = &self.split {
            read.pairs.retain(|pair| pair.split == *part);
        }
        let method = match self.method {
            Method::Plain => ExportMethod::Plain,
            Method::PerfConditioned => ExportMethod::PerfConditioned,
            Method::SelfPlay => ExportMethod::SelfPlay,
        };
        let lines = export(&read.pairs, format, method)?;
        let count = write_lines(&self.output.out, &lines)?;
        output::report(
            global,
            &serde_json::json!({"lines": count, "broken": read.broken.len()}),
            || {
                output::line(&format!(
                    "{} lines in {}",
                    output::count(count),
                    self.output.out.display()
                ))
            },
        )?;
        Ok(if count > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
    }

    fn tests(&self, tests: &TestSet, global: &Global) -> anyhow::Result<ExitCode> {
        let count = tests.export(&self.output.out, self.output.force)?;
        output::report(global, &serde_json::json!({"tests": count}), || {
            let out = self.output.out.display();
            output::line(&format!("{} tests in {out}", output::count(count)))
        })?;
        Ok(if count > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
    }
}
