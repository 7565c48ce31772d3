//! Gradient boosting (smartcore's), one regression per choice.

use super::{Learner, Model, Refit, Sample, Setting, Settings, forest::matrix, greatest};
use crate::{Error, Result};
use serde_json::Value;
use smartcore::{
    linalg::basic::matrix::DenseMatrix,
    xgboost::xgb_regressor::{XGRegressor, XGRegressorParameters},
};

const NAME: &str = "boosting";

/// `boosting`: for each choice a sum of shallow trees that estimates whether it is best; the
/// greatest estimate wins (squared loss; Friedman 2001).
pub(super) struct GradientBoosting;

impl Learner for GradientBoosting {
    fn name(&self) -> &'static str {
        NAME
    }

    fn describe(&self) -> &'static str {
        "gradient boosting: sums of shallow trees, one sum per choice, squared loss"
    }

    fn settings(&self) -> &'static [Setting] {
        const SETTINGS: [Setting; 4] = [
            Setting { name: "trees", default: 50.0, meaning: "trees per choice" },
            Setting { name: "max_depth", default: 4.0, meaning: "of a tree" },
            Setting { name: "rate", default: 0.3, meaning: "how far one tree moves the sum" },
            Setting { name: "subsample", default: 1.0, meaning: "share of rows per tree" },
        ];
        &SETTINGS
    }

    fn fit(&self, sample: &Sample<'_>, settings: &Settings, seed: u32) -> Result<Box<dyn Model>> {
        let data = matrix(NAME, sample)?;
        let sums = sample.present().into_iter().map(|choice| {
            let best = |&label: &usize| f64::from(u8::from(label == choice));
            let target: Vec<f64> = sample.labels.iter().map(best).collect();
            let parameters = XGRegressorParameters::default()
                .with_n_estimators(settings.count("trees").max(1))
                .with_max_depth(settings.count("max_depth").clamp(1, 64) as u16)
                .with_learning_rate(settings.get("rate"))
                .with_subsample(settings.get("subsample"))
                .with_seed(u64::from(seed));
            let sum = XGRegressor::fit(&data, &target, parameters)
                .map_err(|error| Error::fit(NAME, error))?;
            Ok((choice, sum))
        });
        let sums = sums.collect::<Result<_>>()?;
        Ok(Box::new(Boosted { sums, origin: Refit::new(sample, settings, seed) }))
    }

    fn restore(&self, state: Value) -> Result<Box<dyn Model>> {
        Refit::restore(self, state)
    }
}

/// Estimates whether one choice is best.
type Sum = XGRegressor<f64, f64, DenseMatrix<f64>, Vec<f64>>;

struct Boosted {
    /// By choice that occurs in the training set.
    sums: Vec<(usize, Sum)>,
    origin: Refit,
}

impl Model for Boosted {
    fn predict(&self, features: &[f64]) -> usize {
        let row = DenseMatrix::new(1, features.len(), features.to_vec(), false)
            .expect("one row of as many values as there are columns is a matrix");
        let estimates: Vec<f64> = self
            .sums
            .iter()
            .map(|(_, sum)| sum.predict(&row).expect("a fitted regressor predicts")[0])
            .collect();
        self.sums[greatest(&estimates)].0
    }

    fn state(&self) -> Result<Value> {
        self.origin.state(NAME)
    }
}
