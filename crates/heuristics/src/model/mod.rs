//! Models: what learns to choose.
//!
//! A learner is one file here and one line in [`LEARNERS`].

mod boosting;
mod draw;
mod forest;
mod neighbours;
mod perceptron;
mod refit;
mod tree;

pub use tree::{Node, Split, Tree};

use crate::{Error, Result, Task};
use refit::Refit;
use serde_json::Value;
use std::collections::BTreeMap;

/// A fitted model.
pub trait Model: Send + Sync {
    /// The choice for one row of features, as a place in the task's choices.
    fn predict(&self, features: &[f64]) -> usize;

    /// Everything needed to make it again with [`Learner::restore`].
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn state(&self) -> Result<Value>;

    /// The tree, where the model is one.
    fn tree(&self) -> Option<&Tree> {
        None
    }
}

/// A way of fitting models.
pub trait Learner: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// One line for people who choose.
    fn describe(&self) -> &'static str;

    /// Its settings with their defaults and meanings.
    fn settings(&self) -> &'static [Setting];

    /// Fit to a sample with at least two different labels. The same sample in the same order with
    /// the same settings and seed gives the same model.
    ///
    /// # Errors
    /// When the library beneath fails.
    fn fit(&self, sample: &Sample<'_>, settings: &Settings, seed: u32) -> Result<Box<dyn Model>>;

    /// Make a model again from its state.
    ///
    /// # Errors
    /// When the state is not one of this learner's.
    fn restore(&self, state: Value) -> Result<Box<dyn Model>>;
}

/// All learners.
pub static LEARNERS: [&dyn Learner; 5] = [
    &tree::DecisionTree,
    &neighbours::NearestNeighbours,
    &forest::RandomForest,
    &boosting::GradientBoosting,
    &perceptron::Perceptron,
];

/// A number that a learner can be told.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its value unless told otherwise.
    pub default: f64,
    /// What it does.
    pub meaning: &'static str,
}

/// Values of a learner's settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings(BTreeMap<&'static str, f64>);

impl Settings {
    fn of(learner: &dyn Learner) -> Settings {
        let defaults = learner.settings().iter();
        Settings(defaults.map(|setting| (setting.name, setting.default)).collect())
    }

    fn get(&self, name: &str) -> f64 {
        *self.0.get(name).expect("a learner asks only for settings that it lists")
    }

    fn count(&self, name: &str) -> usize {
        self.get(name) as usize
    }
}

/// A learner and its settings, as the command line names them: `tree`, `knn:k=3,scale=1`.
#[derive(Clone)]
pub struct Method {
    learner: &'static dyn Learner,
    settings: Settings,
}

impl Method {
    /// Read `NAME` or `NAME:SETTING=VALUE,...`; a colon may stand for the comma where commas separate
    /// methods.
    ///
    /// # Errors
    /// When there is no such learner or setting, or the value is no number from zero up.
    pub fn parse(text: &str) -> Result<Method> {
        let (name, told) = text.split_once(':').unwrap_or((text, ""));
        let learner = LEARNERS.into_iter().find(|learner| learner.name() == name);
        let learner = learner.ok_or_else(|| Error::UnknownModel {
            name: name.to_owned(),
            known: LEARNERS.iter().map(|learner| learner.name().to_owned()).collect(),
        })?;
        let mut settings = Settings::of(learner);
        for part in told.split([',', ':']).filter(|part| !part.is_empty()) {
            let bad = |reason: String| Error::Setting {
                model: name.to_owned(),
                reason,
                known: settings_of(learner),
            };
            let (key, value) =
                part.split_once('=').ok_or_else(|| bad(format!("`{part}` is not NAME=VALUE")))?;
            let value: f64 = value
                .parse()
                .ok()
                .filter(|value: &f64| value.is_finite() && *value >= 0.0)
                .ok_or_else(|| bad(format!("{key} cannot be `{value}`")))?;
            match settings.0.get_mut(key) {
                Some(slot) => *slot = value,
                None => return Err(bad(format!("no setting `{key}`"))),
            }
        }
        Ok(Method { learner, settings })
    }

    /// The learner's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.learner.name()
    }

    /// As [`Method::parse`] reads it, every setting spelled out.
    #[must_use]
    pub fn spell(&self) -> String {
        let settings: Vec<String> =
            self.settings.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{}:{}", self.name(), settings.join(","))
    }

    /// Fit to the rows of a task. A task with one label only gives the model that always predicts
    /// it; callers who must not get it check [`Task::labels`] first.
    ///
    /// # Errors
    /// When rows are missing or unmeasured, or the library beneath fails.
    pub fn fit(&self, task: &Task, seed: u32) -> Result<Box<dyn Model>> {
        task.require_measured("the training set")?;
        let rows = task.rows.iter();
        let sample = Sample {
            features: rows.clone().map(|row| row.features.as_slice()).collect(),
            labels: rows.map(|row| row.label).collect(),
            choices: task.choices.len(),
        };
        match sample.only_label() {
            Some(label) => Ok(Box::new(Constant(label))),
            None => self.learner.fit(&sample, &self.settings, seed),
        }
    }

    /// Make a model again from what [`Model::state`] wrote.
    ///
    /// # Errors
    /// When the state is not one of this learner's.
    pub fn restore(&self, state: Value) -> Result<Box<dyn Model>> {
        match state.get("always").and_then(Value::as_u64) {
            Some(label) => Ok(Box::new(Constant(label as usize))),
            None => self.learner.restore(state),
        }
    }
}

impl std::fmt::Debug for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.spell())
    }
}

/// What a learner sees of a task.
#[derive(Clone, Debug)]
pub struct Sample<'a> {
    /// Finite values, one row per observation, all of equal length.
    pub features: Vec<&'a [f64]>,
    /// The best choice per observation.
    pub labels: Vec<usize>,
    /// Number of choices.
    pub choices: usize,
}

impl Sample<'_> {
    fn only_label(&self) -> Option<usize> {
        let first = *self.labels.first()?;
        self.labels.iter().all(|&label| label == first).then_some(first)
    }

    /// Number of features.
    fn width(&self) -> usize {
        self.features.first().map_or(0, |row| row.len())
    }

    /// Choices that occur as labels, in order: libraries want classes without gaps.
    fn present(&self) -> Vec<usize> {
        (0..self.choices).filter(|choice| self.labels.contains(choice)).collect()
    }
}

/// Predicts one choice always.
struct Constant(usize);

impl Model for Constant {
    fn predict(&self, _: &[f64]) -> usize {
        self.0
    }

    fn state(&self) -> Result<Value> {
        Ok(serde_json::json!({ "always": self.0 }))
    }
}

/// The place of the greatest value; the first of equals.
fn greatest<T: PartialOrd + Copy>(values: &[T]) -> usize {
    let mut best = 0;
    for (place, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = place;
        }
    }
    best
}

fn settings_of(learner: &dyn Learner) -> Vec<String> {
    let settings = learner.settings().iter();
    settings.map(|one| format!("{}={} ({})", one.name, one.default, one.meaning)).collect()
}

/// Write a model's parts as JSON.
fn to_state(model: &str, parts: &impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(parts).map_err(|error| Error::fit(model, error))
}

/// Read them back.
fn from_state<T: serde::de::DeserializeOwned>(model: &str, state: Value) -> Result<T> {
    serde_json::from_value(state).map_err(|error| Error::fit(model, error))
}
