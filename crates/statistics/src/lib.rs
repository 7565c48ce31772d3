//! Medians, geometric means, rank correlations and intervals: one rule each for all crates, so that two figures of one name are of one kind.
//!
//! - Ratios are averaged by [`geometric_mean`], other values told by their [`median`].
//! - How well one order agrees with another is [`spearman`]'s or [`kendall`]'s correlation, where equal values share their rank.
//! - What is uncertain has a 95 % interval ([`COVERAGE`]): of a share [`wilson_interval`]; of any other figure [`bootstrap_interval`], which
//!   draws whole groups (packages, programs), since members of a group are alike. It is seeded: the same values give the same interval.
//!
//! ```
//! use stampmill_statistics::{bootstrap_interval, geometric_mean, median, spearman, wilson_interval};
//!
//! assert_eq!(median([3.0, 1.0, 2.0, 4.0]), Some(2.5));
//! assert_eq!(geometric_mean([1.0, 4.0]), 2.0);
//! assert_eq!(spearman(&[1.0, 2.0, 9.0], &[10.0, 20.0, 30.0]), 1.0);
//! let [low, high] = wilson_interval(8, 10).expect("there are ten");
//! assert!(low < 0.8 && 0.8 < high && high < 1.0);
//! let values = [1.0, 1.1, 1.3];
//! let mean = |drawn: &[usize]| drawn.iter().map(|at| values[*at]).sum::<f64>() / 3.0;
//! let [low, high] = bootstrap_interval(3, 100, 7, mean).expect("there are three");
//! assert!(1.0 <= low && low <= high && high <= 1.3 + 1e-9);
//! ```

mod bootstrap;
mod proportion;
mod rank;

pub use bootstrap::{COVERAGE, bootstrap_interval};
pub use proportion::wilson_interval;
pub use rank::{kendall, ranks, spearman};

/// The middle value; the mean of the middle two of an even number. `None` of nothing.
#[must_use]
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// Geometric mean of positive values; 1 of nothing.
#[must_use]
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (count, sum) = values
        .into_iter()
        .fold((0_usize, 0.0), |(count, sum), value| (count + 1, sum + value.ln()));
    if count == 0 { 1.0 } else { (sum / count as f64).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_median_and_a_mean_of_one() {
        assert_eq!(median([]), None);
        assert_eq!(median([5.0]), Some(5.0));
        assert_eq!(geometric_mean([]), 1.0);
    }
}
