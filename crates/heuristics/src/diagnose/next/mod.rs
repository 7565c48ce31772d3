//! Which programs to label next, or to steer to. A way of choosing is one file here and one line in [`next`].

mod committee;
mod expected;
mod regret;
mod uncovered;

use super::space::{Space, distance};
use crate::{Error, Result, Table, Task, fit};
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
/// Fewer labeled programs teach no model.
const LEAST: usize = 20;

/// How programs are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Models of what is labeled disagree most about their cost.
    #[default]
    Committee,
    /// A model of the errors of held-out programs expects most of it there.
    ExpectedError,
    /// Farthest from what is labeled.
    Uncovered,
    /// Models of what is labeled disagree about what to choose, where a wrong choice is dear.
    Regret,
}

impl Way {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Way::Committee => "committee",
            Way::ExpectedError => "expected-error",
            Way::Uncovered => "uncovered",
            Way::Regret => "regret",
        }
    }

    fn is_committee(&self) -> bool {
        *self == Way::Committee
    }

    /// Refuse a task with as many choices.
    fn fits(self, choices: &[String]) -> Result<()> {
        match (self, choices) {
            (Way::Uncovered, _) => Ok(()),
            (Way::Regret, [only]) => Err(Error::NoRegret(only.clone())),
            (Way::Committee | Way::ExpectedError, choices) if choices.len() != 1 => {
                Err(Error::ManyCosts { way: self.name(), choices: choices.to_vec() })
            }
            _ => Ok(()),
        }
    }
}

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct NextOptions {
    /// Programs.
    pub count: usize,
    /// How they are chosen.
    pub by: Way,
    /// Seed of the models.
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
    /// Of [`Way::Committee`]: spread of what its models say that it costs, in units of log2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disagreement: Option<f64>,
    /// Of the other ways: the error expected there times how near the pool is, or the regret, in units of log2 of a
    /// cost; the distance to what is labeled or chosen before it, in spreads of a feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Its place in the pool's rows.
    #[serde(skip)]
    pub row: usize,
}

/// What [`next`] found.
#[derive(Clone, Debug, Serialize)]
pub struct NextReport {
    /// How they were chosen.
    #[serde(skip_serializing_if = "Way::is_committee")]
    pub by: Way,
    /// Labeled programs that models were fitted to.
    pub labeled: usize,
    /// Programs that there were to choose from.
    pub pool: usize,
    /// Programs of the pool that are labeled already.
    pub known: usize,
    /// The programs, the one of the highest score first and then always the one farthest from those before it.
    pub programs: Vec<Next>,
}

/// Choose from a pool of programs. Of those with the highest scores, twice as many as are wanted, those farthest from
/// each other are taken; [`Way::Uncovered`] takes of all those that are farthest.
///
/// # Errors
/// When the task has more or fewer choices than the way is for, or too few labels, the pool lacks features or is empty,
/// or its vectors were counted at another level.
pub fn next(labeled: &Table, pool: &Table, options: &NextOptions) -> Result<NextReport> {
    let (labeled, _) = super::measured(labeled);
    options.by.fits(&labeled.task.choices)?;
    if let (Some(wanted), Some(level)) = (labeled.level, pool.level)
        && wanted != level
    {
        return Err(Error::OtherLevel { name: pool.name.clone(), level, wanted });
    }
    let rows = labeled.task.rows.len();
    let (least, what, wanted) = match options.by {
        Way::Committee | Way::Regret => (LEAST, "a committee", "20 labeled programs"),
        Way::ExpectedError => (LEAST, "a model of errors", "20 labeled programs"),
        Way::Uncovered => (1, "a distance", "one labeled program"),
    };
    if rows < least {
        let groups = labeled.task.groups().len();
        return Err(Error::TooSmall { what, rows, groups, wanted });
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
    let asked = Asked { labeled: &labeled, pool: &task, places: &places, seed: options.seed };
    let apart = |scores: Vec<f64>| asked.apart(scores, options.count);
    let taken = match options.by {
        Way::Committee => apart(committee::scores(&asked)?),
        Way::ExpectedError => apart(expected::scores(&asked)?),
        Way::Uncovered => uncovered::take(&asked, options.count),
        Way::Regret => apart(regret::scores(&asked)?),
    };
    let programs = taken.into_iter().map(|(at, score)| {
        let row = places[at];
        let is_committee = options.by.is_committee();
        Next {
            program: task.rows[row].program.clone(),
            variant: task.rows[row].variant.clone(),
            id: pool.origins[row].id.clone(),
            disagreement: is_committee.then_some(score),
            score: (!is_committee).then_some(score),
            row,
        }
    });
    let (pool, known) = (places.len(), task.rows.len() - places.len());
    Ok(NextReport { by: options.by, labeled: rows, pool, known, programs: programs.collect() })
}

/// What every way knows.
struct Asked<'a> {
    labeled: &'a Table,
    /// With the features of what is labeled.
    pool: &'a Task,
    /// The rows of the pool that may be chosen: scores are of these.
    places: &'a [usize],
    seed: u32,
}

