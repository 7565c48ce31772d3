//! Submissions as a stage: the programs of a problem come in, its pairs go out.

use super::{PairOptions, Timed, pairs_of, rank, sort, time};
use crate::{
    Error, Result,
    bench::Bench,
    pair::{Pair, Submission},
    submissions::Submissions,
    suite::TestSet,
};
use dataset::{
    Input, Row, Verdict, content_hash_of,
    stage::{self, Finish, Items, Selected, Stage, Unit, Units, Worked},
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What became of submissions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairReport {
    /// Pairs that hold up.
    pub pairs: u64,
    /// Problems that they are of.
    pub problems: u64,
    /// Programs that were looked at.
    pub programs: u64,
    /// Programs in other languages, or not accepted by their judge.
    pub passed_over: u64,
    /// Broken lines of the input.
    pub broken: u64,
    /// Chronological pairs by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Pairs by what changed.
    pub labels: BTreeMap<String, u64>,
    /// Pairs in which nothing but input and output changed.
    pub io_only: u64,
    /// Pairs in which an array became shorter.
    pub array_shrunk: u64,
    /// Pairs whose gain is gone without start-up.
    pub startup_only: u64,
    /// Pairs per part of the split.
    pub split: BTreeMap<String, u64>,
    /// Geometric mean of slow / fast over the pairs.
    pub geomean: Option<f64>,
    /// The same without start-up.
    pub geomean_net: Option<f64>,
}

/// The accepted programs of one problem, as columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairItem {
    /// The problem.
    pub problem_id: String,
    /// Its programs, in the order in which they were found.
    pub submissions: Vec<Submission>,
}

impl Row for PairItem {
    const SCHEMA: &'static str = "pair-item";
    const VERSION: u32 = 1;
}

/// What pairs do not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairFacts {
    /// Distinct programs.
    programs: u64,
}

impl stage::Facts for PairFacts {
    fn absorb(&mut self, other: PairFacts) {
        self.programs += other.programs;
    }
}

/// Makes pairs of submissions. What is known about programs is cached: a stopped run repeats nothing, in the middle
/// of a problem either.
pub struct MakePairs<'a> {
    items: Vec<PairItem>,
    tests: TestSet,
    bench: &'a Bench,
    options: PairOptions,
    passed_over: u64,
    broken: u64,
    /// Identity of the submissions and of the tests.
    inputs: [String; 2],
    /// Times the programs of all problems that are worked on: most are few, some are thousands.
    pool: Option<rayon::ThreadPool>,
}

impl<'a> MakePairs<'a> {
    /// Pairs of `submissions`, judged by `tests`; `jobs` programs are timed at once.
    ///
    /// # Errors
    /// When tests cannot be read.
    pub fn new(
        submissions: Submissions,
        tests: TestSet,
        bench: &'a Bench,
        options: PairOptions,
        jobs: usize,
    ) -> Result<MakePairs<'a>> {
        let Submissions { accepted, passed_over, broken } = submissions;
        let pieces = accepted.iter().flat_map(|s| [s.id.as_bytes(), s.code.as_bytes()]);
        let programs_hash = content_hash_of(pieces);
        let mut by_problem: BTreeMap<String, Vec<Submission>> = BTreeMap::new();
        for submission in accepted {
            by_problem.entry(submission.problem_id.clone()).or_default().push(submission);
        }
        let tests_hash = tests.identity(by_problem.keys().map(String::as_str))?;
        let item = |(problem_id, submissions)| PairItem { problem_id, submissions };
        Ok(MakePairs {
            items: by_problem.into_iter().map(item).collect(),
            tests,
            bench,
            options,
            passed_over,
            broken: broken.len() as u64,
            inputs: [programs_hash, tests_hash],
            // Threads that cannot be made here are those of the whole process.
            pool: rayon::ThreadPoolBuilder::new().num_threads(jobs).build().ok(),
        })
    }

    fn rows_of(&self, item: &PairItem) -> Result<Vec<Pair>> {
        let tests = self.tests.tests(&item.problem_id)?;
        // Each program once, whoever handed it in.
        let mut distinct: BTreeMap<String, &Submission> = BTreeMap::new();
        for submission in &item.submissions {
            distinct.entry(submission.hash()).or_insert(submission);
        }
        let each = |(hash, submission): (String, &Submission)| {
            timing::bounded::check()?;
            Ok((hash, time(submission, &tests, self.bench)?))
        };
        let all = || distinct.into_par_iter().map(each).collect::<Vec<Result<_>>>();
        let timed = match &self.pool {
            Some(pool) => pool.install(all),
            None => all(),
        };
        // An error is looked at only now: what the others take is cached.
        let timed: BTreeMap<String, Timed> = timed.into_iter().collect::<Result<_>>()?;
        let mut rows = pairs_of(&item.submissions, &timed, &self.options);
        rank(&mut rows, &timed);
        if self.options.per_problem.is_some() {
            sort(&mut rows);
        }
        Ok(rows)
    }
}

