//! The error by distance to the training set, and where programs are missing.

use super::{
    fold::{Folds, Losses},
    space::{Space, distance},
};
use crate::Table;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

const BINS: usize = 5;
/// Rows whose losses are averaged for the error about one of them.
const ABOUT: usize = 6;
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

/// How far each row lies from what was trained on, and what lies about it.
pub(super) struct Nearness {
    away: Vec<f64>,
    about: Vec<Vec<usize>>,
    points: Vec<Vec<f32>>,
}

impl Nearness {
    pub(super) fn measure(table: &Table, space: &Space, folds: &Folds) -> Nearness {
        let count = table.task.rows.len();
        let mut away = vec![0.0; count];
        for fold in &folds.all {
            let found: Vec<f64> = fold
                .test
                .par_iter()
                .map(|row| {
                    let near = fold.train.iter();
                    let near = near.map(|other| distance(space.of_row(*row), space.of_row(*other)));
                    f64::from(near.fold(f32::INFINITY, f32::min))
                })
                .collect();
            fold.test.iter().zip(found).for_each(|(row, found)| away[*row] = found);
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
        Nearness { away, about: about.collect(), points }
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
        let region = |(error, row): (f64, usize)| {
            let features = &table.task.rows[row].features;
            let vectors = table.spaces.iter();
            let vectors =
                vectors.map(|(name, places)| (name.clone(), features[places.clone()].to_vec()));
            Region {
                program: table.task.rows[row].program.clone(),
                id: table.origins[row].id.clone(),
                group: table.task.rows[row].group.clone(),
                error,
                distance: self.away[row],
                vectors: vectors.collect(),
            }
        };
        taken.into_iter().map(region).collect()
    }
}
