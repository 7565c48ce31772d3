//! `stampmill edits self-play`: pairs that a model made up.

use super::{Asking, Conditions, Editor, OnBroken, prompt, tell_broken};
use crate::{Global, destination, output, progress::Bar};
use anyhow::bail;
use dataset::Dataset;
use edits::{SelfPlayOptions, TestSet, self_play};
use std::{path::PathBuf, process::ExitCode};

/// Have a model invent programs, and it or another improve them; keep edits that the judge finds much faster
#[derive(clap::Args, Debug)]
#[command(mut_arg("out", destination::file("The folder to make", "DIR")))]
#[command(after_help = help!("edits-self-play"))]
pub(crate) struct SelfPlay {
    /// Known pairs; those of the splits val and test are excluded
    pairs: PathBuf,
    /// Tests of their problems: a data set of `edits tests`, or DIR/PROBLEM/input.N.txt and output.N.txt
    #[arg(long, value_name = "TESTS")]
    tests: PathBuf,
    #[command(flatten)]
    output: destination::Output,
    /// New programs to request
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    programs: u64,
    /// Faster versions to request per new program
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..))]
    samples: u64,
    /// Least speedup of an edit to keep
    #[arg(long, value_name = "RATIO", default_value_t = 5.0)]
    least: f64,
    /// Edits to keep per group
    #[arg(long, value_name = "N", default_value_t = 3)]
    per_group: usize,
    /// Sampling temperature
    #[arg(long, value_name = "T", default_value_t = 0.7)]
    temperature: f64,
    /// Token limit of an answer
    #[arg(long, value_name = "N", default_value_t = 2048)]
    max_tokens: u32,
    /// Name of the model that writes new programs
    #[arg(long, value_name = "NAME")]
    model: String,
    #[command(flatten)]
    editor: Editor,
    #[command(flatten)]
    asking: Asking,
    /// Prompt file for inventing, replacing the built-in one
    #[arg(long, value_name = "FILE")]
    invent: Option<PathBuf>,
    /// Prompt file for improving, replacing that of `--method instruction`
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// Random seed: the same seed makes the same requests
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// On a line that cannot be read: stop, or skip and count it
    #[arg(long, value_enum, default_value = "stop")]
    on_broken: OnBroken,
    #[command(flatten)]
    conditions: Conditions,
}

impl SelfPlay {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let out = &self.output.out;
        if out.exists() && !self.output.force {
            bail!(dataset::Error::Exists(out.clone()));
        }
        if out.exists() && !Dataset::is_at(&out.join("pairs")) {
            bail!("{} was not made by self-play, so --force does not replace it", out.display());
        }
        if !(self.least >= 1.0 && self.least.is_finite()) {
            bail!("--least {}: an edit is at least 1 times as fast", self.least);
        }
        let read = edits::Pairs::read(&self.pairs, self.on_broken.into())?;
        tell_broken(&self.pairs, &read.broken, global);
        let invent = prompt(self.invent.as_deref(), "self-play")?;
        let improve = prompt(self.prompt.as_deref(), "instruction")?;
        let tests = TestSet::visible(&self.tests)?;
        let bench = self.conditions.bench()?;
        let store = || self.conditions.store();
        let inventor = self.asking.client(self.model.clone(), store());
        let editor = self.editor.editor.clone();
        let editor = editor.map(|model| self.asking.of(&self.editor).client(model, store()));
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
            let editor = editor.as_ref().unwrap_or(&inventor);
            let players = [(&inventor, &invent), (editor, &improve)];
            self_play(&read.pairs, &tests, &bench, players, &options, out, &bar)
        })?;
        drop(bar);
        output::report(global, &report, || {
            let rows = |what: &str, verdicts: &std::collections::BTreeMap<String, u64>| {
                let row = |(name, count): (&String, &u64)| {
                    vec![what.to_owned(), name.clone(), output::count(*count)]
                };
                verdicts.iter().map(row).collect::<Vec<_>>()
            };
            let rows = [rows("program", &report.programs), rows("edit", &report.edits)].concat();
            output::print_table(&["of", "verdict", "count"], rows)?;
            output::line(&format!(
                "{} of {} in {}, {:.1} times as fast (geometric mean); {}, {} failed ({:.1} s)",
                output::some(report.pairs, "pair"),
                output::some(report.groups, "group"),
                out.display(),
                report.geomean,
                output::some(report.usage.requests, "request"),
                report.failed,
                report.seconds
            ))?;
            if !report.failure.is_empty() {
                output::line(&format!("the last failure: {}", report.failure))?;
            }
            Ok(())
        })?;
        Ok(output::status(report.pairs > 0))
    }
}
