//! What programs are built, run and timed with, shared by all that judge.

use crate::{
    Result,
    compare::compare,
    execute::{self, Limits, Ran, Runs},
    pair::{Language, TestTime},
    stopwatch::{Stopwatch, Time},
    store::Store,
    suite::Test,
    toolchain::{Build, Executable, Toolchain},
};
use dataset::{Verdict, content_hash, content_hash_of};
use rows::{EditVerdict, Judgement};
use serde::{Deserialize, Serialize};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use timing::bounded::is_lasting;

/// How many times the instructions of the slow program a candidate may execute.
const PATIENCE: u64 = 4;

/// Compilers, limits and a source of times.
pub struct Bench {
    /// Makes executables.
    pub toolchain: Toolchain,
    /// Tells times.
    pub stopwatch: Stopwatch,
    /// What a program may use in one run.
    pub limits: Limits,
    /// Tells times of candidates that execute more instructions than the stopwatch allows, and how many that allows; `None` where
    /// it allows any number.
    patient: Option<(Stopwatch, u64)>,
    store: Store,
    runs: AtomicU64,
}

/// How a program fares on tests, run natively.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Tests passed before the first failure.
    pub passed: u64,
    /// The first test that failed and why.
    pub failure: Option<(u64, Verdict)>,
    /// Largest resident memory seen.
    pub peak_bytes: u64,
    /// Identity of what it printed on each test that it passed.
    pub printed: Vec<String>,
}

/// Times of all tests of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Of each test.
    pub tests: Vec<TestTime>,
    /// Seconds summed over the tests, as PIE's `agg_runtime`.
    pub seconds: f64,
    /// The same from `main` on.
    pub seconds_net: f64,
    /// Of each test, from `main` on.
    pub net: Vec<f64>,
    /// Instructions summed over the tests.
    pub instructions: u64,
    /// Identity of what it printed on each test; empty where the source of times does not read it.
    pub printed: Vec<String>,
}

impl Times {
    /// Seconds of each test.
    #[must_use]
    pub fn each(&self) -> Vec<f64> {
        self.tests.iter().filter_map(|time| time.seconds).collect()
    }

    /// Seconds before `main`, summed over the tests.
    #[must_use]
    pub fn startup(&self) -> f64 {
        self.seconds - self.seconds_net
    }
}

impl Bench {
    /// Find compilers and open a source of times; results are kept in `store`.
    ///
    /// # Errors
    /// When a tool is missing or an option is wrong.
    pub fn open(options: &timing::Options, limits: Limits, store: &Store) -> Result<Bench> {
        execute::allow_deep_stacks();
        let stopwatch = Stopwatch::open(options, store.clone())?;
        let patient = match options.max_instructions {
            0 => None,
            most => {
                let max_instructions = most.saturating_mul(PATIENCE);
                let options = timing::Options { max_instructions, ..options.clone() };
                Some((Stopwatch::open(&options, store.clone())?, most))
            }
        };
        Ok(Bench {
            toolchain: Toolchain::find(store.clone(), stopwatch.target())?,
            stopwatch,
            limits,
            patient,
            store: store.clone(),
            runs: AtomicU64::new(0),
        })
    }

    /// Identity of all that shapes a result besides programs and tests.
    #[must_use]
    pub fn identity(&self) -> String {
        let limits = format!("{:?}", self.limits);
        content_hash_of(
            [self.toolchain.identity(), self.stopwatch.identity(), &limits].map(str::as_bytes),
        )
    }

    /// What was found out about a candidate, where it was accepted.
    pub(crate) fn kept(&self, key: &str) -> Option<Judgement> {
        serde_json::from_slice(&self.store.get("judged", key)?).ok()
    }

    /// Keep what was found out about a candidate that is accepted. What is wrong with others may be due to a limit, and the
    /// trials that show it are kept where it is not.
    pub(crate) fn keep(&self, key: &str, row: &Judgement) {
        let is_whole = ["clean", "as-source", "not-run"].contains(&row.sanitizer.as_str());
        if let (true, true, Ok(text)) = (row.is_accepted(), is_whole, serde_json::to_vec(row)) {
            self.store.put("judged", key, &text);
        }
    }

    /// Native runs made, those that were kept left out.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// Build a program to be run and timed; a verdict when it does not compile.
    ///
    /// # Errors
    /// When the compiler cannot be run.
    pub fn build(
        &self,
        code: &str,
        language: Language,
    ) -> Result<std::result::Result<Executable, Verdict>> {
        self.toolchain.build(code, language, Build::Timed)
    }