impl Asked<'_> {
    /// What models predict for.
    fn features(&self) -> Vec<&[f64]> {
        self.places.iter().map(|row| self.pool.rows[*row].features.as_slice()).collect()
    }

    /// What each model of a committee says of the programs: forests are fitted to bootstrap samples of the labeled
    /// programs, one for each list of `targets` (a target for each of the labeled); by member, list and program.
    fn committee(&self, targets: &[Vec<f64>]) -> Result<Vec<Vec<Vec<f64>>>> {
        let (task, features) = (&self.labeled.task, self.features());
        let rows = task.rows.len();
        let member = |member: u64| {
            let mut rng = ChaCha8Rng::seed_from_u64(u64::from(self.seed) * MEMBERS + member);
            let drawn: Vec<usize> = (0..rows).map(|_| rng.random_range(0..rows)).collect();
            let sample: Vec<&[f64]> =
                drawn.iter().map(|at| task.rows[*at].features.as_slice()).collect();
            let said = |targets: &Vec<f64>| {
                let targets: Vec<f64> = drawn.iter().map(|at| targets[*at]).collect();
                Ok(fit(MODEL, &task.features, &sample, &targets, member)?.predict(&features))
            };
            targets.par_iter().map(said).collect::<Result<Vec<_>>>()
        };
        (0..MEMBERS).into_par_iter().map(member).collect()
    }

    /// Of the programs with the highest scores, twice as many as are wanted, those farthest from each other: places and
    /// scores, the one of the highest score first.
    fn apart(&self, scores: Vec<f64>, count: usize) -> Vec<(usize, f64)> {
        let mut short: Vec<(f64, usize)> = scores.into_iter().zip(0..).collect();
        short.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        short.truncate(count.saturating_mul(SHORT_LIST));
        let space = Space::of(self.pool);
        let points: Vec<&[f32]> =
            short.iter().map(|(_, at)| space.of_row(self.places[*at])).collect();
        let taken = farthest_first(&points, vec![f32::INFINITY; short.len()], count);
        taken.into_iter().map(|(place, _)| (short[place].1, short[place].0)).collect()
    }
}

