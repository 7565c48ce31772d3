//! What is far from all that is labeled.

use super::{Asked, farthest_first};
use crate::{
    Task,
    diagnose::space::{Space, distance},
};
use rayon::prelude::*;

/// The programs that cover the pool, with what is labeled, within the least distance: the greedy k-center of Sener and
/// Savarese (ICLR 2018), in logarithms of the features, scaled to their spread over what is labeled and the pool. What has the
/// features of a labeled or taken program is covered: so fewer than `count` may be there.
pub(super) fn take(asked: &Asked<'_>, count: usize) -> Vec<(usize, f64)> {
    let labeled = &asked.labeled.task.rows;
    let pool = asked.places.iter().map(|row| &asked.pool.rows[*row]);
    let rows = labeled.iter().chain(pool).cloned().collect();
    let both = Task { features: asked.pool.features.clone(), choices: Vec::new(), rows };
    let space = Space::of(&both);
    let points: Vec<&[f32]> =
        (labeled.len()..both.rows.len()).map(|row| space.of_row(row)).collect();
    let gap = |point: &&[f32]| {
        let each = (0..labeled.len()).map(|row| distance(point, space.of_row(row)));
        each.fold(f32::INFINITY, f32::min)
    };
    let gaps = points.par_iter().map(gap).collect();
    let taken = farthest_first(&points, gaps, count).into_iter();
    taken.take_while(|(_, gap)| *gap > 0.0).map(|(at, gap)| (at, gap.into())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{
        Way,
        tests::{chosen, unlabeled},
    };
    use crate::diagnose::tests::table;

    #[test]
    fn the_farthest_is_next_and_what_is_covered_never() {
        let of = |count, choices: &[&str]| {
            table(count, 4, choices, 0, |_| (vec![7.0, 0.0], vec![1.0; choices.len()]))
        };
        for choices in [&["cycles"][..], &["a", "b"]] {
            let labeled = of(3, choices);
            let mut pool = unlabeled(of(9, choices));
            for (row, value) in [(2, 10.0), (5, 1000.0), (7, 11.0), (8, 11.0)] {
                pool.task.rows[row].features[1] = value;
            }
            let found = chosen(&labeled, &pool, Way::Uncovered, 9);
            let rows: Vec<usize> = found.iter().map(|one| one.row).collect();
            assert_eq!(rows, [5, 7, 2]);
            assert!(found.is_sorted_by(|a, b| a.score > b.score), "{found:?}");
            let two = chosen(&labeled, &pool, Way::Uncovered, 2);
            assert_eq!(two, found[..2]);
        }
    }
}
