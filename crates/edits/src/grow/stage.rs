//! Growing tests as a stage: a problem with its samples and programs comes in, its tests go out.

use super::{GrowOptions, Grower, MOSTLY};
use crate::{
    Error, Result,
    bench::Bench,
    pair::{Language, Pair, Submission},
    problems::{Limit, Problem, Sample},
};
use dataset::{
    Input, Row, content_hash_of,
    stage::{Finish, Items, Stage, Units, Worked},
};
use rows::{EditTest, EditTestSummary, test_source};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What became of all problems.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestsReport {
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
}

/// A problem with its samples and programs, as columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestsItem {
    /// The problem.
    pub problem_id: String,
    /// Its samples.
    pub samples: Vec<Sample>,
    /// How small and how large what it reads may be, as far as it says.
    pub limits: Vec<Limit>,
    /// Its programs: the slow one of a pair before the improved one. The time of the first that passes is what tests
    /// must not be too small for.
    pub programs: Vec<String>,
    /// Their languages.
    pub languages: Vec<String>,
}

impl Row for TestsItem {
    const SCHEMA: &'static str = "tests-item";
    const VERSION: u32 = 2;
}

impl TestsItem {
    fn hash(&self) -> String {
        let samples = self.samples.iter().flat_map(|sample| [&sample.input, &sample.output]);
        let programs = self.languages.iter().chain(&self.programs);
        let limits: Vec<String> = self.limits.iter().map(|limit| format!("{limit:?}")).collect();
        let all = [&self.problem_id].into_iter().chain(samples).chain(programs).chain(&limits);
        content_hash_of(all.map(String::as_bytes))
    }
}

/// Programs of a problem that are taken from submissions at most: those after these add little but time.
const SUBMISSIONS: usize = 64;

/// Makes tests of samples.
pub struct MakeTests<'a> {
    items: Vec<TestsItem>,
    bench: &'a Bench,
    options: GrowOptions,
}

impl<'a> MakeTests<'a> {
    /// Tests for the problems of `pairs`, whose programs must agree on them.
    #[must_use]
    pub fn new(
        problems: &[Problem],
        pairs: &[Pair],
        bench: &'a Bench,
        options: GrowOptions,
    ) -> MakeTests<'a> {
        let programs = pairs.iter().flat_map(|pair| {
            [&pair.src_code, &pair.tgt_code]
                .map(|code| (pair.problem_id.as_str(), code.as_str(), pair.language()))
        });
        MakeTests { items: items(problems, programs, usize::MAX), bench, options }
    }

    /// Tests for the problems of accepted submissions, some of which must agree on them.
    #[must_use]
    pub fn of_submissions(
        problems: &[Problem],
        submissions: &[Submission],
        bench: &'a Bench,
        options: GrowOptions,
    ) -> MakeTests<'a> {
        // By their texts, in an order that has to do with nothing.
        let mut all: Vec<(String, &Submission)> =
            submissions.iter().map(|one| (content_hash_of([one.code.as_bytes()]), one)).collect();
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        let programs =
            all.iter().map(|(_, one)| (one.problem_id.as_str(), one.code.as_str(), one.language));
        MakeTests { items: items(problems, programs, SUBMISSIONS), bench, options }
    }

    fn rows_of(&self, item: &TestsItem) -> Result<Vec<EditTest>> {
        let languages = item.languages.iter();
        let languages = languages.map(|name| Language::parse(name).unwrap_or_default());
        let programs: Vec<(&str, Language)> =
            item.programs.iter().map(String::as_str).zip(languages).collect();
        let TestsItem { problem_id, samples, limits, .. } = item;
        let (bench, options) = (self.bench, &self.options);
        Grower { problem_id, samples, limits, bench, options }.grow(&programs)
    }
}

/// The problems of programs, with so many different ones each at most.
fn items<'b>(
    problems: &[Problem],
    programs: impl Iterator<Item = (&'b str, &'b str, Language)>,
    most: usize,
) -> Vec<TestsItem> {
    let known: BTreeMap<&str, &Problem> =
        problems.iter().map(|problem| (problem.id.as_str(), problem)).collect();
    let mut items: BTreeMap<&str, TestsItem> = BTreeMap::new();
    for (problem_id, code, language) in programs {
        let item = items.entry(problem_id).or_insert_with(|| {
            let problem = known.get(problem_id).copied().cloned().unwrap_or_default();
            TestsItem {
                problem_id: problem_id.to_owned(),
                samples: problem.samples,
                limits: problem.limits,
                ..TestsItem::default()
            }
        });
        if item.programs.len() < most && !item.programs.iter().any(|known| known == code) {
            item.programs.push(code.to_owned());
            item.languages.push(language.name().to_owned());
        }
    }
    items.into_values().collect()
}

