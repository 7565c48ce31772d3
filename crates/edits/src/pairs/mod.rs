//! Chronological submissions become pairs.
//!
//! As PIE does (section 2): of the accepted programs by one author for one problem, in the order in
//! which they were handed in, each later one that is faster by more than a threshold makes a pair with
//! each earlier one. Times are those of a [`Bench`]; every program must pass all its problem's tests
//! first. Problems, never pairs, are split into train, val and test.

mod stage;

use crate::{
    Result,
    bench::{Bench, Times},
    label::label,
    pair::{Pair, Submission},
    suite::Test,
};
use dataset::{Verdict, content_hash};
use rows::EditVerdict;
use serde::{Deserialize, Serialize};
pub use stage::{MakePairs, PairFacts, PairItem, PairReport};
use std::collections::BTreeMap;

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
    /// Random seed of the split.
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

type Timed = std::result::Result<Times, Verdict>;

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

/// All chronological pairs of a problem, with a verdict each; programs are timed by their hash.
fn pairs_of(
    programs: &[Submission],
    timed: &BTreeMap<String, Timed>,
    options: &PairOptions,
) -> Vec<Pair> {
    let mut authors: BTreeMap<&str, Vec<&Submission>> = BTreeMap::new();
    for program in programs {
        authors.entry(&program.user_id).or_default().push(program);
    }
    let mut rows = Vec::new();
    for history in authors.values_mut() {
        history.sort_by(|a, b| (a.date, &a.id).cmp(&(b.date, &b.id)));
        let times: Vec<&Timed> = history.iter().map(|program| &timed[&program.hash()]).collect();
        for (at, src) in history.iter().enumerate() {
            for (tgt, tgt_timed) in history.iter().zip(&times).skip(at + 1) {
                rows.push(pair(src, tgt, times[at], tgt_timed, options));
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

/// Fill in what compares the programs of a problem: the fastest, rewards, deciles.
fn rank(rows: &mut [Pair], timed: &BTreeMap<String, Timed>) {
    let mut times: Vec<f64> = timed.values().flatten().map(|timed| timed.seconds).collect();
    times.sort_by(f64::total_cmp);
    let Some(&fastest) = times.first() else { return };
    for row in rows {
        let (Some(src), Some(tgt)) = (row.src_agg_runtime, row.tgt_agg_runtime) else { continue };
        row.fastest_agg_runtime = Some(fastest);
        row.src_reward = Some(fastest / src);
        row.tgt_reward = Some(fastest / tgt);
        row.src_decile = Some(decile(&times, src));
        row.tgt_decile = Some(decile(&times, tgt));
    }
}

/// PIE's tag of a program that takes `seconds`: 10 for the fastest tenth of its problem's distinct
/// programs, 1 for the slowest. Programs that tie share the tag of the best place among them.
fn decile(sorted: &[f64], seconds: f64) -> u32 {
    let faster = sorted.partition_point(|other| *other < seconds);
    10 - (10 * faster / sorted.len().max(1)) as u32
}

/// The pairs of highest speedup first; ties in the order of their names.
fn sort(rows: &mut [Pair]) {
    rows.sort_by(|a, b| {
        let speedup = |row: &Pair| row.speedup.unwrap_or(0.0);
        speedup(b).total_cmp(&speedup(a)).then_with(|| a.name().cmp(&b.name()))
    });
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
            printed: vec!["1".to_owned()],
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
        let times: BTreeMap<String, Timed> = programs
            .iter()
            .map(|s| (s.hash(), timed(seconds.iter().find(|t| t.0 == s.id).unwrap().1)))
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
        sort(&mut rows);
        assert_eq!((rows[0].src_id.as_str(), rows[0].tgt_id.as_str()), ("a", "c"));
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
