//! Edits that together do exactly what is wanted: subset sums of remembered changes.
//!
//! The way to the last units of a distance is seldom one edit, and chance finds two or three that fit
//! too late. Here every remembered change of a vector gets a hash that is linear: the hash of a sum is
//! the sum of hashes. The partner of a change is then one look-up, whatever the number of edits.

use crate::{edit::Rng, effects::Change, metric::Aim};
use rand::{Rng as _, seq::IndexedRandom};
use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// First edits that are tried for sums of three.
const FIRSTS: usize = 32;

/// A remembered change of an edit.
type Key = (usize, u64);

/// How far a remembered change is to be trusted, by what became of plans with it; 1 unless named.
#[derive(Debug, Default)]
pub(crate) struct Trust(HashMap<Key, f64>);

impl Trust {
    /// A plan of these did not do what it promised.
    pub(crate) fn doubt(&mut self, plan: &[Key]) {
        for key in plan {
            let trust = self.0.entry(*key).or_insert(1.0);
            *trust = (*trust * 0.8).max(0.02);
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Summand {
    edit: usize,
    hash: u64,
    weight: f64,
}

/// Hashes are spread well as they are, and looked up by the million.
#[derive(Clone, Copy, Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

type Quick = BuildHasherDefault<AsItIs>;

/// Every remembered change of the dimensions that lead, by hash.
#[derive(Debug, Default)]
pub(crate) struct SubsetSums {
    all: Vec<Summand>,
    known: HashMap<Key, usize, Quick>,
    by_hash: HashMap<u64, Vec<usize>, Quick>,
}

impl SubsetSums {
    /// A change that `edit` makes with a probability of (at least) `share`.
    pub(crate) fn add(
        &mut self,
        edit: usize,
        change: &Change,
        share: f64,
        aim: &Aim,
        trust: &Trust,
    ) {
        let hash = hash(change, aim);
        if hash == 0 {
            return;
        }
        let key = (edit, hash);
        let weight = share * trust.0.get(&key).copied().unwrap_or(1.0);
        if let Some(index) = self.known.get(&key) {
            self.all[*index].weight += weight;
        } else {
            self.known.insert(key, self.all.len());
            self.all.push(Summand { edit, hash, weight });
        }
    }

    /// All were added.
    pub(crate) fn seal(&mut self) {
        for (index, summand) in self.all.iter().enumerate() {
            self.by_hash.entry(summand.hash).or_default().push(index);
        }
    }

    /// Every remembered change: its edit, its hash, how certain it is.
    pub(crate) fn each(&self) -> impl Iterator<Item = (usize, u64, f64)> {
        self.all.iter().map(|one| (one.edit, one.hash, one.weight))
    }

    /// One to three edits whose remembered changes cancel the excess; the more certain they are, the
    /// likelier.
    pub(crate) fn complete(&self, aim: &Aim, excess: &[f64], rng: &mut Rng) -> Vec<Key> {
        let wanted = wanted(excess, aim);
        if wanted == 0 || self.all.is_empty() {
            return Vec::new();
        }
        let mut plans: Vec<(Vec<usize>, f64)> = Vec::new();
        for index in self.by_hash.get(&wanted).into_iter().flatten() {
            plans.push((vec![*index], self.all[*index].weight));
        }
        self.pairs(wanted, &mut plans, &[], 1.0);
        if plans.is_empty() || rng.random_bool(0.2) {
            for _ in 0..FIRSTS {
                let Some(first) = self.all.choose(rng) else { break };
                let index = self.known[&(first.edit, first.hash)];
                self.pairs(wanted.wrapping_sub(first.hash), &mut plans, &[index], first.weight);
            }
        }
        // Between trying the surest again and again, and trying all alike.
        let total: f64 = plans.iter().map(|(_, weight)| weight.sqrt()).sum();
        let mut left = rng.random_range(0.0..1.0) * total;
        let drawn = plans.into_iter().find(|(_, weight)| {
            left -= weight.sqrt();
            left <= 0.0
        });
        let indices = drawn.map_or_else(Vec::new, |(indices, _)| indices);
        indices.into_iter().map(|index| (self.all[index].edit, self.all[index].hash)).collect()
    }

    fn pairs(
        &self,
        wanted: u64,
        plans: &mut Vec<(Vec<usize>, f64)>,
        before: &[usize],
        certainty: f64,
    ) {
        for (index, first) in self.all.iter().enumerate() {
            let Some(others) = self.by_hash.get(&wanted.wrapping_sub(first.hash)) else { continue };
            for other in others {
                let mut plan = before.to_vec();
                plan.extend([index, *other]);
                plans.push((plan, certainty * first.weight * self.all[*other].weight));
            }
        }
    }
}

/// The hash of a change in the dimensions that lead: that of a sum is the sum of hashes.
pub(crate) fn hash(change: &Change, aim: &Aim) -> u64 {
    aim.leading(change).fold(0, |sum: u64, (index, by)| sum.wrapping_add(part(index, by)))
}

/// The hash of the change that cancels an excess.
pub(crate) fn wanted(excess: &[f64], aim: &Aim) -> u64 {
    let leading = excess.iter().enumerate().filter(|(index, _)| aim.leads[*index]);
    leading.fold(0, |sum: u64, (index, excess)| sum.wrapping_sub(part(index, *excess)))
}

/// The hash of a value in a dimension, linear in the value to a thousandth.
fn part(index: usize, value: f64) -> u64 {
    let unit = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let unit = (unit ^ (unit >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1;
    ((value * 1000.0).round() as i64).cast_unsigned().wrapping_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metric, Target};
    use rand::SeedableRng;

    #[test]
    fn edits_are_found_that_cancel_an_excess_together() {
        let ones = [1.0; 3];
        let aim = Aim::new(Target::point("t", &[0.0; 3]), Metric::Euclidean, &ones, &[false; 3]);
        let mut sums = SubsetSums::default();
        let changes: [Change; 4] =
            [vec![(0, 1.0)], vec![(1, -1.0), (0, 1.0)], vec![(2, 2.0)], vec![(2, 1.0)]];
        for (edit, change) in changes.iter().enumerate() {
            sums.add(edit, change, 1.0, &aim, &Trust::default());
        }
        sums.seal();
        let mut rng = Rng::seed_from_u64(1);
        let mut plan = |excess: [f64; 3]| {
            let plan = sums.complete(&aim, &excess, &mut rng);
            let mut edits: Vec<usize> = plan.into_iter().map(|(edit, _)| edit).collect();
            edits.sort_unstable();
            edits
        };
        assert_eq!(plan([-2.0, 1.0, 0.0]), [0, 1]);
        assert_eq!(plan([-1.0, 1.0, -2.0]), [1, 2]);
        assert_eq!(plan([0.0, 0.0, -3.0]), [2, 3]);
        assert_eq!(plan([-1.0, 1.0, -3.0]), [1, 2, 3]);
        assert!(plan([9.0, 9.0, 9.0]).is_empty());
    }
}
