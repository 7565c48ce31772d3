//! Which kernels add up to what is wanted.

use crate::{edit::Rng, metric::Aim};
use rand::Rng as _;

/// Kernels that are joined at most where what is wanted is not split.
const PARTS: usize = 4;
/// Instructions from which on what is wanted is split, half of the time; for each sub-target more it has to be so many more, up to
/// this number of sub-targets.
const SPLIT: f64 = 200.0;
const OF_A_STAGE: f64 = 100.0;
const STAGES: usize = 8;
/// Of so many kernels that lead nearest one is drawn; of more for the first.
const DRAWN: usize = 12;
const DRAWN_FIRST: usize = 48;
/// How much what is too much counts, beside what lacks.
const TOO_MUCH: f64 = 3.0;

/// What a kernel adds to one that it is joined to: its vector, less what each kernel has once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part(Vec<(usize, f64)>);

impl Part {
    /// `adds_up` says of which dimensions this is so.
    pub(super) fn of(empty: &[f64], vector: &[f64], adds_up: &[bool]) -> Part {
        let all = vector.iter().zip(empty).map(|(value, once)| value - once).enumerate();
        Part(all.filter(|(index, by)| *by != 0.0 && adds_up[*index]).collect())
    }

    fn add(&self, to: &mut [f64], times: f64) {
        for (index, by) in &self.0 {
            to[*index] += times * by;
        }
    }
}

/// Of which dimensions the values of two kernels add up where they are joined: of all but the ratios, which are named so.
pub(super) fn adding_up(dimensions: &[&str]) -> Vec<bool> {
    dimensions.iter().map(|name| !name.contains('/')).collect()
}

/// Kernels to add up.
pub(super) struct Sums<'a> {
    pub(super) aim: &'a Aim,
    /// Where the sum of none lies.
    pub(super) empty: &'a [f64],
    /// Instructions that are wanted at least.
    pub(super) size: f64,
    /// The kernels, by their places among the seeds.
    pub(super) parts: Vec<(usize, Part)>,
}

