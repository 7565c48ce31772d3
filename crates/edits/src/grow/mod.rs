//! Tests that force the issue.
//!
//! Samples of contests are tiny: most of what a program takes on them is its start-up, and an array cut to
//! a tenth passes. From the samples a grammar of the inputs is inferred, and inputs of it are drawn, larger
//! and larger. One becomes a test when all accepted programs of the problem agree on its output, come to a
//! good end, ask for no more than there is, and one of them runs clean under the sanitizers.

mod generate;
mod grammar;

use crate::{
    Error, Result,
    bench::Bench,
    compare::compare,
    pair::{Language, Pair, write_lines},
    schema::{Broken, OnBroken, form, read_values},
    stopwatch::Time,
    store::Store,
    suite::{Test, TestFolder, hash_of},
    toolchain::Executable,
};
use dataset::{Progress, Verdict, content_hash, content_hash_of};
use generate::{Generator, Scale};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use rows::EditVerdict;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::{Duration, Instant},
};
use timing::bounded::Faults;

/// Native wall-clock time after which nobody asks for the exact time any more.
const SLOW: Duration = Duration::from_millis(700);
/// Where a program is stopped: an input that a program needs longer for is too slow anyway.
const LONGEST: Duration = SLOW.saturating_mul(3);

/// How tests are grown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GrowOptions {
    /// Grown tests per problem that candidates are judged and timed on.
    pub visible: usize,
    /// Grown tests per problem that are held back.
    pub hidden: usize,
    /// Inputs drawn per problem at most.
    pub draws: usize,
    /// Bytes of an input at most.
    pub bytes: usize,
    /// Inputs stop growing when the slow program executes so many instructions on one.
    pub enough: u64,
    /// An input on which it executes more is rejected.
    pub most: u64,
    /// Accepted programs per problem that must agree, at most.
    pub programs: usize,
    /// Random seed of the draws.
    pub seed: u64,
}

impl Default for GrowOptions {
    fn default() -> GrowOptions {
        GrowOptions {
            visible: 8,
            hidden: 8,
            draws: 60,
            bytes: 1 << 20,
            enough: 10_000_000,
            most: 100_000_000,
            programs: 6,
            seed: 0,
        }
    }
}

/// A problem's samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// Its name.
    pub id: String,
    /// Inputs and outputs.
    pub samples: Vec<(String, String)>,
}

impl Problem {
    /// Read JSON lines with `problem_id` and `samples`.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is broken and `on_broken` says to stop.
    pub fn read(path: &Path, on_broken: OnBroken) -> Result<(Vec<Problem>, Vec<Broken>)> {
        let (lines, broken) = read_values(path, form::PROBLEMS, on_broken)?;
        let problem = |line: &Map<String, Value>| Problem {
            id: line["problem_id"].as_str().unwrap_or_default().to_owned(),
            samples: line["samples"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|sample| {
                    let text = |key: &str| sample[key].as_str().unwrap_or_default().to_owned();
                    (text("input"), text("output"))
                })
                .collect(),
        };
        Ok((lines.iter().map(problem).collect(), broken))
    }
}

/// What became of one problem.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grown {
    /// The problem.
    pub problem_id: String,
    /// `accepted`, or why it has no tests.
    pub verdict: String,
    /// Samples that its programs pass.
    pub samples: usize,
    /// Visible tests, samples included.
    pub tests: usize,
    /// Hidden tests.
    pub hidden: usize,
    /// Programs that agree.
    pub programs: usize,
    /// The grammar; empty where none fits.
    pub grammar: String,
    /// Bytes of the largest input.
    pub largest_bytes: usize,
    /// Instructions of the slowest program on the largest test.
    pub largest_instructions: u64,
    /// Of its time on that test, the share before and after `main`.
    pub startup_share: f64,
    /// Inputs drawn.
    pub drawn: usize,
    /// Inputs rejected, by reason.
    pub turned_away: BTreeMap<String, u64>,
}

/// What became of all problems.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GrowReport {
    /// Problems with programs.
    pub problems: u64,
    /// Of these, problems with a test.
    pub with_tests: u64,
    /// Of these, problems with a grown test.
    pub grown: u64,
    /// Of these, problems that have a grammar.
    pub with_grammar: u64,
    /// Visible tests in all.
    pub tests: u64,
    /// Hidden tests in all.
    pub hidden: u64,
    /// Problems whose largest test is at least half start-up.
    pub mostly_startup: u64,
    /// Median of instructions on a problem's largest test.
    pub largest_instructions_median: u64,
    /// Problems by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// Grow tests for the problems of `pairs` and write them to `visible` and `hidden`; rows of what became of
