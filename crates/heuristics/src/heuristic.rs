//! Trained heuristics as files: `heuristic train` writes them, `heuristic predict` reads them.

use crate::{
    Error, Result, Row, Task,
    model::{Method, Model, Tree},
    score::{Scores, score},
    validate::require_two_classes,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

const SCHEMA: &str = "heuristic";
const VERSION: u32 = 1;

/// A fitted model and what it needs to be used: names of features and choices.
pub struct Heuristic {
    method: Method,
    features: Vec<String>,
    choices: Vec<String>,
    seed: u32,
    rows: usize,
    /// [`Row::mark`] of each row that it was trained on; empty where its file is older.
    trained: BTreeSet<String>,
    model: Box<dyn Model>,
}

/// How a heuristic stands in its file.
#[derive(Serialize, Deserialize)]
struct File {
    schema: String,
    version: u32,
    model: String,
    features: Vec<String>,
    choices: Vec<String>,
    seed: u32,
    rows: usize,
    #[serde(default)]
    trained: BTreeSet<String>,
    state: serde_json::Value,
}

/// Options of `heuristic train`.
#[derive(Clone, Debug)]
pub struct TrainOptions {
    /// The model, as [`Method::parse`] reads it.
    pub model: String,
    /// Seed of the model and of the intervals.
    pub seed: u32,
}

/// What `heuristic train` reports. The scores are on the rows trained on: an upper bound, no
/// estimate of anything else.
#[derive(Clone, Debug, Serialize)]
pub struct TrainReport {
    /// The model with all its settings.
    pub model: String,
    /// Always "the training rows".
    pub validation: &'static str,
    /// Rows per best choice.
    pub labels: BTreeMap<String, usize>,
    /// Scores on the training rows.
    #[serde(flatten)]
    pub scores: Scores,
}

/// What `heuristic predict` reports.
#[derive(Clone, Debug, Serialize)]
pub struct PredictReport {
    /// The model with all its settings.
    pub model: String,
    /// One per row of the task.
    pub predictions: Vec<Prediction>,
    /// Rows per predicted choice.
    pub predicted: BTreeMap<String, usize>,
    /// Rows that the model was trained on: scores on these say nothing of others.
    pub trained_on: usize,
    /// Scores, where all rows are measured.
    #[serde(flatten)]
    pub scores: Option<Scores>,
}

/// A prediction for one row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prediction {
    /// The program.
    pub program: String,
    /// Its input.
    pub variant: String,
    /// The predicted choice.
    pub choice: String,
    /// The best one, where it is known.
    pub label: Option<String>,
}

/// Train a heuristic on a task.
///
/// # Errors
/// When rows are missing or unmeasured, one choice is best on all of them, or the model is unknown
/// or cannot be fitted.
pub fn train(task: &Task, options: &TrainOptions) -> Result<(Heuristic, TrainReport)> {
    require_two_classes(task)?;
    let method = Method::parse(&options.model)?;
    let heuristic = Heuristic {
        model: method.fit(task, options.seed)?,
        method,
        features: task.features.clone(),
        choices: task.choices.clone(),
        seed: options.seed,
        rows: task.rows.len(),
        trained: task.rows.iter().map(Row::mark).collect(),
    };
    let predictions = heuristic.choose(task)?;
    let report = TrainReport {
        model: heuristic.method.spell(),
        validation: "the training rows",
        labels: task.labels(),
        scores: score(task, &predictions, u64::from(options.seed))?,
    };
    Ok((heuristic, report))
}

/// Predict for the rows of a task, and score the predictions where all its rows are measured.
///
/// # Errors
/// When the task has other features, or its costs are of other choices.
pub fn predict(heuristic: &Heuristic, task: &Task) -> Result<PredictReport> {
    let choices = heuristic.choose(task)?;
    let measured = !task.rows.is_empty() && task.rows.iter().all(|row| row.measured());
    let mut predicted: BTreeMap<String, usize> =
        heuristic.choices.iter().map(|name| (name.clone(), 0)).collect();
    let mut predictions = Vec::with_capacity(choices.len());
    for (row, &choice) in task.rows.iter().zip(&choices) {
        let name = &heuristic.choices[choice];
        *predicted.entry(name.clone()).or_default() += 1;
        predictions.push(Prediction {
            program: row.program.clone(),
            variant: row.variant.clone(),
            choice: name.clone(),
            label: row.measured().then(|| task.choices[row.label].clone()),
        });
    }
    let seed = u64::from(heuristic.seed);
    let scores = measured.then(|| score(task, &choices, seed)).transpose()?;
    let is_known = |row: &&Row| heuristic.trained.contains(&row.mark());
    let trained_on = task.rows.iter().filter(is_known).count();
    let model = heuristic.method.spell();
    Ok(PredictReport { model, predictions, predicted, trained_on, scores })
}

impl Heuristic {
    /// The predicted choice per row.
    ///
    /// # Errors
    /// When the task has other features, or its costs are of other choices.
    pub fn choose(&self, task: &Task) -> Result<Vec<usize>> {
        let own = Task {
            features: self.features.clone(),
            // Programs to predict for have no costs and name no choices.
            choices: if task.choices.is_empty() { Vec::new() } else { self.choices.clone() },
            rows: Vec::new(),
        };
        own.same_space(task)?;
        Ok(task.rows.iter().map(|row| self.model.predict(&row.features)).collect())
    }

    /// Write it to a file.
    ///
    /// # Errors
    /// When the model has no form as JSON or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let file = File {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            model: self.method.spell(),
            features: self.features.clone(),
            choices: self.choices.clone(),
            seed: self.seed,
            rows: self.rows,
            trained: self.trained.clone(),
            state: self.model.state()?,
        };
        let text = serde_json::to_string(&file).map_err(|error| Error::NotAHeuristic {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        fs::write(path, text + "\n").map_err(Error::file("write", path))
    }

    /// Read one from a file.
    ///
    /// # Errors
    /// When the file cannot be read, holds no heuristic, or one of a later version.
    pub fn load(path: &Path) -> Result<Heuristic> {
        let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
        let bad = |reason: String| Error::NotAHeuristic { path: path.to_owned(), reason };
        let file: File = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        if file.schema != SCHEMA || file.version > VERSION {
            return Err(bad(format!(
                "it is `{}` version {}, this stampmill reads `{SCHEMA}` up to {VERSION}",
                file.schema, file.version
            )));
        }
        let method = Method::parse(&file.model)?;
        let model = method.restore(file.state)?;
        let splits = model.tree().into_iter().flat_map(|tree| &tree.nodes);
        if splits.filter_map(|node| node.split).any(|split| split.feature >= file.features.len()) {
            return Err(bad("its tree looks at features that it does not name".to_owned()));
        }
        Ok(Heuristic {
            model,
            method,
            features: file.features,
            choices: file.choices,
            seed: file.seed,
            rows: file.rows,
            trained: file.trained,
        })
    }

    /// Names of its features.
    #[must_use]
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// Names of its choices.
    #[must_use]
    pub fn choices(&self) -> &[String] {
        &self.choices
    }

    /// Its tree.
    ///
    /// # Errors
    /// When it is another kind of model.
    pub fn tree(&self) -> Result<&Tree> {
        self.model.tree().ok_or_else(|| Error::NotATree(self.method.name().to_owned()))
    }
}

impl std::fmt::Debug for Heuristic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {} rows: {:?}", self.method, self.rows, self.features)
    }
}
