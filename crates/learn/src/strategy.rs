//! Which points to label next.

use crate::{Committee, Error, expected_error::expected_errors};
use heuristics::Task;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How points are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// Query by committee: where the votes differ most (Seung, Opper and Sompolinsky, COLT 1992).
    Active,
    /// Expected error reduction: what leaves the least expected error once it is labelled (Roy and
    /// McCallum, ICML 2001).
    ExpectedError,
    /// At random: the baseline.
    Passive,
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Strategy, String> {
        match text {
            "active" => Ok(Strategy::Active),
            "expected-error" => Ok(Strategy::ExpectedError),
            "passive" => Ok(Strategy::Passive),
            _ => Err(format!("`{text}` is no strategy: active, expected-error or passive")),
        }
    }
}

/// Points looked at for each one that is taken.
const POOL: usize = 64;
/// Of the pool, how many times the batch may be considered for its diversity.
const SHORT_LIST: usize = 4;

/// For the expected error: of the pool, how many times the batch have theirs computed.
const CONSIDERED: usize = 16;
/// For the expected error: points that stand for all.
const REFERENCES: usize = 64;

/// `count` points between rows of `task`, to which `committee` was fitted: each is a mix of two,
/// whole where all rows are, and then completed (sums and ratios computed anew), so that it lies within
/// the hull of what programs have and not in a corner that none can reach.
///
/// # Errors
/// When no model can be fitted to the rows.
pub fn choose(
    strategy: Strategy,
    committee: &Committee,
    task: &Task,
    count: usize,
    complete: &dyn Fn(&mut [f64]),
    rng: &mut ChaCha8Rng,
) -> Result<Vec<Vec<f64>>, Error> {
    let known = &task.rows;
    let Some(first) = known.first() else { return Ok(Vec::new()) };
    let is_whole = |place: usize| known.iter().all(|row| row.features[place].fract() == 0.0);
    let whole: Vec<bool> = (0..first.features.len()).map(is_whole).collect();
    let mut point = || -> Vec<f64> {
        let (one, other) = (rng.random_range(0..known.len()), rng.random_range(0..known.len()));
        let share = rng.random_range(0.0..1.0);
        let mixed = known[one].features.iter().zip(&known[other].features).zip(&whole);
        let mut mixed: Vec<f64> = mixed
            .map(|((one, other), whole)| {
                let value = one + share * (other - one);
                if *whole { value.round() } else { value }
            })
            .collect();
        complete(&mut mixed);
        mixed
    };
    if strategy == Strategy::Passive {
        return Ok((0..count).map(|_| point()).collect());
    }
    let pool: Vec<Vec<f64>> = (0..count * POOL).map(|_| point()).collect();
    // The pool is in the order of rng: its first points are a sample of it.
    let references = pool[..REFERENCES.min(pool.len())].to_vec();
    let agreement = pool.iter().map(|point| -committee.entropy(point)).collect();
    let mut best = least_first(pool, agreement);
    if strategy == Strategy::ExpectedError {
        let mut considered: Vec<Vec<f64>> = Vec::new();
        for point in best {
            if considered.len() < count * CONSIDERED && !considered.contains(&point) {
                considered.push(point);
            }
        }
        let errors = expected_errors(committee, task, &considered, &references, rng.random())?;
        best = least_first(considered, errors);
    }
    best.truncate(count * SHORT_LIST);
    Ok(diverse(best, count))
}

/// Points in the order of their values; equals as they came.
fn least_first(points: Vec<Vec<f64>>, values: Vec<f64>) -> Vec<Vec<f64>> {
    let mut pairs: Vec<(f64, Vec<f64>)> = values.into_iter().zip(points).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs.into_iter().map(|(_, point)| point).collect()
}

/// The first, and then always the one farthest from those taken.
fn diverse(mut pool: Vec<Vec<f64>>, count: usize) -> Vec<Vec<f64>> {
    let mut taken: Vec<Vec<f64>> = Vec::new();
    while taken.len() < count && !pool.is_empty() {
        let nearest = |point: &[f64]| {
            let distances = taken
                .iter()
                .map(|other| point.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>());
            distances.fold(f64::INFINITY, f64::min)
        };
        let mut best = 0;
        for place in 1..pool.len() {
            if nearest(&pool[place]) > nearest(&pool[best]) {
                best = place;
            }
        }
        taken.push(pool.swap_remove(best));
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, committee::tests::on_a_line};
    use rand::SeedableRng;

    /// Twelve kernels on a line; where it is crossed at 500 the other choice is better.
    fn task() -> Task {
        let places = [0, 60, 130, 180, 260, 330, 640, 700, 770, 850, 910, 1000];
        let costs = |x: i32| if x < 500 { [1.0, 2.0] } else { [3.0, 1.0] };
        on_a_line(places.map(|x| (f64::from(x), costs(x))))
    }

    /// Mean distance of the points taken to the border, over some seeds.
    fn distance(strategy: Strategy) -> f64 {
        let task = task();
        let plan = Plan::parse("knn:7,tree:7").expect("known");
        let (mut sum, mut taken) = (0.0, 0.0);
        for seed in 0..6 {
            let committee = plan.fit(&task, seed).expect("fits");
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let points = choose(strategy, &committee, &task, 3, &|_| {}, &mut rng);
            let points = points.expect("chooses");
            assert_eq!(points.len(), 3, "{strategy:?}");
            sum += points.iter().map(|point| (point[0] - 500.0).abs()).sum::<f64>();
            taken += points.len() as f64;
        }
        sum / taken
    }

    #[test]
    fn points_are_taken_nearer_to_the_border_than_by_chance() {
        let passive = distance(Strategy::Passive);
        for strategy in [Strategy::Active, Strategy::ExpectedError] {
            let found = distance(strategy);
            assert!(found < 0.6 * passive, "{strategy:?}: {found}, by rng {passive}");
        }
    }

    #[test]
    fn points_are_completed_and_fractions_stay() {
        let costs = [[1.0, 2.0], [3.0, 1.0]];
        let mut task = on_a_line((0..8).map(|x| (f64::from(x), costs[x as usize % 2])));
        for row in &mut task.rows {
            let x = row.features[0];
            row.features = vec![x, x / 16.0, 0.0];
        }
        let committee = Plan::parse("knn:3").expect("known").fit(&task, 1).expect("fits");
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let complete = |point: &mut [f64]| point[2] = 2.0 * point[0];
        let points = choose(Strategy::Passive, &committee, &task, 40, &complete, &mut rng);
        let points = points.expect("chooses");
        assert!(points.iter().all(|point| point[0].fract() == 0.0 && point[2] == 2.0 * point[0]));
        assert!(points.iter().any(|point| (point[1] * 16.0).fract() != 0.0));
    }

    #[test]
    fn the_same_seed_takes_the_same_points() {
        let task = task();
        let committee = Plan::parse("knn:3,tree:3").expect("known").fit(&task, 1).expect("fits");
        let taken = |seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            choose(Strategy::ExpectedError, &committee, &task, 2, &|_| {}, &mut rng)
                .expect("chooses")
        };
        assert_eq!(taken(3), taken(3));
        assert_ne!(taken(3), taken(4));
    }
}