/// each problem go to `tests.jsonl` beside them.
///
/// # Errors
/// When programs cannot be built or run at all, where faults of the machine left problems without an answer (when all
/// others have theirs), after [`sandbox::stop_all`], or when a file cannot be written. The same call then resumes
/// from there.
pub fn grow(
    problems: &[Problem],
    pairs: &[Pair],
    bench: &Bench,
    (visible, hidden): (&TestFolder, &TestFolder),
    options: &GrowOptions,
    progress: &dyn Progress,
) -> Result<GrowReport> {
    let started = Instant::now();
    let samples: BTreeMap<&str, &Problem> = problems.iter().map(|p| (p.id.as_str(), p)).collect();
    let mut programs: BTreeMap<&str, Vec<(&str, Language)>> = BTreeMap::new();
    for pair in pairs {
        let list = programs.entry(&pair.problem_id).or_default();
        // The slow one first: its time is what tests must not be too small for.
        for code in [&pair.src_code, &pair.tgt_code] {
            if !list.iter().any(|(known, _)| known == code) {
                list.push((code, pair.language()));
            }
        }
    }
    progress.begin("grow tests", programs.len() as u64);
    let (faults, unfinished) = (Faults::default(), Unfinished { visible, hidden });
    let results: Vec<Option<Grown>> = programs
        .par_iter()
        .map(|(id, programs)| {
            timing::bounded::check()?;
            let nothing = Problem { id: (*id).to_owned(), samples: Vec::new() };
            let problem = samples.get(id).copied().unwrap_or(&nothing);
            let key = key(problem, programs, bench, options);
            let grown = match unfinished.get(id, &key) {
                Some(grown) => Some(grown),
                None => {
                    let grown = Grower { problem, bench, options }.grow(programs);
                    let grown = faults.pass(1, grown, Error::is_fault)?;
                    grown.map(|made| unfinished.put(&key, made)).transpose()?
                }
            };
            progress.advance(1);
            Ok(grown)
        })
        .collect::<Result<_>>()?;
    faults.check(programs.len() as u64)?;
    let mut report = GrowReport { problems: results.len() as u64, ..GrowReport::default() };
    let mut sizes = Vec::new();
    let mut rows = Vec::new();
    for grown in results.iter().flatten() {
        let (shown, held_back) = (&grown.tests, &grown.hidden);
        report.with_tests += u64::from(*shown > 0);
        report.grown += u64::from(grown.tests > grown.samples);
        report.with_grammar += u64::from(!grown.grammar.is_empty());
        report.tests += *shown as u64;
        report.hidden += *held_back as u64;
        report.mostly_startup += u64::from(*shown > 0 && grown.startup_share >= 0.5);
        *report.verdicts.entry(grown.verdict.clone()).or_default() += 1;
        if *shown > 0 {
            sizes.push(grown.largest_instructions);
        }
        if let Ok(Value::Object(row)) = serde_json::to_value(grown) {
            rows.push(row);
        }
    }
    sizes.sort_unstable();
    report.largest_instructions_median = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
    report.seconds = started.elapsed().as_secs_f64();
    write_lines(&visible.root().join("tests.jsonl"), &rows)?;
    unfinished.forget();
    if report.problems == 0 {
        return Err(Error::Empty {
            what: "problems with programs",
            path: visible.root().to_owned(),
        });
    }
    Ok(report)
}

/// Identity of a problem and of all that shapes its tests.
fn key(
    problem: &Problem,
    programs: &[(&str, Language)],
    bench: &Bench,
    options: &GrowOptions,
) -> String {
    let settings = format!("{} {} {options:?}", env!("CARGO_PKG_VERSION"), bench.identity());
    let samples = problem.samples.iter().flat_map(|(input, output)| [input, output]);
    let programs = programs.iter().flat_map(|(code, language)| [*code, language.name()]);
    let pieces = [problem.id.as_str(), &settings].into_iter();
    content_hash_of(pieces.chain(samples.map(String::as_str)).chain(programs).map(str::as_bytes))
}

/// For the fuzzer: inputs drawn from the grammar of samples, and whether it reads each.
pub(crate) fn drawn(samples: &[&str]) -> Option<Vec<(String, bool)>> {
    let grammar = grammar::infer(samples)?;
    let generator = Generator::learn(grammar.clone(), samples);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let scales = [(1.0, 1.0), (4.0, 4.0)].map(|(counts, values)| Scale { counts, values });
    let draws = scales.into_iter().filter_map(|scale| generator.generate(scale, &mut rng));
    Some(draws.map(|text| (text.clone(), grammar.read(&grammar::lines(&text)).is_some())).collect())
}