    /// Run a program on `tests` until the first failure.
    ///
    /// # Errors
    /// When programs cannot be started.
    pub fn try_tests(&self, program: &Executable, tests: &[Test]) -> Result<Trial> {
        self.try_in(&mut self.runs_of(program), tests)
    }

    /// Runs of a program within the limits.
    pub(crate) fn runs_of(&self, program: &Executable) -> Runs {
        Runs::new(program, &self.limits)
    }

    /// [`Bench::try_tests`] in a series of runs.
    pub(crate) fn try_in(&self, runs: &mut Runs, tests: &[Test]) -> Result<Trial> {
        let limits = format!("{:?}", self.limits);
        let hash = crate::suite::hash_of(tests);
        let key = content_hash_of([runs.hash.as_bytes(), hash.as_bytes(), limits.as_bytes()]);
        if let Some(trial) =
            self.store.get("trials", &key).and_then(|t| serde_json::from_slice(&t).ok())
        {
            return Ok(trial);
        }
        let mut trial = Trial { passed: 0, failure: None, peak_bytes: 0, printed: Vec::new() };
        for test in tests {
            self.runs.fetch_add(1, Ordering::Relaxed);
            let verdict = match runs.run(&test.input)? {
                Err(verdict) => Some(verdict),
                Ok(ran) => {
                    trial.peak_bytes = trial.peak_bytes.max(ran.peak_bytes);
                    trial.printed.push(content_hash(&ran.stdout));
                    compare(&test.output, &ran.stdout)
                        .err()
                        .map(|difference| Verdict::new(EditVerdict::WrongOutput, difference))
                }
            };
            if let Some(verdict) = verdict {
                trial.failure = Some((test.number, verdict));
                break;
            }
            trial.passed += 1;
        }
        let lasting = trial.failure.as_ref().is_none_or(|(_, verdict)| is_lasting(verdict));
        if let (true, Ok(text)) = (lasting, serde_json::to_vec(&trial)) {
            self.store.put("trials", &key, &text);
        }
        Ok(trial)
    }

