//! Chronological submissions become pairs.
//!
//! As PIE does (section 2): of the accepted programs by one author for one problem, in the order in
//! which they were handed in, each later one that is faster by more than a threshold makes a pair with
//! each earlier one. Times are those of a [`Bench`]; every program must pass all its problem's tests
//! first. Problems, never pairs, are split into train, val and test.

use crate::{
    Error, Result,
    bench::{Bench, Times},
    label::label,
    pair::{Pair, Submission},
    submissions::Submissions,
    suite::{Test, TestFolder},
};
use dataset::{Builder, Input, Notes, Progress, Verdict, content_hash, content_hash_of};
use rayon::prelude::*;
use rows::EditVerdict;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Instant,
};
use timing::bounded::Faults;

/// How pairs are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairOptions {
    /// Relative gain `(slow - fast) / slow` that a pair must exceed. PIE: 0.1.
    pub threshold: f64,
    /// Keep only the pairs of highest speedup, at most so many per problem. PIE's high-quality subset: 4.
    pub per_problem: Option<usize>,
    /// Keep pairs that do not hold up as rows too, with their verdict.
    pub rejected: bool,
    /// Shares of problems for train, val and test.
    pub split: [f64; 3],
    /// Decides which problem goes where.
    pub seed: u64,
}

impl Default for PairOptions {
    fn default() -> PairOptions {
        PairOptions {
            threshold: 0.1,
            per_problem: None,
            rejected: false,
            split: [0.8, 0.1, 0.1],
            seed: 0,
        }
    }
}

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
    /// Wall-clock seconds.
    pub seconds: f64,
}

type Timed = std::result::Result<Times, Verdict>;

/// Make pairs of `submissions`, judged by `tests`, and write them as the data set `out`. What is known about
/// programs is kept, so that a stopped run repeats nothing.
///
/// # Errors
/// When programs cannot be built, run or timed at all, where faults of the machine left some without times (when all
/// others have theirs), after [`sandbox::stop_all`], or when the data set cannot be made.
pub fn make_pairs(
    submissions: &Submissions,
    tests: &TestFolder,
    bench: &Bench,
    options: &PairOptions,
    (out, force): (&Path, bool),
    progress: &dyn Progress,
) -> Result<PairReport> {
    let started = Instant::now();
    let programs = &submissions.accepted;
    let problems: BTreeSet<&str> = programs.iter().map(|s| s.problem_id.as_str()).collect();
    let tests_identity = tests.identity(problems.iter().copied())?;
    let programs_identity =
        content_hash_of(programs.iter().flat_map(|s| [s.id.as_bytes(), s.code.as_bytes()]));
    let settings = (options, bench.identity(), &tests_identity, &programs_identity);
    let builder = Builder::<Pair>::create(out, force, &settings)?;
    let by_problem: BTreeMap<&str, Vec<Test>> = problems
        .iter()
        .map(|problem| Ok((*problem, tests.tests(problem)?)))
        .collect::<Result<_>>()?;

    // Each program once, whoever handed it in.
    let mut distinct: BTreeMap<(String, String), &Submission> = BTreeMap::new();
    for submission in programs {
        distinct.entry((submission.problem_id.clone(), submission.hash())).or_insert(submission);
    }
    progress.begin("time programs", distinct.len() as u64);
    let (faults, total) = (Faults::default(), distinct.len() as u64);
    let timed: Vec<Option<((String, String), Timed)>> = distinct
        .into_par_iter()
        .map(|(key, submission)| {
            timing::bounded::check()?;
            let timed = time(submission, &by_problem[submission.problem_id.as_str()], bench);
            progress.advance(1);
            Ok(faults.pass(1, timed, Error::is_fault)?.map(|timed| (key, timed)))
        })
        .collect::<Result<_>>()?;
    faults.check(total)?;
    let timed: BTreeMap<(String, String), Timed> = timed.into_iter().flatten().collect();

    let mut rows = pairs_of(programs, &timed, options);
    rank(&mut rows, &timed);
    let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
    for row in &rows {
        *verdicts.entry(row.verdict.clone()).or_default() += 1;
    }
    rows.retain(|row| options.rejected || row.verdict == Verdict::ACCEPTED);
    if let Some(most) = options.per_problem {
        rows = best_per_problem(rows, most);
    }
    let report = PairReport {
        programs: timed.len() as u64,
        passed_over: submissions.passed_over,
        broken: submissions.broken.len() as u64,
        verdicts: verdicts.clone(),
        seconds: started.elapsed().as_secs_f64(),
        ..summarise(&rows)
    };
    let notes = Notes {
        inputs: vec![
            Input { name: "submissions".into(), hash: programs_identity },
            Input { name: "tests".into(), hash: tests_identity },
        ],
        configuration: serde_json::to_value(options).unwrap_or_default(),
        seed: options.seed,
        verdicts,
        summary: serde_json::json!({"pairs": report.pairs, "problems": report.problems}),
        ..Notes::default()
    };
    builder.finish(rows, notes)?;
    Ok(report)
}

