//! What features and labels put on any model.

use super::{
    DiagnoseOptions, ErrorOf, Learner,
    fold::{Losses, Splits},
    space::{Space, distance},
};
use crate::{Result, Table};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// Rows whose nearest neighbour is looked for at most: an even choice.
const LOOKED_AT: usize = 3000;
/// Of all pairs, the share whose labels are compared: the nearest.
const NEAREST: usize = 10;

/// Errors that no model of these features goes below.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ceiling {
    /// Distinct feature vectors.
    pub vectors: usize,
    /// Rows that share theirs with another row.
    pub colliding: usize,
    /// The least error on these rows: one answer per vector, the best in hindsight.
    pub collisions: f64,
    /// The error of half of a difference between labels of rows that nearly coincide: the tenth of the rows
    /// that lie nearest to one of another family. What noise of the labels and what the features do not see
    /// is left there.
    pub neighbours: Option<f64>,
    /// Spread of the logarithms of costs of rows that are the same program and input, measured more
    /// than once; absent where none is.
    pub repeats: Option<f64>,
    /// The error with programs of the same groups in training: the rest to it is that groups differ.
    pub same_groups: ErrorOf,
    /// It against the error on held-out groups, relative: below zero programs of other groups do not serve as
    /// well as those of the same.
    pub group_gap: ErrorOf,
}

pub(super) fn measure(
    learner: &dyn Learner,
    table: &Table,
    space: &Space,
    held_out: &Losses,
    options: &DiagnoseOptions,
) -> Result<Ceiling> {
    let rows = &table.task.rows;
    let mut vectors: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let key = row.features.iter().map(|value| (value + 0.0).to_bits()).collect();
        vectors.entry(key).or_default().push(at);
    }
    let colliding = vectors.values().filter(|rows| rows.len() > 1).map(Vec::len).sum();
    let least = vectors.values().map(|rows| rows.len() as f64 * learner.least_loss(rows));
    let collisions = learner.figure().of(least.sum(), rows.len() as f64);
    let seed = u64::from(options.seed);
    let splits = Splits::by_family(table, super::FOLDS, (options.seed, options.splits));
    let mixed = splits.losses(learner, table, (usize::MAX, 1), options.seed)?.mean;
    Ok(Ceiling {
        vectors: vectors.len(),
        colliding,
        collisions,
        neighbours: neighbours(learner, table, space),
        repeats: repeats(table),
        same_groups: mixed.interval(seed),
        group_gap: mixed.against(held_out, seed, |mixed, held| mixed / held - 1.0),
    })
}

fn neighbours(learner: &dyn Learner, table: &Table, space: &Space) -> Option<f64> {
    let count = table.task.rows.len();
    let step = count.div_ceil(LOOKED_AT);
    let mut pairs: Vec<(f32, f64)> = (0..count)
        .into_par_iter()
        .filter(|row| row % step == 0)
        .filter_map(|row| {
            let others = (0..count).filter(|other| is_another(table, row, *other));
            let near =
                others.map(|other| (distance(space.of_row(row), space.of_row(other)), other));
            let (away, other) = near.min_by(|a, b| a.0.total_cmp(&b.0))?;
            Some((away, learner.loss_of_neighbour(row, other)))
        })
        .collect();
    let nearest = pairs.len() / NEAREST;
    if nearest < 4 {
        return None;
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(learner.figure().over(pairs[..nearest].iter().map(|(_, loss)| *loss)))
}

/// Whether two rows are of different programs that are no near-duplicates.
fn is_another(table: &Table, row: usize, other: usize) -> bool {
    let (a, b) = (&table.origins[row], &table.origins[other]);
    let same_family = !a.family.is_empty() && a.family == b.family;
    row != other && !same_family && table.task.rows[row].program != table.task.rows[other].program
}

fn repeats(table: &Table) -> Option<f64> {
    let mut by_input: BTreeMap<(&str, &str), Vec<&[f64]>> = BTreeMap::new();
    for row in &table.task.rows {
        by_input.entry((&row.program, &row.variant)).or_default().push(&row.costs);
    }
    let (mut sum, mut count) = (0.0, 0.0);
    for costs in by_input.values().filter(|costs| costs.len() > 1) {
        for choice in 0..table.task.choices.len() {
            let logs: Vec<f64> = costs.iter().map(|costs| costs[choice].log2()).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            sum += logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
            count += logs.len() as f64 - 1.0;
        }
    }
    (count > 0.0).then(|| (sum / count).sqrt())
}
