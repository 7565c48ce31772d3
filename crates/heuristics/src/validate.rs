//! Cross-validation by group.

use crate::{
    Error, Result, Task,
    model::Method,
    score::{Paired, Scores, compare, score},
};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Options of `heuristic crossval`.
#[derive(Clone, Debug)]
pub struct CrossvalOptions {
    /// Models to validate, as [`Method::parse`] reads them.
    pub models: Vec<String>,
    /// Folds; 0 leaves each group out once.
    pub folds: usize,
    /// Rows that every model trains on besides the other groups, never tests on: a second training
    /// set to compare with the first, for example generated programs.
    pub extra: Option<Task>,
    /// Seed of models, folds and intervals.
    pub seed: u32,
}

/// What `heuristic crossval` reports.
#[derive(Clone, Debug, Serialize)]
pub struct CrossvalReport {
    /// How rows were held out.
    pub validation: String,
    /// Scores and predictions by model, as asked for.
    pub models: Vec<Validated>,
}

/// One model's cross-validation.
#[derive(Clone, Debug, Serialize)]
pub struct Validated {
    /// The model with all its settings.
    pub model: String,
    /// Scores over all rows, each predicted by a model that has not seen its group.
    #[serde(flatten)]
    pub scores: Scores,
    /// Scores when the extra rows are trained on too, and whether that matters.
    pub with_extra: Option<WithExtra>,
    /// The predictions by row.
    #[serde(skip)]
    pub predictions: Vec<usize>,
}

/// The effect of a second training set.
#[derive(Clone, Debug, Serialize)]
pub struct WithExtra {
    /// Scores with it.
    #[serde(flatten)]
    pub scores: Scores,
    /// Compared with the scores without it.
    pub paired: Paired,
    /// The predictions by row.
    #[serde(skip)]
    pub predictions: Vec<usize>,
}

/// Cross-validate models on a task.
///
/// A fold whose training rows all have one label predicts that label, counted as the verdict
/// `one-class-fold`.
///
/// # Errors
/// When rows are missing or unmeasured, one choice is best on all of them, there are fewer groups
/// than folds (or than two), a model is unknown or cannot be fitted, or the extra rows are of
/// another space.
pub fn crossval(task: &Task, options: &CrossvalOptions) -> Result<CrossvalReport> {
    require_two_classes(task)?;
    let folds = Folds::by_group(task, options.folds, u64::from(options.seed))?;
    let seed = u64::from(options.seed);
    let mut models = Vec::new();
    for text in &options.models {
        let method = Method::parse(text)?;
        let (predictions, one_class) = folds.predict(task, None, &method, options.seed)?;
        let mut scores = score(task, &predictions, seed)?;
        note(&mut scores, one_class);
        let with_extra = options.extra.as_ref().map(|extra| {
            let (more, one_class) = folds.predict(task, Some(extra), &method, options.seed)?;
            let mut scores = score(task, &more, seed)?;
            note(&mut scores, one_class);
            let paired = compare(task, &predictions, &more, seed)?;
            Ok::<_, Error>(WithExtra { scores, paired, predictions: more })
        });
        let with_extra = with_extra.transpose()?;
        models.push(Validated { model: method.spell(), scores, with_extra, predictions });
    }
    Ok(CrossvalReport { validation: folds.describe(), models })
}

/// Refuse a task on which one choice is always best.
///
/// # Errors
/// Names that choice and one that never is.
pub(crate) fn require_two_classes(task: &Task) -> Result<()> {
    task.require_measured(crate::task::USABLE)?;
    if let [only] = task.choices.as_slice() {
        return Err(Error::OneChoice(only.clone()));
    }
    let first = &task.rows[0].features;
    if task.rows.iter().all(|row| row.features == *first) {
        return Err(Error::NothingDiffers(task.features.clone()));
    }
    let labels = task.labels();
    let mut present = labels.iter().filter(|(_, rows)| **rows > 0);
    match (present.next(), present.next()) {
        (Some((label, _)), None) => Err(Error::OneClass {
            label: label.clone(),
            absent: labels.keys().find(|name| *name != label).cloned().unwrap_or_default(),
        }),
        _ => Ok(()),
    }
}

/// Which groups are held out together.
#[derive(Clone, Debug)]
pub(crate) struct Folds {
    groups: Vec<BTreeSet<String>>,
    leave_one_out: bool,
}

impl Folds {
    /// `count` folds of whole groups, shuffled by the seed and then filled so that they have about
    /// the same number of rows; each group its own fold for 0.
    pub(crate) fn by_group(task: &Task, count: usize, seed: u64) -> Result<Folds> {
        let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &task.rows {
            *rows.entry(&row.group).or_default() += 1;
        }
        let wanted = if count == 0 { 2 } else { count.max(2) };
        if rows.len() < wanted {
            let name = rows.keys().next().map_or(String::new(), |name| (*name).to_owned());
            return Err(Error::TooFewGroups { found: rows.len(), name, wanted });
        }
        if count == 0 {
            let groups = rows.keys().map(|name| BTreeSet::from([(*name).to_owned()])).collect();
            return Ok(Folds { groups, leave_one_out: true });
        }
        let mut order: Vec<(&str, usize)> = rows.into_iter().collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        order.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
        let mut groups = vec![BTreeSet::new(); wanted];
        let mut filled = vec![0; wanted];
        for (name, rows) in order {
            let least = filled.iter().copied().min().unwrap_or(0);
            let fold = filled.iter().position(|&rows| rows == least).unwrap_or(0);
            groups[fold].insert(name.to_owned());
            filled[fold] += rows;
        }
        Ok(Folds { groups, leave_one_out: false })
    }

    /// Predict every row by a model trained on the other folds and the extra rows; also the number
    /// of folds that had one label only to learn from.
    pub(crate) fn predict(
        &self,
        task: &Task,
        extra: Option<&Task>,
        method: &Method,
        seed: u32,
    ) -> Result<(Vec<usize>, u64)> {
        if let Some(extra) = extra {
            task.same_space(extra)?;
        }
        let folds = self.groups.par_iter().map(|held| {
            let mut training = task.filter(|row| !held.contains(&row.group));
            if let Some(extra) = extra {
                let rows = extra.rows.iter().filter(|row| !held.contains(&row.group));
                training.rows.extend(rows.cloned());
            }
            let first = training.rows.first().map(|row| row.label);
            let one_class = training.rows.iter().all(|row| Some(row.label) == first);
            let model = method.fit(&training, seed)?;
            let tested = task.rows.iter().enumerate().filter(|(_, row)| held.contains(&row.group));
            let predictions: Vec<(usize, usize)> =
                tested.map(|(at, row)| (at, model.predict(&row.features))).collect();
            Ok((predictions, one_class))
        });
        let folds: Vec<(Vec<(usize, usize)>, bool)> = folds.collect::<Result<_>>()?;
        let one_class = folds.iter().filter(|(_, one)| *one).count() as u64;
        let mut all = vec![0; task.rows.len()];
        for (at, prediction) in folds.into_iter().flat_map(|(predictions, _)| predictions) {
            all[at] = prediction;
        }
        Ok((all, one_class))
    }

    fn describe(&self) -> String {
        match self.leave_one_out {
            true => format!("leave one group out, {} groups", self.groups.len()),
            false => format!("{} folds of whole groups", self.groups.len()),
        }
    }
}

fn note(scores: &mut Scores, one_class: u64) {
    if one_class > 0 {
        scores.verdicts.insert("one-class-fold".to_owned(), one_class);
    }
}