    /// What a program prints on one input, natively; a verdict when it comes to a bad end.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn output(
        &self,
        program: &Executable,
        input: &[u8],
    ) -> Result<std::result::Result<Ran, Verdict>> {
        self.output_within(program, input, self.limits.wall)
    }

    /// The same in a series of runs.
    pub(crate) fn output_in(
        &self,
        runs: &mut Runs,
        input: &[u8],
    ) -> Result<std::result::Result<Ran, Verdict>> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        runs.run(input)
    }

    /// The same, with a limit of its own on the processor time it takes, in whole seconds.
    ///
    /// # Errors
    /// When the sandbox cannot start.
    pub fn output_within(
        &self,
        program: &Executable,
        input: &[u8],
        processor: Duration,
    ) -> Result<std::result::Result<Ran, Verdict>> {
        self.output_in(&mut Runs::within(program, &self.limits, processor), input)
    }

    /// Time a program on all tests, or the verdict of the first that comes to a bad end.
    ///
    /// # Errors
    /// When the source of times cannot run.
    pub fn time_tests(
        &self,
        program: &Executable,
        tests: &[Test],
    ) -> Result<std::result::Result<Times, Verdict>> {
        Bench::time_by(&self.stopwatch, program, tests)
    }

    /// The same of a candidate: on a test it may execute several times the instructions of the slow program, where these are more
    /// than the limit.
    pub(crate) fn time_candidate(
        &self,
        program: &Executable,
        slow: &Executable,
        tests: &[Test],
    ) -> Result<std::result::Result<Times, Verdict>> {
        let times = self.time_tests(program, tests)?;
        let limit = EditVerdict::InstructionLimit;
        let is_limited = matches!(&times, Err(verdict) if verdict.name == limit.name());
        let Some((patient, most)) = self.patient.as_ref().filter(|_| is_limited) else {
            return Ok(times);
        };
        let inputs: Vec<&[u8]> = tests.iter().map(|test| test.input.as_slice()).collect();
        let allowed: Vec<u64> = self
            .stopwatch
            .time_each(slow, &inputs)?
            .into_iter()
            .map(|time| time.map_or(0, |time| time.instructions.saturating_mul(PATIENCE)))
            .map(|allowed| allowed.max(*most))
            .collect();
        // It would be stopped again.
        if allowed.iter().all(|allowed| allowed == most) {
            return Ok(times);
        }
        let found = patient.time_each(program, &inputs)?;
        for ((test, found), allowed) in tests.iter().zip(&found).zip(allowed) {
            if found.as_ref().is_ok_and(|found| found.instructions > allowed) {
                let number = test.number;
                let detail = format!("test {number}: ran for more than {allowed} instructions");
                return Ok(Err(Verdict::new(limit, detail)));
            }
        }
        Bench::time_by(patient, program, tests)
    }

    fn time_by(
        stopwatch: &Stopwatch,
        program: &Executable,
        tests: &[Test],
    ) -> Result<std::result::Result<Times, Verdict>> {
        let mut times = Times::default();
        let inputs: Vec<&[u8]> = tests.iter().map(|test| test.input.as_slice()).collect();
        for (test, time) in tests.iter().zip(stopwatch.time_each(program, &inputs)?) {
            let Time { seconds, seconds_net, instructions, output_hash, .. } = match time {
                Ok(time) => time,
                Err(verdict) => {
                    let detail = format!("test {}: {}", test.number, verdict.detail);
                    return Ok(Err(Verdict { detail, ..verdict }));
                }
            };
            times.tests.push(TestTime { test: test.number, seconds: Some(seconds) });
            times.net.push(seconds_net);
            times.seconds += seconds;
            times.seconds_net += seconds_net;
            times.instructions += instructions;
            times.printed.push(output_hash);
        }
        Ok(Ok(times))
    }

    /// The first finding of the sanitizers on `tests`, or none. Memory that the program does not set holds a pattern
    /// there: another answer than without is a finding too.
    ///
    /// # Errors
    /// When the compiler or the program cannot be started.
    pub fn sanitize(
        &self,
        code: &str,
        language: Language,
        tests: &[Test],
    ) -> Result<Option<Verdict>> {
        let hash = crate::suite::hash_of(tests);
        let key = content_hash_of([
            self.toolchain.identity().as_bytes(),
            language.name().as_bytes(),
            code.as_bytes(),
            hash.as_bytes(),
        ]);
        if let Some(kept) =
            self.store.get("sanitized", &key).and_then(|t| serde_json::from_slice(&t).ok())
        {
            return Ok(kept);
        }
        let found = match self.toolchain.build(code, language, Build::Sanitized)? {
            // Whether that lasts, the toolchain knows; it is asked again.
            Err(verdict) => return Ok(Some(verdict)),
            Ok(program) => self.first_finding(&program, tests)?,
        };
        let lasting = found.as_ref().is_none_or(is_lasting);
        if let (true, Ok(text)) = (lasting, serde_json::to_vec(&found)) {
            self.store.put("sanitized", &key, &text);
        }
        Ok(found)
    }

    fn first_finding(&self, program: &Executable, tests: &[Test]) -> Result<Option<Verdict>> {
        let mut runs = Runs::sanitized(program, &self.limits);
        for test in tests {
            let answered = self.output_in(&mut runs, &test.input)?.and_then(|ran| {
                compare(&test.output, &ran.stdout).map_err(|difference| {
                    let detail =
                        format!("answers otherwise where unset memory is not 0: {difference}");
                    Verdict::new(EditVerdict::UndefinedBehaviour, detail)
                })
            });
            if let Err(verdict) = answered {
                let detail = format!("test {}: {}", test.number, verdict.detail);
                return Ok(Some(Verdict { detail, ..verdict }));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_may_execute_more_than_the_limit_where_the_slow_program_nearly_does() {
        let folder = tempfile::tempdir().unwrap();
        let timing = timing::Options {
            net: false,
            max_instructions: 20_000_000,
            ..timing::Options::default()
        };
        let store = Store::at(folder.path());
        let bench = Bench::open(&timing, Limits::default(), &store).unwrap();
        let program = |rounds: u32| {
            let code = format!(
                "int main() {{ for (int i = 0; i < {rounds}; i++) __asm__ volatile(\"\"); return 0; }}"
            );
            bench.build(&code, Language::C).unwrap().unwrap()
        };
        let (little, much) = (program(1000), program(4_000_000));
        let tests = [Test { number: 3, input: Vec::new(), output: Vec::new() }];
        let time = |candidate: &Executable, slow: &Executable| {
            let times = bench.time_candidate(candidate, slow, &tests).unwrap();
            times.map(|times| times.instructions).map_err(|verdict| verdict.name.into_owned())
        };
        let (candidate, endless) = (program(11_000_000), program(60_000_000));
        assert!(bench.time_tests(&candidate, &tests).unwrap().is_err());
        assert!(time(&candidate, &much).is_ok_and(|instructions| instructions > 20_000_000));
        for (candidate, slow) in [(&candidate, &little), (&endless, &much)] {
            assert_eq!(time(candidate, slow), Err("instruction-limit".to_owned()));
        }
    }
}
