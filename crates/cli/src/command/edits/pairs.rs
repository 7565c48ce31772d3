//! `stampmill edits pairs`: submissions become pairs.

use super::{Conditions, OnBroken, tell_broken};
use crate::{Global, destination::StageOutput, output, progress::Bar};
use dataset::stage::{self, Done};
use edits::{MakePairs, PairOptions, PairReport, Submissions, TestSet};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Make pairs of slow and improved programs from submissions
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill edits pairs Project_CodeNet --tests tests --out pairs\n  \
    stampmill edits pairs submissions.jsonl --tests tests --out pairs --high-quality\n  \
    stampmill edits pairs pairs.jsonl --tests tests --out timed --rejected\n  \
    stampmill query \"SELECT label, count(*) FROM p GROUP BY label\" p=pairs\n\n\
SUBMISSIONS is a folder in CodeNet's layout (metadata/*.csv, data/PROBLEM/LANGUAGE/*) or JSON lines:\n\
submissions, or pairs, which are timed anew. A program and a later accepted one by the same author\n\
for the same problem make a pair if the later one is faster by --threshold. All pairs of a problem are\n\
in one split. Results are cached; the same command resumes a stopped run.")]
pub(crate) struct Pairs {
    /// CodeNet's folder, or JSON lines
    submissions: PathBuf,
    /// Tests: a data set of `edits tests`, or DIR/PROBLEM/input.N.txt and output.N.txt
    #[arg(long, value_name = "TESTS")]
    tests: PathBuf,
    #[command(flatten)]
    output: StageOutput,
    /// Relative gain (slow - fast) / slow that a pair must exceed
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    threshold: f64,
    /// Only the pairs of highest speedup, at most 4 per problem
    #[arg(long)]
    high_quality: bool,
    /// Keep rejected pairs as well, with their verdict
    #[arg(long)]
    rejected: bool,
    /// Shares of problems for train, val and test
    #[arg(long, value_name = "A,B,C", default_value = "0.8,0.1,0.1", value_parser = shares)]
    split: Shares,
    /// Random seed of the split
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// On a line that cannot be read: stop, or skip and count it
    #[arg(long, value_enum, default_value = "stop")]
    on_broken: OnBroken,
    #[command(flatten)]
    conditions: Conditions,
}

#[derive(Clone, Copy, Debug)]
struct Shares([f64; 3]);

fn shares(text: &str) -> Result<Shares, String> {
    let wrong = || format!("`{text}` is no split; write three shares, as 0.8,0.1,0.1");
    let numbers: Vec<f64> =
        text.split(',').map(|n| n.trim().parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
    match numbers[..] {
        [a, b, c] if [a, b, c].iter().all(|n| *n >= 0.0) && a + b + c > 0.0 => {
            Ok(Shares([a, b, c]))
        }
        _ => Err(wrong()),
    }
}

impl Pairs {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let submissions = Submissions::read(&self.submissions, self.on_broken.into())?;
        tell_broken(&self.submissions, &submissions.broken, global);
        let tests = TestSet::visible(&self.tests)?;
        let (bench, cancelled) = self.conditions.bench_and_flag()?;
        let options = PairOptions {
            threshold: self.threshold,
            per_problem: self.high_quality.then_some(4),
            rejected: self.rejected,
            split: self.split.0,
            seed: self.seed,
        };
        let jobs = global.jobs();
        let pairs = MakePairs::new(submissions, tests, &bench, options, jobs)?;
        let bar = Bar::new(global);
        let done = stage::run(&pairs, &self.output.context(jobs, &bar, &cancelled))?;
        drop(bar);
        show(done, &self.output.out, global)
    }
}

/// Print what a run or a merge came to; the status is negative where it is nothing.
pub(in crate::command) fn show(
    done: Done<PairReport>,
    out: &Path,
    global: &Global,
) -> anyhow::Result<ExitCode> {
    output::report(global, &done, || print(&done, out))?;
    Ok(if done.summary.pairs > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
}

fn print(Done { summary: report, seconds }: &Done<PairReport>, out: &Path) -> anyhow::Result<()> {
    let all = report.verdicts.values().sum();
    let rows = report
        .verdicts
        .iter()
        .map(|(verdict, n)| vec![verdict.clone(), output::count(*n), output::percent(*n, all)]);
    output::line(&output::table(&["chronological pairs", "n", "share"], rows).to_string())?;
    let rows = report.labels.iter().map(|(label, n)| {
        vec![label.clone(), output::count(*n), output::percent(*n, report.pairs)]
    });
    output::line(&output::table(&["what changed", "pairs", "share"], rows).to_string())?;
    let mean = |mean: Option<f64>| mean.map_or("–".to_owned(), |mean| format!("{mean:.2}"));
    output::line(&format!(
        "{} pairs of {} problems in {}; only I/O {}, array shorter {}, only start-up {}",
        output::count(report.pairs),
        output::count(report.problems),
        out.display(),
        report.io_only,
        report.array_shrunk,
        report.startup_only
    ))?;
    output::line(&format!(
        "slow / improved, geometric mean over pairs: {}, without start-up {} ({seconds:.1} s)",
        mean(report.geomean),
        mean(report.geomean_net)
    ))
}
