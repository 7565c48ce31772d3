//! Where much error is expected, and many programs are.

use super::{Asked, MODEL};
use crate::{
    Error, Result,
    diagnose::{
        FOLDS, LEAST, SPLITS,
        fold::Splits,
        regress::Regression,
        space::{Space, distance},
    },
    fit,
};
use rand::{SeedableRng, seq::index::sample};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Of a larger pool the density is that of so many of its programs.
const DENSITY: usize = 2000;

/// The error that is expected of a program times the density of the pool about it.
///
/// A second model is fitted to the errors that the first makes on labeled programs whose group was held out (on whose family,
/// where there are fewer than three groups). That alone finds outliers; so it is weighted by how near the others of the pool are,
/// the information density of Settles and Craven (EMNLP 2008). It is not the expected error *reduction* of Roy and McCallum
/// (ICML 2001), who fit the model anew with each candidate: it takes for granted that error goes where labels come.
pub(super) fn scores(asked: &Asked<'_>) -> Result<Vec<f64>> {
    let labeled = asked.labeled;
    let (groups, families) = (labeled.task.groups().len(), labeled.families());
    let splits = if groups >= LEAST.1 {
        Splits::by_group(labeled, FOLDS, (asked.seed, SPLITS))
    } else if families.iter().any(|family| *family != families[0]) {
        Splits::by_family(labeled, FOLDS, (asked.seed, SPLITS))
    } else {
        let (what, rows) = ("a model of errors", labeled.task.rows.len());
        return Err(Error::TooSmall { what, rows, groups, wanted: "2 families" });
    };
    let first = Regression::new(labeled, MODEL);
    let squares = splits.losses(&first, labeled, (usize::MAX, 1), asked.seed)?.mean.by_row;
    let errors: Vec<f64> = squares.into_iter().map(f64::sqrt).collect();
    let rows: Vec<&[f64]> = labeled.task.rows.iter().map(|row| row.features.as_slice()).collect();
    let second = fit(MODEL, &labeled.task.features, &rows, &errors, asked.seed.into())?;
    let expected = second.predict(&asked.features());
    Ok(expected.into_iter().zip(density(asked)).map(|(error, near)| error * near).collect())
}

/// How near the others of the pool are to each of its programs, from 0 to 1: the mean of a bell one spread wide.
fn density(asked: &Asked<'_>) -> Vec<f64> {
    let (space, count) = (Space::of(asked.pool), asked.places.len());
    let mut rng = ChaCha8Rng::seed_from_u64(asked.seed.into());
    let others = sample(&mut rng, count, count.min(DENSITY)).into_vec();
    let near = |at: usize| {
        let point = space.of_row(asked.places[at]);
        let others = others.iter().filter(|other| **other != at);
        let each = others.map(|other| distance(point, space.of_row(asked.places[*other])));
        let (sum, count) =
            each.fold((0.0, 0), |(sum, count), d| (sum + f64::from(-d * d / 2.0).exp(), count + 1));
        sum / f64::from(count.max(1))
    };
    (0..count).into_par_iter().map(near).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{
        Way,
        tests::{chosen, unlabeled},
    };
    use crate::diagnose::tests::table;
    use rand::Rng;

    /// Programs of two kinds, told apart by a feature that is about `kind`: what those of kind 50 cost is chance.
    fn of(count: usize, seed: u64, kinds: [f64; 2]) -> crate::Table {
        table(count, 4, &["cycles"], seed, move |rng| {
            let insts = rng.random_range(8.0..99.0_f64).floor();
            let kind = kinds[usize::from(rng.random_bool(0.4))];
            let chance = if kind < 50.0 { 0.0 } else { rng.random_range(-4.0..4.0) };
            let near = rng.random_range(0.0..2.0);
            (vec![insts, kind + near], vec![insts * f64::exp2(chance)])
        })
    }

    #[test]
    fn where_errors_are_large_and_programs_many_is_next() {
        let labeled = of(160, 1, [0.0, 50.0]);
        let mut pool = of(200, 2, [0.0, 50.0]);
        // As bad as any, and alone.
        pool.task.rows[0].features[1] = 90_000.0;
        let pool = unlabeled(pool);
        let found = chosen(&labeled, &pool, Way::ExpectedError, 20);
        let kind = |row: usize| pool.task.rows[row].features[1];
        assert!(found.iter().all(|one| (50.0..52.0).contains(&kind(one.row))), "{found:?}");
        assert!(found.iter().all(|one| one.score > Some(0.1) && one.disagreement.is_none()));
        let all = chosen(&labeled, &pool, Way::ExpectedError, 900);
        let alone = all.iter().find(|one| one.row == 0).expect("all are chosen");
        assert!(
            alone.score
                < found
                    .iter()
                    .map(|one| one.score)
                    .reduce(|a, b| if a < b { a } else { b })
                    .flatten()
        );
    }

    #[test]
    fn errors_are_those_of_groups_held_out() {
        // One group differs from all others in what it costs and in a feature: who knows it knows its costs.
        let mut labeled = of(160, 3, [0.0, 0.0]);
        for row in labeled.task.rows.iter_mut().filter(|row| row.group == "g3") {
            row.features[1] += 20.0;
            row.costs[0] *= 64.0;
        }
        let mut pool = of(200, 4, [0.0, 0.0]);
        for row in pool.task.rows.iter_mut().take(100) {
            row.features[1] += 20.0;
        }
        let found = chosen(&labeled, &unlabeled(pool), Way::ExpectedError, 20);
        assert!(found.iter().all(|one| one.row < 100), "{found:?}");
        assert!(found[0].score > Some(1.0), "{found:?}");
    }
}
