//! Which programs to label next, or to steer to: those that models of what is labelled disagree about.

use super::space::{Space, distance};
use crate::{Error, Result, Table, fit};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeSet;

/// Models of a committee, and their kind.
const MEMBERS: u64 = 8;
const MODEL: &str = "forest";
/// Of the programs, how many times those that are wanted are considered for their distance from each other.
const SHORT_LIST: usize = 2;
/// Fewer labeled programs make no committee.
const LEAST: usize = 20;

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct NextOptions {
    /// Programs.
    pub count: usize,
    /// Seed of the committee.
    pub seed: u32,
}

/// A program to label, or to steer to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Next {
    /// The program.
    pub program: String,
    /// Its kernel or function.
    pub variant: String,
    /// Its identity.
    pub id: String,
    /// Spread of what the committee says that it costs, in units of log2.
    pub disagreement: f64,
    /// Its place in the pool's rows.
    #[serde(skip)]
    pub row: usize,
}

/// What [`next`] found.
#[derive(Clone, Debug, Serialize)]
pub struct NextReport {
    /// Labeled programs that the committee was fitted to.
    pub labeled: usize,
    /// Programs that there were to choose from.
    pub pool: usize,
    /// Programs of the pool that are labeled already.
    pub known: usize,
    /// The programs, the one that is disagreed about most first and then always the one farthest from those before it.
    pub programs: Vec<Next>,
}

/// Choose from a pool of programs, by query by committee (Seung, Opper and Sompolinsky, COLT 1992; of regressions:
/// Krogh and Vedelsby, NIPS 1994): forests are fitted to bootstrap samples of what is labeled; of the programs that they
/// disagree about most, twice as many as are wanted, those farthest from each other are taken.
///
/// # Errors
/// When the task has other than one choice or too few labels, the pool lacks features or is empty, or its vectors
/// were counted at another level.
pub fn next(labeled: &Table, pool: &Table, options: &NextOptions) -> Result<NextReport> {
    let (labeled, _) = super::measured(labeled);
    if labeled.task.choices.len() != 1 {
        return Err(Error::ManyChoices(labeled.task.choices));
    }
    if let (Some(wanted), Some(level)) = (labeled.level, pool.level)
        && wanted != level
    {
        return Err(Error::OtherLevel { name: pool.name.clone(), level, wanted });
    }
    let rows = labeled.task.rows.len();
    if rows < LEAST {
        let (what, groups) = ("a committee", labeled.task.groups().len());
        return Err(Error::TooSmall { what, rows, groups, wanted: "20 labeled programs" });
    }
    let task = pool.task.select(&labeled.task.features)?;
    let known: BTreeSet<&str> = labeled.origins.iter().map(|origin| origin.id.as_str()).collect();
    let places: Vec<usize> = (0..task.rows.len())
        .filter(|row| {
            let id = pool.origins[*row].id.as_str();
            id.is_empty() || !known.contains(id)
        })
        .collect();
    if places.is_empty() {
        return Err(Error::NoRows { what: pool.name.clone(), rejected: task.rows.len() as u64 });
    }
    let features: Vec<&[f64]> =
        places.iter().map(|row| task.rows[*row].features.as_slice()).collect();
    let said = (0..MEMBERS)
        .into_par_iter()
        .map(|member| {
            let mut rng = ChaCha8Rng::seed_from_u64(u64::from(options.seed) * MEMBERS + member);
            let drawn: Vec<usize> = (0..rows).map(|_| rng.random_range(0..rows)).collect();
            let row = |row: &usize| &labeled.task.rows[*row];
            let sample: Vec<&[f64]> = drawn.iter().map(|at| row(at).features.as_slice()).collect();
            let targets: Vec<f64> = drawn.iter().map(|at| row(at).costs[0].log2()).collect();
            let names = &labeled.task.features;
            Ok(fit(MODEL, names, &sample, &targets, member)?.predict(&features))
        })
        .collect::<Result<Vec<_>>>()?;
    let spread = |at: usize| {
        let mean = said.iter().map(|one| one[at]).sum::<f64>() / said.len() as f64;
        let squares = said.iter().map(|one| (one[at] - mean).powi(2)).sum::<f64>();
        (squares / said.len() as f64).sqrt()
    };
    let mut short: Vec<(f64, usize)> = (0..places.len()).map(|at| (spread(at), at)).collect();
    short.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    short.truncate(options.count.saturating_mul(SHORT_LIST));
    let space = Space::of(&task);
    let point = |at: usize| space.of_row(places[at]);
    let mut gap = vec![f32::INFINITY; short.len()];
    let mut programs = Vec::new();
    while programs.len() < options.count && !short.is_empty() {
        // The first of equals: where all are equally far it is disagreed about most.
        let mut best = 0;
        for at in 1..short.len() {
            if gap[at] > gap[best] {
                best = at;
            }
        }
        let (disagreement, taken) = short.remove(best);
        gap.remove(best);
        for (gap, (_, other)) in gap.iter_mut().zip(&short) {
            *gap = gap.min(distance(point(*other), point(taken)));
        }
        let row = places[taken];
        programs.push(Next {
            program: task.rows[row].program.clone(),
            variant: task.rows[row].variant.clone(),
            id: pool.origins[row].id.clone(),
            disagreement,
            row,
        });
    }
    let (pool, known) = (places.len(), task.rows.len() - places.len());
    Ok(NextReport { labeled: rows, pool, known, programs })
}