impl Stage for MakePairs<'_> {
    const NAME: &'static str = "edits pairs";
    const UNITS: &'static str = "problems";
    type Item = PairItem;
    type Row = Pair;
    type Facts = PairFacts;
    type Summary = PairReport;
    type Worker = ();
    type Error = Error;

    fn settings(&self) -> Value {
        let mut settings = serde_json::to_value(&self.options).unwrap_or_default();
        settings["bench"] = self.bench.identity().into();
        settings["passed_over"] = self.passed_over.into();
        settings["broken"] = self.broken.into();
        settings
    }

    fn seed(&self) -> u64 {
        self.options.seed
    }

    fn inputs(&self) -> Result<Vec<Input>> {
        let [submissions, tests] = self.inputs.clone();
        Ok(vec![
            Input { name: "submissions".into(), hash: submissions },
            Input { name: "tests".into(), hash: tests },
        ])
    }

    fn items(&self) -> Result<Items<'_, Self>> {
        let all = Box::new(self.items.iter().cloned().map(Ok));
        Ok(Items { total: Some(self.items.len() as u64), all })
    }

    fn key(&self, item: &PairItem) -> String {
        let mut pieces = vec![item.problem_id.clone()];
        for submission in &item.submissions {
            let Submission { id, user_id, date, .. } = submission;
            pieces.extend([id.clone(), user_id.clone(), date.to_string(), submission.hash()]);
        }
        content_hash_of(pieces.iter().map(String::as_bytes))
    }

    fn worker(&self) -> Result<()> {
        Ok(())
    }

    fn work(&self, (): &mut (), items: &[PairItem]) -> Result<Vec<Worked<Pair>>> {
        items.iter().map(|item| Ok(Worked::Rows(self.rows_of(item)?))).collect()
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn observe(&self, item: &PairItem, _: Option<&[Pair]>, facts: &mut PairFacts) {
        let programs: BTreeSet<_> =
            item.submissions.iter().map(|s| (s.language, &s.code)).collect();
        facts.programs += programs.len() as u64;
    }

    fn finish<'a>(
        settings: &'a Value,
        PairFacts { programs }: PairFacts,
        units: &'a Units<Pair>,
    ) -> Result<Finish<'a, Pair, PairReport>> {
        let count = |key: &str| settings[key].as_u64().unwrap_or(0);
        let (passed_over, broken) = (count("passed_over"), count("broken"));
        let mut report = PairReport { programs, passed_over, broken, ..PairReport::default() };
        let (mut gains, mut net) = (Vec::new(), Vec::new());
        let mut problems = BTreeSet::new();
        let mut keep = Keep::new(settings);
        for row in units.rows() {
            let (unit, row) = row?;
            *report.verdicts.entry(row.verdict.clone()).or_default() += 1;
            if keep.dropped(unit, &row).is_some() || row.verdict != Verdict::ACCEPTED {
                continue;
            }
            report.pairs += 1;
            report.io_only += u64::from(row.io_only);
            report.array_shrunk += u64::from(row.array_shrunk);
            report.startup_only += u64::from(row.startup_only);
            gains.extend(row.speedup);
            net.extend(row.speedup_net);
            *report.labels.entry(row.label).or_default() += 1;
            *report.split.entry(row.split).or_default() += 1;
            problems.insert(row.problem_id);
        }
        let geomean =
            |values: Vec<f64>| (!values.is_empty()).then(|| statistics::geometric_mean(values));
        (report.geomean, report.geomean_net) = (geomean(gains), geomean(net));
        report.problems = problems.len() as u64;
        let mut keep = Keep::new(settings);
        let select = move |unit: &Unit, row: Pair| match keep.dropped(unit, &row) {
            None => Selected::Row(row),
            Some(reason) => Selected::Dropped(reason),
        };
        Ok(Finish { select: Box::new(select), ..Finish::all(report.verdicts.clone(), report) })
    }
}

/// Decides which pairs stand in the data set, asked for each in turn.
struct Keep {
    rejected: bool,
    per_problem: Option<u64>,
    /// The problem that pairs come from, and how many of its are kept.
    unit: Option<u64>,
    kept: u64,
}

impl Keep {
    fn new(settings: &Value) -> Keep {
        let rejected = settings["rejected"].as_bool().unwrap_or(false);
        let per_problem = settings["per_problem"].as_u64();
        Keep { rejected, per_problem, unit: None, kept: 0 }
    }

    /// Why a pair is dropped.
    fn dropped(&mut self, unit: &Unit, row: &Pair) -> Option<&'static str> {
        if self.unit.replace(unit.position) != Some(unit.position) {
            self.kept = 0;
        }
        if row.verdict != Verdict::ACCEPTED && !self.rejected {
            return Some("rejected");
        }
        if self.per_problem.is_some_and(|most| self.kept >= most) {
            return Some("not-of-the-best");
        }
        self.kept += 1;
        None
    }
}
