//! What scores of programs and of kernels have in common.

use serde::Serialize;
use statistics::{bootstrap_interval, geometric_mean};
use std::collections::BTreeMap;

/// Speedups at which the fast_p curve is told, those of PIE's evaluation and 1.
pub const FAST_P: [f64; 11] = [1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 10.0];
/// Draws of the bootstrap.
const DRAWS: usize = 2000;
/// How speedups are to be read.
pub(super) const ORIENTATION: &str =
    "slow program / candidate: above 1 is faster; 1 where none is right or faster";

/// PIE's three figures for the first *k* candidates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Best {
    /// Share of programs with a speedup of at least the threshold, 0 to 1.
    pub opt: f64,
    /// Arithmetic mean of speedups, each at least 1.
    pub speedup: f64,
    /// Share of programs with a candidate that is right, 0 to 1.
    pub correct: f64,
    /// Geometric mean of speedups, each at least 1.
    pub geomean: f64,
}

/// A point of the fast_p curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FastP {
    /// Speedup.
    pub p: f64,
    /// Share of programs that are right and at least so much faster.
    pub share: f64,
}

/// The best of a slow program's first *k* candidates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen<'a> {
    /// Programs of one problem are alike.
    pub(super) problem: &'a str,
    /// At least 1.
    pub(super) speedup: f64,
    /// Whether any candidate is right.
    pub(super) correct: bool,
}

/// The three figures.
pub(super) fn figures(chosen: &[Chosen<'_>], threshold: f64) -> Best {
    let speedups = speedups(chosen);
    let right = chosen.iter().filter(|c| c.correct).count();
    Best {
        opt: share(&speedups, threshold),
        speedup: mean(&speedups),
        correct: right as f64 / chosen.len().max(1) as f64,
        geomean: geometric_mean(speedups),
    }
}

/// The figures `at` 1, 2, 4, ... candidates, and at all *k*.
pub(super) fn each_k(k: usize, at: impl Fn(usize) -> Best) -> BTreeMap<u64, Best> {
    let sizes = std::iter::successors(Some(1_usize), |size| Some(*size * 2));
    sizes
        .take_while(|size| *size < k)
        .chain((k > 0).then_some(k))
        .map(|size| (size as u64, at(size)))
        .collect()
}

/// The fast_p curve.
pub(super) fn fast_p(chosen: &[Chosen<'_>]) -> Vec<FastP> {
    let right: Vec<f64> = chosen.iter().map(|c| if c.correct { c.speedup } else { 0.0 }).collect();
    FAST_P.iter().map(|&p| FastP { p, share: share(&right, p) }).collect()
}

/// 95 % bootstrap interval of a figure of speedups: problems are drawn, since programs of one problem are alike.
pub(super) fn interval(
    chosen: &[Chosen<'_>],
    seed: u64,
    figure: impl Fn(&[f64]) -> f64,
) -> [f64; 2] {
    let mut by_problem: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for one in chosen {
        by_problem.entry(one.problem).or_default().push(one.speedup);
    }
    let problems: Vec<Vec<f64>> = by_problem.into_values().collect();
    let drawn = |numbers: &[usize]| {
        let sample = numbers.iter().flat_map(|number| problems[*number].iter().copied());
        figure(&sample.collect::<Vec<f64>>())
    };
    bootstrap_interval(problems.len(), DRAWS, seed, drawn).unwrap_or_else(|| [figure(&[]); 2])
}

/// The geometric mean, as a figure.
pub(super) fn geomean(speedups: &[f64]) -> f64 {
    geometric_mean(speedups.iter().copied())
}

/// Share of values that are at least `least`.
pub(super) fn share(values: &[f64], least: f64) -> f64 {
    values.iter().filter(|value| **value >= least).count() as f64 / values.len().max(1) as f64
}

/// Arithmetic mean; 1 of nothing, as of a program without a candidate that is right.
pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 1.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

fn speedups(chosen: &[Chosen<'_>]) -> Vec<f64> {
    chosen.iter().map(|c| c.speedup).collect()
}
