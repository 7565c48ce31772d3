//! Whether a candidate is right, and how fast it is.
//!
//! In the order of what it costs: build, all tests natively until the first failure, hidden tests, a run
//! without input, times of all tests, and for those that would count as improvements the sanitizers. What
//! a candidate does wrong is a verdict; [`EditVerdict`] lists them.

mod cheat;

use crate::{
    Error, Result,
    bench::{Bench, Times},
    candidates::Candidates,
    execute::Runs,
    label::{Label, label},
    pair::{Language, Pair},
    suite::{Test, TestFolder},
    toolchain::Executable,
};
use dataset::{Builder, Input, Notes, Progress, Verdict, content_hash, content_hash_of};
use rayon::prelude::*;
use rows::EditVerdict;
pub use rows::Judgement;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};
use timing::bounded::Faults;

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

/// What judging came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgeReport {
    /// Pairs with candidates.
    pub pairs: u64,
    /// Problems of these.
    pub problems: u64,
    /// Candidates judged.
    pub candidates: u64,
    /// Candidates for pairs that are not there.
    pub unmatched: u64,
    /// Candidates by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Programs times tests that were asked for, those of the slow programs included.
    pub program_tests: u64,
    /// Native runs made (others were known already).
    pub runs: u64,
    /// Times measured (others were known already).
    pub timed: u64,
    /// Instructions of these.
    pub instructions: u64,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// Tests, those that candidates may be tuned to and those that they are not.
#[derive(Clone, Debug)]
pub struct Tests {
    /// Used for correctness and time.
    pub visible: TestFolder,
    /// Used for correctness alone.
    pub hidden: Option<TestFolder>,
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
        let fails = |verdict: Verdict| Verdict::new(EditVerdict::SourceFails, verdict.to_string());
        let language = pair.language();
        let program = match bench.build(&pair.src_code, language)? {
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
        let code = &pair.src_code;
        let peak_bytes = trial.peak_bytes;
        Ok(Ok(Source { code, language, visible, hidden, program, times, peak_bytes }))
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
            src_times: seconds(&self.times),
            src_peak_bytes: self.peak_bytes,
            sanitizer: "not-run".into(),
            ..Judgement::default()
        };
        let Label { change, io_only, array_shrunk } = label(self.code, code);
        row.label = change.name().into();
        row.io_only = io_only;
        row.array_shrunk = array_shrunk;
        let verdict = match self.verdict(code, bench, options, &mut row)? {
            Ok(()) => Verdict::accepted(),
            Err(verdict) => verdict,
        };
        if !verdict.is_accepted() {
            // A time means nothing without the right answer.
            (row.seconds, row.net, row.times) = (None, None, Vec::new());
        }
        row.verdict = verdict.name.into_owned();
        row.detail = verdict.detail;
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
            return Ok(Err(Verdict::new(EditVerdict::NoProgram, "the answer has none")));
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
        let trial = bench.try_in(&mut runs, &self.hidden)?;
        row.hidden_passed = trial.passed as u32;
        if let Some((number, verdict)) = trial.failure {
            let name = cheat::why_hidden_fails(self.code, code, &self.visible, row.array_shrunk);
            return Ok(Err(Verdict::new(name, format!("hidden test {number}: {verdict}"))));
        }
        if let Some(verdict) = self.answers_unasked(&mut runs, bench)? {
            return Ok(Err(verdict));
        }
        drop(runs);
        let times = match bench.time_tests(&program, &self.visible)? {
            Ok(times) => times,
            Err(verdict) => return Ok(Err(verdict)),
        };
        row.seconds = Some(times.seconds);
        row.net = Some(times.seconds_net);
        row.times = seconds(&times);
        row.instructions = Some(times.instructions);
        let faster = self.times.seconds / times.seconds >= options.threshold;
        let watched = match options.sanitize {
            Sanitize::Faster => faster,
            Sanitize::All => true,
            Sanitize::Never => false,
        };
        if watched {
            return self.sanitize(code, bench, row);
        }
        Ok(Ok(()))
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

