//! Tests that force the issue.
//!
//! Samples of contests are tiny: most of what a program takes on them is its start-up, and an array cut to
//! a tenth passes. From the samples a grammar of the inputs is inferred, and inputs of it are drawn, larger
//! and larger ones for time, edge values and the limits for correctness. One becomes a test when all accepted programs of the
//! problem agree on its output, come to a good end, are clean under the sanitizers as far as they are on the samples, and the
//! slow one asks for no more than there is and for no less.

mod generate;
mod grammar;
mod graph;
mod inputs;
mod limit;
mod promise;
mod room;
mod scope;
mod seen;
mod series;
mod shape;
mod stage;
mod template;
mod unroll;
mod value;

use crate::{
    Result,
    bench::Bench,
    pair::Language,
    problems::{Limit, Sample},
    stopwatch::Time,
    suite::Test,
};
use dataset::{Verdict, content_hash};
use generate::Generator;
pub(crate) use inputs::{Inputs, mutated};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rows::{EditTest, EditVerdict, RejectedInputs, test_source};
use serde::Serialize;
use series::{Accepted, Agreed, Series};
pub(crate) use shape::Scale;
pub use stage::{MakeTests, TestsItem, TestsReport};
use std::cmp::Ordering;

/// Share of start-up from which on a time is mostly that.
const MOSTLY: f64 = 0.5;

/// How tests are grown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GrowOptions {
    /// Grown tests per problem that candidates are judged and timed on.
    pub visible: usize,
    /// Grown tests per problem that are held back.
    pub hidden: usize,
    /// Tests per problem with edge values or at the limits: the one that takes longest is visible, the others are held back.
    pub edges: usize,
    /// Inputs drawn per problem at most, half of them for time and half for correctness.
    pub draws: usize,
    /// Bytes of an input at most.
    pub bytes: usize,
    /// Inputs for time stop growing when the slow program executes so many instructions on one.
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
            edges: 16,
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
    limits: &'a [Limit],
    bench: &'a Bench,
    options: &'a GrowOptions,
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
        let mut accepted: Vec<Accepted<'_>> = Vec::new();
        let mut first_failure: Option<String> = None;
        for (code, language) in programs {
            if accepted.len() == self.options.programs {
                break;
            }
            let failure = match self.bench.build(code, *language)? {
                Err(verdict) => verdict.to_string(),
                Ok(program) => match self.bench.try_tests(&program, &samples)?.failure {
                    Some((number, verdict)) => format!("sample {number}: {verdict}"),
                    None => {
                        accepted.push(Accepted { program, code, language: *language });
                        continue;
                    }
                },
            };
            first_failure.get_or_insert(failure);
        }
        about.programs = accepted.len() as u64;
        let Some(Accepted { program: slow, .. }) = accepted.first() else {
            about.verdict = EditVerdict::NoProgramPasses.to_string();
            let of_many = |failure: String| format!("the first of {}: {failure}", programs.len());
            about.detail = first_failure.map(of_many).unwrap_or_default();
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
            rows.extend(grown.into_iter().map(|Agreed { test, time, shape }| EditTest {
                shape: shape.map(|shape| shape.name().to_owned()).unwrap_or_default(),
                ..row(hidden, drawn_from, test, Some(time))
            }));
        }
        let is_small = is_mostly_startup(&rows);
        rows.iter_mut().for_each(|row| row.mostly_startup = is_small);
        Ok(rows)
    }

    /// Inputs that are tests, those for time first.
    fn draw(
        &self,
        accepted: &[Accepted<'_>],
        tests: &[Test],
        about: &mut EditTest,
    ) -> Result<Vec<Agreed>> {
        let hash = content_hash(self.problem_id.as_bytes());
        let seed = u64::from_str_radix(&hash[..8], 16).unwrap_or(0) ^ self.options.seed;
        let samples = (self.samples, tests);
        let mut series =
            Series::begin((self.bench, self.options), accepted, samples, self.limits, seed)?;
        about.grammar = series.grammar();
        series.draw()?;
        about.drawn = series.drawn as u64;
        let count = |(reason, count): (&str, u64)| RejectedInputs { reason: reason.into(), count };
        about.rejected = series.rejected.into_iter().map(count).collect();
        Ok(series.agreed)
    }

    /// Of the inputs for time the largest and some small ones are visible, others of all sizes hidden; of those for correctness
    /// the one that takes longest is visible.
    fn share_out(&self, agreed: Vec<Agreed>, first: u64) -> (Vec<Agreed>, Vec<Agreed>) {
        let (mut edges, mut agreed): (Vec<Agreed>, Vec<Agreed>) =
            agreed.into_iter().partition(|one| one.shape.is_some());
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
        let longest = (0..edges.len()).max_by_key(|at| edges[*at].time.instructions);
        if let Some(longest) = longest.filter(|_| self.options.edges > 0) {
            shown.push(edges.remove(longest));
            edges.truncate(self.options.edges - 1);
            held_back.append(&mut edges);
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

/// Whether the time on the visible test that takes longest is mostly start-up: a gain on such tests need not be one on inputs of
/// real size.
fn is_mostly_startup(rows: &[EditTest]) -> bool {
    let visible = rows.iter().filter(|row| !row.hidden && row.seconds.is_some());
    let longest =
        visible.max_by(|a, b| a.seconds.partial_cmp(&b.seconds).unwrap_or(Ordering::Equal));
    longest.and_then(|row| row.startup_share).is_some_and(|share| share >= MOSTLY)
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
        let on = |line: u64, most: i64| Limit {
            line: Some(line),
            least: Some(1),
            most: Some(most),
            ..Limit::default()
        };
        let limits = [on(1, 3000), on(2, 1000)];
        let problem = Problem {
            id: "p1".into(),
            samples: vec![
                Sample { input: "4\n1 2 3 3\n".into(), output: "5\n".into() },
                Sample { input: "3\n7 5 9\n".into(), output: "3\n".into() },
            ],
            limits: limits.into(),
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
        // Up to the limits, and not beyond.
        let counts = tests.iter().chain(&hidden).map(|test| {
            let text = String::from_utf8(test.input.clone()).unwrap();
            let numbers: Vec<i64> = text.split_whitespace().map(|n| n.parse().unwrap()).collect();
            assert!(numbers[1..].iter().all(|n| (1..=1000).contains(n)), "{text}");
            numbers[0]
        });
        assert_eq!(counts.max(), Some(3000));
        let rows: Vec<EditTest> = dataset::Dataset::open(&out)
            .unwrap()
            .rows()
            .unwrap()
            .collect::<dataset::Result<_>>()
            .unwrap();
        assert!(rows.iter().all(|row| !row.mostly_startup));
        let edges: Vec<&EditTest> = rows.iter().filter(|row| !row.shape.is_empty()).collect();
        assert_eq!(edges.iter().filter(|row| !row.hidden).count(), 1);
        for shape in ["any", "equal", "least", "most"] {
            assert!(edges.iter().any(|row| row.shape == shape), "{shape}");
        }
    }

    #[test]
    fn tests_on_which_little_is_done_are_flagged() {
        let row = |hidden: bool, seconds: f64, share: f64| EditTest {
            hidden,
            seconds: Some(seconds),
            startup_share: Some(share),
            ..EditTest::default()
        };
        let (small, large) = (row(false, 1.0, 0.9), row(false, 2.0, 0.1));
        assert!(is_mostly_startup(&[small.clone(), row(true, 3.0, 0.1)]));
        assert!(!is_mostly_startup(&[small, large, row(true, 3.0, 0.9)]));
        assert!(!is_mostly_startup(&[EditTest::default()]));
    }
}