impl Stage for MakeTests<'_> {
    const NAME: &'static str = "edits tests";
    const UNITS: &'static str = "problems";
    type Item = TestsItem;
    type Row = EditTest;
    type Facts = ();
    type Summary = TestsReport;
    type Worker = ();
    type Error = Error;

    fn settings(&self) -> Value {
        let mut settings = serde_json::to_value(&self.options).unwrap_or_default();
        settings["bench"] = self.bench.identity().into();
        settings
    }

    fn seed(&self) -> u64 {
        self.options.seed
    }

    fn inputs(&self) -> Result<Vec<Input>> {
        let hashes: Vec<String> = self.items.iter().map(TestsItem::hash).collect();
        let hash = content_hash_of(hashes.iter().map(String::as_bytes));
        Ok(vec![Input { name: "samples and programs".into(), hash }])
    }

    fn inputs_in_detail(&self) -> Result<Vec<Input>> {
        let input = |item: &TestsItem| Input { name: item.problem_id.clone(), hash: item.hash() };
        Ok(self.items.iter().map(input).collect())
    }

    fn items(&self) -> Result<Items<'_, Self>> {
        let all = Box::new(self.items.iter().cloned().map(Ok));
        Ok(Items { total: Some(self.items.len() as u64), all })
    }

    fn key(&self, item: &TestsItem) -> String {
        item.hash()
    }

    fn worker(&self) -> Result<()> {
        Ok(())
    }

    fn work(&self, (): &mut (), items: &[TestsItem]) -> Result<Vec<Worked<EditTest>>> {
        items.iter().map(|item| Ok(Worked::Rows(self.rows_of(item)?))).collect()
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn finish<'a>(
        _: &'a Value,
        (): (),
        units: &'a Units<EditTest>,
    ) -> Result<Finish<'a, EditTest, TestsReport>> {
        let mut report = TestsReport::default();
        let (mut largest, mut position, mut of_one) = (Vec::new(), None, Vec::new());
        // The report counts problems; a manifest counts rows.
        let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
        for row in units.views::<EditTestSummary>() {
            let (unit, row) = row?;
            *verdicts.entry(row.verdict.clone()).or_default() += 1;
            if position.replace(unit.position) != Some(unit.position) {
                largest.extend(report.add(&of_one));
                of_one.clear();
            }
            of_one.push(row);
        }
        largest.extend(report.add(&of_one));
        largest.sort_unstable();
        report.largest_instructions_median = largest.get(largest.len() / 2).copied().unwrap_or(0);
        Ok(Finish::all(verdicts, report))
    }
}

impl TestsReport {
    /// Count the rows of one problem; the instructions on its largest test, where it has one.
    fn add(&mut self, rows: &[EditTestSummary]) -> Option<u64> {
        let first = rows.first()?;
        let tests = rows.iter().filter(|row| row.number.is_some());
        let (hidden, visible): (Vec<&EditTestSummary>, Vec<_>) = tests.partition(|row| row.hidden);
        let shown = visible.len() as u64;
        self.problems += 1;
        self.tests += shown;
        self.hidden += hidden.len() as u64;
        self.with_tests += u64::from(shown > 0);
        let grown = visible.iter().any(|row| row.source != test_source::SAMPLE);
        self.grown += u64::from(grown);
        self.with_grammar += u64::from(!first.grammar.is_empty());
        *self.verdicts.entry(first.verdict.clone()).or_default() += 1;
        if shown == 0 {
            return None;
        }
        let mut largest: Option<&EditTestSummary> = None;
        for row in visible {
            if row.seconds.unwrap_or(0.0) > largest.and_then(|row| row.seconds).unwrap_or(0.0) {
                largest = Some(row);
            }
        }
        let share = largest.and_then(|row| row.startup_share).unwrap_or(0.0);
        self.mostly_startup += u64::from(share >= MOSTLY);
        Some(largest.and_then(|row| row.instructions).unwrap_or(0))
    }
}