    /// Whether a program prints the answer to a test without having been given any.
    fn answers_unasked(&self, runs: &mut Runs, bench: &Bench) -> Result<Option<Verdict>> {
        let answers = |printed: &[u8]| {
            self.visible.iter().find(|test| {
                let asked = !test.input.iter().all(u8::is_ascii_whitespace);
                let answer = !test.output.iter().all(u8::is_ascii_whitespace);
                asked && answer && crate::compare::compare(&test.output, printed).is_ok()
            })
        };
        let Ok(ran) = bench.output_in(runs, b"")? else { return Ok(None) };
        let Some(test) = answers(&ran.stdout) else { return Ok(None) };
        let source = bench.output(&self.program, b"")?;
        if source.is_ok_and(|ran| answers(&ran.stdout).is_some()) {
            return Ok(None);
        }
        let detail = format!("prints the answer to test {} on empty input", test.number);
        Ok(Some(Verdict::new(EditVerdict::OutputBeforeReading, detail)))
    }
}

fn seconds(times: &Times) -> Vec<f64> {
    times.tests.iter().filter_map(|time| time.seconds).collect()
}

/// Judge the candidates for `pairs` and write a row for each as the data set `out`. A run that was
/// stopped goes on where it was. A fault of the machine leaves the candidates of a pair without rows.
///
/// # Errors
/// When programs cannot be built, run or timed at all, where some were left without rows (when all others have
/// theirs), after [`sandbox::stop_all`], or when the data set cannot be made.
pub fn judge(
    pairs: &[Pair],
    candidates: &[Candidates],
    tests: &Tests,
    bench: &Bench,
    options: &JudgeOptions,
    (out, force): (&Path, bool),
    progress: &dyn Progress,
) -> Result<JudgeReport> {
    let started = Instant::now();
    let (runs, (timed, instructions)) = (bench.runs(), bench.stopwatch.work());
    let mut of_pair: Vec<(&Pair, Vec<(&str, &str)>)> = Vec::new();
    let mut by_src: BTreeMap<&str, Vec<&Candidates>> = BTreeMap::new();
    for drawn in candidates {
        by_src.entry(&drawn.src_id).or_default().push(drawn);
    }
    let mut matched = 0;
    for pair in pairs {
        let drawn = by_src.get(pair.src_id.as_str()).into_iter().flatten();
        let drawn: Vec<&Candidates> = drawn.copied().filter(|drawn| drawn.are_for(pair)).collect();
        let mut programs: Vec<(&str, &str)> = drawn
            .iter()
            .flat_map(|d| d.programs.iter().map(|program| (d.method.as_str(), program.as_str())))
            .take(options.most.unwrap_or(usize::MAX))
            .collect();
        // To hand in nothing is an answer too: left out, it would flatter who answers seldom.
        if let (true, Some(none)) = (programs.is_empty(), drawn.first()) {
            programs.push((&none.method, ""));
        }
        matched += u64::from(!programs.is_empty());
        if !programs.is_empty() {
            of_pair.push((pair, programs));
        }
    }
    let problems: std::collections::BTreeSet<&str> =
        of_pair.iter().map(|(pair, _)| pair.problem_id.as_str()).collect();
    let mut identities = vec![tests.visible.identity(problems.iter().copied())?];
    if let Some(hidden) = &tests.hidden {
        identities.push(hidden.identity(problems.iter().copied())?);
    }
    let tests_hash = content_hash_of(identities.iter().map(String::as_bytes));
    let pieces = of_pair.iter().flat_map(|(pair, programs)| {
        std::iter::once(pair.src_code.as_bytes()).chain(programs.iter().map(|(_, p)| p.as_bytes()))
    });
    let programs_hash = content_hash_of(pieces);
    let settings = (options, bench.identity(), &tests_hash, &programs_hash);
    let builder = Builder::<Judgement>::create(out, force, &settings)?;

    bench.toolchain.expect(of_pair.iter().flat_map(|(pair, programs)| {
        let codes = programs.iter().map(|(_, code)| *code).chain([pair.src_code.as_str()]);
        codes.map(|code| (code, pair.language()))
    }));
    let fastest = fastest_known(pairs, &problems, tests, bench, progress)?;
    let total: u64 = of_pair.iter().map(|(_, programs)| programs.len() as u64).sum();
    progress.begin("judge", total);
    let program_tests = AtomicU64::new(0);
    let key = |at: usize, pair: &Pair| content_hash(format!("{at} {}", pair.name()).as_bytes());
    let faults = Faults::default();
    let rows_of = |pair: &Pair, programs: &[(&str, &str)]| -> Result<Vec<Judgement>> {
        let source = Source::prepare(pair, tests, bench)?;
        if let Ok(source) = &source {
            let each = (source.visible.len() + source.hidden.len()) as u64;
            program_tests.fetch_add(each * (programs.len() as u64 + 1), Ordering::Relaxed);
        }
        let mut rows = Vec::new();
        for (index, (method, program)) in programs.iter().enumerate() {
            let mut row = match &source {
                Ok(source) => source.judge(program, bench, options)?,
                Err(verdict) => Judgement {
                    code: (*program).to_owned(),
                    verdict: verdict.name.clone().into_owned(),
                    detail: verdict.detail.clone(),
                    ..Judgement::default()
                },
            };
            row.problem_id = pair.problem_id.clone();
            row.src_id = pair.src_id.clone();
            row.tgt_id = pair.tgt_id.clone();
            row.candidate = index as u32;
            row.method = (*method).to_owned();
            row.fastest_seconds = fastest.get(pair.problem_id.as_str()).copied();
            rows.push(row);
        }
        Ok(rows)
    };
    of_pair.par_iter().enumerate().try_for_each(|(at, (pair, programs))| -> Result<()> {
        timing::bounded::check()?;
        let (key, count) = (key(at, pair), programs.len() as u64);
        if !builder.has(&key)
            && let Some(rows) = faults.pass(count, rows_of(pair, programs), Error::is_fault)?
        {
            builder.add(&key, rows)?;
        }
        progress.advance(count);
        Ok(())
    })?;
    faults.check(total)?;

    let mut rows = Vec::new();
    for (at, (pair, _)) in of_pair.iter().enumerate() {
        rows.extend(builder.rows_of(&key(at, pair)).collect::<std::result::Result<Vec<_>, _>>()?);
    }
    let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
    for row in &rows {
        *verdicts.entry(row.verdict.clone()).or_default() += 1;
    }
    let (timed_now, instructions_now) = bench.stopwatch.work();
    let report = JudgeReport {
        pairs: of_pair.len() as u64,
        problems: problems.len() as u64,
        candidates: rows.len() as u64,
        unmatched: (candidates.len() as u64).saturating_sub(matched),
        verdicts: verdicts.clone(),
        program_tests: program_tests.into_inner(),
        runs: bench.runs() - runs,
        timed: timed_now - timed,
        instructions: instructions_now - instructions,
        seconds: started.elapsed().as_secs_f64(),
    };
    let notes = Notes {
        inputs: vec![
            Input { name: "programs".into(), hash: programs_hash },
            Input { name: "tests".into(), hash: tests_hash },
        ],
        configuration: serde_json::to_value(options).unwrap_or_default(),
        verdicts,
        summary: serde_json::json!({"pairs": report.pairs, "candidates": report.candidates}),
        ..Notes::default()
    };
    builder.finish(rows, notes)?;
    Ok(report)
}

