//! Scores of judged candidates for OpenCL kernels.
//!
//! A slow kernel counts once for each device. Sizes at which it fails itself are left out. A candidate is right where it is
//! accepted at all other sizes, and its speedup is the geometric mean over these; otherwise the figures are those of
//! programs.

use super::figures::{
    Best, Chosen, FastP, ORIENTATION, each_k, fast_p, figures, geomean, interval, share,
};
use dataset::Verdict;
use rows::{KernelEditRow, KernelEditVerdict};
use serde::Serialize;
use statistics::geometric_mean;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// All scores of kernels. Every speedup is slow kernel / candidate: above 1 is faster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelScores {
    /// Slow kernels with candidates that could be judged, each once for every device.
    pub pairs: u64,
    /// The same, each once.
    pub kernels: u64,
    /// Slow kernels that fail themselves at every size of a device; in no figure below.
    pub unjudged: u64,
    /// Candidates for those that could, each once for every device.
    pub candidates: u64,
    /// Of these, right ones that were not timed; their speedups count as 1.
    pub untimed: u64,
    /// The most candidates that any slow kernel has; the figures below are for all of them.
    pub k: u64,
    /// %Opt at *k*.
    pub opt: f64,
    /// Speedup at *k*.
    pub speedup: f64,
    /// Correct at *k*.
    pub correct: f64,
    /// The same for 1, 2, 4, ... candidates, in the order of the rows.
    pub best_k: BTreeMap<u64, Best>,
    /// The figures at *k*, by device.
    pub devices: BTreeMap<String, Best>,
    /// Geometric mean of speedups at *k*.
    pub geomean: f64,
    /// Its 95 % interval: bootstrap over slow kernels.
    pub interval: [f64; 2],
    /// 95 % interval of %Opt.
    pub opt_interval: [f64; 2],
    /// Share of slow kernels with a candidate that is right and at least so much faster.
    pub fast_p: Vec<FastP>,
    /// Rows by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// How speedups are to be read.
    pub orientation: &'static str,
}

/// A candidate on one device.
struct Candidate {
    accepted: bool,
    /// `None` where it was not timed at every size.
    speedup: Option<f64>,
}

/// A slow kernel on one device, and its candidates.
struct Slow<'a> {
    id: &'a str,
    device: &'a str,
    candidates: Vec<Candidate>,
}

/// Score judgements of kernels; `threshold` is PIE's 1.1, `seed` the bootstrap's.
#[must_use]
pub fn score_kernels(rows: &[KernelEditRow], threshold: f64, seed: u64) -> KernelScores {
    let mut groups: BTreeMap<(&str, &str, &str), Vec<&KernelEditRow>> = BTreeMap::new();
    let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows {
        // Of two drivers one device may have one name.
        groups.entry((&row.src_id, &row.device, &row.platform)).or_default().push(row);
        *verdicts.entry(row.verdict.clone()).or_default() += 1;
    }
    let all = groups.len() as u64;
    let slow: Vec<Slow<'_>> = groups
        .into_iter()
        .map(|((id, device, _), rows)| Slow { id, device, candidates: candidates(&rows) })
        .filter(|slow| !slow.candidates.is_empty())
        .collect();
    let k = slow.iter().map(|slow| slow.candidates.len()).max().unwrap_or(0);
    let at = |k: usize| -> Vec<Chosen<'_>> { slow.iter().map(|slow| slow.choose(k)).collect() };
    let chosen = at(k);
    let best = figures(&chosen, threshold);
    let mut by_device: BTreeMap<String, Vec<Chosen<'_>>> = BTreeMap::new();
    for (slow, one) in slow.iter().zip(&chosen) {
        by_device.entry(slow.device.to_owned()).or_default().push(*one);
    }
    let devices = by_device.into_iter();
    let devices = devices.map(|(device, chosen)| (device, figures(&chosen, threshold))).collect();
    let candidates = || slow.iter().flat_map(|slow| &slow.candidates);
    let is_untimed = |one: &&Candidate| one.accepted && one.speedup.is_none();
    KernelScores {
        pairs: slow.len() as u64,
        kernels: slow.iter().map(|slow| slow.id).collect::<BTreeSet<_>>().len() as u64,
        unjudged: all - slow.len() as u64,
        candidates: candidates().count() as u64,
        untimed: candidates().filter(is_untimed).count() as u64,
        k: k as u64,
        opt: best.opt,
        speedup: best.speedup,
        correct: best.correct,
        best_k: each_k(k, |k| figures(&at(k), threshold)),
        devices,
        geomean: best.geomean,
        interval: interval(&chosen, seed, geomean),
        opt_interval: interval(&chosen, seed, |speedups| share(speedups, threshold)),
        fast_p: fast_p(&chosen),
        verdicts,
        orientation: ORIENTATION,
    }
}