/// Build, check and time a program.
fn time(submission: &Submission, tests: &[Test], bench: &Bench) -> Result<Timed> {
    if tests.is_empty() {
        let hint = format!("no input.N.txt and output.N.txt for {}", submission.problem_id);
        return Ok(Err(Verdict::new(EditVerdict::NoTests, hint)));
    }
    let program = match bench.build(&submission.code, submission.language)? {
        Ok(program) => program,
        Err(verdict) => return Ok(Err(verdict)),
    };
    let trial = bench.try_tests(&program, tests)?;
    if let Some((number, verdict)) = trial.failure {
        let detail = format!("test {number}: {}", verdict.detail);
        return Ok(Err(Verdict { detail, ..verdict }));
    }
    bench.time_tests(&program, tests)
}

/// All chronological pairs, with a verdict each.
fn pairs_of(
    programs: &[Submission],
    timed: &BTreeMap<(String, String), Timed>,
    options: &PairOptions,
) -> Vec<Pair> {
    let mut authors: BTreeMap<(&str, &str), Vec<&Submission>> = BTreeMap::new();
    for program in programs {
        authors.entry((&program.problem_id, &program.user_id)).or_default().push(program);
    }
    let mut rows = Vec::new();
    for history in authors.values_mut() {
        history.sort_by(|a, b| (a.date, &a.id).cmp(&(b.date, &b.id)));
        for (at, src) in history.iter().enumerate() {
            for tgt in &history[at + 1..] {
                let time = |s: &Submission| &timed[&(s.problem_id.clone(), s.hash())];
                rows.push(pair(src, tgt, time(src), time(tgt), options));
            }
        }
    }
    rows
}

