//! Whether a candidate is right, and how fast it is.
//!
//! In the order of what it costs: build, all tests natively until the first failure, hidden tests, a run
//! without input, times of all tests, and for those that would count as improvements times of the hidden tests and
//! the sanitizers. What a candidate does wrong is a verdict; [`EditVerdict`] lists them.

mod batch;
mod cheat;
mod stage;

use crate::{
    Result,
    bench::{Bench, Times, Trial},
    execute::Runs,
    label::{Label, label},
    model::NO_PROGRAM,
    pair::{Language, Pair},
    suite::{Test, TestSet},
    toolchain::Executable,
};
pub use batch::{Batch, Challenge};
use dataset::Verdict;
use rows::EditVerdict;
pub use rows::Judgement;
use serde::{Deserialize, Serialize};
pub use stage::{Judge, JudgeFacts, JudgeItem, JudgeReport};
use std::sync::OnceLock;

/// Which candidates the sanitizers look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sanitize {
    /// Those that are right and faster by the threshold: the others count for nothing.
    #[default]
    Faster,
    /// All that are right.
    All,
    /// None.
    Never,
}

/// Verdicts on candidates that look right without being so, and on those that attack what measures them.
pub const CHEATS: [EditVerdict; 9] = [
    EditVerdict::AnswerTable,
    EditVerdict::DiffersWhenTimed,
    EditVerdict::FailsHiddenTests,
    EditVerdict::GainsOnKnownTests,
    EditVerdict::HardCodedInput,
    EditVerdict::ImplausibleReport,
    EditVerdict::OutputBeforeReading,
    EditVerdict::ShrunkenArray,
    EditVerdict::TouchesChannel,
];

/// How to judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeOptions {
    /// Speedup from which a candidate is an improvement. PIE: 1.1.
    pub threshold: f64,
    /// Which candidates the sanitizers look at.
    pub sanitize: Sanitize,
    /// Candidates per pair that are judged, the first so many.
    pub most: Option<usize>,
}

impl Default for JudgeOptions {
    fn default() -> JudgeOptions {
        JudgeOptions { threshold: 1.1, sanitize: Sanitize::Faster, most: None }
    }
}

/// Tests, those that candidates may be tuned to and those that they are not.
#[derive(Clone, Debug)]
pub struct Tests {
    /// Used for correctness and time.
    pub visible: TestSet,
    /// Used for correctness alone.
    pub hidden: Option<TestSet>,
}

/// What is known about a slow program on the tests of its problem.
pub(crate) struct Source<'a> {
    pub(crate) code: &'a str,
    pub(crate) language: Language,
    pub(crate) visible: Vec<Test>,
    pub(crate) hidden: Vec<Test>,
    program: Executable,
    pub(crate) times: Times,
    peak_bytes: u64,
    printed: Vec<String>,
    /// Its times on the hidden tests or why it has none, where they were asked for.
    hidden_times: OnceLock<std::result::Result<Times, Verdict>>,
}

