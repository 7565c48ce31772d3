//! Rank correlations and errors with bootstrap intervals; everything seeded.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
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
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut values: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let mut drawn = Vec::new();
                for number in 0..self.pairs.len() {
                    for &at in &self.pairs[random.random_range(0..self.pairs.len())] {
                        // A pair drawn twice is two pairs.
                        let pair = format!("{number}");
                        drawn.push(Pairing { pair, ..self.points[at].clone() });
                    }
                }
                figure(&drawn)
            })
            .filter(|value| value.is_finite())
            .collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values.get((values.len() as f64 * share) as usize).copied();
        let value = figure(self.points);
        Figure { value, interval: [at(0.025).unwrap_or(value), at(0.975).unwrap_or(value)] }
    }
}

/// The middle value; the mean of the middle two of an even number. 0 of nothing.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// Ranks from 1, equal values sharing their mean rank.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let same =
            order[from..].iter().take_while(|at| values[**at] == values[order[from]]).count();
        for at in &order[from..from + same] {
            ranks[*at] = from as f64 + (same as f64 + 1.0) / 2.0;
        }
        from += same;
    }
    ranks
}

/// Spearman's rank correlation of two lists of equal length.
pub(crate) fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 + 1.0) / 2.0;
    let product: f64 = a.iter().zip(&b).map(|(a, b)| (a - mean) * (b - mean)).sum();
    let square = |ranks: &[f64]| ranks.iter().map(|rank| (rank - mean).powi(2)).sum::<f64>();
    product / (square(&a) * square(&b)).sqrt()
}

pub(crate) fn spearman(points: &[Pairing]) -> f64 {
    let (model, wall): (Vec<f64>, Vec<f64>) = points.iter().map(|p| (p.model, p.wall)).unzip();
    rank_correlation(&model, &wall)
}

/// Kendall's tau-b.
pub(crate) fn kendall(points: &[Pairing]) -> f64 {
    let (mut sum, mut model_apart, mut wall_apart) = (0.0, 0.0, 0.0);
    for (at, one) in points.iter().enumerate() {
        for other in &points[at + 1..] {
            let sign = |a: f64, b: f64| if a == b { 0.0 } else { (a - b).signum() };
            let (model, wall) = (sign(one.model, other.model), sign(one.wall, other.wall));
            sum += model * wall;
            model_apart += model * model;
            wall_apart += wall * wall;
        }
    }
    sum / f64::sqrt(model_apart * wall_apart)
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
    median(&mut points.iter().map(|p| p.model / p.wall).collect::<Vec<_>>())
}

pub(crate) fn median_error(points: &[Pairing]) -> f64 {
    let scale = scale(points);
    median(&mut points.iter().map(|p| (p.model / (scale * p.wall) - 1.0).abs()).collect::<Vec<_>>())
}

/// Median factor, less 1, between the model's and the clock's speedup of each pair.
pub(crate) fn speedup_error(points: &[Pairing]) -> f64 {
    let mut pairs = BTreeMap::<&str, [Option<&Pairing>; 2]>::new();
    for point in points {
        pairs.entry(&point.pair).or_default()[usize::from(point.slow)] = Some(point);
    }
    let mut errors: Vec<f64> = pairs
        .into_values()
        .filter_map(|pair| {
            let [Some(fast), Some(slow)] = pair else { return None };
            let ratio = (slow.model / fast.model) / (slow.wall / fast.wall);
            Some(ratio.max(1.0 / ratio) - 1.0)
        })
        .collect();
    median(&mut errors)
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
