//! Scores of judged candidates: PIE's (section 4 of the paper, and its published evaluation), and what
//! they leave out.
//!
//! For a slow program and the first *k* candidates for it, the best one is the fastest that is right. Its
//! speedup is slow time / its time, and 1 where none is right or none is faster.
//!
//! - **%Opt**: share of programs with a best speedup of at least 1.1;
//! - **Speedup**: arithmetic mean of best speedups;
//! - **Correct**: share of programs with a candidate that is right;
//! - **Best@k**: the three for the first *k*.

mod figures;
mod kernels;
mod picture;

pub use self::kernels::{KernelScores, score_kernels};
pub use figures::{Best, FAST_P, FastP};
pub use picture::fast_p_picture;

use crate::judge::Judgement;
use dataset::Verdict;
use figures::{Chosen, ORIENTATION, each_k, fast_p, figures, geomean, interval, mean, share};
use serde::Serialize;
use statistics::geometric_mean;
use std::collections::{BTreeMap, BTreeSet};

/// A test counts as slowed from so much more time on.
const SLOWED: f64 = 1.01;

/// All scores. Every speedup is slow program / candidate: above 1 is faster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// Slow programs with candidates that could be judged.
    pub pairs: u64,
    /// Their problems.
    pub problems: u64,
    /// Slow programs that could not be judged (no tests, or they fail their own); in no figure below.
    pub unjudged: u64,
    /// Candidates for those that could.
    pub candidates: u64,
    /// The most candidates that any slow program has; the figures below are for all of them.
    pub k: u64,
    /// %Opt at *k*.
    pub opt: f64,
    /// Speedup at *k*.
    pub speedup: f64,
    /// Correct at *k*.
    pub correct: f64,
    /// The same for 1, 2, 4, ... candidates.
    pub best_k: BTreeMap<u64, Best>,
    /// Geometric mean of speedups at *k*.
    pub geomean: f64,
    /// Its 95 % interval: bootstrap over problems.
    pub interval: [f64; 2],
    /// 95 % interval of %Opt.
    pub opt_interval: [f64; 2],
    /// %Opt by times from `main` on.
    pub opt_net: f64,
    /// Arithmetic mean of speedups from `main` on.
    pub speedup_net: f64,
    /// Geometric mean of the same.
    pub geomean_net: f64,
    /// Geometric mean of fastest known / best: 1 is as fast as the fastest known program.
    pub of_fastest: f64,
    /// Share of programs that are right and at least so much faster.
    pub fast_p: Vec<FastP>,
    /// Of the best candidates' tests, the share that takes more time than before.
    pub slowed_tests: f64,
    /// Geometric mean of slow program's memory / best candidate's.
    pub memory: f64,
    /// The figures at *k* with candidates that change nothing but input and output left out.
    pub without_io_only: Best,
    /// Candidates by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// How speedups are to be read.
    pub orientation: &'static str,
}

