//! `stampmill edits judge`: candidates are checked and timed.

use super::{Conditions, OnBroken, tell_broken};
use crate::{Global, destination::StageOutput, output, progress::Bar};
use anyhow::bail;
use dataset::stage::{self, Done};
use edits::{Candidates, JudgeOptions, JudgeReport, Sanitize, TestSet};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Judge candidates: compile, test, time, and detect cheats
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill edits judge pairs --candidates answers.jsonl --tests tests --hidden tests --out judged\n  \
    stampmill edits judge pairs --human same --tests tests --out human\n  \
    stampmill edits score judged\n\n\
A line of candidates is {\"src_id\": ..., \"generated_answers\": [...]}. Extra or missing lines of output\n\
fail, as does a fraction that is off by 1e-3. Verdicts are rows: accepted, does-not-compile,\n\
wrong-output, crashes, timeout, memory-limit, output-limit, fails-hidden-tests, undefined-behaviour,\n\
shrunken-array, answer-table, hard-coded-input, output-before-reading, ... If this\n\
machine fails (disk full, out of memory, a killed tool), the candidate gets no row and the exit status\n\
is 2. The same command resumes a stopped run.")]
pub(crate) struct Judge {
    /// Pairs: a data set, or JSON lines in one of PIE's forms
    pairs: PathBuf,
    /// JSON lines of candidates
    #[arg(long, value_name = "FILE", required_unless_present = "human")]
    candidates: Option<PathBuf>,
    /// Judge human versions instead: each pair's improved version, or the problem's fastest
    #[arg(long, value_enum, conflicts_with = "candidates")]
    human: Option<Human>,
    /// Tests: a data set of `edits tests`, or DIR/PROBLEM/input.N.txt and output.N.txt
    #[arg(long, value_name = "TESTS")]
    tests: PathBuf,
    /// Hidden tests, unknown to candidates: those of such a data set, which may be that of --tests, or such a folder
    #[arg(long, value_name = "TESTS")]
    hidden: Option<PathBuf>,
    #[command(flatten)]
    output: StageOutput,
    /// Speedup from which a candidate is an improvement
    #[arg(long, value_name = "RATIO", default_value_t = 1.1)]
    threshold: f64,
    /// Candidates to run with sanitizers
    #[arg(long, value_enum, default_value = "faster")]
    sanitize: Watch,
    /// Judge only the first N candidates per pair
    #[arg(short, long, value_name = "N")]
    k: Option<usize>,
    /// Only pairs of this split: train, val or test
    #[arg(long, value_name = "PART")]
    split: Option<String>,
    /// On a line that cannot be read: stop, or skip and count it
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
        let visible = TestSet::visible(&self.tests)?;
        let hidden = self.hidden.as_deref().map(TestSet::hidden).transpose()?;
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
        let (bench, cancelled) = self.conditions.bench_and_flag()?;
        let bar = Bar::new(global);
        let judge = edits::Judge::new(read.pairs, &candidates, tests, &bench, options, &bar)?;
        let context = self.output.context(global.jobs(), &bar, &cancelled);
        let done = edits::with_jobs(global.jobs(), || stage::run(&judge, &context))?;
        drop((judge, context));
        drop(bar);
        show(done, &self.output.out, global)
    }
}

/// Print what a run or a merge came to; the status is negative where it is nothing.
pub(in crate::command) fn show(
    done: Done<JudgeReport>,
    out: &Path,
    global: &Global,
) -> anyhow::Result<ExitCode> {
    output::report(global, &done, || print(&done, out))?;
    Ok(if done.summary.candidates > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
}

fn print(Done { summary: report, seconds }: &Done<JudgeReport>, out: &Path) -> anyhow::Result<()> {
    let rows = report.verdicts.iter().map(|(verdict, n)| {
        vec![verdict.clone(), output::count(*n), output::percent(*n, report.candidates)]
    });
    output::line(&output::table(&["verdict", "candidates", "share"], rows).to_string())?;
    if report.unmatched > 0 {
        output::line(&format!("{} lines of candidates belong to no pair", report.unmatched))?;
    }
    output::line(&format!(
        "{} candidates for {} pairs in {} ({seconds:.1} s: {} program-tests, {} native runs, {} timed)",
        output::count(report.candidates),
        output::count(report.pairs),
        out.display(),
        output::count(report.program_tests),
        output::count(report.runs),
        output::count(report.timed)
    ))
}
