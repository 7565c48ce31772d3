//! Judging as a stage: pairs with their candidates come in, a row for each candidate goes out.

use super::{JudgeOptions, Source, Tests};
use crate::{
    Error, Result,
    bench::Bench,
    candidates::{BySource, Candidates},
    label::Change,
    pair::Pair,
};
use dataset::{
    Input, Progress, Row, content_hash_of,
    stage::{self, Finish, Items, Stage, Units, Worked},
};
use rayon::prelude::*;
use rows::Judgement;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
};

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
    /// Candidates of which no statement differs from the slow program's.
    pub unchanged: u64,
    /// Accepted ones that gain before `main` alone.
    #[serde(default)]
    pub startup_only: u64,
    /// Accepted ones that gain on small inputs alone.
    #[serde(default)]
    pub small_only: u64,
    /// Programs times tests that were asked for, those of the slow programs included.
    pub program_tests: u64,
    /// Native runs made (others were cached).
    pub runs: u64,
    /// Times measured (others were cached).
    pub timed: u64,
    /// Instructions of these.
    pub instructions: u64,
}

/// A pair and its candidates, as columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgeItem {
    /// The problem.
    pub problem_id: String,
    /// Submission of the slow program.
    pub src_id: String,
    /// Submission of the improved program.
    pub tgt_id: String,
    /// Language of the slow program and the candidates.
    pub language: String,
    /// The slow program.
    pub src_code: String,
    /// What proposed each candidate.
    pub methods: Vec<String>,
    /// The candidates, in the order of drawing.
    pub programs: Vec<String>,
    /// What the file of candidates calls each; nothing where it names none.
    pub ids: Vec<String>,
    /// How many items before it are equal: each has its rows.
    pub copy: u32,
    /// The least time that any program of the problem's pairs takes on the tests; a function of all pairs and the
    /// tests, and no part of the key.
    pub fastest_seconds: Option<f64>,
}

impl Row for JudgeItem {
    const SCHEMA: &'static str = "judge-item";
    const VERSION: u32 = 2;
}

impl JudgeItem {
    /// `None` where there is no candidate for the pair.
    fn new(pair: &Pair, candidates: &[&Candidates], most: Option<usize>) -> Option<JudgeItem> {
        let mut programs: Vec<(&Candidates, usize, &str)> = candidates
            .iter()
            .flat_map(|drawn| {
                let each = drawn.programs.iter().enumerate();
                each.map(move |(place, code)| (*drawn, place, code.as_str()))
            })
            .take(most.unwrap_or(usize::MAX))
            .collect();
        // To hand in nothing is an answer too: left out, it would flatter who answers seldom.
        if programs.is_empty() {
            programs.push((*candidates.first()?, 0, ""));
        }
        let mut item = JudgeItem {
            problem_id: pair.problem_id.clone(),
            src_id: pair.src_id.clone(),
            tgt_id: pair.tgt_id.clone(),
            language: pair.language().name().to_owned(),
            src_code: pair.src_code.clone(),
            ..JudgeItem::default()
        };
        let named = programs.iter().any(|(drawn, ..)| !drawn.ids.is_empty());
        for (drawn, place, code) in programs {
            item.methods.push(drawn.method.clone());
            item.programs.push(code.to_owned());
            if named {
                item.ids.push(drawn.id(place));
            }
        }
        Some(item)
    }

    /// Identity of all but the copy and the fastest time.
    fn hash(&self) -> String {
        let first = [&self.problem_id, &self.src_id, &self.tgt_id, &self.language, &self.src_code];
        let all = first.into_iter().chain(&self.methods).chain(&self.programs).chain(&self.ids);
        content_hash_of(all.map(String::as_bytes))
    }

    fn pair(&self) -> Pair {
        Pair {
            problem_id: self.problem_id.clone(),
            src_id: self.src_id.clone(),
            tgt_id: self.tgt_id.clone(),
            language: self.language.clone(),
            src_code: self.src_code.clone(),
            ..Pair::default()
        }
    }
}

/// What was done that was not cached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeFacts {
    runs: u64,
    timed: u64,
    instructions: u64,
}

impl JudgeFacts {
    fn of(bench: &Bench) -> JudgeFacts {
        let (timed, instructions) = bench.stopwatch.work();
        JudgeFacts { runs: bench.runs(), timed, instructions }
    }