/// What is known of the problems of a run that has not ended, in the folder of tests.
struct Unfinished<'a> {
    visible: &'a TestFolder,
    hidden: &'a TestFolder,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    grown: Grown,
    /// Identity of its tests.
    tests: [String; 2],
}

impl Unfinished<'_> {
    fn store(&self) -> Store {
        Store::at(&self.visible.root().join("unfinished"))
    }

    fn get(&self, problem: &str, key: &str) -> Option<Grown> {
        let kept: Kept = serde_json::from_slice(&self.store().get("grown", key)?).ok()?;
        let same = |folder: &TestFolder, hash: &String| {
            folder.tests(problem).is_ok_and(|tests| hash_of(&tests) == *hash)
        };
        let [visible, hidden] = &kept.tests;
        (same(self.visible, visible) && same(self.hidden, hidden)).then_some(kept.grown)
    }

    fn put(&self, key: &str, (grown, shown, held_back): Made) -> Result<Grown> {
        self.visible.put(&grown.problem_id, &shown)?;
        self.hidden.put(&grown.problem_id, &held_back)?;
        let kept = Kept { grown, tests: [hash_of(&shown), hash_of(&held_back)] };
        if let Ok(text) = serde_json::to_vec(&kept) {
            self.store().put("grown", key, &text);
        }
        Ok(kept.grown)
    }

    /// The run has ended.
    fn forget(&self) {
        self.store().clear("grown");
    }
}

/// What became of a problem, its tests, and its hidden ones.
type Made = (Grown, Vec<Test>, Vec<Test>);

struct Grower<'a> {
    problem: &'a Problem,
    bench: &'a Bench,
    options: &'a GrowOptions,
}

/// A drawn input that all agree on.
struct Agreed {
    test: Test,
    instructions: u64,
}

