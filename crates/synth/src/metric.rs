//! How far a candidate is from a target.

use crate::{Constraint, Error, Target, effects::Change};
use features::FeatureSpace;
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

/// What a dimension that follows from the others counts while a whole point is looked for. With its
/// full weight one edit alone would often be no gain: an instruction of the right kind also makes
/// one too many in all.
const FOLLOWING: f64 = 1e-6;

/// A target with the weight of each dimension's squared difference; 0 for a free one.
#[derive(Clone, Debug)]
pub(crate) struct Aim {
    pub(crate) target: Target,
    pub(crate) weights: Vec<f64>,
    /// The same for the fitness: dimensions that follow from the others count next to nothing.
    pub(crate) fitness_weights: Vec<f64>,
    /// Dimensions that count in full for the fitness.
    pub(crate) leads: Vec<bool>,
}

impl Aim {
    /// `deviations` are those of the dimensions over the mined kernels; `follows` says which
    /// dimensions follow from the others.
    pub(crate) fn new(target: Target, metric: Metric, deviations: &[f64], follows: &[bool]) -> Aim {
        let weights = target.constraints.iter().zip(deviations).map(|(constraint, deviation)| {
            let weight = constraint.map_or(0.0, |constraint| constraint.weight);
            match metric {
                Metric::Standardised => weight / deviation.powi(2),
                Metric::Euclidean | Metric::Own => weight,
            }
        });
        let weights: Vec<f64> = weights.collect();
        let whole = target.constraints.iter().all(Option::is_some);
        let fitness_weights = weights
            .iter()
            .zip(follows)
            .map(|(weight, follows)| if whole && *follows { weight * FOLLOWING } else { *weight });
        let fitness_weights: Vec<f64> = fitness_weights.collect();
        let leads = fitness_weights.iter().zip(&weights);
        let leads = leads.map(|(fitness, weight)| *weight > 0.0 && fitness == weight).collect();
        Aim { target, weights, fitness_weights, leads }
    }

    /// What is too much (positive) or lacks (negative) in each dimension.
    pub(crate) fn excess(&self, vector: &[f64]) -> Vec<f64> {
        let constraints = self.target.constraints.iter().zip(vector);
        let excess =
            |(one, value): (&Option<Constraint>, &f64)| one.map_or(0.0, |one| one.excess(*value));
        constraints.map(excess).collect()
    }

    /// The part of a change in the dimensions that lead.
    pub(crate) fn leading(&self, change: &Change) -> impl Iterator<Item = (usize, f64)> {
        let parts = change.iter().map(|(index, by)| (usize::from(*index), f64::from(*by)));
        parts.filter(|(index, _)| self.leads[*index])
    }

    /// What is too much or lacks once a change is made so often.
    pub(crate) fn add(&self, excess: &mut [f64], change: &Change, times: f64) {
        for (index, by) in change {
            let index = usize::from(*index);
            if self.target.constraints[index].is_some() {
                excess[index] += times * f64::from(*by);
            }
        }
    }

    /// How much nearer a change leads, in squared distance.
    pub(crate) fn gain(&self, excess: &[f64], change: &Change) -> f64 {
        let parts = change.iter().map(|(index, by)| {
            let index = usize::from(*index);
            let (was, by) = (excess[index], f64::from(*by));
            self.fitness_weights[index] * (was * was - (was + by).powi(2))
        });
        parts.sum()
    }

    /// The distance that is asked for.
    pub(crate) fn distance(&self, vector: &[f64]) -> f64 {
        square(&self.excess(vector), &self.weights).sqrt()
    }

    /// The squared distance that decides what survives, the less the fitter; 0 where [`Aim::distance`] is.
    pub(crate) fn fitness(&self, vector: &[f64]) -> f64 {
        square(&self.excess(vector), &self.fitness_weights)
    }
}

/// The squared distance of a difference.
pub(crate) fn square(excess: &[f64], weights: &[f64]) -> f64 {
    excess.iter().zip(weights).map(|(excess, weight)| weight * excess * excess).sum()
}

/// Which dimensions of the space follow from the others.
pub(crate) fn following(space: &dyn FeatureSpace) -> Vec<bool> {
    let follows = space.follows();
    space.dimensions().iter().map(|name| follows.contains(name)).collect()
}

/// The standard deviation of each dimension; 1 where all values are equal or there are none, so that
/// a difference there counts as it is.
#[must_use]
pub fn deviations<'a>(dimensions: usize, vectors: impl Iterator<Item = &'a [f64]>) -> Vec<f64> {
    let (mut count, mut sums, mut squares) = (0.0, vec![0.0; dimensions], vec![0.0; dimensions]);
    for vector in vectors {
        count += 1.0;
        for (index, value) in vector.iter().enumerate().take(dimensions) {
            sums[index] += value;
            squares[index] += value * value;
        }
    }
    let deviation = |index: usize| {
        let mean = sums[index] / f64::max(count, 1.0);
        let variance = squares[index] / f64::max(count, 1.0) - mean * mean;
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
        let aim = Aim::new(
            Target::point("t", &[0.0, 0.0]),
            Metric::Standardised,
            &[2.0, 1.0],
            &[false; 2],
        );
        assert_eq!(aim.distance(&[2.0, 0.0]), 1.0);
    }

    #[test]
    fn an_edit_that_is_right_is_a_gain_whatever_the_sums_say() {
        let space = features::space("instcount").expect("registered");
        let index = |name| space.dimensions().iter().position(|known| *known == name);
        let (all, multiply) = (index("TotalInsts").expect("there"), index("FMul").expect("there"));
        let target = vec![0.0; space.dimensions().len()];
        let ones = vec![1.0; target.len()];
        let aim =
            Aim::new(Target::point("t", &target), Metric::Euclidean, &ones, &following(space));
        let mut vector = target.clone();
        vector[multiply] = 1.0;
        let before = aim.fitness(&vector);
        (vector[multiply], vector[all]) = (0.0, -1.0);
        assert!(aim.fitness(&vector) < before && aim.fitness(&vector) > 0.0);
    }
}
