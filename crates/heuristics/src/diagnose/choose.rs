//! Tasks with several choices: which is cheapest.

use super::{
    DiagnoseOptions, ErrorOf, Figure, Found, Learner,
    fold::{Losses, Repeated, Splits, split_seed},
};
use crate::{Method, Result, Row, Table, Task};
use serde::Serialize;
use std::collections::BTreeMap;

/// The learner: what the field uses for such tables.
const MODEL: &str = "forest";

/// What is specific to a choice.
#[derive(Clone, Debug, Serialize)]
pub struct ChoiceReport {
    /// The choice that is cheapest over all rows, by the geometric mean.
    pub best_single: String,
    /// How many there are to choose from.
    pub choices: usize,
    /// Rows on which each choice is cheapest; of equals the one that is cheaper over all.
    pub labels: BTreeMap<String, usize>,
    /// Fixed sets, chosen on the groups that are not held out: all of a set is tried and the cheapest kept.
    pub fixed: Vec<FixedSet>,
    /// The model's single choice against the best single choice, log2: below zero it is cheaper.
    pub against_single: ErrorOf,
}

/// As many tries with a model and without.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FixedSet {
    /// Choices that are tried.
    pub tries: usize,
    /// A set as chosen on all rows.
    pub set: Vec<String>,
    /// Its error: log2 of its cost over the oracle's.
    pub error: ErrorOf,
    /// The share of what the oracle saves over the best single choice that it saves, too.
    pub share_of_oracle: f64,
    /// The same with the model's choice in the place of the set's last.
    pub with_model: ErrorOf,
    /// The model's error less the set's: below zero the model is worth its place.
    pub model_gain: ErrorOf,
}

pub(super) struct Choice {
    task: Task,
    method: Method,
    logs: Vec<Vec<f64>>,
}

impl Choice {
    fn new(table: &Table) -> Result<Choice> {
        let logs: Vec<Vec<f64>> = table.task.rows.iter().map(logs_of).collect();
        let mut task = table.task.clone();
        let order = order_of(&logs, task.choices.len());
        for (row, logs) in task.rows.iter_mut().zip(&logs) {
            // Of equals the one that is cheaper over all: a label that depends on the order of the choices
            // is noise.
            let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
            row.label = *order.iter().find(|choice| logs[**choice] <= least).unwrap_or(&row.label);
        }
        Ok(Choice { task, method: Method::parse(MODEL)?, logs })
    }

    fn regret(&self, row: usize, choice: usize) -> f64 {
        self.logs[row][choice] - self.logs[row][self.task.rows[row].label]
    }

    fn of_rows(&self, rows: &[usize]) -> Task {
        Task {
            features: self.task.features.clone(),
            choices: self.task.choices.clone(),
            rows: rows.iter().map(|row| self.task.rows[*row].clone()).collect(),
        }
    }

    /// The model's choice for each of `test`.
    fn choices(&self, train: &[usize], test: &[usize], seed: u32) -> Result<Vec<usize>> {
        let model = self.method.fit(&self.of_rows(train), seed)?;
        Ok(test.iter().map(|row| model.predict(&self.task.rows[*row].features)).collect())
    }
}

fn logs_of(row: &Row) -> Vec<f64> {
    row.costs.iter().map(|cost| cost.log2()).collect()
}

/// Choices by their mean over all rows, the cheapest first.
fn order_of(logs: &[Vec<f64>], choices: usize) -> Vec<usize> {
    let means: Vec<f64> =
        (0..choices).map(|choice| logs.iter().map(|logs| logs[choice]).sum()).collect();
    let mut order: Vec<usize> = (0..choices).collect();
    order.sort_by(|a, b| means[*a].total_cmp(&means[*b]));
    order
}

impl Learner for Choice {
    fn losses(&self, train: &[usize], test: &[usize], seed: u32) -> Result<Vec<f64>> {
        let choices = self.choices(train, test, seed)?;
        Ok(test.iter().zip(choices).map(|(row, choice)| self.regret(*row, choice)).collect())
    }

    fn figure(&self) -> Figure {
        Figure::Mean
    }

    fn loss_of_neighbour(&self, row: usize, neighbour: usize) -> f64 {
        self.regret(row, self.task.rows[neighbour].label)
    }

    fn least_loss(&self, rows: &[usize]) -> f64 {
        let loss = |choice| rows.iter().map(|row| self.regret(*row, choice)).sum::<f64>();
        let least = (0..self.task.choices.len()).map(loss).fold(f64::INFINITY, f64::min);
        least / rows.len() as f64
    }

