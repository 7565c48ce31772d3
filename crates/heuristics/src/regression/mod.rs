//! Regressions: models of what a program costs, on the scale of its logarithm.

mod saved;

pub use saved::{CostError, CostModel, CostPrediction, CostPredictions, CostTraining};

use crate::{Error, Result};
use smartcore::{
    ensemble::random_forest_regressor::{RandomForestRegressor, RandomForestRegressorParameters},
    linalg::basic::matrix::DenseMatrix,
    xgboost::xgb_regressor::{XGRegressor, XGRegressorParameters},
};

/// A fitted regression.
pub trait Regressor: Send + Sync {
    /// Predictions for rows of features.
    fn predict(&self, rows: &[&[f64]]) -> Vec<f64>;
}

/// The names that [`fit`] knows, the mandatory baseline first: what a learned model does not beat by an
/// interval has not been learned.
///
/// - `lin1`: least squares on one feature's logarithm: the count of instructions where there is one;
/// - `boosting`: gradient-boosted trees on what `lin1` leaves over;
/// - `forest`: a random forest on the same.
pub const REGRESSORS: [&str; 3] = ["lin1", "boosting", "forest"];

/// Fit a regression of `targets` on rows of features; `names` are the features'. The same rows in the same
/// order with the same seed give the same model.
///
/// # Errors
/// For a name that is none of [`REGRESSORS`], without rows, and when the library beneath fails.
pub fn fit(
    name: &str,
    names: &[String],
    rows: &[&[f64]],
    targets: &[f64],
    seed: u64,
) -> Result<Box<dyn Regressor>> {
    if rows.is_empty() || rows.len() != targets.len() {
        return Err(Error::NoRows { what: "the training set".to_owned(), rejected: 0 });
    }
    let line = Line::fit(names, rows, targets);
    if name == "lin1" {
        return Ok(Box::new(line));
    }
    if !REGRESSORS.contains(&name) {
        let known = REGRESSORS.map(str::to_owned).to_vec();
        return Err(Error::UnknownModel { name: name.to_owned(), known });
    }
    let left: Vec<f64> =
        line.predict(rows).into_iter().zip(targets).map(|(said, target)| target - said).collect();
    let kept = distinct_columns(rows);
    // Trees split nothing that does not differ, nor what is one row.
    if kept.is_empty() || rows.len() < 4 {
        return Ok(Box::new(line));
    }
    let data = matrix(name, rows, &kept)?;
    let failed = |error: smartcore::error::Failed| Error::fit(name, error);
    let trees = match name {
        "boosting" => {
            let parameters = XGRegressorParameters::default()
                .with_n_estimators(60)
                .with_max_depth(4)
                .with_learning_rate(0.15)
                .with_subsample(0.6)
                .with_min_child_weight(2)
                .with_base_score(0.0)
                .with_seed(seed);
            Trees::Boosted(XGRegressor::fit(&data, &left, parameters).map_err(failed)?)
        }
        _ => {
            let parameters = RandomForestRegressorParameters::default()
                .with_n_trees(60)
                .with_min_samples_leaf(2)
                .with_m(kept.len().div_ceil(3))
                .with_seed(seed);
            Trees::Forest(RandomForestRegressor::fit(&data, &left, parameters).map_err(failed)?)
        }
    };
    Ok(Box::new(OnLine { line, kept, trees }))
}

/// `lin1`.
struct Line {
    place: usize,
    slope: f64,
    constant: f64,
    /// Nothing further out is predicted: a line leads anywhere.
    range: [f64; 2],
}

/// What a feature is on the scale of its logarithm.
fn log(value: f64) -> f64 {
    (1.0 + value.max(0.0)).log2()
}

/// Whether a feature is the count of instructions.
fn is_count(name: &str) -> bool {
    matches!(name.rsplit(':').next(), Some("TotalInsts" | "InstCount" | "instructions"))
}

impl Line {
    fn fit(names: &[String], rows: &[&[f64]], targets: &[f64]) -> Line {
        let mean = targets.iter().sum::<f64>() / targets.len() as f64;
        let range = targets
            .iter()
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], t| [low.min(*t), high.max(*t)]);
        let width = rows.first().map_or(0, |row| row.len());
        let candidates = match names.iter().position(|name| is_count(name)) {
            Some(place) => place..place + 1,
            None => 0..width,
        };
        let mut best = Line { place: 0, slope: 0.0, constant: mean, range };
        let mut least = targets.iter().map(|target| (target - mean).powi(2)).sum::<f64>();
        for place in candidates {
            let values: Vec<f64> = rows.iter().map(|row| log(row[place])).collect();
            let center = values.iter().sum::<f64>() / values.len() as f64;
            let spread: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
            if spread <= 1e-12 {
                continue;
            }
            let both = values.iter().zip(targets);
            let slope = both.clone().map(|(x, y)| (x - center) * (y - mean)).sum::<f64>() / spread;
            let constant = mean - slope * center;
            let error: f64 = both.map(|(x, y)| (y - constant - slope * x).powi(2)).sum();
            if error < least {
                least = error;
                best = Line { place, slope, constant, range };
            }
        }
        best
    }
}

