//! Tests that force the issue.
//!
//! Samples of contests are tiny: most of what a program takes on them is its start-up, and an array cut to
//! a tenth passes. From the samples a grammar of the inputs is inferred, and inputs of it are drawn, larger
//! and larger. One becomes a test when all accepted programs of the problem agree on its output, come to a
//! good end, ask for no more than there is, and one of them runs clean under the sanitizers.

mod generate;
mod grammar;
mod inputs;
mod promise;
mod scope;
mod stage;

use crate::{
    Result, bench::Bench, compare::compare, pair::Language, problems::Sample, stopwatch::Time,
    suite::Test, toolchain::Executable,
};
use dataset::{Verdict, content_hash};
use generate::Generator;
pub(crate) use generate::Scale;
pub(crate) use inputs::{Inputs, mutated};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rows::{EditTest, EditVerdict, RejectedInputs, test_source};
use serde::Serialize;
pub use stage::{MakeTests, TestsItem, TestsReport};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// Native processor time after which nobody asks for the exact time any more.
const SLOW: Duration = Duration::from_millis(700);
/// Where a program is stopped: an input that a program needs longer for is too slow anyway.
const LONGEST: Duration = Duration::from_secs(2);

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

/// For the fuzzer: inputs drawn from the grammar of samples, and whether it reads each.
pub(crate) fn drawn(samples: &[&str]) -> Option<Vec<(String, bool)>> {
    let grammar = grammar::infer(samples)?;
    let generator = Generator::learn(grammar.clone(), samples);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let scales = [(1.0, 1.0), (4.0, 4.0)].map(|(counts, values)| Scale { counts, values });
    let draws = scales.into_iter().filter_map(|scale| generator.generate(scale, &mut rng));
    Some(draws.map(|text| (text.clone(), grammar.read(&grammar::lines(&text)).is_some())).collect())
}

/// Makes the tests of one problem.
struct Grower<'a> {
    problem_id: &'a str,
    samples: &'a [Sample],
    bench: &'a Bench,
    options: &'a GrowOptions,
}

/// A drawn input that all agree on, and what the slow program takes on it.
struct Agreed {
    test: Test,
    time: Time,
}

