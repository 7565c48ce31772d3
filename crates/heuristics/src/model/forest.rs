//! A random forest (smartcore's).

use super::{Learner, Model, Refit, Sample, Setting, Settings};
use crate::{Error, Result};
use serde_json::Value;
use smartcore::{
    ensemble::random_forest_classifier::{
        RandomForestClassifier, RandomForestClassifierParameters,
    },
    linalg::basic::matrix::DenseMatrix,
    tree::decision_tree_classifier::SplitCriterion,
};

const NAME: &str = "forest";

/// `forest`: trees of random samples and random features, which vote (Breiman 2001).
pub(super) struct RandomForest;

impl Learner for RandomForest {
    fn name(&self) -> &'static str {
        NAME
    }

    fn describe(&self) -> &'static str {
        "random forest: trees of bootstrap samples with random features, which vote"
    }

    fn settings(&self) -> &'static [Setting] {
        const SETTINGS: [Setting; 4] = [
            Setting { name: "trees", default: 100.0, meaning: "trees that vote" },
            Setting { name: "features", default: 0.0, meaning: "tried per split; 0 for the root" },
            Setting { name: "max_depth", default: 0.0, meaning: "0 for no limit" },
            Setting { name: "min_leaf", default: 1.0, meaning: "least rows of a leaf" },
        ];
        &SETTINGS
    }

    fn fit(&self, sample: &Sample<'_>, settings: &Settings, seed: u32) -> Result<Box<dyn Model>> {
        let mut parameters = RandomForestClassifierParameters::default()
            .with_criterion(SplitCriterion::Entropy)
            .with_n_trees(settings.count("trees").clamp(1, usize::from(u16::MAX)) as u16)
            .with_min_samples_leaf(settings.count("min_leaf").max(1))
            .with_seed(u64::from(seed));
        let tried = settings.count("features");
        if tried > 0 {
            parameters = parameters.with_m(tried.min(sample.width()));
        }
        let depth = settings.count("max_depth");
        if depth > 0 {
            parameters = parameters.with_max_depth(depth.min(usize::from(u16::MAX)) as u16);
        }
        let labels: Vec<u32> = sample.labels.iter().map(|&label| label as u32).collect();
        let forest = RandomForestClassifier::fit(&matrix(NAME, sample)?, &labels, parameters)
            .map_err(|error| Error::fit(NAME, error))?;
        Ok(Box::new(Forest { forest, origin: Refit::new(sample, settings, seed) }))
    }

    fn restore(&self, state: Value) -> Result<Box<dyn Model>> {
        Refit::restore(self, state)
    }
}

struct Forest {
    forest: RandomForestClassifier<f64, u32, DenseMatrix<f64>, Vec<u32>>,
    origin: Refit,
}

impl Model for Forest {
    fn predict(&self, features: &[f64]) -> usize {
        let row = DenseMatrix::new(1, features.len(), features.to_vec(), false)
            .expect("one row of as many values as there are columns is a matrix");
        let labels = self.forest.predict(&row).expect("a fitted forest predicts");
        labels[0] as usize
    }

    fn state(&self) -> Result<Value> {
        self.origin.state(NAME)
    }
}

/// A sample's features as smartcore takes them.
pub(super) fn matrix(model: &str, sample: &Sample<'_>) -> Result<DenseMatrix<f64>> {
    let values = sample.features.concat();
    DenseMatrix::new(sample.features.len(), sample.width(), values, false)
        .map_err(|error| Error::fit(model, error))
}
