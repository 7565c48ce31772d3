//! Regressions as files: `heuristic train` writes them for tasks with one choice, `heuristic predict` reads them.

use super::{REGRESSORS, Regressor, distinct_columns, fit, is_count};
use crate::{Error, ErrorOf, Result, Table, Task, task::USABLE};
use serde::{Deserialize, Serialize};
use std::{collections::HashSet, fs, path::Path};

const SCHEMA: &str = "cost-model";
const VERSION: u32 = 1;
/// Draws of the bootstrap.
const DRAWS: usize = 1000;
/// Of a model that is a folder.
const FILE: &str = "model.json";

/// A fitted regression of what programs cost, and what it needs to be used.
pub struct CostModel {
    file: File,
    model: Box<dyn Regressor>,
}

/// How it stands in its file. What it was fitted to makes it again: the same rows in the same order with the same seed
/// give the same model.
#[derive(Serialize, Deserialize)]
struct File {
    schema: String,
    version: u32,
    /// The kind.
    model: String,
    /// The task and what its costs are.
    about: String,
    /// The level that its vectors are counted at.
    level: Option<u64>,
    /// Features that differ, by name.
    features: Vec<String>,
    /// What is predicted.
    choice: String,
    seed: u32,
    rows: Vec<Vec<f64>>,
    /// log2 of the cost of each row.
    targets: Vec<f64>,
}

/// What `heuristic train` reports of a task with one choice. The error is on the rows trained on: a lower bound, no
/// estimate of anything else.
#[derive(Clone, Debug, Serialize)]
pub struct CostTraining {
    /// The kind of model.
    pub model: String,
    /// Always "the training rows".
    pub validation: &'static str,
    /// Rows.
    pub rows: usize,
    /// Features that differ, of all.
    pub features: [usize; 2],
    /// The error on them.
    pub error: CostError,
}

/// How far predicted costs are off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostError {
    /// Root of the mean squared difference of log2 of predicted and true cost.
    pub root: f64,
    /// Median of how far they are off, as a factor above 1.
    pub median_factor: f64,
}

/// A predicted cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostPrediction {
    /// The program.
    pub program: String,
    /// Its input.
    pub variant: String,
    /// What it is said to cost.
    pub predicted: f64,
    /// What it costs, where that is known.
    pub cost: Option<f64>,
}

/// What `heuristic predict` reports.
#[derive(Clone, Debug, Serialize)]
pub struct CostPredictions {
    /// The kind of model.
    pub model: String,
    /// What is predicted.
    pub choice: String,
    /// One per row.
    pub predictions: Vec<CostPrediction>,
    /// Rows with the features and the cost of a row that the model was trained on: errors on these say nothing of others.
    pub trained_on: usize,
    /// How far they are off, over the rows whose cost is known.
    pub error: Option<CostError>,
}

impl CostPredictions {
    /// Predicted less true log2 of the cost, the mean over the rows whose cost is known, with its interval over them:
    /// above zero they cost less than programs of equal features that the model learned from. `None` where no cost is known.
    #[must_use]
    pub fn bias(&self) -> Option<ErrorOf> {
        let off: Vec<f64> = self
            .predictions
            .iter()
            .filter_map(|one| Some(one.predicted.log2() - one.cost?.log2()))
            .collect();
        let mean = |of: &[usize]| of.iter().map(|place| off[*place]).sum::<f64>() / of.len() as f64;
        let interval = statistics::bootstrap_interval(off.len(), DRAWS, 0, mean)?;
        let all: Vec<usize> = (0..off.len()).collect();
        Some(ErrorOf { value: mean(&all), interval })
    }
}

