//! `stampmill edits pairs`: submissions become pairs.

use super::{Conditions, OnBroken, numbers, tell_broken};
use crate::{Global, destination::StageOutput, output, progress::Bar, stage};
use edits::{MakePairs, PairOptions, PairReport, Submissions, TestSet};
use std::{path::PathBuf, process::ExitCode};

/// Make pairs of slow and improved programs from submissions
#[derive(clap::Args, Debug)]
#[command(after_help = help!("edits-pairs"))]
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
    split: [f64; 3],
    /// Random seed of the split
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// On a line that cannot be read: stop, or skip and count it
    #[arg(long, value_enum, default_value = "stop")]
    on_broken: OnBroken,
    #[command(flatten)]
    conditions: Conditions,
}

fn shares(text: &str) -> Result<[f64; 3], String> {
    let wrong = "split; write three shares, as 0.8,0.1,0.1";
    let shares: [f64; 3] = numbers(text, wrong)?;
    match shares.iter().sum::<f64>() > 0.0 {
        true => Ok(shares),
        false => Err(format!("`{text}` is no {wrong}")),
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
            split: self.split,
            seed: self.seed,
        };
        let jobs = global.jobs();
        let pairs = MakePairs::new(submissions, tests, &bench, options, jobs)?;
        let bar = Bar::new(global);
        stage::run(&pairs, &self.output.context(jobs, &bar, &cancelled), global)
    }
}

impl stage::Shown for MakePairs<'_> {
    fn print(report: &PairReport, seconds: f64, out: &str) -> anyhow::Result<()> {
        let all = report.verdicts.values().sum();
        output::print_shares(["chronological pairs", "n", "share"], &report.verdicts, all)?;
        output::print_shares(["what changed", "pairs", "share"], &report.labels, report.pairs)?;
        let mean = |mean: Option<f64>| mean.map_or("–".to_owned(), |mean| format!("{mean:.2}"));
        output::line(&format!(
            "{} of {} in {}; only I/O {}, array shorter {}, only start-up {}",
            output::some(report.pairs, "pair"),
            output::some(report.problems, "problem"),
            out,
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

    fn is_good(report: &PairReport) -> bool {
        report.pairs > 0
    }
}