impl Sums<'_> {
    /// Kernels whose sum is near to what is wanted, by their places among the seeds.
    ///
    /// Each is drawn from those that lead nearest from where the ones before it lead. Where what is wanted is large it is
    /// split, half of the time: of what lacks each stage has an equal share for its sub-target, and of the kernels that lead
    /// nearer one is drawn of those that lie nearest to that. The last stage's sub-target is all that lacks.
    pub(super) fn choose(&self, rng: &mut Rng) -> Vec<usize> {
        let stages = self.stages(rng);
        let mut at = self.empty.to_vec();
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < stages.unwrap_or(PARTS) {
            let mut ranked = match stages {
                Some(stages) => self.nearest(&at, stages - chosen.len()),
                None => self.gains(&at),
            };
            ranked.truncate(if chosen.is_empty() { DRAWN_FIRST } else { DRAWN });
            let nth = (ranked.len() as f64 * rng.random_range(0.0_f64..1.0).powi(2)) as usize;
            let Some((part, _)) = ranked.get(nth) else { break };
            self.parts[*part].1.add(&mut at, 1.0);
            chosen.push(*part);
        }
        // But for the first, each gives way to what fits best to the others.
        if rng.random_bool(0.5) {
            for part in chosen.iter_mut().skip(1) {
                self.parts[*part].1.add(&mut at, -1.0);
                if let Some((best, _)) = self.gains(&at).first() {
                    *part = *best;
                }
                self.parts[*part].1.add(&mut at, 1.0);
            }
        }
        chosen.into_iter().map(|part| self.parts[part].0).collect()
    }

    /// Into how many sub-targets what is wanted is split, if it is.
    fn stages(&self, rng: &mut Rng) -> Option<usize> {
        if self.size < SPLIT || rng.random_bool(0.5) {
            return None;
        }
        let most = ((self.size / OF_A_STAGE) as usize).clamp(2, STAGES);
        Some(rng.random_range(2..=most))
    }

    /// The parts that lead nearer from a point, by how much, those that lead nearest first.
    fn gains(&self, at: &[f64]) -> Vec<(usize, f64)> {
        self.ranked(|part| {
            let moved = part.0.iter().map(|(index, by)| {
                self.loss(*index, at[*index]) - self.loss(*index, at[*index] + by)
            });
            moved.sum()
        })
    }

    /// The parts that lead nearer from a point, and lie nearer to the sub-target of the first of so many stages than nothing
    /// does, by how much, the nearest first.
    fn nearest(&self, at: &[f64], stages: usize) -> Vec<(usize, f64)> {
        let wanted = self.sub_target(at, stages);
        let mut leading = vec![false; self.parts.len()];
        for (part, _) in self.gains(at) {
            leading[part] = true;
        }
        let mut ranked = self.ranked(|part| {
            let moved = part.0.iter().map(|(index, by)| {
                let wanted = wanted[*index];
                self.aim.fitness_weights[*index] * (wanted.powi(2) - (wanted - by).powi(2))
            });
            moved.sum()
        });
        ranked.retain(|(part, _)| leading[*part]);
        ranked
    }

    /// The share that one of so many stages has in what lacks at a point: nothing where enough is there, or the dimension is
    /// free.
    fn sub_target(&self, at: &[f64], stages: usize) -> Vec<f64> {
        let constraints = self.aim.target.constraints.iter().zip(at);
        let lacking =
            constraints.map(|(wanted, value)| -wanted.map_or(0.0, |wanted| wanted.excess(*value)));
        lacking.map(|lacking| lacking.max(0.0) / stages as f64).collect()
    }

    /// The parts that are worth more than nothing, those worth most first.
    fn ranked(&self, worth: impl Fn(&Part) -> f64) -> Vec<(usize, f64)> {
        let parts = self.parts.iter().enumerate().map(|(at, (_, part))| (at, worth(part)));
        let mut ranked: Vec<(usize, f64)> = parts.filter(|(_, worth)| *worth > 0.0).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked
    }

    /// How far a value is from what is wanted of its dimension.
    fn loss(&self, index: usize, value: f64) -> f64 {
        let excess = self.aim.target.constraints[index].map_or(0.0, |wanted| wanted.excess(value));
        let times = if excess > 0.0 { TOO_MUCH } else { 1.0 };
        times * self.aim.fitness_weights[index] * excess * excess
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metric, Target};
    use rand::SeedableRng;

    /// Instructions, of which none is a kernel's own, loads and stores; each kernel returns once.
    const EMPTY: [f64; 3] = [1.0, 0.0, 0.0];

    fn aim(point: &[f64; 3]) -> Aim {
        Aim::new(Target::point("t", point), Metric::Euclidean, &[1.0; 3], &[false; 3])
    }

    fn sums<'a>(aim: &'a Aim, size: f64, vectors: &[[f64; 3]]) -> Sums<'a> {
        let parts = vectors.iter().enumerate();
        let part =
            |(at, vector): (usize, &[f64; 3])| (10 + at, Part::of(&EMPTY, vector, &[true; 3]));
        Sums { aim, empty: &EMPTY, size, parts: parts.map(part).collect() }
    }

    /// Whether these are chosen by some of twenty random seeds.
    fn are_chosen(sums: &Sums<'_>, wanted: &[usize]) -> bool {
        (0..20).any(|seed| {
            let mut chosen = sums.choose(&mut Rng::seed_from_u64(seed));
            assert_eq!(chosen, sums.choose(&mut Rng::seed_from_u64(seed)));
            chosen.sort_unstable();
            chosen == wanted
        })
    }

    #[test]
    fn kernels_are_chosen_that_sum_to_what_is_wanted() {
        let aim = aim(&[1.0, 70.0, 33.0]);
        let vectors = [[1.0, 40.0, 3.0], [1.0, 30.0, 30.0], [1.0, 90.0, 90.0], [1.0, 2.0, 1.0]];
        let sums = sums(&aim, 104.0, &vectors);
        assert_eq!(sums.parts[0].1, Part(vec![(1, 40.0), (2, 3.0)]));
        assert!(are_chosen(&sums, &[10, 11]));
        let gains = sums.gains(&EMPTY);
        assert!(gains.iter().all(|(part, _)| *part != 2), "too much of all: {gains:?}");
    }

    #[test]
    fn what_is_large_is_split_into_what_single_kernels_have() {
        let aim = aim(&[1.0, 300.0, 60.0]);
        // One that brings most at once, and one that is a third of all.
        let vectors = [[1.0, 260.0, 50.0], [1.0, 100.0, 20.0]];
        let sums = sums(&aim, 361.0, &vectors);
        assert_eq!(sums.sub_target(&EMPTY, 3), [0.0, 100.0, 20.0]);
        assert_eq!(sums.sub_target(&[2.0, 310.0, 30.0], 2), [0.0, 0.0, 15.0], "clipped at 0");
        assert_eq!(sums.gains(&EMPTY)[0].0, 0);
        assert_eq!(sums.nearest(&EMPTY, 3)[0].0, 1);
        assert_eq!(sums.nearest(&EMPTY, 1)[0].0, 0, "the last stage's is all that lacks");
        assert!(sums.nearest(&[1.0, 299.0, 60.0], 1).is_empty(), "none leads nearer");
        assert!(are_chosen(&sums, &[11, 11, 11]));
    }

    #[test]
    fn the_larger_the_more_sub_targets_there_may_be() {
        let aim = aim(&[1.0, 1.0, 1.0]);
        for (size, least, most) in [(100.0, 0, 0), (200.0, 2, 2), (430.0, 2, 4), (1e9, 2, 8)] {
            let sums = sums(&aim, size, &[]);
            let mut rng = Rng::seed_from_u64(1);
            let drawn: Vec<Option<usize>> = (0..200).map(|_| sums.stages(&mut rng)).collect();
            assert!(drawn.contains(&None), "{size}");
            let split = || drawn.iter().flatten().copied();
            let found = (split().min().unwrap_or(0), split().max().unwrap_or(0));
            assert_eq!(found, (least, most), "{size}");
        }
    }

    #[test]
    fn ratios_do_not_add_up() {
        let space = features::joint("instcount,grewe").expect("registered");
        let dimensions = space.dimensions();
        let adds_up = adding_up(&dimensions);
        let ratios = dimensions.iter().zip(&adds_up).filter(|(_, adds_up)| !**adds_up);
        let ratios: Vec<&str> = ratios.map(|(name, _)| *name).collect();
        assert_eq!(ratios, ["grewe.F2:coalesced/mem", "grewe.F4:comp/mem"]);
        let part = Part::of(&[0.0; 3], &[2.0, 0.5, 0.0], &[true, false, true]);
        assert_eq!(part, Part(vec![(0, 2.0)]));
    }
}