impl CostModel {
    /// Fit a regression of `kind` (of [`REGRESSORS`]) to a task with one choice. Rows without costs are left out.
    ///
    /// # Errors
    /// When the task has other than one choice, no rows with costs, or the kind is unknown.
    pub fn train(table: &Table, kind: &str, seed: u32) -> Result<(CostModel, CostTraining)> {
        let [choice] = table.task.choices.as_slice() else {
            return Err(Error::ManyChoices(table.task.choices.clone()));
        };
        let known: Vec<&crate::Row> = table.task.rows.iter().filter(|row| row.measured()).collect();
        if known.is_empty() {
            return Err(Error::NoRows { what: USABLE.to_owned(), rejected: 0 });
        }
        let rows: Vec<&[f64]> = known.iter().map(|row| row.features.as_slice()).collect();
        let mut kept = distinct_columns(&rows);
        // A line is of the count of instructions even where all programs have equally many.
        kept.extend(table.task.features.iter().position(|name| is_count(name)));
        kept.sort_unstable();
        kept.dedup();
        let of =
            |row: &&crate::Row| kept.iter().map(|place| written(row.features[*place])).collect();
        let file = File {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            model: kind.to_owned(),
            about: table.about.clone(),
            level: table.level,
            features: kept.iter().map(|place| table.task.features[*place].clone()).collect(),
            choice: choice.clone(),
            seed,
            rows: known.iter().map(of).collect(),
            targets: known.iter().map(|row| written(row.costs[0].log2())).collect(),
        };
        let model = CostModel::of(file)?;
        let told = model.predictions(&table.task)?;
        let report = CostTraining {
            model: kind.to_owned(),
            validation: "the training rows",
            rows: known.len(),
            features: [kept.len(), table.task.features.len()],
            error: error_of(&told).expect("there are rows with costs"),
        };
        Ok((model, report))
    }

    /// The feature spaces that its programs were described in, and at which optimization level where that is known.
    #[must_use]
    pub fn described_in(&self) -> (Vec<&str>, Option<u64>) {
        let mut spaces: Vec<&str> =
            self.file.features.iter().filter_map(|name| Some(name.split_once(':')?.0)).collect();
        spaces.sort_unstable();
        spaces.dedup();
        (spaces, self.file.level)
    }

    fn of(file: File) -> Result<CostModel> {
        let rows: Vec<&[f64]> = file.rows.iter().map(Vec::as_slice).collect();
        let model = fit(&file.model, &file.features, &rows, &file.targets, file.seed.into())?;
        Ok(CostModel { model, file })
    }

    /// Predict what the programs of a table cost; where it knows some of their costs, these are compared.
    ///
    /// # Errors
    /// When the table lacks a feature, has other choices, or its vectors were counted at another level.
    pub fn predict(&self, table: &Table) -> Result<CostPredictions> {
        if let (Some(own), Some(other)) = (self.file.level, table.level)
            && own != other
        {
            return Err(Error::OtherLevel { name: table.name.clone(), level: other, wanted: own });
        }
        let choices = &table.task.choices;
        if !choices.is_empty() && choices.as_slice() != [self.file.choice.clone()] {
            let (left, right) = (vec![self.file.choice.clone()], choices.clone());
            return Err(Error::MixedSpaces { left, right });
        }
        let predictions = self.predictions(&table.task)?;
        let (model, choice) = (self.file.model.clone(), self.file.choice.clone());
        let error = error_of(&predictions);
        let trained_on = self.trained_on(&table.task)?;
        Ok(CostPredictions { model, choice, predictions, trained_on, error })
    }

    /// Rows that it was trained on.
    fn trained_on(&self, task: &Task) -> Result<usize> {
        let seen = task.select(&self.file.features)?;
        let bits = |row: &[f64], target: f64| -> Vec<u64> {
            row.iter().chain([&target]).map(|value| value.to_bits()).collect()
        };
        let rows = self.file.rows.iter().zip(&self.file.targets);
        let own: HashSet<Vec<u64>> = rows.map(|(row, target)| bits(row, *target)).collect();
        let measured = seen.rows.iter().filter(|row| row.measured());
        Ok(measured
            .filter(|row| {
                let features: Vec<f64> = row.features.iter().copied().map(written).collect();
                own.contains(&bits(&features, written(row.costs[0].log2())))
            })
            .count())
    }

    fn predictions(&self, task: &Task) -> Result<Vec<CostPrediction>> {
        let seen = task.select(&self.file.features)?;
        let rows: Vec<&[f64]> = seen.rows.iter().map(|row| row.features.as_slice()).collect();
        let told = self.model.predict(&rows);
        let one = |(told, row): (f64, &crate::Row)| CostPrediction {
            program: row.program.clone(),
            variant: row.variant.clone(),
            predicted: told.exp2(),
            cost: row.costs.first().copied().filter(|_| row.measured()),
        };
        Ok(told.into_iter().zip(&task.rows).map(one).collect())
    }

