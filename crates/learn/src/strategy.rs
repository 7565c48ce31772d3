//! Which points to label next.

use crate::Committee;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// How points are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// Query by committee: where the votes differ most (Seung, Opper and Sompolinsky, COLT 1992).
    Active,
    /// At random: the baseline.
    Passive,
}

/// Points looked at for each one that is taken.
const POOL: usize = 64;
/// Of the pool, how many times the batch may be considered for its diversity.
const SHORT_LIST: usize = 4;

/// `count` points between `known` ones: each is a mix of two known points, rounded, so that it lies
/// within the hull of what programs have and not in a corner that none can reach.
pub fn choose(
    strategy: Strategy,
    committee: &Committee,
    known: &[Vec<f64>],
    count: usize,
    chance: &mut ChaCha8Rng,
) -> Vec<Vec<f64>> {
    if known.is_empty() {
        return Vec::new();
    }
    let mut point = || -> Vec<f64> {
        let (one, other) =
            (chance.random_range(0..known.len()), chance.random_range(0..known.len()));
        let share = chance.random_range(0.0..1.0);
        let mixed = known[one].iter().zip(&known[other]);
        mixed.map(|(one, other)| (one + share * (other - one)).round()).collect()
    };
    match strategy {
        Strategy::Passive => (0..count).map(|_| point()).collect(),
        Strategy::Active => {
            let mut pool: Vec<(f64, Vec<f64>)> = (0..count * POOL)
                .map(|_| {
                    let point = point();
                    (committee.entropy(&point), point)
                })
                .collect();
            pool.sort_by(|a, b| b.0.total_cmp(&a.0));
            pool.truncate(count * SHORT_LIST);
            diverse(pool.into_iter().map(|(_, point)| point).collect(), count)
        }
    }
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
