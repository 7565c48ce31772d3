//! Folds, and what rows lose in them.

use super::{ErrorOf, Figure, Learner};
use crate::{Result, Table};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Draws of a bootstrap.
const DRAWS: usize = 2000;

/// Rows to test on and to train on.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    pub(super) test: Vec<usize>,
    /// In an order drawn by the seed: the first n are a training set of n.
    pub(super) train: Vec<usize>,
}

/// Every row is tested on in one of them.
#[derive(Clone, Debug)]
pub(super) struct Folds {
    pub(super) all: Vec<Fold>,
    /// Rows that are not trained on in some fold because their family is tested on.
    pub(super) leaking: usize,
}

impl Folds {
    /// Whole groups.
    pub(super) fn by_group(table: &Table, count: usize, seed: u64) -> Folds {
        let keys: Vec<&str> = table.task.rows.iter().map(|row| row.group.as_str()).collect();
        Folds::by_key(table, &keys, count, seed)
    }

    /// Whole families: rows of one group stand on both sides.
    pub(super) fn by_family(table: &Table, count: usize, seed: u64) -> Folds {
        let keys = table.families();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        Folds::by_key(table, &keys, count, seed)
    }

    fn by_key(table: &Table, keys: &[&str], count: usize, seed: u64) -> Folds {
        let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
        for key in keys {
            *sizes.entry(key).or_default() += 1;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut order: Vec<(&str, usize)> = sizes.into_iter().collect();
        order.shuffle(&mut rng);
        order.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
        let count = count.min(order.len());
        let (mut filled, mut fold_of) = (vec![0; count], BTreeMap::new());
        for (key, rows) in order {
            let least = filled.iter().copied().min().unwrap_or(0);
            let fold = filled.iter().position(|&rows| rows == least).unwrap_or(0);
            fold_of.insert(key, fold);
            filled[fold] += rows;
        }
        let families: Vec<&str> = table.origins.iter().map(|o| o.family.as_str()).collect();
        let mut leaking = BTreeSet::new();
        let all = (0..count).map(|fold| {
            let (test, mut train): (Vec<usize>, Vec<usize>) =
                (0..keys.len()).partition(|row| fold_of[keys[*row]] == fold);
            let held: BTreeSet<&str> =
                test.iter().map(|row| families[*row]).filter(|family| !family.is_empty()).collect();
            train.retain(|row| {
                let leaks = held.contains(families[*row]);
                if leaks {
                    leaking.insert(*row);
                }
                !leaks
            });
            train.shuffle(&mut rng);
            Fold { test, train }
        });
        let all = all.collect();
        Folds { all, leaking: leaking.len() }
    }

    /// The smallest of the training sets.
    fn smallest(&self) -> usize {
        self.all.iter().map(|fold| fold.train.len()).min().unwrap_or(0)
    }

    /// The mean loss of each row over `draws` training sets of `size` rows each, or of all.
    fn losses(
        &self,
        learner: &dyn Learner,
        table: &Table,
        (size, draws): (usize, usize),
        seed: u32,
    ) -> Result<Losses> {
        let jobs: Vec<(usize, usize)> =
            (0..self.all.len()).flat_map(|fold| (0..draws).map(move |draw| (fold, draw))).collect();
        let each: Vec<(usize, Vec<f64>)> = jobs
            .into_par_iter()
            .map(|(fold, draw)| {
                let Fold { test, train } = &self.all[fold];
                // Draws are pieces behind each other: of a size that is half of another, the half of it.
                let size = size.min(train.len());
                let begin = (draw * size) % (train.len() - size + 1).max(1);
                let train = &train[begin..begin + size];
                let seed = seed.wrapping_add(draw as u32);
                Ok((fold, learner.losses(train, test, seed)?))
            })
            .collect::<Result<_>>()?;
        let mut by_row = vec![0.0; table.task.rows.len()];
        for (fold, losses) in each {
            for (row, loss) in self.all[fold].test.iter().zip(losses) {
                by_row[*row] += loss / draws as f64;
            }
        }
        Ok(Losses::new(table, by_row, learner.figure()))
    }
}

/// The same rows folded several times: what one split says may be its own chance.
#[derive(Clone, Debug)]
pub(super) struct Splits(Vec<Folds>);

impl Splits {
    /// `splits` times whole groups; each split and its models have seeds of their own.
    pub(super) fn by_group(table: &Table, count: usize, (seed, splits): (u32, usize)) -> Splits {
        let split = |at: usize| Folds::by_group(table, count, split_seed(seed, at).into());
        Splits((0..splits.max(1)).map(split).collect())
    }

    /// Whole families.
    pub(super) fn by_family(table: &Table, count: usize, (seed, splits): (u32, usize)) -> Splits {
        let split = |at: usize| Folds::by_family(table, count, split_seed(seed, at).into());
        Splits((0..splits.max(1)).map(split).collect())
    }

    pub(super) fn all(&self) -> &[Folds] {
        &self.0
    }

    /// Rows that leak in some split, at most.
    pub(super) fn leaking(&self) -> usize {
        self.0.iter().map(|folds| folds.leaking).max().unwrap_or(0)
    }