    /// What it predicts: the one choice of the task that it learned from.
    #[must_use]
    pub fn choice(&self) -> &str {
        &self.file.choice
    }

    /// Names of the features that it asks for.
    #[must_use]
    pub fn features(&self) -> &[String] {
        &self.file.features
    }

    /// Write it to a file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bad = |error: serde_json::Error| Error::NotAHeuristic {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let text = serde_json::to_string(&self.file).map_err(bad)?;
        fs::write(path, text + "\n").map_err(Error::file("write", path))
    }

    /// Read one from a file, or from `model.json` of a folder; nothing where it holds something else.
    ///
    /// # Errors
    /// When the file cannot be read, is of a later version, or its rows do not fit together.
    pub fn load(path: &Path) -> Result<Option<CostModel>> {
        let path = &if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
        let bad = |reason: String| Error::NotAHeuristic { path: path.clone(), reason };
        let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) else { return Ok(None) };
        if value["schema"].as_str() != Some(SCHEMA) {
            return Ok(None);
        }
        let version = value["version"].as_u64();
        if version.is_none_or(|version| version > VERSION.into()) {
            return Err(bad(format!(
                "it is `{SCHEMA}` version {}, this stampmill reads up to {VERSION}",
                value["version"]
            )));
        }
        let file: File = serde_json::from_value(value).map_err(|error| bad(error.to_string()))?;
        let width = file.features.len();
        let sound = file.rows.len() == file.targets.len()
            && file.rows.iter().all(|row| row.len() == width)
            && REGRESSORS.contains(&file.model.as_str());
        if !sound {
            return Err(bad("its training rows do not fit together".to_owned()));
        }
        Ok(Some(CostModel::of(file)?))
    }
}

impl std::fmt::Debug for CostModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} rows: {:?}", self.file.model, self.file.rows.len(), self.file.features)
    }
}

/// A number as its nine decimals say it: a file reads short ones as they were written, and longer ones nearly.
fn written(value: f64) -> f64 {
    if value.fract() == 0.0 { value } else { (value * 1e9).round() / 1e9 }
}