fn pair(
    src: &Submission,
    tgt: &Submission,
    src_timed: &Timed,
    tgt_timed: &Timed,
    options: &PairOptions,
) -> Pair {
    let label = label(&src.code, &tgt.code);
    let mut row = Pair {
        problem_id: src.problem_id.clone(),
        src_id: src.id.clone(),
        tgt_id: tgt.id.clone(),
        user_id: src.user_id.split('#').next().unwrap_or_default().to_owned(),
        language: tgt.language.name().into(),
        src_code: src.code.clone(),
        tgt_code: tgt.code.clone(),
        split: split(&src.problem_id, options).into(),
        label: label.change.name().into(),
        io_only: label.io_only,
        array_shrunk: label.array_shrunk,
        ..Pair::default()
    };
    let verdict = match (src_timed, tgt_timed) {
        (Err(verdict), _) => {
            Verdict { detail: format!("slow program: {}", verdict.detail), ..verdict.clone() }
        }
        (_, Err(verdict)) => {
            Verdict { detail: format!("improved program: {}", verdict.detail), ..verdict.clone() }
        }
        (Ok(src), Ok(tgt)) => {
            row.src_agg_runtime = Some(src.seconds);
            row.tgt_agg_runtime = Some(tgt.seconds);
            row.speedup = Some(src.seconds / tgt.seconds);
            row.speedup_net = (tgt.seconds_net > 0.0).then(|| src.seconds_net / tgt.seconds_net);
            row.tests = src.tests.iter().map(|time| time.test).collect();
            row.src_times = src.tests.clone();
            row.tgt_times = tgt.tests.clone();
            let gains = |src: f64, tgt: f64| (src - tgt) / src > options.threshold;
            let faster = src.tests.iter().zip(&tgt.tests).filter(|(src, tgt)| {
                src.seconds.zip(tgt.seconds).is_some_and(|(src, tgt)| gains(src, tgt))
            });
            row.confidence = Some(faster.count() as f64 / src.tests.len().max(1) as f64);
            let gain = (src.seconds - tgt.seconds) / src.seconds;
            if gains(src.seconds, tgt.seconds) {
                row.startup_only = !gains(src.seconds_net, tgt.seconds_net);
                Verdict::accepted()
            } else if src.seconds < tgt.seconds {
                Verdict::new(EditVerdict::Slower, format!("takes {:.1} % more time", -100.0 * gain))
            } else {
                Verdict::new(EditVerdict::GainTooSmall, format!("{:.1} % less time", 100.0 * gain))
            }
        }
    };
    row.verdict = verdict.name.into_owned();
    row.detail = verdict.detail;
    row
}

/// Which part a problem is in: by its name and the seed alone, so that it stays there when others come.
fn split(problem: &str, options: &PairOptions) -> &'static str {
    let hash = content_hash(format!("{problem} {}", options.seed).as_bytes());
    let drawn = u32::from_str_radix(&hash[..8], 16).unwrap_or(0);
    let share = f64::from(drawn) / f64::from(u32::MAX) * options.split.iter().sum::<f64>();
    match share {
        share if share < options.split[0] => "train",
        share if share < options.split[0] + options.split[1] => "val",
        _ => "test",
    }
}

/// Fill in what compares programs of one problem: the fastest, rewards, deciles.
fn rank(rows: &mut [Pair], timed: &BTreeMap<(String, String), Timed>) {
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for ((problem, _), timed) in timed {
        if let Ok(timed) = timed {
            times.entry(problem).or_default().push(timed.seconds);
        }
    }
    times.values_mut().for_each(|times| times.sort_by(f64::total_cmp));
    for row in rows {
        let (Some(src), Some(tgt)) = (row.src_agg_runtime, row.tgt_agg_runtime) else { continue };
        let Some(times) = times.get(row.problem_id.as_str()) else { continue };
        let Some(&fastest) = times.first() else { continue };
        row.fastest_agg_runtime = Some(fastest);
        row.src_reward = Some(fastest / src);
        row.tgt_reward = Some(fastest / tgt);
        row.src_decile = Some(decile(times, src));
        row.tgt_decile = Some(decile(times, tgt));
    }
}

/// PIE's tag of a program that takes `seconds`: 10 for the fastest tenth of its problem's distinct
/// programs, 1 for the slowest. Programs that tie share the tag of the best place among them.
fn decile(sorted: &[f64], seconds: f64) -> u32 {
    let faster = sorted.partition_point(|other| *other < seconds);
    10 - (10 * faster / sorted.len().max(1)) as u32
}

/// The pairs of highest speedup, at most `most` per problem; ties in the order of their names.
fn best_per_problem(mut rows: Vec<Pair>, most: usize) -> Vec<Pair> {
    rows.sort_by(|a, b| {
        let speedup = |row: &Pair| row.speedup.unwrap_or(0.0);
        let order = a.problem_id.cmp(&b.problem_id);
        order.then(speedup(b).total_cmp(&speedup(a))).then_with(|| a.name().cmp(&b.name()))
    });
    let mut kept: BTreeMap<String, usize> = BTreeMap::new();
    rows.retain(|row| {
        let count = kept.entry(row.problem_id.clone()).or_default();
        *count += 1;
        *count <= most
    });
    rows
}

