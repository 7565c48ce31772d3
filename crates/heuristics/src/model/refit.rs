//! Models of libraries that cannot be written down: their state is what they were fitted to, and
//! restoring fits them again. (smartcore's own serialisation pulls in `typetag` for every crate.)

use super::{Learner, Model, Sample, Settings, from_state, to_state};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A sample, settings and seed: the same again give the same model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Refit {
    features: Vec<Vec<f64>>,
    labels: Vec<usize>,
    choices: usize,
    settings: BTreeMap<String, f64>,
    seed: u32,
}

impl Refit {
    pub(super) fn new(sample: &Sample<'_>, settings: &Settings, seed: u32) -> Refit {
        let told = settings.0.iter().map(|(name, value)| ((*name).to_owned(), *value));
        Refit {
            features: sample.features.iter().map(|row| row.to_vec()).collect(),
            labels: sample.labels.clone(),
            choices: sample.choices,
            settings: told.collect(),
            seed,
        }
    }

    pub(super) fn state(&self, model: &str) -> Result<Value> {
        to_state(model, self)
    }

    pub(super) fn restore(learner: &dyn Learner, state: Value) -> Result<Box<dyn Model>> {
        let from: Refit = from_state(learner.name(), state)?;
        let mut settings = Settings::of(learner);
        for (name, value) in &mut settings.0 {
            *value = from.settings.get(*name).copied().unwrap_or(*value);
        }
        let width = from.features.first().map_or(0, Vec::len);
        let sound = from.features.len() == from.labels.len()
            && from.features.iter().all(|row| row.len() == width)
            && from.labels.iter().all(|&label| label < from.choices);
        if !sound {
            return Err(Error::fit(learner.name(), "its training rows do not fit together"));
        }
        let sample = Sample {
            features: from.features.iter().map(Vec::as_slice).collect(),
            labels: from.labels,
            choices: from.choices,
        };
        learner.fit(&sample, &settings, from.seed)
    }
}