impl Grower<'_> {
    /// The problem's tests, visible ones first; without any, a row that says why.
    fn grow(&self, programs: &[(&str, Language)]) -> Result<Vec<EditTest>> {
        let mut about = EditTest { problem_id: self.problem_id.to_owned(), ..EditTest::default() };
        let samples: Vec<Test> = self
            .samples
            .iter()
            .enumerate()
            .map(|(at, Sample { input, output })| Test {
                number: at as u64,
                input: input.clone().into_bytes(),
                output: output.clone().into_bytes(),
            })
            .collect();
        if samples.is_empty() {
            about.verdict = EditVerdict::NoSamples.to_string();
            return Ok(vec![about]);
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
        about.programs = accepted.len() as u64;
        let Some((slow, ..)) = accepted.first() else {
            about.verdict = EditVerdict::NoProgramPasses.to_string();
            return Ok(vec![about]);
        };
        about.verdict = Verdict::ACCEPTED.into();
        let agreed = match accepted.len() {
            // One program agrees with itself on anything.
            1 => {
                about.verdict = EditVerdict::OnlyOneProgram.to_string();
                Vec::new()
            }
            _ => self.draw(&accepted, &samples, &mut about)?,
        };
        let (shown, held_back) = self.share_out(agreed, samples.len() as u64);
        let drawn_from = match about.grammar.as_str() {
            "" => test_source::MUTATION,
            _ => test_source::GRAMMAR,
        };
        let row = |hidden: bool, source: &str, test: Test, time: Option<Time>| EditTest {
            hidden,
            source: source.to_owned(),
            number: Some(test.number),
            input: test.input,
            output: test.output,
            instructions: time.as_ref().map(|time| time.instructions),
            seconds: time.as_ref().map(|time| time.seconds),
            startup_share: time.map(|time| 1.0 - time.seconds_net / time.seconds),
            ..about.clone()
        };
        let mut rows = Vec::new();
        for test in samples {
            let time = self.bench.stopwatch.time(slow, &test.input)?.ok();
            rows.push(row(false, test_source::SAMPLE, test, time));
        }
        for (hidden, grown) in [(false, shown), (true, held_back)] {
            let all = grown.into_iter();
            rows.extend(all.map(|one| row(hidden, drawn_from, one.test, Some(one.time))));
        }
        Ok(rows)
    }

    /// Draw inputs, each scale larger than the one before, and keep those that are tests.
    fn draw(
        &self,
        accepted: &[(Executable, &str, Language)],
        samples: &[Test],
        about: &mut EditTest,
    ) -> Result<Vec<Agreed>> {
        let mut rejected: BTreeMap<&str, u64> = BTreeMap::new();
        let agreed = self.draw_until(accepted, samples, about, &mut rejected)?;
        let count = |(reason, count): (&str, u64)| RejectedInputs { reason: reason.into(), count };
        about.rejected = rejected.into_iter().map(count).collect();
        Ok(agreed)
    }

    fn draw_until(
        &self,
        accepted: &[(Executable, &str, Language)],
        samples: &[Test],
        about: &mut EditTest,
        rejected: &mut BTreeMap<&str, u64>,
    ) -> Result<Vec<Agreed>> {
        let texts: Vec<&str> = self.samples.iter().map(|sample| sample.input.as_str()).collect();
        let generator = grammar::infer(&texts).map(|grammar| Generator::learn(grammar, &texts));
        about.grammar = generator.as_ref().map(Generator::describe).unwrap_or_default();
        let hash = content_hash(self.problem_id.as_bytes());
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
                if about.drawn == self.options.draws as u64 {
                    return Ok(agreed);
                }
                about.drawn += 1;
                let input = match &generator {
                    Some(generator) => generator.generate(scale, &mut rng),
                    None => {
                        let at = about.drawn as usize % texts.len();
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
                *rejected.entry(reason).or_default() += 1;
            }
            let slow = agreed.iter().any(|one| one.time.instructions >= self.options.enough);
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
                Err(verdict) if matches!(verdict.name.as_ref(), "timeout" | "cpu-limit") => {
                    return Ok(Err("too-slow"));
                }
                Err(_) => return Ok(Err("bad-end")),
            };
            if ran.processor > SLOW {
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
            Ok(time) => Ok(Ok(Agreed { test, time })),
        }
    }

    /// The largest and some small ones are visible, others of all sizes hidden.
    fn share_out(&self, mut agreed: Vec<Agreed>, first: u64) -> (Vec<Agreed>, Vec<Agreed>) {
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
                held_back.push(one);
            } else if shown.len() < self.options.visible {
                shown.push(one);
            } else if held_back.len() < self.options.hidden {
                held_back.push(one);
            }
        }
        for (at, one) in shown.iter_mut().enumerate() {
            one.test.number = first + at as u64;
        }
        for (at, one) in held_back.iter_mut().enumerate() {
            one.test.number = at as u64;
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
    use crate::problems::Problem;
    use crate::{Limits, Pair, Store, TestSet};
    use dataset::stage::{self, Context};

    #[test]
    fn tests_grow_until_the_time_is_not_startup() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(&folder.path().join("store"));
        let timing = timing::Options { net: false, ..timing::Options::default() };
        let bench = Bench::open(&timing, Limits::default(), &store).unwrap();
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
                Sample { input: "4\n1 2 3 3\n".into(), output: "5\n".into() },
                Sample { input: "3\n7 5 9\n".into(), output: "3\n".into() },
            ],
        };
        let options = GrowOptions { draws: 30, ..GrowOptions::default() };
        let tests = MakeTests::new(&[problem], &[pair], &bench, options);
        let out = folder.path().join("tests");
        let report = stage::run(&tests, &Context::new(&out)).unwrap().summary;
        assert_eq!((report.with_tests, report.grown, report.with_grammar), (1, 1, 1));
        assert_eq!(report.mostly_startup, 0, "{report:?}");
        let tests = TestSet::visible(&out).unwrap().tests("p1").unwrap();
        let numbers: Vec<u64> = tests.iter().map(|test| test.number).collect();
        assert_eq!(numbers, (0..report.tests).collect::<Vec<_>>());
        assert_eq!(tests[0].input, b"4\n1 2 3 3\n");
        assert!(tests.iter().any(|test| test.input.len() > 500), "{}", tests.len());
        let hidden = TestSet::hidden(&out).unwrap().tests("p1").unwrap();
        assert!(!hidden.is_empty() && hidden.len() as u64 == report.hidden);
        assert!(hidden.iter().all(|one| tests.iter().all(|other| one.input != other.input)));
    }
}
