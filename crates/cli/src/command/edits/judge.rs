//! `stampmill edits judge`: candidates are checked and timed.

use super::{Conditions, OnBroken, tell_broken};
use crate::{Global, output, progress::Bar, target::Target};
use anyhow::bail;
use edits::{Candidates, JudgeOptions, JudgeReport, Sanitize, TestFolder, judge};
use std::{path::PathBuf, process::ExitCode};

/// Judge candidates: build, check, time, and look for cheats
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill edits judge pairs --candidates answers.jsonl --tests tests --hidden hidden --out judged\n  \
    stampmill edits judge pairs --human same --tests tests --out human\n  \
    stampmill edits score judged\n\n\
A line of candidates is {\"src_id\": ..., \"generated_answers\": [...]}. Extra or missing lines of output\n\
fail, as does a fraction that is off by 1e-3. Verdicts are rows: accepted, does-not-compile,\n\
wrong-output, crashes, timeout, memory-limit, output-limit, fails-hidden-tests, undefined-behaviour,\n\
shrunken-array, answer-table, hard-coded-input, output-before-reading, ... A fault of this machine (no\n\
room, no memory, a tool that was killed) is none: the exit status is 2 then. A run that was stopped, by\n\
Ctrl-C or by faults, goes on where it was when the same command is given again.")]
pub(crate) struct Judge {
    /// Pairs: a data set, or JSON lines in one of PIE's forms
    pairs: PathBuf,
    /// JSON lines of candidates
    #[arg(long, value_name = "FILE", required_unless_present = "human")]
    candidates: Option<PathBuf>,
    /// Judge what people wrote instead: each pair's own improved version, or the problem's fastest
    #[arg(long, value_enum, conflicts_with = "candidates")]
    human: Option<Human>,
    /// Tests: DIR/PROBLEM/input.N.txt and output.N.txt
    #[arg(long, value_name = "DIR")]
    tests: PathBuf,
    /// Tests that candidates cannot know, in the same layout
    #[arg(long, value_name = "DIR")]
    hidden: Option<PathBuf>,
    #[command(flatten)]
    target: Target,
    /// Speedup from which a candidate is an improvement
    #[arg(long, value_name = "RATIO", default_value_t = 1.1)]
    threshold: f64,
    /// Candidates that the sanitizers look at
    #[arg(long, value_enum, default_value = "faster")]
    sanitize: Watch,
    /// Candidates per pair, the first so many
    #[arg(short, long, value_name = "N")]
    k: Option<usize>,
    /// Only the pairs of this part of the split
    #[arg(long, value_name = "PART")]
    split: Option<String>,
    /// What to do about broken lines
    #[arg(long, value_enum, default_value = "stop")]
    on_broken: OnBroken,
    #[command(flatten)]
    conditions: Conditions,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Human {
    Same,
    Best,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Watch {
    Faster,
    All,
    Never,
}

impl Judge {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let mut read = edits::Pairs::read(&self.pairs, self.on_broken.into())?;
        tell_broken(&self.pairs, &read.broken, global);
        if let Some(part) = &self.split {
            read.pairs.retain(|pair| pair.split == *part);
            if read.pairs.is_empty() {
                bail!("--split: {} has no pairs of part `{part}`", self.pairs.display());
            }
        }
        let candidates = match (&self.candidates, self.human) {
            (Some(path), _) => {
                let (candidates, broken) = Candidates::read(path, self.on_broken.into())?;
                tell_broken(path, &broken, global);
                candidates
            }
            (None, Some(Human::Best)) => Candidates::best_human(&read.pairs),
            (None, _) => Candidates::same_human(&read.pairs),
        };
        let visible = TestFolder::open(&self.tests)?;
        let hidden = self.hidden.as_deref().map(TestFolder::open).transpose()?;
        let tests = edits::Tests { visible, hidden };
        let options = JudgeOptions {
            threshold: self.threshold,
            sanitize: match self.sanitize {
                Watch::Faster => Sanitize::Faster,
                Watch::All => Sanitize::All,
                Watch::Never => Sanitize::Never,
            },
            most: self.k,
        };
        let bench = self.conditions.bench()?;
        let bar = Bar::new(global);
        let report = edits::with_jobs(global.jobs(), || {
            let out = (self.target.out.as_path(), self.target.force);
            judge(&read.pairs, &candidates, &tests, &bench, &options, out, &bar)
        })?;
        drop(bar);
        match global.json {
            true => output::json(&report)?,
            false => print(&report, &self.target.out)?,
        }
        Ok(if report.candidates > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
    }
}

fn print(report: &JudgeReport, out: &std::path::Path) -> anyhow::Result<()> {
    let rows = report.verdicts.iter().map(|(verdict, n)| {
        vec![verdict.clone(), output::count(*n), output::percent(*n, report.candidates)]
    });
    output::line(&output::table(&["verdict", "candidates", "share"], rows).to_string())?;
    if report.unmatched > 0 {
        output::line(&format!("{} lines of candidates are for no pair", report.unmatched))?;
    }
    output::line(&format!(
        "{} candidates for {} pairs in {} ({:.1} s: {} program-tests, {} native runs, {} timed)",
        output::count(report.candidates),
        output::count(report.pairs),
        out.display(),
        report.seconds,
        output::count(report.program_tests),
        output::count(report.runs),
        output::count(report.timed)
    ))
}