#[cfg(test)]
mod tests {
    use super::{super::tests::table, *};

    /// Programs whose costs are known where `deep` is small; the pool has it up to 40.
    fn tables() -> (Table, Table) {
        let of = |count, seed, most: f64| {
            table(count, 4, &["cycles"], seed, move |rng| {
                let deep = rng.random_range(0.0..most).floor();
                let insts = rng.random_range(8.0..99.0_f64).floor();
                (vec![insts, deep], vec![insts * (1.0 + deep * deep)])
            })
        };
        let (mut labeled, mut pool) = (of(80, 1, 12.0), of(200, 2, 40.0));
        for (name, table) in [("l", &mut labeled), ("p", &mut pool)] {
            for (at, origin) in table.origins.iter_mut().enumerate() {
                origin.id = format!("{name}{at}");
            }
        }
        pool.task.choices.clear();
        pool.task.rows.iter_mut().for_each(|row| row.costs.clear());
        (labeled, pool)
    }

    #[test]
    fn what_models_disagree_about_most_is_next() {
        let (labeled, mut pool) = tables();
        pool.origins[7].id = "l3".into();
        let found = next(&labeled, &pool, &NextOptions { count: 20, seed: 0 }).expect("chooses");
        assert_eq!((found.labeled, found.pool, found.known), (80, 199, 1));
        assert_eq!(found.programs.len(), 20);
        assert!(found.programs.iter().all(|one| one.row != 7 && one.disagreement > 0.0));
        // Of all the forty disagreed about most have them.
        let all = next(&labeled, &pool, &NextOptions { count: 900, seed: 0 }).expect("chooses");
        assert_eq!(all.programs.len(), 199);
        let mut disagreements: Vec<f64> = all.programs.iter().map(|one| one.disagreement).collect();
        disagreements.sort_by(|a, b| b.total_cmp(a));
        assert!(found.programs.iter().all(|one| one.disagreement >= disagreements[39]));
        assert_eq!(found.programs[0].disagreement, disagreements[0]);
        assert!(found.programs.iter().any(|one| one.disagreement < disagreements[19]));
        // Each once, and the same seed the same ones.
        let rows: BTreeSet<usize> = found.programs.iter().map(|one| one.row).collect();
        assert_eq!(rows.len(), 20);
        let again = next(&labeled, &pool, &NextOptions { count: 20, seed: 0 }).expect("chooses");
        assert_eq!(again.programs, found.programs);
        let other = next(&labeled, &pool, &NextOptions { count: 20, seed: 1 }).expect("chooses");
        assert_ne!(other.programs, found.programs);
    }

    #[test]
    fn a_pool_that_does_not_fit_is_refused() {
        let (labeled, pool) = tables();
        let options = NextOptions { count: 5, seed: 0 };
        let other = Table { level: Some(1), ..pool.clone() };
        let at_zero = Table { level: Some(0), ..labeled.clone() };
        assert!(matches!(next(&at_zero, &other, &options), Err(Error::OtherLevel { .. })));
        let mut other = pool.clone();
        other.task.features[1] = "x".into();
        assert!(matches!(next(&labeled, &other, &options), Err(Error::MissingColumn { .. })));
        let mut other = pool.clone();
        other.origins.iter_mut().for_each(|origin| origin.id = "l0".into());
        assert!(matches!(next(&labeled, &other, &options), Err(Error::NoRows { .. })));
        let mut few = labeled.clone();
        few.task.rows.truncate(19);
        few.origins.truncate(19);
        assert!(matches!(next(&few, &pool, &options), Err(Error::TooSmall { .. })));
        let mut many = labeled;
        many.task.choices.push("other".into());
        assert!(matches!(next(&many, &pool, &options), Err(Error::ManyChoices(_))));
    }
}
