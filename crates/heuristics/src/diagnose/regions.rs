//! The error by distance to the training set, and where programs are missing.

use super::{
    fold::{Losses, Splits},
    space::{Space, distance},
};
use crate::Table;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

const BINS: usize = 5;
/// Rows whose losses are averaged for the error about one of them.
const ABOUT: usize = 6;
/// Features that mark a region, at most, and by how many spreads they differ at least.
const MARKS: usize = 3;
const APART: f32 = 0.5;
/// Of all rows, one in so many may be a region: those about which the error is largest.
const WORST: usize = 5;

/// Rows at about the same distance from what was trained on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// The largest distance in it.
    pub to: f64,
    /// Rows.
    pub rows: usize,
    /// Their error.
    pub error: f64,
}

/// A place where held-out programs are predicted badly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Region {
    /// Badly predicted programs that are nearer to this region than to any other.
    pub programs: usize,
    /// The groups that these are of.
    pub groups: usize,
    /// The features in which they differ most from all programs.
    pub marks: Vec<Mark>,
    /// The program that stands for it.
    pub program: String,
    /// Its identity; empty where the table does not say.
    pub id: String,
    /// Its group.
    pub group: String,
    /// The error about it.
    pub error: f64,
    /// Distance to the nearest program of another group that was trained on.
    pub distance: f64,
    /// Its vectors, by space.
    #[serde(skip)]
    pub vectors: BTreeMap<String, Vec<f64>>,
}

/// What marks the programs of a region.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// The feature.
    pub feature: String,
    /// Its median over the region's programs.
    pub median: f64,
    /// Its median over all programs.
    pub of_all: f64,
}

/// How far each row lies from what was trained on, and what lies about it.
pub(super) struct Nearness {
    away: Vec<f64>,
    about: Vec<Vec<usize>>,
    points: Vec<Vec<f32>>,
    /// Place of each dimension of the points in the features.
    places: Vec<usize>,
}

impl Nearness {
    pub(super) fn measure(table: &Table, space: &Space, splits: &Splits) -> Nearness {
        let count = table.task.rows.len();
        let mut away = vec![0.0; count];
        let share = 1.0 / splits.all().len() as f64;
        for fold in splits.all().iter().flat_map(|folds| &folds.all) {
            let found: Vec<f64> = fold
                .test
                .par_iter()
                .map(|row| {
                    let near = fold.train.iter();
                    let near = near.map(|other| distance(space.of_row(*row), space.of_row(*other)));
                    f64::from(near.fold(f32::INFINITY, f32::min))
                })
                .collect();
            fold.test.iter().zip(found).for_each(|(row, found)| away[*row] += share * found);
        }
        let about = (0..count).into_par_iter().map(|row| {
            let mut near: Vec<(f32, usize)> = (0..count)
                .map(|other| (distance(space.of_row(row), space.of_row(other)), other))
                .collect();
            let kept = ABOUT.min(count);
            near.select_nth_unstable_by(kept - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near.truncate(kept);
            near.into_iter().map(|(_, other)| other).collect()
        });
        let points = (0..count).map(|row| space.of_row(row).to_vec()).collect();
        Nearness { away, about: about.collect(), points, places: space.places().collect() }
    }

    /// Fifths of the rows by distance.
    pub(super) fn bins(&self, losses: &Losses) -> Vec<Bin> {
        let mut order: Vec<usize> = (0..self.away.len()).collect();
        order.sort_by(|a, b| self.away[*a].total_cmp(&self.away[*b]));
        let size = order.len().div_ceil(BINS);
        let bin = |rows: &[usize]| Bin {
            to: rows.last().map_or(0.0, |row| self.away[*row]),
            rows: rows.len(),
            error: losses.figure.over(rows.iter().map(|row| losses.by_row[*row])),
        };
        order.chunks(size.max(1)).map(bin).collect()
    }

    pub(super) fn correlation(&self, losses: &Losses) -> f64 {
        statistics::spearman(&self.away, &losses.by_row)
    }

    /// Programs about which the error is largest, apart from each other.
    pub(super) fn regions(&self, table: &Table, losses: &Losses, count: usize) -> Vec<Region> {
        let error = |row: &usize| {
            losses.figure.over(self.about[*row].iter().map(|other| losses.by_row[*other]))
        };
        let mut worst: Vec<(f64, usize)> =
            (0..self.away.len()).map(|row| (error(&row), row)).collect();
        worst.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        worst.truncate((worst.len() / WORST).max(1));
        // The first, and then always the one farthest from those taken.
        let mut taken: Vec<(f64, usize)> = Vec::new();
        let mut gap = vec![f32::INFINITY; worst.len()];
        while taken.len() < count.min(worst.len()) {
            let next = match taken.last() {
                None => 0,
                Some((_, last)) => {
                    for (gap, (_, row)) in gap.iter_mut().zip(&worst) {
                        *gap = gap.min(distance(&self.points[*row], &self.points[*last]));
                    }
                    let farthest = gap.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
                    match farthest {
                        Some((place, gap)) if *gap > 0.0 => place,
                        _ => break,
                    }
                }
            };
            taken.push(worst[next]);
        }
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); taken.len()];
        for (_, row) in &worst {
            let gap = |at: &usize| distance(&self.points[*row], &self.points[taken[*at].1]);
            let nearest = (0..taken.len()).min_by(|a, b| gap(a).total_cmp(&gap(b)));
            nearest.into_iter().for_each(|at| members[at].push(*row));
        }
        let region = |((error, row), members): ((f64, usize), Vec<usize>)| {
            let features = &table.task.rows[row].features;
            let vectors = table.spaces.iter();
            let vectors =
                vectors.map(|(name, places)| (name.clone(), features[places.clone()].to_vec()));
            let groups: BTreeSet<&str> =
                members.iter().map(|row| table.task.rows[*row].group.as_str()).collect();
            Region {
                programs: members.len(),
                groups: groups.len(),
                marks: self.marks(table, &members),
                program: table.task.rows[row].program.clone(),
                id: table.origins[row].id.clone(),
                group: table.task.rows[row].group.clone(),
                error,
                distance: self.away[row],
                vectors: vectors.collect(),
            }
        };
        taken.into_iter().zip(members).map(region).collect()
    }

    /// Points are scaled: their mean over all rows is 0, their spread 1.
    fn marks(&self, table: &Table, members: &[usize]) -> Vec<Mark> {
        let mean = |at: usize| {
            members.iter().map(|row| self.points[*row][at]).sum::<f32>() / members.len() as f32
        };
        let mut all: Vec<(f32, usize)> =
            (0..self.places.len()).map(|at| (mean(at), self.places[at])).collect();
        all.retain(|(mean, _)| mean.abs() >= APART);
        all.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then(a.1.cmp(&b.1)));
        all.truncate(MARKS);
        let value = |row: &crate::Row, place: usize| row.features[place];
        let mark = |(_, place): (f32, usize)| Mark {
            feature: table.task.features[place].clone(),
            median: statistics::median(
                members.iter().map(|row| value(&table.task.rows[*row], place)),
            )
            .unwrap_or(0.0),
            of_all: statistics::median(table.task.rows.iter().map(|row| value(row, place)))
                .unwrap_or(0.0),
        };
        all.into_iter().map(mark).collect()
    }
}
