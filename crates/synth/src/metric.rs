//! How far a candidate is from a target.

use crate::{Error, Target};
use std::str::FromStr;

/// The distance that decides what survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// Differences in units of each dimension's standard deviation over the mined kernels
    /// (BenchPress, PACT'22, section 3.4, with the formula that its text describes: its printed one
    /// divides by the variance of the two points themselves).
    Standardised,
    /// Plain differences.
    #[default]
    Euclidean,
    /// The space's own distance, where the target is a whole point.
    Own,
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Metric, Error> {
        match text {
            "standardised" => Ok(Metric::Standardised),
            "euclidean" => Ok(Metric::Euclidean),
            "own" => Ok(Metric::Own),
            _ => Err(Error::UnknownMetric(text.to_owned())),
        }
    }
}

/// A target with the weight of each dimension's squared difference; 0 for a free one.
#[derive(Clone, Debug)]
pub(crate) struct Aim {
    pub(crate) target: Target,
    pub(crate) weights: Vec<f64>,
}

impl Aim {
    /// `deviations` are those of the dimensions over the mined kernels.
    pub(crate) fn new(target: Target, metric: Metric, deviations: &[f64]) -> Aim {
        let weights = target.wanted.iter().zip(deviations).map(|(wanted, deviation)| {
            let weight = wanted.as_ref().map_or(0.0, |wanted| wanted.weight);
            match metric {
                Metric::Standardised => weight / deviation.powi(2),
                Metric::Euclidean | Metric::Own => weight,
            }
        });
        let weights = weights.collect();
        Aim { target, weights }
    }

    /// What is too much (positive) or lacks (negative) in each dimension.
    pub(crate) fn excess(&self, vector: &[f64]) -> Vec<f64> {
        let wanted = self.target.wanted.iter().zip(vector);
        wanted.map(|(wanted, value)| wanted.map_or(0.0, |wanted| wanted.excess(*value))).collect()
    }

    /// The squared distance of a difference.
    pub(crate) fn square(&self, excess: &[f64]) -> f64 {
        excess.iter().zip(&self.weights).map(|(excess, weight)| weight * excess * excess).sum()
    }

    /// The distance that decides.
    pub(crate) fn distance(&self, vector: &[f64]) -> f64 {
        self.square(&self.excess(vector)).sqrt()
    }
}

/// The standard deviation of each dimension; 1 where all values are equal or there are none, so that
/// a difference there counts as it is.
#[must_use]
pub fn deviations<'a>(dimensions: usize, vectors: impl Iterator<Item = &'a [f64]>) -> Vec<f64> {
    let (mut count, mut sums, mut squares) = (0.0, vec![0.0; dimensions], vec![0.0; dimensions]);
    for vector in vectors {
        count += 1.0;
        for (place, value) in vector.iter().enumerate().take(dimensions) {
            sums[place] += value;
            squares[place] += value * value;
        }
    }
    let deviation = |place: usize| {
        let mean = sums[place] / f64::max(count, 1.0);
        let variance = squares[place] / f64::max(count, 1.0) - mean * mean;
        if variance > 1e-9 { variance.sqrt() } else { 1.0 }
    };
    (0..dimensions).map(deviation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dimension_without_spread_counts_plainly() {
        let vectors: [&[f64]; 2] = [&[0.0, 5.0], &[4.0, 5.0]];
        assert_eq!(deviations(2, vectors.into_iter()), [2.0, 1.0]);
        let aim = Aim::new(Target::point("t", &[0.0, 0.0]), Metric::Standardised, &[2.0, 1.0]);
        assert_eq!(aim.distance(&[2.0, 0.0]), 1.0);
    }
}
