//! `stampmill edits tests`: tests grow from samples.

use super::{Conditions, OnBroken, tell_broken};
use crate::{Global, output, progress::Bar};
use edits::{GrowOptions, Problem, TestFolder, grow};
use std::{path::PathBuf, process::ExitCode};

/// Grow tests from sample inputs: same grammar, larger and larger
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill edits tests problems.jsonl --pairs pairs.jsonl --out tests --hidden hidden\n  \
    stampmill edits tests problems.jsonl --pairs pairs --out tests --hidden hidden --draws 200\n\n\
A drawn input becomes a test when all programs of the problem agree on its output, come to a good end,\n\
ask for no more input than there is, and the slow one runs clean under the sanitizers. What became of\n\
each problem is in OUT/tests.jsonl: grammar, number and size of tests, start-up's share of the largest.")]
pub(crate) struct Tests {
    /// JSON lines of problems with samples
    problems: PathBuf,
    /// Pairs whose programs must agree: a data set or JSON lines
    #[arg(long, value_name = "PAIRS")]
    pairs: PathBuf,
    /// Where tests go: DIR/PROBLEM/input.N.txt and output.N.txt
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Where tests go that candidates are not to be tuned to
    #[arg(long, value_name = "DIR")]
    hidden: PathBuf,
    /// Grown tests per problem, and as many hidden ones
    #[arg(long, value_name = "N", default_value_t = 8)]
    per_problem: usize,
    /// Inputs drawn per problem at most
    #[arg(long, value_name = "N", default_value_t = 60)]
    draws: usize,
    /// Seed of the draws
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// What to do about broken lines
    #[arg(long, value_enum, default_value = "stop")]
    on_broken: OnBroken,
    #[command(flatten)]
    conditions: Conditions,
}

impl Tests {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let (problems, broken) = Problem::read(&self.problems, self.on_broken.into())?;
        tell_broken(&self.problems, &broken, global);
        let read = edits::Pairs::read(&self.pairs, self.on_broken.into())?;
        tell_broken(&self.pairs, &read.broken, global);
        let bench = self.conditions.bench()?;
        let options = GrowOptions {
            visible: self.per_problem,
            hidden: self.per_problem,
            draws: self.draws,
            seed: self.seed,
            ..GrowOptions::default()
        };
        let (visible, hidden) = (TestFolder::create(&self.out)?, TestFolder::create(&self.hidden)?);
        let bar = Bar::new(global);
        let report = edits::with_jobs(global.jobs(), || {
            grow(&problems, &read.pairs, &bench, (&visible, &hidden), &options, &bar)
        })?;
        drop(bar);
        if global.json {
            output::json(&report)?;
        } else {
            let rows = report.verdicts.iter().map(|(verdict, n)| {
                vec![verdict.clone(), output::count(*n), output::percent(*n, report.problems)]
            });
            output::line(&output::table(&["problems", "n", "share"], rows).to_string())?;
            output::line(&format!(
                "{} problems with tests, {} of them grown, {} with a grammar; {} tests in {}, {} hidden in {} ({:.1} s)",
                report.with_tests,
                report.grown,
                report.with_grammar,
                report.tests,
                self.out.display(),
                report.hidden,
                self.hidden.display(),
                report.seconds
            ))?;
            output::line(&format!(
                "largest test of a problem, median: {} instructions; mostly start-up on {} problems",
                output::count(report.largest_instructions_median),
                report.mostly_startup
            ))?;
        }
        Ok(if report.with_tests > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
    }
}
