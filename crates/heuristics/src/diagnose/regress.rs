//! Tasks with one choice: what a program costs.

use super::{
    DiagnoseOptions, ErrorOf, Figure, Found, Interval, Learner,
    fold::{Losses, Repeated, Splits},
};
use crate::{REGRESSORS, Result, Table, fit};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is specific to a regression.
#[derive(Clone, Debug, Serialize)]
pub struct RegressionReport {
    /// Error by model on held-out groups; `mean` predicts one cost for all.
    pub models: BTreeMap<String, ErrorOf>,
    /// The best model's error less that of `lin1`: the instruction count alone. Without an interval below
    /// zero nothing was learned.
    pub against_lin1: ErrorOf,
    /// The least and the greatest of these differences over the splits.
    pub over_splits: Interval,
    /// Median of how far the best model's costs are off, as a factor above 1.
    pub median_factor: f64,
}

pub(super) struct Regression<'a> {
    table: &'a Table,
    name: &'static str,
    targets: Vec<f64>,
}

impl<'a> Regression<'a> {
    pub(super) fn new(table: &'a Table, name: &'static str) -> Regression<'a> {
        let targets = table.task.rows.iter().map(|row| row.costs[0].log2()).collect();
        Regression { table, name, targets }
    }
}

impl Learner for Regression<'_> {
    fn losses(&self, train: &[usize], test: &[usize], seed: u32) -> Result<Vec<f64>> {
        let task = &self.table.task;
        let features = |rows: &[usize]| -> Vec<&[f64]> {
            rows.iter().map(|row| task.rows[*row].features.as_slice()).collect()
        };
        let targets: Vec<f64> = train.iter().map(|row| self.targets[*row]).collect();
        let model = fit(self.name, &task.features, &features(train), &targets, u64::from(seed))?;
        let said = model.predict(&features(test));
        Ok(said.iter().zip(test).map(|(said, row)| (said - self.targets[*row]).powi(2)).collect())
    }

    fn figure(&self) -> Figure {
        Figure::Root
    }

    fn loss_of_neighbour(&self, row: usize, neighbour: usize) -> f64 {
        // Two labels with the same noise differ by twice its variance.
        (self.targets[row] - self.targets[neighbour]).powi(2) / 2.0
    }

    fn least_loss(&self, rows: &[usize]) -> f64 {
        let count = rows.len() as f64;
        let mean = rows.iter().map(|row| self.targets[*row]).sum::<f64>() / count;
        rows.iter().map(|row| (self.targets[*row] - mean).powi(2)).sum::<f64>() / count
    }

    fn on_others(&self, other: &Table, seed: u32) -> Result<(Option<Vec<f64>>, Vec<f64>)> {
        let task = &self.table.task;
        let rows: Vec<&[f64]> = task.rows.iter().map(|row| row.features.as_slice()).collect();
        let model = fit(self.name, &task.features, &rows, &self.targets, u64::from(seed))?;
        let others: Vec<&[f64]> =
            other.task.rows.iter().map(|row| row.features.as_slice()).collect();
        let said = model.predict(&others);
        let biases: Vec<f64> = said
            .iter()
            .zip(&other.task.rows)
            .map(|(said, row)| said - row.costs[0].log2())
            .collect();
        let losses = biases.iter().map(|bias| bias.powi(2)).collect();
        Ok((Some(biases), losses))
    }
}

pub(super) fn measure<'a>(
    table: &'a Table,
    splits: &Splits,
    options: &DiagnoseOptions,
) -> Result<Found<'a>> {
    let seed = u64::from(options.seed);
    let mut all: Vec<(&'static str, Repeated)> = Vec::new();
    for name in REGRESSORS {
        let learner = Regression::new(table, name);
        all.push((name, splits.losses(&learner, table, (usize::MAX, 1), options.seed)?));
    }
    let mut models: BTreeMap<String, ErrorOf> =
        all.iter().map(|(name, losses)| ((*name).to_owned(), losses.mean.interval(seed))).collect();
    models.insert("mean".to_owned(), of_mean(table, splits).mean.interval(seed));
    // The baseline is the first.
    let baseline = all[0].1.clone();
    let best = all.into_iter().skip(1).min_by(|a, b| a.1.mean.error().total_cmp(&b.1.mean.error()));
    let (name, losses) = best.expect("there are learned models");
    let away = losses.mean.by_row.iter().map(|loss| loss.sqrt().exp2());
    let regression = RegressionReport {
        models,
        against_lin1: losses.mean.against(&baseline.mean, seed, |best, line| best - line),
        over_splits: losses.spread(&baseline, |best, line| best - line),
        median_factor: statistics::median(away).unwrap_or(1.0),
    };
    Ok(Found {
        learner: Box::new(Regression::new(table, name)),
        losses,
        model: name.to_owned(),
        error: "root of the mean squared difference of log2 of predicted and true cost",
        regression: Some(regression),
        choice: None,
    })
}

fn of_mean(table: &Table, splits: &Splits) -> Repeated {
    let targets: Vec<f64> = table.task.rows.iter().map(|row| row.costs[0].log2()).collect();
    let each = splits.all().iter().map(|folds| {
        let mut by_row = vec![0.0; targets.len()];
        for fold in &folds.all {
            let sum: f64 = fold.train.iter().map(|row| targets[*row]).sum();
            let mean = sum / fold.train.len().max(1) as f64;
            fold.test.iter().for_each(|row| by_row[*row] = (targets[*row] - mean).powi(2));
        }
        Losses::new(table, by_row, Figure::Root)
    });
    Repeated::of(table, each.collect())
}
