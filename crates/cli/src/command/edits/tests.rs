//! `stampmill edits tests`: tests grow from samples.

use super::{Conditions, OnBroken, tell_broken};
use crate::{Global, destination::StageOutput, output, progress::Bar};
use dataset::stage::{self, Done};
use edits::{GrowOptions, MakeTests, Problem, TestsReport};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Generate larger tests from sample inputs, by an inferred grammar
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill edits tests problems.jsonl --pairs pairs.jsonl --out tests\n  \
    stampmill edits tests problems.jsonl --pairs pairs --out tests --draws 200\n  \
    stampmill edits judge pairs --human best --tests tests --hidden tests --out judged\n  \
    stampmill edits export tests --format tests --out folder         as PIE keeps them\n\n\
An input becomes a test if all programs of the problem terminate with the same output, do not read past\n\
its end, and the slow one runs clean with sanitizers. Some tests are hidden. A row is a test, with its\n\
origin, its time and the problem's grammar, or a problem that has none. The same command resumes a\n\
stopped run.")]
pub(crate) struct Tests {
    /// JSON lines of problems with samples
    problems: PathBuf,
    /// Pairs whose programs must agree: a data set or JSON lines
    #[arg(long, value_name = "PAIRS")]
    pairs: PathBuf,
    #[command(flatten)]
    output: StageOutput,
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
        let (bench, cancelled) = self.conditions.bench_and_flag()?;
        let options = GrowOptions {
            visible: self.per_problem,
            hidden: self.per_problem,
            draws: self.draws,
            seed: self.seed,
            ..GrowOptions::default()
        };
        let tests = MakeTests::new(&problems, &read.pairs, &bench, options);
        let bar = Bar::new(global);
        let done = stage::run(&tests, &self.output.context(global.jobs(), &bar, &cancelled))?;
        drop(bar);
        show(done, &self.output.out, global)
    }
}

/// Print what a run or a merge came to; the status is negative where it is nothing.
pub(in crate::command) fn show(
    done: Done<TestsReport>,
    out: &Path,
    global: &Global,
) -> anyhow::Result<ExitCode> {
    output::report(global, &done, || print(&done, out))?;
    Ok(if done.summary.with_tests > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
}

fn print(Done { summary: report, seconds }: &Done<TestsReport>, out: &Path) -> anyhow::Result<()> {
    let rows = report.verdicts.iter().map(|(verdict, n)| {
        vec![verdict.clone(), output::count(*n), output::percent(*n, report.problems)]
    });
    output::line(&output::table(&["problems", "n", "share"], rows).to_string())?;
    output::line(&format!(
        "{} problems with tests, {} of them generated, {} with a grammar; {} tests and {} hidden ones in {} ({seconds:.1} s)",
        report.with_tests,
        report.grown,
        report.with_grammar,
        report.tests,
        report.hidden,
        out.display()
    ))?;
    output::line(&format!(
        "largest test of a problem, median: {} instructions; mostly start-up on {} problems",
        output::count(report.largest_instructions_median),
        report.mostly_startup
    ))
}