    fn on_others(&self, other: &Table, seed: u32) -> Result<(Option<Vec<f64>>, Vec<f64>)> {
        let model = self.method.fit(&self.task, seed)?;
        let loss = |row: &Row| {
            let logs = logs_of(row);
            let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
            logs[model.predict(&row.features)] - least
        };
        Ok((None, other.task.rows.iter().map(loss).collect()))
    }
}

/// The set that is cheapest on `rows` when the cheapest of it is taken for each, choice by choice.
fn greedy(logs: &[Vec<f64>], rows: &[usize], count: usize) -> Vec<usize> {
    let choices = rows.first().map_or(0, |row| logs[*row].len());
    let mut best = vec![f64::INFINITY; rows.len()];
    let mut set: Vec<usize> = Vec::new();
    while set.len() < count.min(choices) {
        let cost = |choice: &usize| -> f64 {
            rows.iter().zip(&best).map(|(row, best)| best.min(logs[*row][*choice])).sum()
        };
        let open = (0..choices).filter(|choice| !set.contains(choice));
        let costs = open.map(|choice| (cost(&choice), choice));
        let Some((_, choice)) = costs.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))) else {
            break;
        };
        for (row, best) in rows.iter().zip(&mut best) {
            *best = best.min(logs[*row][choice]);
        }
        set.push(choice);
    }
    set
}

pub(super) fn measure(
    table: &Table,
    splits: &Splits,
    options: &DiagnoseOptions,
) -> Result<Found<'static>> {
    let learner = Choice::new(table)?;
    crate::validate::require_two_classes(&learner.task)?;
    let seed = u64::from(options.seed);
    let count = table.task.rows.len();
    let mut tries: Vec<usize> = options
        .tries
        .iter()
        .copied()
        .filter(|k| (1..=table.task.choices.len()).contains(k))
        .collect();
    tries.sort_unstable();
    tries.dedup();
    let most = tries.last().copied().unwrap_or(1);
    // By number of tries, the loss of each row: the mean over the splits.
    let mut plain = vec![vec![0.0; count]; most];
    let mut with_model = vec![vec![0.0; count]; most];
    let mut each = Vec::new();
    let share = 1.0 / splits.all().len() as f64;
    for (at, folds) in splits.all().iter().enumerate() {
        let mut alone = vec![0.0; count];
        for fold in &folds.all {
            let set = greedy(&learner.logs, &fold.train, most);
            let seed = split_seed(options.seed, at);
            let picked = learner.choices(&fold.train, &fold.test, seed)?;
            for (row, picked) in fold.test.iter().zip(picked) {
                alone[*row] = learner.regret(*row, picked);
                let mut best = f64::INFINITY;
                for (at, choice) in set.iter().enumerate() {
                    with_model[at][*row] += share * best.min(alone[*row]);
                    best = best.min(learner.regret(*row, *choice));
                    plain[at][*row] += share * best;
                }
            }
        }
        each.push(Losses::new(table, alone, Figure::Mean));
    }
    let losses = Repeated::of(table, each);
    let single = Losses::new(table, plain[0].clone(), Figure::Mean);
    let all: Vec<usize> = (0..count).collect();
    let whole = greedy(&learner.logs, &all, most);
    let named = |choice: &usize| table.task.choices[*choice].clone();
    let fixed = tries.iter().map(|&tries| {
        let set = Losses::new(table, plain[tries - 1].clone(), Figure::Mean);
        let model = Losses::new(table, with_model[tries - 1].clone(), Figure::Mean);
        FixedSet {
            tries,
            set: whole.iter().take(tries).map(named).collect(),
            error: set.interval(seed),
            share_of_oracle: 1.0 - set.error() / single.error().max(f64::MIN_POSITIVE),
            with_model: model.interval(seed),
            model_gain: model.against(&set, seed, |model, set| model - set),
        }
    });
    let choice = ChoiceReport {
        best_single: whole.first().map(named).unwrap_or_default(),
        choices: learner.task.choices.len(),
        labels: learner.task.labels(),
        fixed: fixed.collect(),
        against_single: losses.mean.against(&single, seed, |model, single| model - single),
    };
    Ok(Found {
        learner: Box::new(learner),
        losses,
        model: MODEL.to_owned(),
        error: "mean log2 of the cost of the choice over the cheapest choice's",
        regression: None,
        choice: Some(choice),
    })
}
