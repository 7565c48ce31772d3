//! Medians, geometric means, rank correlations, bootstrap intervals and those of shares: one rule each, everything seeded.
//!
//! ```
//! use stampmill_statistics::{geometric_mean, median, spearman};
//!
//! assert_eq!(median([3.0, 1.0, 2.0, 4.0]), Some(2.5));
//! assert_eq!(geometric_mean([1.0, 4.0]), 2.0);
//! assert_eq!(spearman(&[1.0, 2.0, 9.0], &[10.0, 20.0, 30.0]), 1.0);
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