impl Grower<'_> {
    fn grow(&self, programs: &[(&str, Language)]) -> Result<Made> {
        let mut grown = Grown { problem_id: self.problem.id.clone(), ..Grown::default() };
        let samples: Vec<Test> = self
            .problem
            .samples
            .iter()
            .enumerate()
            .map(|(at, (input, output))| Test {
                number: at as u64,
                input: input.clone().into_bytes(),
                output: output.clone().into_bytes(),
            })
            .collect();
        if samples.is_empty() {
            grown.verdict = EditVerdict::NoSamples.to_string();
            return Ok((grown, Vec::new(), Vec::new()));
        }
        let mut accepted: Vec<(Executable, &str, Language)> = Vec::new();
        for (code, language) in programs {
            if accepted.len() == self.options.programs {
                break;
            }
            let Ok(program) = self.bench.build(code, *language)? else { continue };
            if self.bench.try_tests(&program, &samples)?.failure.is_none() {
                accepted.push((program, code, *language));
            }
        }
        grown.samples = samples.len();
        grown.programs = accepted.len();
        let Some((slowest, ..)) = accepted.first() else {
            grown.verdict = EditVerdict::NoProgramPasses.to_string();
            return Ok((grown, Vec::new(), Vec::new()));
        };
        grown.verdict = Verdict::ACCEPTED.into();
        let agreed = match accepted.len() {
            // One program agrees with itself on anything.
            1 => {
                grown.verdict = EditVerdict::OnlyOneProgram.to_string();
                Vec::new()
            }
            _ => self.draw(&accepted, &samples, &mut grown)?,
        };
        let (mut shown, held_back) = self.share_out(agreed, samples.len() as u64);
        shown.splice(0..0, samples);
        grown.tests = shown.len();
        grown.hidden = held_back.len();
        grown.largest_bytes = shown.iter().map(|test| test.input.len()).max().unwrap_or(0);
        let mut most = 0.0;
        for test in &shown {
            if let Ok(time) = self.bench.stopwatch.time(slowest, &test.input)?
                && time.seconds > most
            {
                most = time.seconds;
                grown.largest_instructions = time.instructions;
                grown.startup_share = 1.0 - time.seconds_net / time.seconds;
            }
        }
        Ok((grown, shown, held_back))
    }

    /// Draw inputs, each scale larger than the one before, and keep those that are tests.
    fn draw(
        &self,
        accepted: &[(Executable, &str, Language)],
        samples: &[Test],
        grown: &mut Grown,
    ) -> Result<Vec<Agreed>> {
        let texts: Vec<&str> =
            self.problem.samples.iter().map(|(input, _)| input.as_str()).collect();
        let generator = grammar::infer(&texts).map(|grammar| Generator::learn(grammar, &texts));
        grown.grammar = generator.as_ref().map(Generator::describe).unwrap_or_default();
        let hash = content_hash(self.problem.id.as_bytes());
        let seed = u64::from_str_radix(&hash[..8], 16).unwrap_or(0) ^ self.options.seed;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (_, code, language) = &accepted[0];
        // A program with findings on the samples has them anywhere; then they tell nothing.
        let watch = self.bench.sanitize(code, *language, samples)?.is_none();
        let mut ends = false;
        for test in samples {
            let time = self.bench.stopwatch.time(&accepted[0].0, &test.input)?;
            ends |= time.is_ok_and(|time| time.input_ended);
        }
        let mut agreed: Vec<Agreed> = Vec::new();
        let mut known: BTreeSet<String> =
            samples.iter().map(|test| content_hash(&test.input)).collect();
        let mut plan = scales(generator.is_some());
        while let Some((scale, draws)) = plan.pop() {
            let mut kept = 0;
            let mut failed = 0;
            for _ in 0..draws {
                if grown.drawn == self.options.draws {
                    return Ok(agreed);
                }
                grown.drawn += 1;
                let input = match &generator {
                    Some(generator) => generator.generate(scale, &mut rng),
                    None => {
                        let at = grown.drawn % texts.len();
                        Some(generate::mutate(texts[at], &mut rng))
                    }
                };
                let reason = match input {
                    Some(input) if input.len() <= self.options.bytes => {
                        if !known.insert(content_hash(input.as_bytes())) {
                            continue;
                        }
                        match self.agree(accepted, input.into_bytes(), watch, ends)? {
                            Ok(one) => {
                                agreed.push(one);
                                kept += 1;
                                continue;
                            }
                            Err(reason) => reason,
                        }
                    }
                    _ => "too-large",
                };
                failed += 1;
                *grown.turned_away.entry(reason.to_owned()).or_default() += 1;
            }
            let slow = agreed.iter().any(|one| one.instructions >= self.options.enough);
            // Where nothing of a scale holds, nothing larger of its kind will.
            if slow || (kept == 0 && failed > 0) {
                plan.retain(|(other, _)| {
                    let more_counts = other.counts > scale.counts && slow;
                    let more = other.counts >= scale.counts && other.values >= scale.values;
                    !more_counts && !more
                });
            }
        }
        Ok(agreed)
    }

    /// Whether all programs agree on an input and treat it well.
    fn agree(
        &self,
        accepted: &[(Executable, &str, Language)],
        input: Vec<u8>,
        watch: bool,
        ends: bool,
    ) -> Result<std::result::Result<Agreed, &'static str>> {
        let mut output: Option<Vec<u8>> = None;
        for (program, ..) in accepted {
            let ran = match self.bench.output_within(program, &input, LONGEST)? {
                Ok(ran) => ran,
                Err(verdict) if verdict.name == "timeout" => return Ok(Err("too-slow")),
                Err(_) => return Ok(Err("bad-end")),
            };
            if ran.wall > SLOW {
                return Ok(Err("too-slow"));
            }
            match &output {
                None => output = Some(ran.stdout),
                Some(first) => {
                    if compare(first, &ran.stdout).is_err() || compare(&ran.stdout, first).is_err()
                    {
                        return Ok(Err("disagree"));
                    }
                }
            }
        }
        let Some(output) = output else { return Ok(Err("bad-end")) };
        if output.iter().all(u8::is_ascii_whitespace) {
            return Ok(Err("no-output"));
        }
        let test = Test { number: 0, input, output };
        let (program, code, language) = &accepted[0];
        if watch && self.bench.sanitize(code, *language, std::slice::from_ref(&test))?.is_some() {
            return Ok(Err("undefined-behaviour"));
        }
        match self.bench.stopwatch.time(program, &test.input)? {
            Err(_) => Ok(Err("cannot-be-timed")),
            Ok(time) if time.input_ended && !ends => Ok(Err("reads-past-input")),
            Ok(time) if time.instructions > self.options.most => Ok(Err("too-slow")),
            Ok(Time { instructions, .. }) => Ok(Ok(Agreed { test, instructions })),
        }
    }

    /// The largest and some small ones are visible, others of all sizes hidden.
    fn share_out(&self, mut agreed: Vec<Agreed>, first: u64) -> (Vec<Test>, Vec<Test>) {
        agreed.sort_by_key(|one| one.test.input.len());
        let mut order: Vec<Agreed> = Vec::new();
        // From both ends in turn: the largest, the smallest, the second largest, ...
        while !agreed.is_empty() {
            if let Some(largest) = agreed.pop() {
                order.push(largest);
            }
            if !agreed.is_empty() {
                order.push(agreed.remove(0));
            }
        }
        let (mut shown, mut held_back) = (Vec::new(), Vec::new());
        for (at, one) in order.into_iter().enumerate() {
            let hide = at % 4 >= 2;
            if hide && held_back.len() < self.options.hidden {
                held_back.push(one.test);
            } else if shown.len() < self.options.visible {
                shown.push(one.test);
            } else if held_back.len() < self.options.hidden {
                held_back.push(one.test);
            }
        }
        for (at, test) in shown.iter_mut().enumerate() {
            test.number = first + at as u64;
        }
        for (at, test) in held_back.iter_mut().enumerate() {
            test.number = at as u64;
        }
        (shown, held_back)
    }
}

