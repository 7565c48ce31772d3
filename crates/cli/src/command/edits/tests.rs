//! `stampmill edits tests`: tests grow from samples.

use super::{Conditions, OnBroken, tell_broken};
use crate::{Global, output, progress::Bar};
use edits::{GrowOptions, Problem, TestFolder, grow};
use std::{path::PathBuf, process::ExitCode};

/// Generate larger tests from sample inputs, by an inferred grammar
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill edits tests problems.jsonl --pairs pairs.jsonl --out tests --hidden hidden\n  \
    stampmill edits tests problems.jsonl --pairs pairs --out tests --hidden hidden --draws 200\n\n\
An input becomes a test if all programs of the problem terminate with the same output, do not read past\n\
its end, and the slow one runs clean with sanitizers. OUT/tests.jsonl has a line per problem: grammar,\n\
number and size of tests, share of start-up in the largest.")]
pub(crate) struct Tests {
    /// JSON lines of problems with samples
    problems: PathBuf,
    /// Pairs whose programs must agree: a data set or JSON lines
    #[arg(long, value_name = "PAIRS")]
    pairs: PathBuf,
    /// Where tests go: DIR/PROBLEM/input.N.txt and output.N.txt
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Where hidden tests go, for `edits judge --hidden`
    #[arg(long, value_name = "DIR")]
    hidden: PathBuf,
    /// Generated tests per problem, and as many hidden ones
    #[arg(long, value_name = "N", default_value_t = 8)]
    per_problem: usize,
    /// Limit of generated inputs per problem
    #[arg(long, value_name = "N", default_value_t = 60)]
    draws: usize,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// On a line that cannot be read: stop, or skip and count it
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
        output::report(global, &report, || {
            let rows = report.verdicts.iter().map(|(verdict, n)| {
                vec![verdict.clone(), output::count(*n), output::percent(*n, report.problems)]
            });
            output::line(&output::table(&["problems", "n", "share"], rows).to_string())?;
            output::line(&format!(
                "{} problems with tests, {} of them generated, {} with a grammar; {} tests in {}, {} hidden in {} ({:.1} s)",
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
            ))
        })?;
        Ok(if report.with_tests > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
    }
}
