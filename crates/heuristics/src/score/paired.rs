//! Two sets of predictions for the same rows.

use super::{gains, resample::Groups};
use crate::{Result, Task};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// Random sign flips of a permutation test.
const FLIPS: u32 = 10_000;
/// Up to so many groups all sign flips are tried.
const EXACT: usize = 13;

/// How a second set of predictions differs from a first on the same rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// Geometric mean over rows of the first's cost over the second's.
    pub geomean: f64,
    /// 95 % bootstrap interval of it over groups.
    pub interval: [f64; 2],
    /// Probability of a difference this large, either way, if it did not matter which is which:
    /// a permutation test that swaps the two in whole groups.
    pub p_value: f64,
    /// Accuracy of the second minus accuracy of the first.
    pub accuracy_difference: f64,
    /// Rows that the two decide differently.
    pub different: usize,
    /// How to read `geomean`.
    pub orientation: &'static str,
}

/// Compare two sets of predictions, one each per row of `task`.
///
/// # Errors
/// When the task has no rows or unmeasured ones.
pub fn compare(task: &Task, first: &[usize], second: &[usize], seed: u64) -> Result<Paired> {
    task.require_measured("the rows to compare on")?;
    let differences = gains(task, second, |row| first[row]);
    let groups = Groups::of(task);
    let rows = task.rows.len() as f64;
    let right = |predictions: &[usize]| {
        task.rows.iter().zip(predictions).filter(|(row, choice)| row.label == **choice).count()
            as f64
            / rows
    };
    Ok(Paired {
        geomean: (differences.iter().sum::<f64>() / rows).exp(),
        interval: groups.interval(&differences, seed).map(f64::exp),
        p_value: p_value(&groups.sums(&differences), seed),
        accuracy_difference: right(second) - right(first),
        different: first.iter().zip(second).filter(|(a, b)| a != b).count(),
        orientation: "cost of the first / cost of the second: above 1 the second is cheaper",
    })
}

/// Two-sided sign-flip test of the sum.
fn p_value(sums: &[(f64, usize)], seed: u64) -> f64 {
    let total: f64 = sums.iter().map(|(sum, _)| sum).sum();
    // Rounding must not make a flip that gives the same sum again look smaller.
    let bar = total.abs() * (1.0 - 1e-12);
    let reaches = |flips: &mut dyn FnMut() -> bool| {
        let flipped: f64 = sums.iter().map(|(sum, _)| if flips() { -sum } else { *sum }).sum();
        flipped.abs() >= bar
    };
    if sums.len() <= EXACT {
        let all = 1u32 << sums.len();
        let reached = (0..all).filter(|&pattern| {
            let mut bits = pattern;
            reaches(&mut || {
                let flip = bits & 1 == 1;
                bits >>= 1;
                flip
            })
        });
        return reached.count() as f64 / f64::from(all);
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let reached = (0..FLIPS).filter(|_| reaches(&mut || random.random())).count();
    (reached as f64 + 1.0) / (f64::from(FLIPS) + 1.0)
}