impl<'a> Source<'a> {
    /// Build, check and time a slow program. A verdict when it does not hold up.
    pub(crate) fn prepare(
        pair: &'a Pair,
        tests: &Tests,
        bench: &Bench,
    ) -> Result<std::result::Result<Source<'a>, Verdict>> {
        let visible = tests.visible.tests(&pair.problem_id)?;
        let hidden = match &tests.hidden {
            Some(folder) => folder.tests(&pair.problem_id)?,
            None => Vec::new(),
        };
        if visible.is_empty() {
            return Ok(Err(Verdict::new(
                EditVerdict::NoTests,
                format!("none for {}", pair.problem_id),
            )));
        }
        Source::of(&pair.src_code, pair.language(), visible, hidden, bench)
    }

    /// The same of a program and tests in memory; there is a visible test.
    fn of(
        code: &'a str,
        language: Language,
        visible: Vec<Test>,
        hidden: Vec<Test>,
        bench: &Bench,
    ) -> Result<std::result::Result<Source<'a>, Verdict>> {
        let fails = |verdict: Verdict| Verdict::new(EditVerdict::SourceFails, verdict.to_string());
        let program = match bench.build(code, language)? {
            Ok(program) => program,
            Err(verdict) => return Ok(Err(fails(verdict))),
        };
        let mut runs = bench.runs_of(&program);
        let trial = bench.try_in(&mut runs, &visible)?;
        let failure = match trial.failure {
            None => bench.try_in(&mut runs, &hidden)?.failure,
            failure => failure,
        };
        if let Some((_, verdict)) = failure {
            return Ok(Err(fails(verdict)));
        }
        let times = match bench.time_tests(&program, &visible)? {
            Ok(times) => times,
            Err(verdict) => return Ok(Err(fails(verdict))),
        };
        let Trial { peak_bytes, printed, .. } = trial;
        let hidden_times = OnceLock::new();
        Ok(Ok(Source {
            code,
            language,
            visible,
            hidden,
            program,
            times,
            peak_bytes,
            printed,
            hidden_times,
        }))
    }

    /// Judge one candidate.
    pub(crate) fn judge(
        &self,
        code: &str,
        bench: &Bench,
        options: &JudgeOptions,
    ) -> Result<Judgement> {
        let mut row = Judgement {
            code: code.to_owned(),
            tests: self.visible.len() as u32,
            hidden_tests: self.hidden.len() as u32,
            src_seconds: Some(self.times.seconds),
            src_net: Some(self.times.seconds_net),
            src_times: self.times.each(),
            src_peak_bytes: self.peak_bytes,
            sanitizer: "not-run".into(),
            ..Judgement::default()
        };
        if !code.trim().is_empty() {
            let Label { change, io_only, array_shrunk } = label(self.code, code);
            row.label = change.name().into();
            row.io_only = io_only;
            row.array_shrunk = array_shrunk;
        }
        let verdict = match self.verdict(code, bench, options, &mut row)? {
            Ok(()) => Verdict::accepted(),
            Err(verdict) => verdict,
        };
        if !verdict.is_accepted() {
            // A time means nothing without the right answer.
            (row.seconds, row.net, row.times) = (None, None, Vec::new());
        }
        // One that is accepted says there what it was not held to.
        if !verdict.is_accepted() {
            row.detail = verdict.detail;
        }
        row.verdict = verdict.name.into_owned();
        Ok(row)
    }

    fn verdict(
        &self,
        code: &str,
        bench: &Bench,
        options: &JudgeOptions,
        row: &mut Judgement,
    ) -> Result<std::result::Result<(), Verdict>> {
        if code.trim().is_empty() {
            return Ok(Err(Verdict::new(EditVerdict::NoProgram, NO_PROGRAM)));
        }
        let program = match bench.build(code, self.language)? {
            Ok(program) => program,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let mut runs = bench.runs_of(&program);
        let trial = bench.try_in(&mut runs, &self.visible)?;
        row.passed = trial.passed as u32;
        row.peak_bytes = trial.peak_bytes;
        if let Some((number, verdict)) = trial.failure {
            let detail = format!("test {number}: {}", verdict.detail);
            return Ok(Err(Verdict { detail, ..verdict }));
        }
        let hidden = bench.try_in(&mut runs, &self.hidden)?;
        row.hidden_passed = hidden.passed as u32;
        if let Some((number, verdict)) = hidden.failure {
            let name = cheat::why_hidden_fails(self.code, code, &self.visible, row.array_shrunk);
            return Ok(Err(Verdict::new(name, format!("hidden test {number}: {verdict}"))));
        }
        if let Some(verdict) = self.answers_unasked(&mut runs, bench)? {
            return Ok(Err(verdict));
        }
        drop(runs);
        let times = match bench.time_candidate(&program, &self.program, &self.visible)? {
            Ok(times) => times,
            Err(verdict) => return Ok(Err(verdict)),
        };
        if let Some(verdict) = self.differs_when_timed(&trial.printed, &times) {
            return Ok(Err(verdict));
        }
        row.seconds = Some(times.seconds);
        // What it does before `main` beyond what the slow program does there is no start-up.
        row.net = Some(times.seconds - times.startup().min(self.times.startup()));
        row.times = times.each();
        row.instructions = Some(times.instructions);
        let faster = self.times.seconds / times.seconds >= options.threshold;
        row.startup_only =
            faster && row.net.is_some_and(|net| self.times.seconds_net < net * options.threshold);
        let watched = match options.sanitize {
            Sanitize::Faster => faster,
            Sanitize::All => true,
            Sanitize::Never => false,
        };
        if faster
            && let Some(verdict) =
                self.gains_unfairly(code, &program, &times, bench, options, row)?
        {
            return Ok(Err(verdict));
        }
        if watched {
            return self.sanitize(code, bench, row);
        }
        Ok(Ok(()))
    }

    /// Whether it printed something else in the run that was timed, by what the emulator lets it see, say. Where the slow
    /// program does so as well, it is no fault of the edit.
    fn differs_when_timed(&self, printed: &[String], times: &Times) -> Option<Verdict> {
        let differ = |one: &str, other: &str| !other.is_empty() && one != other;
        let of_slow = self.printed.iter().zip(&self.times.printed);
        let of_it = printed.iter().zip(&times.printed).zip(&self.visible);
        let mut both = of_slow.zip(of_it);
        let ((_, _), ((_, _), test)) =
            both.find(|((a, b), ((c, d), _))| !differ(a, b) && differ(c, d))?;
        let detail =
            format!("test {}: right when it was checked, another output when timed", test.number);
        Some(Verdict::new(EditVerdict::DiffersWhenTimed, detail))
    }

    /// Whether it is faster on the tests that it could know alone, or ends badly when it is timed on the others. Times
    /// that change from run to run do not tell.
    fn gains_unfairly(
        &self,
        code: &str,
        program: &Executable,
        times: &Times,
        bench: &Bench,
        options: &JudgeOptions,
        row: &mut Judgement,
    ) -> Result<Option<Verdict>> {
        if bench.stopwatch.identity().is_empty() {
            return Ok(None);
        }
        let ratios = |slow: &Times, fast: &Times| -> Vec<(f64, f64)> {
            slow.each()
                .into_iter()
                .zip(fast.each())
                .map(|(slow, fast)| (slow, slow / fast))
                .collect()
        };
        let known = ratios(&self.times, times);
        self.note_small(&known, &[], options, row);
        if self.hidden.is_empty() {
            return Ok(None);
        }
        if self.hidden_times.get().is_none() {
            let slow = bench.time_tests(&self.program, &self.hidden)?;
            // Another thread may have set the same.
            let _ = self.hidden_times.set(slow);
        }
        let slow = match self.hidden_times.get().expect("it is set above") {
            Ok(slow) => slow,
            Err(verdict) => {
                row.detail = format!(
                    "not compared on hidden tests: the slow program has no time on them, {verdict}"
                );
                return Ok(None);
            }
        };
        let fast = match bench.time_candidate(program, &self.program, &self.hidden)? {
            Ok(fast) => fast,
            Err(verdict) => {
                let detail = format!("hidden {}", verdict.detail);
                return Ok(Some(Verdict { detail, ..verdict }));
            }
        };
        let others = ratios(slow, &fast);
        self.note_small(&known, &others, options, row);
        Ok(cheat::why_gain_is_of_known(
            (self.code, code),
            &self.visible,
            &known,
            &others,
            options.threshold,
        ))
    }

    /// Note whether it gains on small inputs alone, by the slow program's times on visible and hidden tests and their ratios to its.
    fn note_small(
        &self,
        known: &[(f64, f64)],
        others: &[(f64, f64)],
        options: &JudgeOptions,
        row: &mut Judgement,
    ) {
        let numbered = |tests: &[Test], times: &[(f64, f64)]| -> Vec<(u64, f64, f64)> {
            let both = tests.iter().zip(times);
            both.map(|(test, (slow, ratio))| (test.number, *slow, *ratio)).collect()
        };
        let (known, others) = (numbered(&self.visible, known), numbered(&self.hidden, others));
        let refuting = cheat::refuting_test(&known, &others, options.threshold);
        row.small_only = refuting.is_some();
        row.refuted_by = refuting.unwrap_or_default();
    }

    /// The sanitizers' verdict; what they find in the slow program as well is no fault of the edit.
    fn sanitize(
        &self,
        code: &str,
        bench: &Bench,
        row: &mut Judgement,
    ) -> Result<std::result::Result<(), Verdict>> {
        let all: Vec<Test> = self.visible.iter().chain(&self.hidden).cloned().collect();
        let Some(found) = bench.sanitize(code, self.language, &all)? else {
            row.sanitizer = "clean".into();
            return Ok(Ok(()));
        };
        if bench.sanitize(self.code, self.language, &all)?.is_some() {
            row.sanitizer = "as-source".into();
            return Ok(Ok(()));
        }
        row.sanitizer = found.detail.clone();
        let bounds = ["overflow", "out of bounds", "underflow"];
        let out_of_bounds = bounds.iter().any(|word| found.detail.contains(word));
        Ok(match found.name.as_ref() {
            // A sanitizer takes more of everything; running out of it is not the program's fault.
            "timeout" | "cpu-limit" | "memory-limit" => Ok(()),
            _ if row.array_shrunk && out_of_bounds => {
                Err(Verdict::new(EditVerdict::ShrunkenArray, found.detail))
            }
            _ => Err(Verdict::new(EditVerdict::UndefinedBehaviour, found.detail)),
        })
    }

    /// Whether a program prints the answer to a test without having been given any, where another test has another
    /// answer: of a problem with one answer for all inputs, nothing has to be read.
    fn answers_unasked(&self, runs: &mut Runs, bench: &Bench) -> Result<Option<Verdict>> {
        let asks = |test: &Test| {
            let is_blank = |text: &[u8]| text.iter().all(u8::is_ascii_whitespace);
            !is_blank(&test.input) && !is_blank(&test.output)
        };
        let answers = |printed: &[u8]| {
            self.visible
                .iter()
                .find(|test| asks(test) && crate::compare::compare(&test.output, printed).is_ok())
        };
        let Ok(ran) = bench.output_in(runs, b"")? else { return Ok(None) };
        let Some(test) = answers(&ran.stdout) else { return Ok(None) };
        let differs = |other: &Test| {
            asks(other) && crate::compare::compare(&test.output, &other.output).is_err()
        };
        if !self.visible.iter().chain(&self.hidden).any(differs) {
            return Ok(None);
        }
        let source = bench.output(&self.program, b"")?;
        if source.is_ok_and(|ran| answers(&ran.stdout).is_some()) {
            return Ok(None);
        }
        let detail = format!("prints the answer to test {} on empty input", test.number);
        Ok(Some(Verdict::new(EditVerdict::OutputBeforeReading, detail)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{execute::Limits, store::Store};

    #[test]
    fn an_accepted_candidate_says_that_hidden_tests_were_not_timed() {
        let folder = tempfile::tempdir().unwrap();
        let timing = timing::Options {
            net: false,
            max_instructions: 20_000_000,
            ..timing::Options::default()
        };
        let bench = Bench::open(&timing, Limits::default(), &Store::at(folder.path())).unwrap();
        let code = |times: u32| {
            format!(
                "#include <stdio.h>\nint main() {{ int n; if (scanf(\"%d\", &n) != 1) return 0; \
                 for (int i = 0; i < n * {times}; i++) __asm__ volatile(\"\"); \
                 printf(\"%d\\n\", n); return 0; }}"
            )
        };
        let (slow, fast) = (code(10), code(1));
        let test = |number: u64, n: u32| Test {
            number,
            input: format!("{n}\n").into(),
            output: format!("{n}\n").into(),
        };
        let options = JudgeOptions { sanitize: Sanitize::Never, ..JudgeOptions::default() };
        for (hidden, is_timed) in [(300_000, true), (3_000_000, false)] {
            let (visible, hidden) = (vec![test(0, 200_000)], vec![test(1, hidden)]);
            let source = Source::of(&slow, Language::C, visible, hidden, &bench).unwrap().unwrap();
            let row = source.judge(&fast, &bench, &options).unwrap();
            assert_eq!(row.verdict, Verdict::ACCEPTED, "{}", row.detail);
            assert_eq!(row.detail.contains("instruction-limit"), !is_timed, "{}", row.detail);
        }
    }

    #[test]
    fn a_gain_on_small_inputs_alone_names_the_input_that_shows_it() {
        let folder = tempfile::tempdir().unwrap();
        let timing = timing::Options { max_instructions: 20_000_000, ..timing::Options::default() };
        let bench = Bench::open(&timing, Limits::default(), &Store::at(folder.path())).unwrap();
        let code = |times: &str| {
            format!(
                "#include <stdio.h>\nint main() {{ int n; if (scanf(\"%d\", &n) != 1) return 0; \
                 for (int i = 0; i < n * {times}; i++) __asm__ volatile(\"\"); \
                 printf(\"%d\\n\", n); return 0; }}"
            )
        };
        let test = |number: u64, n: u32| Test {
            number,
            input: format!("{n}\n").into(),
            output: format!("{n}\n").into(),
        };
        let options = JudgeOptions { sanitize: Sanitize::Never, ..JudgeOptions::default() };
        let (visible, hidden) = (vec![test(0, 100_000)], vec![test(5, 110_000), test(6, 400_000)]);
        let slow = code("10");
        let source = Source::of(&slow, Language::C, visible, hidden, &bench).unwrap().unwrap();
        for (times, refuted_by) in [("(n < 200000 ? 1 : 10)", "hidden test 6"), ("1", "")] {
            let row = source.judge(&code(times), &bench, &options).unwrap();
            assert_eq!(row.verdict, Verdict::ACCEPTED, "{}", row.detail);
            assert_eq!(
                (row.small_only, row.refuted_by.as_str()),
                (!refuted_by.is_empty(), refuted_by)
            );
            assert!(!row.startup_only);
        }
    }
}