fn summarise(rows: &[Pair]) -> PairReport {
    let mut report = PairReport::default();
    let accepted: Vec<&Pair> = rows.iter().filter(|row| row.verdict == Verdict::ACCEPTED).collect();
    report.pairs = accepted.len() as u64;
    report.problems =
        accepted.iter().map(|row| &row.problem_id).collect::<BTreeSet<_>>().len() as u64;
    for row in &accepted {
        *report.labels.entry(row.label.clone()).or_default() += 1;
        *report.split.entry(row.split.clone()).or_default() += 1;
        report.io_only += u64::from(row.io_only);
        report.array_shrunk += u64::from(row.array_shrunk);
        report.startup_only += u64::from(row.startup_only);
    }
    let geomean =
        |values: Vec<f64>| (!values.is_empty()).then(|| statistics::geometric_mean(values));
    report.geomean = geomean(accepted.iter().filter_map(|row| row.speedup).collect());
    report.geomean_net = geomean(accepted.iter().filter_map(|row| row.speedup_net).collect());
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::{Language, TestTime};

    fn submission(id: &str, user: &str, date: u64) -> Submission {
        Submission {
            id: id.into(),
            problem_id: "p1".into(),
            user_id: user.into(),
            date,
            language: Language::Cpp,
            code: format!("int main() {{ return {}; }}", id.len() as u64 + date),
        }
    }

    fn timed(seconds: f64) -> Timed {
        Ok(Times {
            tests: vec![TestTime { test: 0, seconds: Some(seconds) }],
            seconds,
            seconds_net: seconds - 0.5,
            net: vec![seconds - 0.5],
            instructions: 1,
        })
    }

    #[test]
    fn every_later_and_faster_program_makes_a_pair_with_every_earlier_one() {
        let programs = [
            submission("c", "u", 3),
            submission("a", "u", 1),
            submission("b", "u", 2),
            submission("x", "v", 0),
        ];
        let seconds = [("a", 2.0), ("b", 1.9), ("c", 1.0), ("x", 1.0)];
        let times: BTreeMap<(String, String), Timed> = programs
            .iter()
            .map(|s| {
                (
                    ("p1".to_owned(), s.hash()),
                    timed(seconds.iter().find(|t| t.0 == s.id).unwrap().1),
                )
            })
            .collect();
        let mut rows = pairs_of(&programs, &times, &PairOptions::default());
        rank(&mut rows, &times);
        let found: Vec<(&str, &str, &str)> = rows
            .iter()
            .map(|r| (r.src_id.as_str(), r.tgt_id.as_str(), r.verdict.as_str()))
            .collect();
        assert_eq!(
            found,
            [("a", "b", "gain-too-small"), ("a", "c", "accepted"), ("b", "c", "accepted")]
        );
        assert_eq!((rows[1].speedup, rows[1].speedup_net), (Some(2.0), Some(3.0)));
        assert_eq!(
            (rows[1].src_decile, rows[1].tgt_decile, rows[1].tgt_reward),
            (Some(3), Some(10), Some(1.0))
        );
        let best = best_per_problem(rows, 1);
        assert_eq!((best.len(), best[0].src_id.as_str()), (1, "a"));
    }

    #[test]
    fn a_problem_is_in_one_part_and_ties_share_a_tag() {
        let options = PairOptions::default();
        let parts: Vec<&str> = (0..200).map(|n| split(&format!("p{n:05}"), &options)).collect();
        let train = parts.iter().filter(|part| **part == "train").count();
        assert!((140..180).contains(&train), "{train}");
        assert_eq!(decile(&[1.0, 1.0, 2.0, 3.0], 1.0), 10);
        assert_eq!(decile(&[1.0, 1.0, 2.0, 3.0], 2.0), 5);
        assert_eq!(decile(&[1.0, 1.0, 2.0, 3.0], 3.0), 3);
    }
}
