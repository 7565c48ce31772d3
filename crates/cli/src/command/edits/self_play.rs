//! `stampmill edits self-play`: pairs that a model made up.

use super::{Asking, Conditions, OnBroken, tell_broken};
use crate::{Global, output, progress::Bar};
use anyhow::{Context, bail};
use edits::{Prompt, SelfPlayOptions, TestFolder, self_play};
use std::{path::PathBuf, process::ExitCode};

/// Have a model invent programs and make them faster; keep what the judge finds much faster
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill edits self-play pairs --tests tests --url http://localhost:8000/v1 --model NAME --programs 1000 --out play\n  \
    stampmill edits export play/pairs --format openai --method self-play --out play.jsonl\n  \
    stampmill train --task edits play.jsonl --from models/infill --out tuned\n\n\
Each new program is to read the inputs of a known one and to print something else; programs that print the\n\
same are one group. Dropped are programs that do not compile or run, print what the known one does, or the\n\
same on all inputs, or something else each time. Edits are judged as `edits judge` does on the same inputs.\n\
OUT holds the data set `pairs` and the folder `tests`. Answers are kept: a stopped run asks for nothing again.")]
pub(crate) struct SelfPlay {
    /// Known pairs; those of the splits val and test are not played with
    pairs: PathBuf,
    /// Tests of their problems: DIR/PROBLEM/input.N.txt and output.N.txt
    #[arg(long, value_name = "DIR")]
    tests: PathBuf,
    /// The folder to make
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Replace what an earlier run made at --out
    #[arg(long)]
    force: bool,
    /// New programs asked for
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    programs: u64,
    /// Faster versions asked for, per new program
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..))]
    samples: u64,
    /// Speedup from which an edit is kept
    #[arg(long, value_name = "RATIO", default_value_t = 5.0)]
    least: f64,
    /// Edits kept of programs that print the same
    #[arg(long, value_name = "N", default_value_t = 3)]
    per_group: usize,
    /// Temperature of the draws
    #[arg(long, value_name = "T", default_value_t = 0.7)]
    temperature: f64,
    /// Tokens of an answer at most
    #[arg(long, value_name = "N", default_value_t = 2048)]
    max_tokens: u32,
    /// The model's name
    #[arg(long, value_name = "NAME")]
    model: String,
    #[command(flatten)]
    asking: Asking,
    /// A prompt's file for inventing in the place of the built-in one
    #[arg(long, value_name = "FILE")]
    invent: Option<PathBuf>,
    /// A prompt's file for improving in the place of the one of `--method instruction`
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// Same seed, same requests
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// What to do about broken lines
    #[arg(long, value_enum, default_value = "stop")]
    on_broken: OnBroken,
    #[command(flatten)]
    conditions: Conditions,
}

impl SelfPlay {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if self.out.exists() {
            let ours = self.out.join("pairs/dataset.json").is_file();
            match (self.force, ours) {
                (true, true) => {}
                (true, false) => {
                    bail!(
                        "{} is not of self-play, so --force does not replace it",
                        self.out.display()
                    )
                }
                (false, _) => return Err(dataset::Error::Exists(self.out.clone()).into()),
            }
        }
        if !(self.least >= 1.0 && self.least.is_finite()) {
            bail!("--least {}: an edit is at least 1 times as fast", self.least);
        }
        let read = edits::Pairs::read(&self.pairs, self.on_broken.into())?;
        tell_broken(&self.pairs, &read.broken, global);
        let prompt = |file: &Option<PathBuf>, method: &str| match file {
            Some(path) => Ok(Prompt::read(path)?),
            None => Prompt::of_method(method).context("the method has no prompt"),
        };
        let (invent, improve) =
            (prompt(&self.invent, "self-play")?, prompt(&self.prompt, "instruction")?);
        let tests = TestFolder::open(&self.tests)?;
        let bench = self.conditions.bench()?;
        let client = self.asking.client(self.model.clone(), self.conditions.store());
        let options = SelfPlayOptions {
            programs: self.programs,
            samples: self.samples,
            temperature: self.temperature,
            most_tokens: self.max_tokens,
            least_speedup: self.least,
            per_group: self.per_group,
            seed: self.seed,
        };
        let bar = Bar::new(global);
        let report = edits::with_jobs(global.jobs(), || {
            let asked = (&client, &invent, &improve);
            self_play(&read.pairs, &tests, &bench, asked, &options, &self.out, &bar)
        })?;
        drop(bar);
        if global.json {
            output::json(&report)?;
        } else {
            let rows = |what: &str, verdicts: &std::collections::BTreeMap<String, u64>| {
                let row = |(name, count): (&String, &u64)| {
                    vec![what.to_owned(), name.clone(), output::count(*count)]
                };
                verdicts.iter().map(row).collect::<Vec<_>>()
            };
            let rows = [rows("program", &report.programs), rows("edit", &report.edits)].concat();
            output::line(&output::table(&["of", "verdict", "count"], rows).to_string())?;
            output::line(&format!(
                "{} pairs of {} groups in {}, {:.1} times as fast (geometric mean); {} requests, {} failed ({:.1} s)",
                output::count(report.pairs),
                output::count(report.groups),
                self.out.display(),
                report.geomean,
                report.usage.requests,
                report.failed,
                report.seconds
            ))?;
            if !report.failure.is_empty() {
                output::line(&format!("the last failure: {}", report.failure))?;
            }
        }
        Ok(if report.pairs > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
    }
}