/// The least time that any program of the pairs takes on its problem's tests.
fn fastest_known<'a>(
    pairs: &'a [Pair],
    problems: &std::collections::BTreeSet<&str>,
    tests: &Tests,
    bench: &Bench,
    progress: &dyn Progress,
) -> Result<BTreeMap<&'a str, f64>> {
    let wanted: Vec<&Pair> =
        pairs.iter().filter(|pair| problems.contains(pair.problem_id.as_str())).collect();
    progress.begin("fastest known", wanted.len() as u64);
    let times: Vec<(&str, Option<f64>)> = wanted
        .into_par_iter()
        .map(|pair| {
            timing::bounded::check()?;
            let visible = tests.visible.tests(&pair.problem_id)?;
            let mut best: Option<f64> = None;
            for code in [&pair.src_code, &pair.tgt_code] {
                let Ok(program) = bench.build(code, pair.language())? else { continue };
                if visible.is_empty() || bench.try_tests(&program, &visible)?.failure.is_some() {
                    continue;
                }
                if let Ok(times) = bench.time_tests(&program, &visible)? {
                    best = Some(best.map_or(times.seconds, |best| best.min(times.seconds)));
                }
            }
            progress.advance(1);
            Ok((pair.problem_id.as_str(), best))
        })
        .collect::<Result<_>>()?;
    let mut fastest = BTreeMap::new();
    for (problem, seconds) in times {
        if let Some(seconds) = seconds {
            let least = fastest.entry(problem).or_insert(seconds);
            *least = least.min(seconds);
        }
    }
    Ok(fastest)
}