impl Regressor for Line {
    fn predict(&self, rows: &[&[f64]]) -> Vec<f64> {
        let [low, high] = self.range;
        let one = |row: &&[f64]| {
            let value = row.get(self.place).copied().map_or(0.0, log);
            (self.constant + self.slope * value).clamp(low, high)
        };
        rows.iter().map(one).collect()
    }
}

type Matrix = DenseMatrix<f64>;

enum Trees {
    Boosted(XGRegressor<f64, f64, Matrix, Vec<f64>>),
    Forest(RandomForestRegressor<f64, f64, Matrix, Vec<f64>>),
}

/// Trees on what a line leaves over.
struct OnLine {
    line: Line,
    /// The features that trees see.
    kept: Vec<usize>,
    trees: Trees,
}

impl Regressor for OnLine {
    fn predict(&self, rows: &[&[f64]]) -> Vec<f64> {
        if rows.is_empty() {
            return Vec::new();
        }
        let data = matrix("trees", rows, &self.kept).expect("rows are as wide as those fitted to");
        let left = match &self.trees {
            Trees::Boosted(trees) => trees.predict(&data),
            Trees::Forest(trees) => trees.predict(&data),
        };
        let left = left.expect("fitted trees predict");
        self.line.predict(rows).into_iter().zip(left).map(|(line, left)| line + left).collect()
    }
}

fn matrix(model: &str, rows: &[&[f64]], kept: &[usize]) -> Result<Matrix> {
    let values: Vec<f64> =
        rows.iter().flat_map(|row| kept.iter().map(|place| row[*place])).collect();
    DenseMatrix::new(rows.len(), kept.len(), values, false)
        .map_err(|error| Error::fit(model, error))
}

/// The places of columns that differ from row to row and from each other.
fn distinct_columns(rows: &[&[f64]]) -> Vec<usize> {
    let width = rows.first().map_or(0, |row| row.len());
    let mut seen = std::collections::HashSet::new();
    let differs = |place: &usize| rows.iter().any(|row| row[*place] != rows[0][*place]);
    (0..width)
        .filter(differs)
        .filter(|place| {
            // Adding zero makes the two zeros one.
            let column: Vec<u64> = rows.iter().map(|row| (row[*place] + 0.0).to_bits()).collect();
            seen.insert(column)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|place| format!("f{place}")).collect()
    }

    /// Costs that double with every doubling of the first feature, and are four times as high where the
    /// second is set.
    fn rows(count: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
        let row = |at: usize| {
            vec![(1 + at * 7 % 61) as f64, f64::from(u8::from(at.is_multiple_of(3))), 5.0]
        };
        let rows: Vec<Vec<f64>> = (0..count).map(row).collect();
        let targets = rows.iter().map(|row| log(row[0]) + 2.0 * row[1]).collect();
        (rows, targets)
    }

    fn error(name: &str, names: &[String], rows: &[Vec<f64>], targets: &[f64]) -> f64 {
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let half = rows.len() / 2;
        let model = fit(name, names, &rows[..half], &targets[..half], 1).expect("fits");
        let said = model.predict(&rows[half..]);
        let squares = said.iter().zip(&targets[half..]).map(|(a, b)| (a - b).powi(2));
        (squares.sum::<f64>() / (rows.len() - half) as f64).sqrt()
    }

    #[test]
    fn trees_learn_what_a_line_leaves_over() {
        let (rows, targets) = rows(240);
        let line = error("lin1", &names(3), &rows, &targets);
        assert!(line > 0.8, "{line}");
        for name in ["boosting", "forest"] {
            let found = error(name, &names(3), &rows, &targets);
            assert!(found < 0.25 * line, "{name}: {found}, line {line}");
        }
    }

    #[test]
    fn the_line_is_of_the_count_of_instructions_where_there_is_one() {
        let (rows, targets) = rows(60);
        let mut names = names(3);
        names[1] = "instcount:TotalInsts".into();
        let borrowed: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        assert_eq!(Line::fit(&names, &borrowed, &targets).place, 1);
        names[1] = "x".into();
        assert_eq!(Line::fit(&names, &borrowed, &targets).place, 0);
    }

    #[test]
    fn constant_features_and_a_single_row_have_the_mean() {
        let rows: Vec<&[f64]> = vec![&[3.0], &[3.0]];
        for name in REGRESSORS {
            let model = fit(name, &names(1), &rows, &[1.0, 2.0], 0).expect("fits");
            assert_eq!(model.predict(&[&[9.0]]), [1.5], "{name}");
            let model = fit(name, &names(1), &rows[..1], &[4.0], 0).expect("fits");
            assert_eq!(model.predict(&[&[1.0], &[2.0]]), [4.0, 4.0], "{name}");
        }
        assert!(fit("lin1", &names(1), &[], &[], 0).is_err());
        assert!(fit("oracle", &names(1), &rows, &[1.0, 2.0], 0).is_err());
    }

    #[test]
    fn no_line_leads_out_of_what_was_seen() {
        let rows: Vec<&[f64]> = vec![&[1.0], &[3.0], &[7.0]];
        let model = fit("lin1", &names(1), &rows, &[1.0, 2.0, 3.0], 0).expect("fits");
        assert_eq!(model.predict(&[&[1e9], &[0.0]]), [3.0, 1.0]);
    }
}
