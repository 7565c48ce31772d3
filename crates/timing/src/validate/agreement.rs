//! How well the model's times agree with the clock's, with bootstrap intervals.

use serde::{Deserialize, Serialize};
use statistics::{bootstrap_interval, median};
use std::collections::BTreeMap;

const RESAMPLES: usize = 1000;
const SEED: u64 = 8;

/// A figure with its 95 % bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Its value on all programs.
    pub value: f64,
    /// Its 2.5 and 97.5 percentiles over 1000 resamples of the pairs.
    pub interval: [f64; 2],
}

/// One program's two times.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pairing {
    pub(crate) pair: String,
    pub(crate) slow: bool,
    pub(crate) model: f64,
    pub(crate) wall: f64,
}

/// Resamples whole pairs: the two programs of a pair are not independent.
pub(crate) struct Interval<'a> {
    points: &'a [Pairing],
    pairs: Vec<Vec<usize>>,
}

impl<'a> Interval<'a> {
    pub(crate) fn new(points: &'a [Pairing]) -> Interval<'a> {
        let mut pairs = BTreeMap::<&str, Vec<usize>>::new();
        for (at, point) in points.iter().enumerate() {
            pairs.entry(&point.pair).or_default().push(at);
        }
        Interval { points, pairs: pairs.into_values().collect() }
    }

    pub(crate) fn of(&self, figure: impl Fn(&[Pairing]) -> f64) -> Figure {
        let resampled = |numbers: &[usize]| {
            let mut drawn = Vec::new();
            for (number, pair) in numbers.iter().enumerate() {
                for &at in &self.pairs[*pair] {
                    // A pair drawn twice is two pairs.
                    let pair = format!("{number}");
                    drawn.push(Pairing { pair, ..self.points[at].clone() });
                }
            }
            figure(&drawn)
        };
        let value = figure(self.points);
        let interval = bootstrap_interval(self.pairs.len(), RESAMPLES, SEED, resampled);
        Figure { value, interval: interval.unwrap_or([value; 2]) }
    }
}

pub(crate) fn spearman(points: &[Pairing]) -> f64 {
    let (model, wall) = times(points);
    statistics::spearman(&model, &wall)
}

pub(crate) fn kendall(points: &[Pairing]) -> f64 {
    let (model, wall) = times(points);
    statistics::kendall(&model, &wall)
}

fn times(points: &[Pairing]) -> (Vec<f64>, Vec<f64>) {
    points.iter().map(|point| (point.model, point.wall)).unzip()
}

/// Share of two programs at least `apart` in wall-clock time that the model orders alike.
pub(crate) fn pair_order(points: &[Pairing], apart: f64) -> f64 {
    let (mut right, mut all) = (0_u32, 0_u32);
    for (at, one) in points.iter().enumerate() {
        for other in &points[at + 1..] {
            if one.wall.max(other.wall) > apart * one.wall.min(other.wall) {
                all += 1;
                right += u32::from((one.wall < other.wall) == (one.model < other.model));
            }
        }
    }
    f64::from(right) / f64::from(all)
}

pub(crate) fn scale(points: &[Pairing]) -> f64 {
    median(points.iter().map(|p| p.model / p.wall)).unwrap_or(0.0)
}

pub(crate) fn median_error(points: &[Pairing]) -> f64 {
    let scale = scale(points);
    median(points.iter().map(|p| (p.model / (scale * p.wall) - 1.0).abs())).unwrap_or(0.0)
}

/// Median factor, less 1, between the model's and the clock's speedup of each pair.
pub(crate) fn speedup_error(points: &[Pairing]) -> f64 {
    let mut pairs = BTreeMap::<&str, [Option<&Pairing>; 2]>::new();
    for point in points {
        pairs.entry(&point.pair).or_default()[usize::from(point.slow)] = Some(point);
    }
    let errors = pairs.into_values().filter_map(|pair| {
        let [Some(fast), Some(slow)] = pair else { return None };
        let ratio = (slow.model / fast.model) / (slow.wall / fast.wall);
        Some(ratio.max(1.0 / ratio) - 1.0)
    });
    median(errors).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(values: &[(f64, f64)]) -> Vec<Pairing> {
        let point = |(at, (model, wall)): (usize, &(f64, f64))| Pairing {
            pair: format!("{}", at / 2),
            slow: at % 2 == 0,
            model: *model,
            wall: *wall,
        };
        values.iter().enumerate().map(point).collect()
    }

    #[test]
    fn known_values() {
        let points = points(&[(1.0, 10.0), (2.0, 20.0), (3.0, 30.0), (5.0, 40.0), (4.0, 50.0)]);
        assert!((spearman(&points) - 0.9).abs() < 1e-12);
        assert!((kendall(&points) - 0.8).abs() < 1e-12);
        assert!((pair_order(&points, 1.2) - 0.9).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn agreement_with_itself_is_perfect_whatever_the_scale(
            times in prop::collection::vec(0.001_f64..10.0, 4..40), factor in 0.1_f64..10.0
        ) {
            let points = points(&times.iter().map(|t| (t * factor, *t)).collect::<Vec<_>>());
            prop_assert!(median_error(&points) < 1e-9);
            prop_assert!(speedup_error(&points) < 1e-9);
            let order = pair_order(&points, 1.2);
            prop_assert!(order == 1.0 || order.is_nan());
        }
    }
}
