//! Nearest neighbours. smartcore's breaks ties between equally near rows by their order; here all
//! rows as near as the k-th vote, so the answer does not depend on the order of the training set.

use super::{Learner, Model, Sample, Setting, Settings, from_state, greatest, to_state};
use crate::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `knn`: the extended model of the CLgen paper (section 8.2) with one neighbour.
pub(super) struct NearestNeighbours;

impl Learner for NearestNeighbours {
    fn name(&self) -> &'static str {
        "knn"
    }

    fn describe(&self) -> &'static str {
        "nearest neighbours by Euclidean distance; all rows as near as the k-th vote"
    }

    fn settings(&self) -> &'static [Setting] {
        const SETTINGS: [Setting; 2] = [
            Setting { name: "k", default: 1.0, meaning: "neighbours" },
            Setting {
                name: "scale",
                default: 0.0,
                meaning: "1 divides each feature by its spread",
            },
        ];
        &SETTINGS
    }

    fn fit(&self, sample: &Sample<'_>, settings: &Settings, _: u32) -> Result<Box<dyn Model>> {
        let scale: Vec<f64> = match settings.get("scale") > 0.0 {
            true => (0..sample.width()).map(|feature| 1.0 / spread(sample, feature)).collect(),
            false => vec![1.0; sample.width()],
        };
        let points = sample.features.iter().map(|row| scaled(row, &scale)).collect();
        Ok(Box::new(Neighbours {
            k: settings.count("k").max(1),
            choices: sample.choices,
            labels: sample.labels.clone(),
            points,
            scale,
        }))
    }

    fn restore(&self, state: Value) -> Result<Box<dyn Model>> {
        Ok(Box::new(from_state::<Neighbours>("knn", state)?))
    }
}

#[derive(Serialize, Deserialize)]
struct Neighbours {
    k: usize,
    choices: usize,
    scale: Vec<f64>,
    labels: Vec<usize>,
    points: Vec<Vec<f64>>,
}

impl Model for Neighbours {
    fn predict(&self, features: &[f64]) -> usize {
        let at = scaled(features, &self.scale);
        let distances: Vec<f64> = self
            .points
            .iter()
            .map(|point| point.iter().zip(&at).map(|(a, b)| (a - b) * (a - b)).sum())
            .collect();
        let mut sorted = distances.clone();
        let kth = self.k.min(sorted.len()) - 1;
        let (_, &mut farthest, _) = sorted.select_nth_unstable_by(kth, f64::total_cmp);
        let mut votes = vec![0usize; self.choices];
        for (distance, &label) in distances.iter().zip(&self.labels) {
            votes[label] += usize::from(*distance <= farthest);
        }
        greatest(&votes)
    }

    fn state(&self) -> Result<Value> {
        to_state("knn", self)
    }
}

fn scaled(row: &[f64], scale: &[f64]) -> Vec<f64> {
    row.iter().zip(scale).map(|(value, scale)| value * scale).collect()
}

/// Standard deviation of a feature; 1 where it does not vary.
fn spread(sample: &Sample<'_>, feature: usize) -> f64 {
    let rows = sample.features.len() as f64;
    let values = || sample.features.iter().map(|row| row[feature]);
    let mean = values().sum::<f64>() / rows;
    let variance = values().map(|value| (value - mean) * (value - mean)).sum::<f64>() / rows;
    if variance > 0.0 { variance.sqrt() } else { 1.0 }
}