/// Points, always the one farthest from what was there before and from those taken, with that distance; of equals the
/// first. `gaps` are the distances to what was there before.
fn farthest_first(points: &[&[f32]], mut gaps: Vec<f32>, count: usize) -> Vec<(usize, f32)> {
    let mut taken = Vec::new();
    while taken.len() < count.min(points.len()) {
        let mut best = 0;
        for at in 1..points.len() {
            if gaps[at] > gaps[best] {
                best = at;
            }
        }
        taken.push((best, gaps[best]));
        let point = points[best];
        gaps.par_iter_mut()
            .zip(points)
            .for_each(|(gap, other)| *gap = gap.min(distance(other, point)));
        // Below all that are not taken.
        gaps[best] = f32::NEG_INFINITY;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::{super::tests::table, *};

    /// Some programs chosen.
    pub(super) fn chosen(labeled: &Table, pool: &Table, by: Way, count: usize) -> Vec<Next> {
        let options = NextOptions { count, by, seed: 0 };
        next(labeled, pool, &options).expect("chooses").programs
    }

    /// Programs of which no cost is known.
    pub(super) fn unlabeled(mut pool: Table) -> Table {
        pool.task.choices.clear();
        pool.task.rows.iter_mut().for_each(|row| row.costs.clear());
        pool.origins.iter_mut().for_each(|origin| origin.id.insert(0, 'p'));
        pool
    }

    /// Programs whose costs are known where `deep` is small; the pool has it up to 40.
    fn tables() -> (Table, Table) {
        let of = |count, seed, most: f64| {
            table(count, 4, &["cycles"], seed, move |rng| {
                let deep = rng.random_range(0.0..most).floor();
                let insts = rng.random_range(8.0..99.0_f64).floor();
                (vec![insts, deep], vec![insts * (1.0 + deep * deep)])
            })
        };
        (of(80, 1, 12.0), unlabeled(of(200, 2, 40.0)))
    }

    fn options(count: usize, seed: u32) -> NextOptions {
        NextOptions { count, by: Way::Committee, seed }
    }

    #[test]
    fn what_models_disagree_about_most_is_next() {
        let (labeled, mut pool) = tables();
        let disagreement = |one: &Next| one.disagreement.expect("of a committee");
        pool.origins[7].id = "id3".into();
        let found = next(&labeled, &pool, &options(20, 0)).expect("chooses");
        assert_eq!((found.labeled, found.pool, found.known), (80, 199, 1));
        assert_eq!(found.programs.len(), 20);
        assert!(
            found
                .programs
                .iter()
                .all(|one| one.row != 7 && one.score.is_none() && disagreement(one) > 0.0)
        );
        // Of all the forty disagreed about most have them.
        let all = next(&labeled, &pool, &options(900, 0)).expect("chooses");
        assert_eq!(all.programs.len(), 199);
        let mut disagreements: Vec<f64> = all.programs.iter().map(disagreement).collect();
        disagreements.sort_by(|a, b| b.total_cmp(a));
        assert!(found.programs.iter().all(|one| disagreement(one) >= disagreements[39]));
        assert_eq!(disagreement(&found.programs[0]), disagreements[0]);
        assert!(found.programs.iter().any(|one| disagreement(one) < disagreements[19]));
        // Each once, and the same seed the same ones.
        let rows: BTreeSet<usize> = found.programs.iter().map(|one| one.row).collect();
        assert_eq!(rows.len(), 20);
        let again = next(&labeled, &pool, &options(20, 0)).expect("chooses");
        assert_eq!(again.programs, found.programs);
        let other = next(&labeled, &pool, &options(20, 1)).expect("chooses");
        assert_ne!(other.programs, found.programs);
    }

    #[test]
    fn a_pool_that_does_not_fit_is_refused() {
        let (labeled, pool) = tables();
        let options = options(5, 0);
        let other = Table { level: Some(1), ..pool.clone() };
        let at_zero = Table { level: Some(0), ..labeled.clone() };
        assert!(matches!(next(&at_zero, &other, &options), Err(Error::OtherLevel { .. })));
        let mut other = pool.clone();
        other.task.features[1] = "x".into();
        assert!(matches!(next(&labeled, &other, &options), Err(Error::MissingColumn { .. })));
        let mut other = pool.clone();
        other.origins.iter_mut().for_each(|origin| origin.id = "id0".into());
        assert!(matches!(next(&labeled, &other, &options), Err(Error::NoRows { .. })));
        let mut few = labeled.clone();
        few.task.rows.truncate(19);
        few.origins.truncate(19);
        assert!(matches!(next(&few, &pool, &options), Err(Error::TooSmall { .. })));
        let uncovered = NextOptions { by: Way::Uncovered, ..options };
        assert_eq!(next(&few, &pool, &uncovered).expect("asks for one").labeled, 19);
        few.task.rows.clear();
        few.origins.clear();
        assert!(matches!(next(&few, &pool, &uncovered), Err(Error::TooSmall { .. })));
    }

    #[test]
    fn a_way_that_does_not_fit_the_task_is_refused() {
        let (one, pool) = tables();
        let mut many = one.clone();
        many.task.choices.push("other".into());
        many.task.rows.iter_mut().for_each(|row| row.costs.push(1.0));
        let said = |labeled: &Table, by: Way| {
            let found = next(labeled, &pool, &NextOptions { count: 5, by, seed: 0 });
            found.map(|found| found.by).map_err(|error| error.to_string())
        };
        let error = said(&one, Way::Regret).expect_err("has nothing to choose");
        assert!(error.contains("committee, expected-error or uncovered"), "{error}");
        for by in [Way::Committee, Way::ExpectedError] {
            let error = said(&many, by).expect_err("has several costs");
            assert!(error.contains(by.name()) && error.contains("regret or uncovered"), "{error}");
            assert_eq!(said(&one, by), Ok(by));
        }
        assert_eq!(said(&many, Way::Regret), Ok(Way::Regret));
        for labeled in [&one, &many] {
            assert_eq!(said(labeled, Way::Uncovered), Ok(Way::Uncovered));
        }
    }
}