/// Score judgements; `threshold` is PIE's 1.1, `seed` the bootstrap's.
#[must_use]
pub fn score(rows: &[Judgement], threshold: f64, seed: u64) -> Scores {
    let mut programs: BTreeMap<(&str, &str, &str), Vec<&Judgement>> = BTreeMap::new();
    for row in rows {
        programs.entry((&row.problem_id, &row.src_id, &row.tgt_id)).or_default().push(row);
    }
    programs.values_mut().for_each(|rows| rows.sort_by_key(|row| row.candidate));
    let all = programs.len() as u64;
    programs.retain(|_, rows| {
        rows.iter().all(|row| !matches!(row.verdict.as_str(), "no-tests" | "source-fails"))
    });
    let programs: Vec<Vec<&Judgement>> = programs.into_values().collect();
    let k = programs.iter().map(Vec::len).max().unwrap_or(0);
    let at = |k: usize| -> Vec<Chosen<'_>> {
        programs.iter().map(|rows| chosen_of(rows, fastest(rows, k, |_| true))).collect()
    };
    let chosen = at(k);
    let best = figures(&chosen, threshold);
    let without_io: Vec<Chosen<'_>> =
        programs.iter().map(|rows| chosen_of(rows, fastest(rows, k, |row| !row.io_only))).collect();
    let bests: Vec<Option<&Judgement>> =
        programs.iter().map(|rows| fastest(rows, k, |_| true)).collect();
    let net = |row: &Judgement| ratio(row.src_net, row.net);
    let nets: Vec<f64> = bests.iter().map(|best| best.map_or(1.0, net)).collect();
    let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows {
        *verdicts.entry(row.verdict.clone()).or_default() += 1;
    }
    let tests = |slowed: bool| -> usize {
        let each = bests.iter().flatten().flat_map(|row| row.times.iter().zip(&row.src_times));
        each.filter(|(after, before)| !slowed || **after > **before * SLOWED).count()
    };
    let ratios = |ratio: &dyn Fn(&Judgement) -> Option<f64>| -> f64 {
        geometric_mean(bests.iter().flatten().filter_map(|row| ratio(row)))
    };
    Scores {
        pairs: chosen.len() as u64,
        problems: chosen.iter().map(|c| c.problem).collect::<BTreeSet<_>>().len() as u64,
        unjudged: all - chosen.len() as u64,
        candidates: programs.iter().map(Vec::len).sum::<usize>() as u64,
        k: k as u64,
        opt: best.opt,
        speedup: best.speedup,
        correct: best.correct,
        best_k: each_k(k, |k| figures(&at(k), threshold)),
        geomean: best.geomean,
        interval: interval(&chosen, seed, geomean),
        opt_interval: interval(&chosen, seed, |speedups| share(speedups, threshold)),
        opt_net: share(&nets, threshold),
        speedup_net: mean(&nets),
        geomean_net: geometric_mean(nets.iter().copied()),
        of_fastest: ratios(&|row| Some(row.fastest_seconds? / row.seconds?)),
        fast_p: fast_p(&chosen),
        slowed_tests: tests(true) as f64 / tests(false).max(1) as f64,
        memory: ratios(&|row| {
            (row.peak_bytes > 0).then(|| row.src_peak_bytes as f64 / row.peak_bytes as f64)
        }),
        without_io_only: figures(&without_io, threshold),
        verdicts,
        orientation: ORIENTATION,
    }
}

/// The fastest that is right among the first *k* that are to be kept.
fn fastest<'a>(
    rows: &[&'a Judgement],
    k: usize,
    keep: impl Fn(&Judgement) -> bool,
) -> Option<&'a Judgement> {
    let right =
        rows.iter().take(k).copied().filter(|row| row.verdict == Verdict::ACCEPTED && keep(row));
    let time = |row: &Judgement| row.seconds.unwrap_or(f64::INFINITY);
    right.min_by(|a, b| time(a).total_cmp(&time(b)))
}

fn chosen_of<'a>(rows: &[&'a Judgement], best: Option<&Judgement>) -> Chosen<'a> {
    Chosen {
        problem: rows.first().map_or("", |row| row.problem_id.as_str()),
        speedup: best.map_or(1.0, |row| ratio(row.src_seconds, row.seconds)),
        correct: best.is_some(),
    }
}

