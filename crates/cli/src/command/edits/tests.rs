//! `stampmill edits tests`: tests grow from samples.

use super::{Conditions, OnBroken, tell_broken};
use crate::{Global, destination::StageOutput, output, progress::Bar, stage};
use anyhow::bail;
use clap::ArgGroup;
use edits::{GrowOptions, MakeTests, Pairs, Problem, Submissions, TestsReport};
use rows::EditVerdict;
use std::{path::PathBuf, process::ExitCode};

/// Generate larger tests from sample inputs, by an inferred grammar
#[derive(clap::Args, Debug)]
#[command(group(ArgGroup::new("programs").required(true).args(["pairs", "submissions"])))]
#[command(after_help = help!("edits-tests"))]
pub(crate) struct Tests {
    /// Problems with samples: JSON lines, a folder in CodeNet's layout or of tests (PROBLEM/input.N.txt and output.N.txt), or an archive of one
    problems: PathBuf,
    /// Pairs whose programs must agree: a data set or JSON lines
    #[arg(long, value_name = "PAIRS")]
    pairs: Option<PathBuf>,
    /// Accepted submissions that must agree, in place of pairs: a folder in CodeNet's layout, or JSON lines
    #[arg(long, value_name = "SUBMISSIONS")]
    submissions: Option<PathBuf>,
    #[command(flatten)]
    output: StageOutput,
    /// Generated tests per problem, as many hidden ones, and twice as many with edge values or at the limits
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
        let (bench, cancelled) = self.conditions.bench_and_flag()?;
        let options = GrowOptions {
            visible: self.per_problem,
            hidden: self.per_problem,
            edges: 2 * self.per_problem,
            draws: self.draws,
            seed: self.seed,
            ..GrowOptions::default()
        };
        let tests = match (&self.pairs, &self.submissions) {
            (Some(path), _) => {
                let read = Pairs::read(path, self.on_broken.into())?;
                tell_broken(path, &read.broken, global);
                MakeTests::new(&problems, &read.pairs, &bench, options)
            }
            (None, Some(path)) => {
                let read = Submissions::read(path, self.on_broken.into())?;
                tell_broken(path, &read.broken, global);
                MakeTests::of_submissions(&problems, &read.accepted, &bench, options)
            }
            (None, None) => bail!("name what must agree on tests: --pairs or --submissions"),
        };
        let bar = Bar::new(global);
        stage::run(&tests, &self.output.context(global.jobs(), &bar, &cancelled), global)
    }
}

/// What to do where a problem has no tests, or none but its samples.
const ADVICE: [(EditVerdict, &str); 3] = [
    (
        EditVerdict::NoSamples,
        "inputs are drawn after the samples: give PROBLEMS some of each problem that has programs",
    ),
    (
        EditVerdict::NoProgramPasses,
        "no program gives the samples' outputs: mend the samples, or add a program that is right (column `detail` \
         says what became of the first)",
    ),
    (
        EditVerdict::OnlyOneProgram,
        "one program alone gives the samples' outputs, and what it says of other inputs can be compared with nothing, so that \
         the samples are all tests there are: add another right program, by a pair or by --submissions",
    ),
];

impl stage::Shown for MakeTests<'_> {
    fn print(report: &TestsReport, seconds: f64, out: &str) -> anyhow::Result<()> {
        output::print_shares(["problems", "n", "share"], &report.verdicts, report.problems)?;
        output::line(&format!(
            "{} with tests, {} of them generated, {} with a grammar; {} and {} in {} ({seconds:.1} s)",
            output::some(report.with_tests, "problem"),
            report.grown,
            report.with_grammar,
            output::some(report.tests, "test"),
            output::some(report.hidden, "hidden one"),
            out
        ))?;
        output::line(&format!(
            "largest test of a problem, median: {} instructions; mostly start-up on {}",
            output::count(report.largest_instructions_median),
            output::some(report.mostly_startup, "problem")
        ))?;
        let met =
            |(verdict, _): &&(EditVerdict, &str)| report.verdicts.contains_key(verdict.name());
        for (verdict, advice) in ADVICE.iter().filter(met) {
            output::hint(&format!("{verdict}: {advice}"))?;
        }
        Ok(())
    }

    fn is_good(report: &TestsReport) -> bool {
        report.with_tests > 0
    }
}