/// Scales and how many inputs are drawn at each, the last one first.
fn scales(grammar: bool) -> Vec<(Scale, usize)> {
    let scale = |counts: f64, values: f64| Scale { counts, values };
    let mut plan = vec![(scale(1.0, 1.0), if grammar { 6 } else { 16 })];
    if grammar {
        for factor in [16.0, 256.0, 4096.0, 65536.0] {
            plan.push((scale(factor, 1.0), 2));
            plan.push((scale(1.0, factor), 2));
            plan.push((scale(factor, factor), 2));
        }
    }
    plan.reverse();
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Store};

    #[test]
    fn a_problem_that_is_done_is_found_again_while_its_tests_are_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str| TestFolder::create(&folder.path().join(name)).unwrap();
        let (visible, hidden) = (put("visible"), put("hidden"));
        let unfinished = Unfinished { visible: &visible, hidden: &hidden };
        let test = |n: u64| Test { number: n, input: vec![b'1'], output: vec![b'2'] };
        let grown = Grown { problem_id: "p1".into(), tests: 1, hidden: 1, ..Grown::default() };
        let made = (grown.clone(), vec![test(0)], vec![test(1)]);
        assert_eq!(unfinished.get("p1", "key"), None);
        unfinished.put("key", made.clone()).unwrap();
        assert_eq!(unfinished.get("p1", "key"), Some(grown));
        assert_eq!(unfinished.get("p1", "other"), None);
        visible.put("p1", &[test(7)]).unwrap();
        assert_eq!(unfinished.get("p1", "key"), None);
        unfinished.put("key", made).unwrap();
        unfinished.forget();
        assert!(!folder.path().join("visible/unfinished").exists());
        assert!(folder.path().join("visible/p1").exists());
    }

    #[test]
    fn tests_grow_until_the_time_is_not_startup() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(&folder.path().join("store"));
        let timing = timing::Options { net: false, ..timing::Options::default() };
        let Ok(bench) = Bench::open(&timing, Limits::default(), &store) else {
            println!("skipped: no g++ or no qemu");
            return;
        };
        let read = "#include <cstdio>\nint a[100000]; int main() { int n, s = 0; scanf(\"%d\", &n);\n\
                    for (int i = 0; i < n; i++) scanf(\"%d\", a + i);\n";
        let pair = Pair {
            problem_id: "p1".into(),
            src_code: format!(
                "{read} for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += a[i] > a[j]; printf(\"%d\\n\", s); }}"
            ),
            tgt_code: format!(
                "{read} for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) s += a[i] != a[j]; printf(\"%d\\n\", s); }}"
            ),
            ..Pair::default()
        };
        let problem = Problem {
            id: "p1".into(),
            samples: vec![
                ("4\n1 2 3 3\n".into(), "5\n".into()),
                ("3\n7 5 9\n".into(), "3\n".into()),
            ],
        };
        let put = |name: &str| TestFolder::create(&folder.path().join(name)).unwrap();
        let (visible, hidden) = (put("visible"), put("hidden"));
        let options = GrowOptions { draws: 30, ..GrowOptions::default() };
        let report =
            grow(&[problem], &[pair], &bench, (&visible, &hidden), &options, &dataset::Silent)
                .unwrap();
        assert_eq!((report.with_tests, report.grown, report.with_grammar), (1, 1, 1));
        assert_eq!(report.mostly_startup, 0, "{report:?}");
        let tests = visible.tests("p1").unwrap();
        assert!(tests.iter().any(|test| test.input.len() > 500), "{}", tests.len());
        assert!(!hidden.tests("p1").unwrap().is_empty());
    }
}
