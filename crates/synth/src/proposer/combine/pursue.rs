//! Long sums for large targets, by matching pursuit over the changes that edits were seen to make.
//!
//! In a large program most edits are made far from each other, so that many of them do together what each does alone. No best
//! sum is looked for: what is left over is for shorter ones.

use crate::{edit::Rng, effects::Change, metric::Aim};
use rand::seq::IndexedRandom;

/// Sums that are made at once, and edits in one at most.
const SUMS: usize = 3;
const LONGEST: usize = 48;
/// The squared distance that an edit has to bring, because it may do something else beside others.
const LEAST: f64 = 0.5;
/// Of so many changes that bring most one is drawn; in the first sum it is the one that brings most.
const DRAWN: usize = 4;

/// Sums of several changes, by their places, that lead nearer: the change that brings most is taken, and again for what is left,
/// each as often as there are edits that make it. Behind each sum stands its first half, which is nearer where one of the others does
/// something else than it did alone.
pub(super) fn pursued(
    aim: &Aim,
    excess: &[f64],
    changes: &[(&Change, usize)],
    rng: &mut Rng,
) -> Vec<Vec<usize>> {
    let mut sums = Vec::new();
    for nth in 0..SUMS {
        let sum = one(aim, excess, changes, if nth == 0 { 1 } else { DRAWN }, rng);
        let half = sum[..sum.len() / 2].to_vec();
        sums.extend([sum, half].into_iter().filter(|sum| sum.len() > 1));
    }
    sums
}

fn one(
    aim: &Aim,
    excess: &[f64],
    changes: &[(&Change, usize)],
    drawn: usize,
    rng: &mut Rng,
) -> Vec<usize> {
    let mut excess = excess.to_vec();
    let mut left: Vec<usize> = changes.iter().map(|(_, times)| *times).collect();
    let mut sum = Vec::new();
    while sum.len() < LONGEST {
        let gains = changes.iter().enumerate().filter(|(at, _)| left[*at] > 0);
        let gains = gains.map(|(at, (change, _))| (at, aim.gain(&excess, change)));
        let mut gains: Vec<(usize, f64)> = gains.filter(|(_, gain)| *gain >= LEAST).collect();
        gains.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        gains.truncate(drawn);
        let Some((at, _)) = gains.choose(rng) else { break };
        aim.add(&mut excess, changes[*at].0, 1.0);
        left[*at] -= 1;
        sum.push(*at);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metric, Target};
    use rand::SeedableRng;

    #[test]
    fn a_long_sum_takes_what_brings_most_as_often_as_there_are_edits() {
        let target = Target::point("t", &[0.0; 3]);
        let aim = Aim::new(target, Metric::Euclidean, &[1.0; 3], &[false; 3]);
        let changes: [Change; 4] = [
            vec![(0, -2.0)],
            vec![(0, -2.0), (1, 1.0)],
            // Away from the aim, and of no use.
            vec![(2, 1.0)],
            vec![(1, -1.0)],
        ];
        let known: Vec<(&Change, usize)> = changes.iter().zip([3, 9, 9, 2]).collect();
        let pursued = |excess: &[f64]| {
            let sums = super::pursued(&aim, excess, &known, &mut Rng::seed_from_u64(1));
            assert_eq!(sums, super::pursued(&aim, excess, &known, &mut Rng::seed_from_u64(1)));
            sums
        };
        let sums = pursued(&[8.0, 1.0, 0.0]);
        assert_eq!(sums[0], [0, 0, 0, 1, 3, 3], "the first is made by three edits");
        assert_eq!(sums[1], [0, 0, 0]);
        assert!(sums.len() > 2 && sums.iter().all(|sum| !sum.contains(&2)), "{sums:?}");
        assert!(pursued(&[0.0, 1.0, 0.0]).is_empty(), "one edit is no sum");
        let many = one(&aim, &[1e4, 0.0, 0.0], &[(&changes[0], 99)], 1, &mut Rng::seed_from_u64(1));
        assert_eq!(many, [0; LONGEST]);
    }
}