fn error_of(predictions: &[CostPrediction]) -> Option<CostError> {
    let off: Vec<f64> = predictions
        .iter()
        .filter_map(|one| Some((one.predicted.log2() - one.cost?.log2()).abs()))
        .collect();
    let root = (off.iter().map(|off| off * off).sum::<f64>() / off.len() as f64).sqrt();
    let median_factor = statistics::median(off)?.exp2();
    Some(CostError { root, median_factor })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Row;

    fn table(count: usize) -> Table {
        let row = |at: usize| {
            let (insts, deep) = ((4 + at * 13 % 97) as f64, (at % 3) as f64);
            Row {
                program: format!("p{at}"),
                variant: String::new(),
                group: format!("g{}", at % 5),
                features: vec![insts, deep, 7.0, insts],
                costs: vec![insts * 10.0_f64.powf(deep)],
                label: 0,
            }
        };
        let names = ["instcount:TotalInsts", "loops:depth", "x:constant", "x:twin"];
        Table {
            name: "table".into(),
            task: Task {
                features: names.map(str::to_owned).to_vec(),
                choices: vec!["cycles".into()],
                rows: (0..count).map(row).collect(),
            },
            origins: vec![crate::Origin::default(); count],
            level: Some(0),
            ..Table::default()
        }
    }

    #[test]
    fn a_saved_model_predicts_what_it_did() {
        let table = table(120);
        let folder = tempfile::tempdir().expect("a folder");
        for kind in REGRESSORS {
            let (model, report) = CostModel::train(&table, kind, 3).expect("fits");
            // What is constant, or twice there, is not asked for.
            assert_eq!(model.features(), ["instcount:TotalInsts", "loops:depth"], "{kind}");
            assert_eq!((report.rows, report.features), (120, [2, 4]));
            let path = folder.path().join(FILE);
            model.save(&path).expect("writes");
            for place in [path.as_path(), folder.path()] {
                let read = CostModel::load(place).expect("reads").expect("is one");
                let found = read.predict(&table).expect("predicts");
                assert_eq!(found.predictions, model.predict(&table).expect("predicts").predictions);
                assert_eq!(found.error, Some(report.error));
            }
        }
        let (_, line) = CostModel::train(&table, "lin1", 0).expect("fits");
        let (_, trees) = CostModel::train(&table, "forest", 0).expect("fits");
        assert!(trees.error.root < 0.5 * line.error.root, "{trees:?} {line:?}");
        assert!(trees.error.median_factor >= 1.0);
    }

    #[test]
    fn programs_that_cost_half_of_what_is_predicted_have_a_bias_of_one() {
        let table = table(120);
        let (model, _) = CostModel::train(&table, "forest", 0).expect("fits");
        let of = |factor: Option<f64>| {
            let mut other = table.clone();
            for row in &mut other.task.rows {
                row.costs = factor.map(|factor| row.costs[0] * factor).into_iter().collect();
            }
            model.predict(&other).expect("predicts").bias()
        };
        let [own, half] = [1.0, 0.5].map(|factor| of(Some(factor)).expect("costs are known"));
        assert!(own.value.abs() < 0.2 && (half.value - own.value - 1.0).abs() < 1e-9, "{own:?}");
        assert!(half.interval[0] <= half.value && half.value <= half.interval[1], "{half:?}");
        assert_eq!((of(None), model.choice()), (None, "cycles"));
    }

    #[test]
    fn what_it_does_not_know_is_refused() {
        let table = table(40);
        let (model, _) = CostModel::train(&table, "forest", 0).expect("fits");
        let other = Table { level: Some(1), ..table.clone() };
        assert!(matches!(model.predict(&other), Err(Error::OtherLevel { .. })));
        let mut other = table.clone();
        other.task.choices = vec!["bytes".into()];
        assert!(matches!(model.predict(&other), Err(Error::MixedSpaces { .. })));
        other.task.choices.push("cycles".into());
        assert!(matches!(CostModel::train(&other, "lin1", 0), Err(Error::ManyChoices(_))));
        let mut other = table.clone();
        other.task.features[1] = "loops:width".into();
        assert!(matches!(model.predict(&other), Err(Error::MissingColumn { .. })));
        assert!(matches!(CostModel::train(&table, "tree", 0), Err(Error::UnknownModel { .. })));
        // Programs without costs are predicted for, and not trained on.
        let mut none = table.clone();
        none.task.choices.clear();
        none.task.rows.iter_mut().for_each(|row| row.costs.clear());
        let found = model.predict(&none).expect("predicts");
        assert_eq!((found.predictions.len(), found.error), (40, None));
        let mut none = table;
        none.task.rows.iter_mut().for_each(|row| row.costs.clear());
        assert!(matches!(CostModel::train(&none, "lin1", 0), Err(Error::NoRows { .. })));
    }

    #[test]
    fn a_file_that_is_none_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("m.json");
        let write = |text: &str| fs::write(&path, text).expect("writes");
        for other in ["{\"schema\":\"heuristic\",\"version\":1}", "no JSON", "[]"] {
            write(other);
            assert!(CostModel::load(&path).expect("reads").is_none(), "{other}");
        }
        for broken in [
            "{\"schema\":\"cost-model\"}",
            "{\"schema\":\"cost-model\",\"version\":9}",
            "{\"schema\":\"cost-model\",\"version\":1,\"rows\":[]}",
        ] {
            write(broken);
            assert!(matches!(CostModel::load(&path), Err(Error::NotAHeuristic { .. })), "{broken}");
        }
        let (model, _) = CostModel::train(&table(20), "lin1", 0).expect("fits");
        model.save(&path).expect("writes");
        let text = fs::read_to_string(&path).expect("reads");
        write(&text.replacen("\"targets\":[", "\"targets\":[1.0,", 1));
        assert!(matches!(CostModel::load(&path), Err(Error::NotAHeuristic { .. })));
        assert!(matches!(CostModel::load(&folder.path().join("x")), Err(Error::File { .. })));
    }
}
