//! `stampmill edits judge`: candidates are checked and timed.

use super::{Conditions, Reading, tell_broken};
use crate::{Global, choice::choice, destination::StageOutput, output, progress::Bar, stage};
use anyhow::bail;
use edits::{Candidates, JudgeOptions, JudgeReport, Sanitize, TestSet};
use std::{path::PathBuf, process::ExitCode};

/// Judge candidates: compile, test, time, and detect cheats
#[derive(clap::Args, Debug)]
#[command(after_help = help!("edits-judge"))]
pub(crate) struct Judge {
    /// Pairs: a data set, or JSON lines in one of PIE's forms
    pairs: PathBuf,
    /// Candidates: JSON lines, or a folder or archive (tar, zip) of programs, PROBLEM/NAME.cpp or NAME/PROBLEM.cpp
    #[arg(long, value_name = "FILE", required_unless_present = "human")]
    candidates: Option<PathBuf>,
    /// Judge human versions instead: each pair's improved version, or the problem's fastest
    #[arg(long, value_parser = ["same", "best"], conflicts_with = "candidates")]
    human: Option<String>,
    /// Tests: a data set of `edits tests`, or DIR/PROBLEM/input.N.txt and output.N.txt, or an archive of such a folder
    #[arg(long, value_name = "TESTS")]
    tests: PathBuf,
    /// Hidden tests, unknown to candidates, which find tables of answers: a data set of `edits tests` or such a folder
    /// [default: those of --tests, where that is a data set]
    #[arg(long, value_name = "TESTS")]
    hidden: Option<PathBuf>,
    #[command(flatten)]
    output: StageOutput,
    /// Speedup from which a candidate is an improvement
    #[arg(long, value_name = "RATIO", default_value_t = 1.1)]
    threshold: f64,
    /// Candidates to run with sanitizers
    #[arg(long, default_value = "faster", value_parser = choice(WATCHED))]
    sanitize: Sanitize,
    /// Judge only the first N candidates per pair
    #[arg(short, long, value_name = "N")]
    k: Option<usize>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    conditions: Conditions,
}

/// Which candidates the sanitizers look at.
pub(crate) const WATCHED: &[(&str, Sanitize)] =
    &[("faster", Sanitize::Faster), ("all", Sanitize::All), ("never", Sanitize::Never)];

impl Judge {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let read = self.reading.pairs(&self.pairs, global)?;
        if let (Some(part), true) = (&self.reading.split, read.pairs.is_empty()) {
            bail!("--split: {} has no pairs of part `{part}`", self.pairs.display());
        }
        let candidates = match (&self.candidates, self.human.as_deref()) {
            (Some(path), _) => {
                let (candidates, broken) =
                    Candidates::read(path, &read.pairs, self.reading.on_broken.into())?;
                tell_broken(path, &broken, global);
                candidates
            }
            (None, Some("best")) => Candidates::best_human(&read.pairs),
            (None, _) => Candidates::same_human(&read.pairs),
        };
        let visible = TestSet::visible(&self.tests)?;
        let own = Some(&self.tests).filter(|tests| dataset::Dataset::is_at(tests));
        let hidden = self.hidden.as_ref().or(own).map(|path| TestSet::hidden(path)).transpose()?;
        let none = match &hidden {
            Some(hidden) => hidden.problems()?.is_empty(),
            None => true,
        };
        if none && !global.is_quiet() {
            eprintln!(
                "warning: without hidden tests (--hidden) an answer that only knows the tests' outputs is accepted"
            );
        }
        let tests = edits::Tests { visible, hidden };
        let options =
            JudgeOptions { threshold: self.threshold, sanitize: self.sanitize, most: self.k };
        let (bench, cancelled) = self.conditions.bench_and_flag()?;
        let bar = Bar::new(global);
        let judge = edits::Judge::new(read.pairs, &candidates, tests, &bench, options, &bar)?;
        let context = self.output.context(global.jobs(), &bar, &cancelled);
        edits::with_jobs(global.jobs(), || stage::run(&judge, &context, global))
    }
}

impl stage::Shown for edits::Judge<'_> {
    fn print(report: &JudgeReport, seconds: f64, out: &str) -> anyhow::Result<()> {
        let header = ["verdict", "candidates", "share"];
        output::print_shares(header, &report.verdicts, report.candidates)?;
        if untested(report) == report.candidates && report.candidates > 0 {
            output::line(
                "no problem of these pairs has a test: --tests wants a data set of `edits tests`, or \
                 DIR/PROBLEM/input.N.txt and output.N.txt",
            )?;
        }
        if report.unchanged > 0 {
            output::line(&format!(
                "{} of {}: the slow program itself, but for layout and comments (label `nothing`)",
                output::count(report.unchanged),
                output::some(report.candidates, "candidate")
            ))?;
        }
        if report.startup_only + report.small_only > 0 {
            output::line(&format!(
                "of those that gain {} do on small inputs alone (column `refuted_by`), {} before `main` alone",
                output::count(report.small_only),
                output::count(report.startup_only)
            ))?;
        }
        if report.unmatched > 0 {
            output::line(&format!("{} lines of candidates belong to no pair", report.unmatched))?;
        }
        output::line(&format!(
            "{} for {} in {} ({seconds:.1} s: {}, {}, {} timed)",
            output::some(report.candidates, "candidate"),
            output::some(report.pairs, "pair"),
            out,
            output::some(report.program_tests, "program-test"),
            output::some(report.runs, "native run"),
            output::count(report.timed)
        ))
    }

    fn is_good(report: &JudgeReport) -> bool {
        report.candidates > untested(report)
    }
}

/// Candidates whose problem has no test.
fn untested(report: &JudgeReport) -> u64 {
    report.verdicts.get(rows::EditVerdict::NoTests.name()).copied().unwrap_or(0)
}