    fn since(self, earlier: JudgeFacts) -> JudgeFacts {
        JudgeFacts {
            runs: self.runs - earlier.runs,
            timed: self.timed - earlier.timed,
            instructions: self.instructions - earlier.instructions,
        }
    }
}

impl stage::Facts for JudgeFacts {
    fn absorb(&mut self, other: JudgeFacts) {
        self.runs += other.runs;
        self.timed += other.timed;
        self.instructions += other.instructions;
    }
}

/// Judges candidates for pairs.
pub struct Judge<'a> {
    items: Vec<JudgeItem>,
    /// All pairs of the items' problems.
    rivals: Vec<Pair>,
    tests: Tests,
    bench: &'a Bench,
    options: JudgeOptions,
    progress: &'a dyn Progress,
    unmatched: u64,
    /// The programs, the tests and the hidden tests.
    inputs: Vec<Input>,
    /// What of the bench's work is in some facts already.
    counted: Mutex<JudgeFacts>,
}

impl<'a> Judge<'a> {
    /// Match candidates and pairs. Before it has items, the stage times all programs of their problems' pairs, on
    /// the threads that [`with_jobs`](crate::with_jobs) gives and telling `progress`.
    ///
    /// # Errors
    /// When tests cannot be read.
    pub fn new(
        mut pairs: Vec<Pair>,
        candidates: &[Candidates],
        tests: Tests,
        bench: &'a Bench,
        options: JudgeOptions,
        progress: &'a dyn Progress,
    ) -> Result<Judge<'a>> {
        let by_source = BySource::new(candidates);
        let mut copies: HashMap<String, u32> = HashMap::new();
        let mut items = Vec::new();
        for pair in &pairs {
            if let Some(mut item) = JudgeItem::new(pair, &by_source.of(pair), options.most) {
                let copies = copies.entry(item.hash()).or_default();
                item.copy = *copies;
                *copies += 1;
                items.push(item);
            }
        }
        let problems: BTreeSet<&str> = items.iter().map(|item| item.problem_id.as_str()).collect();
        pairs.retain(|pair| problems.contains(pair.problem_id.as_str()));
        let hashes: Vec<String> = items.iter().map(JudgeItem::hash).collect();
        let timed =
            pairs.iter().flat_map(|pair| [&pair.problem_id, &pair.src_code, &pair.tgt_code]);
        let hash = content_hash_of(hashes.iter().chain(timed).map(String::as_bytes));
        let mut inputs = vec![Input { name: "programs".into(), hash }];
        let sets = [("tests", Some(&tests.visible)), ("hidden tests", tests.hidden.as_ref())];
        for (name, set) in sets {
            if let Some(set) = set {
                let hash = set.identity(problems.iter().copied())?;
                inputs.push(Input { name: name.into(), hash });
            }
        }
        let unmatched = (candidates.len() as u64).saturating_sub(items.len() as u64);
        let (rivals, counted) = (pairs, Mutex::new(JudgeFacts::of(bench)));
        Ok(Judge { items, rivals, tests, bench, options, progress, unmatched, inputs, counted })
    }

    /// The least time that any program of the pairs takes on its problem's tests.
    fn fastest_known(&self) -> Result<BTreeMap<&str, f64>> {
        let bench = self.bench;
        self.progress.begin("fastest known", self.rivals.len() as u64);
        let times: Vec<(&str, Option<f64>)> = self
            .rivals
            .par_iter()
            .map(|pair| {
                timing::bounded::check()?;
                let visible = self.tests.visible.tests(&pair.problem_id)?;
                let mut best: Option<f64> = None;
                for code in [&pair.src_code, &pair.tgt_code] {
                    let Ok(program) = bench.build(code, pair.language())? else { continue };
                    if visible.is_empty() || bench.try_tests(&program, &visible)?.failure.is_some()
                    {
                        continue;
                    }
                    if let Ok(times) = bench.time_tests(&program, &visible)? {
                        best = Some(best.map_or(times.seconds, |best| best.min(times.seconds)));
                    }
                }
                self.progress.advance(1);
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

    fn rows_of(&self, item: &JudgeItem) -> Result<Vec<Judgement>> {
        let pair = item.pair();
        let source = Source::prepare(&pair, &self.tests, self.bench)?;
        let mut rows = Vec::new();
        for (index, (method, code)) in item.methods.iter().zip(&item.programs).enumerate() {
            let row = match &source {
                Ok(source) => source.judge(code, self.bench, &self.options)?,
                Err(verdict) => Judgement {
                    code: code.clone(),
                    verdict: verdict.name.clone().into_owned(),
                    detail: verdict.detail.clone(),
                    ..Judgement::default()
                },
            };
            rows.push(Judgement {
                problem_id: item.problem_id.clone(),
                src_id: item.src_id.clone(),
                tgt_id: item.tgt_id.clone(),
                candidate: index as u32,
                candidate_id: item.ids.get(index).cloned().unwrap_or_default(),
                method: method.clone(),
                fastest_seconds: item.fastest_seconds,
                speedup: row.ratio(),
                ..row
            });
        }
        Ok(rows)
    }
}

impl Stage for Judge<'_> {
    const NAME: &'static str = "edits judge";
    const UNITS: &'static str = "pairs";
    const OF_THIS_RUN: &'static [&'static str] = &["runs", "timed", "instructions"];
    type Item = JudgeItem;
    type Row = Judgement;
    type Facts = JudgeFacts;
    type Summary = JudgeReport;
    type Worker = ();
    type Error = Error;

    fn settings(&self) -> Value {
        let mut settings = serde_json::to_value(&self.options).unwrap_or_default();
        settings["bench"] = self.bench.identity().into();
        settings["unmatched"] = self.unmatched.into();
        settings
    }

    fn inputs(&self) -> Result<Vec<Input>> {
        Ok(self.inputs.clone())
    }

    fn items(&self) -> Result<Items<'_, Self>> {
        self.bench.toolchain.expect(self.items.iter().flat_map(|item| {
            let language = item.pair().language();
            let codes = item.programs.iter().chain([&item.src_code]);
            codes.map(move |code| (code.as_str(), language))
        }));
        let fastest = self.fastest_known()?;
        let all = self.items.iter().map(move |item| {
            let fastest_seconds = fastest.get(item.problem_id.as_str()).copied();
            Ok(JudgeItem { fastest_seconds, ..item.clone() })
        });
        Ok(Items { total: Some(self.items.len() as u64), all: Box::new(all) })
    }

    fn key(&self, item: &JudgeItem) -> String {
        content_hash_of([item.hash().as_bytes(), item.copy.to_string().as_bytes()])
    }

    fn worker(&self) -> Result<()> {
        Ok(())
    }

    fn work(&self, (): &mut (), items: &[JudgeItem]) -> Result<Vec<Worked<Judgement>>> {
        items.iter().map(|item| Ok(Worked::Rows(self.rows_of(item)?))).collect()
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    /// What the bench did since an item was last observed.
    fn observe(&self, _: &JudgeItem, _: Option<&[Judgement]>, facts: &mut JudgeFacts) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let now = JudgeFacts::of(self.bench);
        stage::Facts::absorb(facts, now.since(*counted));
        *counted = now;
    }

    fn finish<'a>(
        settings: &'a Value,
        JudgeFacts { runs, timed, instructions }: JudgeFacts,
        units: &'a Units<Judgement>,
    ) -> Result<Finish<'a, Judgement, JudgeReport>> {
        let (pairs, unmatched) = (units.items(), settings["unmatched"].as_u64().unwrap_or(0));
        let mut report =
            JudgeReport { pairs, unmatched, runs, timed, instructions, ..JudgeReport::default() };
        let (mut problems, mut last) = (BTreeSet::new(), None);
        for row in units.rows() {
            let (unit, row) = row?;
            // The slow program of a unit is asked for once; where it does not hold up, rows have no tests.
            let programs = if last == Some(unit.position) { 1 } else { 2 };
            last = Some(unit.position);
            report.candidates += 1;
            report.program_tests += programs * u64::from(row.tests + row.hidden_tests);
            report.unchanged += u64::from(row.label == Change::Nothing.name());
            report.startup_only += u64::from(row.is_accepted() && row.startup_only);
            report.small_only += u64::from(row.is_accepted() && row.small_only);
            *report.verdicts.entry(row.verdict).or_default() += 1;
            problems.insert(row.problem_id);
        }
        report.problems = problems.len() as u64;
        Ok(Finish::all(report.verdicts.clone(), report))
    }
}