/// How many times less `after` is than `before`, at least 1.
fn ratio(before: Option<f64>, after: Option<f64>) -> f64 {
    let ratio = before.zip(after).filter(|(_, after)| *after > 0.0).map(|(b, a)| b / a);
    ratio.unwrap_or(1.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(src: &str, candidate: u32, seconds: Option<f64>, io_only: bool) -> Judgement {
        Judgement {
            problem_id: format!("p-{src}"),
            src_id: src.into(),
            candidate,
            verdict: if seconds.is_some() { "accepted" } else { "wrong-output" }.into(),
            src_seconds: Some(10.0),
            src_net: Some(8.0),
            src_times: vec![4.0, 6.0],
            seconds,
            net: seconds.map(|s| s - 2.0),
            times: seconds.map_or(Vec::new(), |s| vec![s - 5.0, 5.0]),
            fastest_seconds: Some(4.0),
            src_peak_bytes: 100,
            peak_bytes: 50,
            io_only,
            ..Judgement::default()
        }
    }

    /// Four slow programs of 10 s each, two candidates each:
    /// a: 5 s, wrong          best@1 2.0   best@2 2.0
    /// b: wrong, 8 s (I/O)    best@1 1.0   best@2 1.25
    /// c: 20 s, 9.5 s         best@1 1.0   best@2 1.0526
    /// d: wrong, wrong        best@1 1.0   best@2 1.0
    fn fixture() -> Vec<Judgement> {
        let mut rows = vec![
            row("a", 0, Some(5.0), false),
            row("a", 1, None, false),
            row("b", 0, None, false),
            row("b", 1, Some(8.0), true),
            row("c", 0, Some(20.0), false),
            row("c", 1, Some(9.5), false),
            row("d", 0, None, false),
            row("d", 1, None, false),
        ];
        let mut unjudged = row("e", 0, None, false);
        unjudged.verdict = "source-fails".into();
        rows.push(unjudged);
        rows
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn figures_are_those_computed_by_hand() {
        let scores = score(&fixture(), 1.1, 7);
        assert_eq!((scores.pairs, scores.unjudged, scores.candidates, scores.k), (4, 1, 8, 2));
        let first = scores.best_k[&1];
        near(first.opt, 1.0 / 4.0);
        near(first.speedup, (2.0 + 1.0 + 1.0 + 1.0) / 4.0);
        near(first.correct, 2.0 / 4.0);
        near(first.geomean, 2.0_f64.powf(0.25));
        near(scores.opt, 2.0 / 4.0);
        near(scores.speedup, (2.0 + 1.25 + 10.0 / 9.5 + 1.0) / 4.0);
        near(scores.correct, 3.0 / 4.0);
        near(scores.geomean, (2.0 * 1.25 * 10.0 / 9.5_f64).powf(0.25));
        // Net: a 8/3, b 8/6, c 8/7.5, d 1.
        near(scores.speedup_net, (8.0 / 3.0 + 8.0 / 6.0 + 8.0 / 7.5 + 1.0) / 4.0);
        near(scores.opt_net, 2.0 / 4.0);
        // Fastest known 4 s: a 4/5, b 4/8, c 4/9.5.
        near(scores.of_fastest, (0.8 * 0.5 * 4.0 / 9.5_f64).cbrt());
        // Of 6 tests, those of b (3.0 and 5.0 after 4.0 and 6.0) and a (0.0, 5.0) are not slowed; c's
        // first (4.5 after 4.0) is.
        near(scores.slowed_tests, 1.0 / 6.0);
        near(scores.memory, 2.0);
        near(scores.without_io_only.opt, 1.0 / 4.0);
        near(scores.without_io_only.correct, 2.0 / 4.0);
        let curve: Vec<f64> = scores.fast_p.iter().map(|point| point.share).collect();
        assert_eq!(curve[..4], [0.75, 0.5, 0.5, 0.25]);
    }

    #[test]
    fn intervals_hold_their_figure_and_do_not_depend_on_the_hour() {
        let scores = score(&fixture(), 1.1, 7);
        assert!(scores.interval[0] <= scores.geomean && scores.geomean <= scores.interval[1]);
        assert!(scores.opt_interval[0] <= scores.opt && scores.opt <= scores.opt_interval[1]);
        assert_eq!(scores, score(&fixture(), 1.1, 7));
    }

    #[test]
    fn nothing_judged_scores_nothing() {
        let scores = score(&[], 1.1, 0);
        assert_eq!((scores.pairs, scores.opt, scores.speedup), (0, 0.0, 1.0));
        assert!(scores.best_k.is_empty(), "{:?}", scores.best_k);
        assert!(scores.interval.iter().all(|bound| bound.is_finite()));
    }
}