impl<'a> Slow<'a> {
    /// The best of its first *k* candidates.
    fn choose(&self, k: usize) -> Chosen<'a> {
        let right = self.candidates.iter().take(k).filter(|one| one.accepted);
        Chosen {
            problem: self.id,
            speedup: right.clone().filter_map(|one| one.speedup).fold(1.0, f64::max),
            correct: right.count() > 0,
        }
    }
}

/// The candidates of one slow kernel on one device, in the order of their first rows.
fn candidates(rows: &[&KernelEditRow]) -> Vec<Candidate> {
    let fails = |row: &&&KernelEditRow| row.verdict == KernelEditVerdict::SourceFails.name();
    let failed: BTreeSet<u64> = rows.iter().filter(fails).map(|row| row.global_size).collect();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut found: Vec<Vec<&KernelEditRow>> = Vec::new();
    for row in rows.iter().copied().filter(|row| !failed.contains(&row.global_size)) {
        let place = *places.entry(&row.tgt_id).or_insert(found.len());
        if place == found.len() {
            found.push(Vec::new());
        }
        found[place].push(row);
    }
    let candidate = |rows: Vec<&KernelEditRow>| {
        let times: Option<Vec<f64>> =
            rows.iter().map(|row| row.speedup.filter(|ratio| *ratio > 0.0)).collect();
        Candidate {
            accepted: rows.iter().all(|row| row.verdict == Verdict::ACCEPTED),
            speedup: times.map(geometric_mean),
        }
    };
    found.into_iter().map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(src: &str, tgt: &str, device: &str, size: u64, speedup: Option<f64>) -> KernelEditRow {
        KernelEditRow {
            src_id: src.into(),
            tgt_id: tgt.into(),
            device: device.into(),
            global_size: size,
            verdict: "accepted".into(),
            speedup,
            ..KernelEditRow::default()
        }
    }

    fn of(verdict: &str, row: KernelEditRow) -> KernelEditRow {
        KernelEditRow { verdict: verdict.into(), ..row }
    }

    /// On `cpu`: a 4 and 1 times as fast (2.0), then wrong at one size; b wrong, then 1.21 times; c fails itself at 64, where
    /// nothing counts, and is right untimed at 128; d fails itself. On `gpu`: a slower.
    fn fixture() -> Vec<KernelEditRow> {
        vec![
            row("a", "first", "cpu", 64, Some(4.0)),
            row("a", "first", "cpu", 128, Some(1.0)),
            row("a", "first", "gpu", 64, Some(0.5)),
            row("a", "second", "cpu", 64, Some(9.0)),
            of("wrong-output", row("a", "second", "cpu", 128, None)),
            of("crashes", row("b", "first", "cpu", 64, None)),
            row("b", "second", "cpu", 64, Some(1.21)),
            of("source-fails", row("c", "first", "cpu", 64, None)),
            row("c", "first", "cpu", 128, None),
            of("wrong-output", row("c", "second", "cpu", 64, None)),
            row("c", "second", "cpu", 128, Some(1.0)),
            of("source-fails", row("d", "first", "cpu", 64, None)),
        ]
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn figures_of_kernels_are_those_computed_by_hand() {
        let scores = score_kernels(&fixture(), 1.1, 7);
        assert_eq!((scores.pairs, scores.kernels, scores.unjudged), (4, 3, 1));
        assert_eq!((scores.candidates, scores.untimed, scores.k), (7, 1, 2));
        // First candidates: a on cpu 2.0, a on gpu 1.0, b wrong, c untimed.
        let first = scores.best_k[&1];
        near(first.opt, 1.0 / 4.0);
        near(first.speedup, (2.0 + 1.0 + 1.0 + 1.0) / 4.0);
        near(first.correct, 3.0 / 4.0);
        near(first.geomean, 2.0_f64.powf(0.25));
        near(scores.opt, 2.0 / 4.0);
        near(scores.speedup, (2.0 + 1.0 + 1.21 + 1.0) / 4.0);
        near(scores.correct, 1.0);
        near(scores.geomean, (2.0 * 1.21_f64).powf(0.25));
        near(scores.devices["cpu"].opt, 2.0 / 3.0);
        near(scores.devices["gpu"].speedup, 1.0);
        assert_eq!(scores.verdicts["source-fails"], 2);
        assert!(scores.interval[0] <= scores.geomean && scores.geomean <= scores.interval[1]);
        let curve: Vec<f64> = scores.fast_p.iter().map(|point| point.share).collect();
        assert_eq!(curve[..4], [1.0, 0.5, 0.25, 0.25]);
    }

    #[test]
    fn no_kernels_score_nothing() {
        let scores = score_kernels(&[], 1.1, 0);
        assert_eq!((scores.pairs, scores.opt, scores.speedup), (0, 0.0, 1.0));
        assert!(scores.best_k.is_empty() && scores.devices.is_empty());
    }
}