    /// The smallest of all training sets.
    pub(super) fn smallest(&self) -> usize {
        self.0.iter().map(Folds::smallest).min().unwrap_or(0)
    }

    /// What is lost over all splits, in each `draws` training sets of `size` rows, or all rows.
    pub(super) fn losses(
        &self,
        learner: &dyn Learner,
        table: &Table,
        of: (usize, usize),
        seed: u32,
    ) -> Result<Repeated> {
        let one =
            |(at, folds): (usize, &Folds)| folds.losses(learner, table, of, split_seed(seed, at));
        Ok(Repeated::of(table, self.0.iter().enumerate().map(one).collect::<Result<_>>()?))
    }
}

/// Splits draw, and train, by seeds that lie far apart: those of the draws of one are its own.
pub(super) fn split_seed(seed: u32, at: usize) -> u32 {
    seed.wrapping_add((at as u32).wrapping_mul(0x9e37_79b9))
}

/// What each row lost, in every split and in the mean of them.
#[derive(Clone, Debug)]
pub(super) struct Repeated {
    pub(super) mean: Losses,
    pub(super) each: Vec<Losses>,
}

impl Repeated {
    pub(super) fn of(table: &Table, each: Vec<Losses>) -> Repeated {
        let mut by_row = vec![0.0; table.task.rows.len()];
        for losses in &each {
            for (mean, loss) in by_row.iter_mut().zip(&losses.by_row) {
                *mean += loss / each.len() as f64;
            }
        }
        let figure = each.first().map_or(Figure::Mean, |losses| losses.figure);
        Repeated { mean: Losses::new(table, by_row, figure), each }
    }

    /// The least and the greatest of a figure of this and another over the splits.
    pub(super) fn spread(
        &self,
        other: &Repeated,
        figure: impl Fn(f64, f64) -> f64,
    ) -> super::Interval {
        let both = self.each.iter().zip(&other.each);
        both.map(|(a, b)| figure(a.error(), b.error()))
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
                [low.min(value), high.max(value)]
            })
    }
}

/// What each row lost where its group was held out.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    pub(super) by_row: Vec<f64>,
    /// Sum and number by group.
    groups: Vec<(f64, f64)>,
    pub(super) figure: Figure,
}

impl Losses {
    pub(super) fn new(table: &Table, by_row: Vec<f64>, figure: Figure) -> Losses {
        let keys = table.task.rows.iter().map(|row| row.group.as_str());
        Losses::by(keys, by_row, figure)
    }

    /// The same losses with whole families as groups.
    pub(super) fn by_family(&self, table: &Table) -> Losses {
        let keys = table.families();
        Losses::by(keys.iter().map(String::as_str), self.by_row.clone(), self.figure)
    }

    fn by<'a>(keys: impl Iterator<Item = &'a str>, by_row: Vec<f64>, figure: Figure) -> Losses {
        let mut groups: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (key, loss) in keys.zip(&by_row) {
            let slot = groups.entry(key).or_default();
            *slot = (slot.0 + loss, slot.1 + 1.0);
        }
        Losses { groups: groups.into_values().collect(), by_row, figure }
    }

    /// The error.
    pub(super) fn error(&self) -> f64 {
        self.of(0..self.groups.len())
    }

    fn of(&self, drawn: impl IntoIterator<Item = usize>) -> f64 {
        let add = |(sum, count): (f64, f64), group: usize| {
            (sum + self.groups[group].0, count + self.groups[group].1)
        };
        let (sum, count) = drawn.into_iter().fold((0.0, 0.0), add);
        self.figure.of(sum, count)
    }

    /// The error with its interval.
    pub(super) fn interval(&self, seed: u64) -> ErrorOf {
        self.compare(seed, |drawn| self.of(drawn.iter().copied()))
    }

    /// A figure of this and another table of losses: both by the same draws of groups.
    pub(super) fn against(
        &self,
        other: &Losses,
        seed: u64,
        figure: impl Fn(f64, f64) -> f64,
    ) -> ErrorOf {
        self.compare(seed, |drawn| {
            figure(self.of(drawn.iter().copied()), other.of(drawn.iter().copied()))
        })
    }

    /// A figure of this and of some more tables of losses of the same rows, all by the same draws of groups.
    pub(super) fn among(
        &self,
        others: &[&Losses],
        seed: u64,
        figure: impl Fn(f64, &[f64]) -> f64,
    ) -> ErrorOf {
        self.compare(seed, |drawn| {
            let errors: Vec<f64> =
                others.iter().map(|other| other.of(drawn.iter().copied())).collect();
            figure(self.of(drawn.iter().copied()), &errors)
        })
    }

    fn compare(&self, seed: u64, figure: impl Fn(&[usize]) -> f64) -> ErrorOf {
        let all: Vec<usize> = (0..self.groups.len()).collect();
        let interval = statistics::bootstrap_interval(all.len(), DRAWS, seed, &figure);
        ErrorOf { value: figure(&all), interval: interval.unwrap_or([f64::NAN; 2]) }
    }
}
