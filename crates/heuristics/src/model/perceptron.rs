//! A small multi-layer perceptron. Neither smartcore nor linfa has one, and a tensor library is
//! too much for a few thousand weights.

use super::{Learner, Model, Sample, Setting, Settings, from_state, greatest, to_state};
use crate::{Error, Result};
use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const NAME: &str = "mlp";

/// `mlp`: one hidden layer of rectified units, cross-entropy, Adam (Kingma and Ba 2015).
pub(super) struct Perceptron;

impl Learner for Perceptron {
    fn name(&self) -> &'static str {
        NAME
    }

    fn describe(&self) -> &'static str {
        "multi-layer perceptron: one hidden layer on standardised logarithms of the features"
    }

    fn settings(&self) -> &'static [Setting] {
        const SETTINGS: [Setting; 5] = [
            Setting { name: "hidden", default: 32.0, meaning: "hidden units" },
            Setting { name: "epochs", default: 100.0, meaning: "passes over the training set" },
            Setting { name: "batch", default: 32.0, meaning: "rows per step" },
            Setting { name: "rate", default: 0.003, meaning: "step size" },
            Setting { name: "decay", default: 0.0001, meaning: "weight decay per step" },
        ];
        &SETTINGS
    }

    fn fit(&self, sample: &Sample<'_>, settings: &Settings, seed: u32) -> Result<Box<dyn Model>> {
        let mut random = ChaCha8Rng::seed_from_u64(u64::from(seed));
        let hidden = settings.count("hidden").max(1);
        let mut network = Network {
            scale: Scale::of(sample),
            first: Layer::new(sample.width(), hidden, &mut random),
            second: Layer::new(hidden, sample.choices, &mut random),
        };
        let inputs: Vec<Vec<f64>> =
            sample.features.iter().map(|row| network.scale.apply(row)).collect();
        let mut order: Vec<usize> = (0..inputs.len()).collect();
        let (rate, decay) = (settings.get("rate"), settings.get("decay"));
        let mut adam = [Adam::new(&network.first), Adam::new(&network.second)];
        for _ in 0..settings.count("epochs") {
            order.shuffle(&mut random);
            for batch in order.chunks(settings.count("batch").max(1)) {
                let gradients = network.gradients(batch, &inputs, &sample.labels);
                adam[0].step(&mut network.first, &gradients[0], rate, decay);
                adam[1].step(&mut network.second, &gradients[1], rate, decay);
            }
        }
        if network.weights().any(|weight| !weight.is_finite()) {
            return Err(Error::fit(NAME, "training diverged; lower `rate`"));
        }
        Ok(Box::new(network))
    }

    fn restore(&self, state: Value) -> Result<Box<dyn Model>> {
        Ok(Box::new(from_state::<Network>(NAME, state)?))
    }
}

#[derive(Serialize, Deserialize)]
struct Network {
    scale: Scale,
    first: Layer,
    second: Layer,
}

impl Model for Network {
    fn predict(&self, features: &[f64]) -> usize {
        let hidden = self.first.apply(&self.scale.apply(features)).map(rectify).collect::<Vec<_>>();
        greatest(&self.second.apply(&hidden).collect::<Vec<_>>())
    }

    fn state(&self) -> Result<Value> {
        to_state(NAME, self)
    }
}

impl Network {
    /// Mean gradients of the cross-entropy over a batch, one layer each.
    fn gradients(&self, batch: &[usize], inputs: &[Vec<f64>], labels: &[usize]) -> [Layer; 2] {
        let mut gradients = [self.first.zeros(), self.second.zeros()];
        let share = 1.0 / batch.len() as f64;
        for &at in batch {
            let hidden: Vec<f64> = self.first.apply(&inputs[at]).map(rectify).collect();
            let mut errors = softmax(self.second.apply(&hidden).collect());
            errors[labels[at]] -= 1.0;
            errors.iter_mut().for_each(|error| *error *= share);
            let mut back = vec![0.0; hidden.len()];
            for (unit, error) in errors.iter().enumerate() {
                for (sum, weight) in back.iter_mut().zip(self.second.row(unit)) {
                    *sum += error * weight;
                }
            }
            for (sum, value) in back.iter_mut().zip(&hidden) {
                *sum *= f64::from(u8::from(*value > 0.0));
            }
            gradients[1].add(&errors, &hidden);
            gradients[0].add(&back, &inputs[at]);
        }
        gradients
    }

    fn weights(&self) -> impl Iterator<Item = &f64> {
        [&self.first, &self.second].into_iter().flat_map(|layer| &layer.weights)
    }
}

/// Logarithms of the sizes, standardised: counts and bytes span many orders of magnitude.
#[derive(Serialize, Deserialize)]
struct Scale {
    mean: Vec<f64>,
    spread: Vec<f64>,
}

impl Scale {
    fn of(sample: &Sample<'_>) -> Scale {
        let rows = sample.features.len() as f64;
        let (mut mean, mut spread) = (Vec::new(), Vec::new());
        for feature in 0..sample.width() {
            let values = || sample.features.iter().map(|row| logarithm(row[feature]));
            let middle = values().sum::<f64>() / rows;
            let variance = values().map(|value| (value - middle).powi(2)).sum::<f64>() / rows;
            mean.push(middle);
            spread.push(if variance > 0.0 { variance.sqrt() } else { 1.0 });
        }
        Scale { mean, spread }
    }

    fn apply(&self, row: &[f64]) -> Vec<f64> {
        let moved = row.iter().zip(&self.mean).map(|(value, mean)| logarithm(*value) - mean);
        moved.zip(&self.spread).map(|(value, spread)| value / spread).collect()
    }
}

/// Weights by unit, the bias last in each row.
#[derive(Clone, Serialize, Deserialize)]
struct Layer {
    inputs: usize,
    weights: Vec<f64>,
}

impl Layer {
    /// Uniform within the square root of six over the inputs (He et al. 2015), no bias.
    fn new(inputs: usize, units: usize, random: &mut ChaCha8Rng) -> Layer {
        let bound = (6.0 / inputs.max(1) as f64).sqrt();
        let mut weights = vec![0.0; units * (inputs + 1)];
        for row in weights.chunks_mut(inputs + 1) {
            row[..inputs]
                .iter_mut()
                .for_each(|weight| *weight = random.random_range(-bound..bound));
        }
        Layer { inputs, weights }
    }

    fn zeros(&self) -> Layer {
        Layer { inputs: self.inputs, weights: vec![0.0; self.weights.len()] }
    }

    fn row(&self, unit: usize) -> &[f64] {
        &self.weights[unit * (self.inputs + 1)..][..self.inputs]
    }

    fn apply(&self, input: &[f64]) -> impl Iterator<Item = f64> {
        self.weights.chunks(self.inputs + 1).map(move |row| {
            let products = row.iter().zip(input).map(|(weight, value)| weight * value);
            row[self.inputs] + products.sum::<f64>()
        })
    }

    fn add(&mut self, errors: &[f64], input: &[f64]) {
        for (row, error) in self.weights.chunks_mut(self.inputs + 1).zip(errors) {
            for (weight, value) in row.iter_mut().zip(input.iter().chain([&1.0])) {
                *weight += error * value;
            }
        }
    }
}

/// Running moments of a layer's gradients.
struct Adam {
    first: Vec<f64>,
    second: Vec<f64>,
    steps: i32,
}

impl Adam {
    fn new(layer: &Layer) -> Adam {
        let zeros = vec![0.0; layer.weights.len()];
        Adam { first: zeros.clone(), second: zeros, steps: 0 }
    }

    fn step(&mut self, layer: &mut Layer, gradient: &Layer, rate: f64, decay: f64) {
        const FIRST: f64 = 0.9;
        const SECOND: f64 = 0.999;
        self.steps = self.steps.saturating_add(1);
        let unbias = (1.0 - SECOND.powi(self.steps)).sqrt() / (1.0 - FIRST.powi(self.steps));
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((weight, gradient), (first, second)) in
            layer.weights.iter_mut().zip(&gradient.weights).zip(moments)
        {
            *first = FIRST * *first + (1.0 - FIRST) * gradient;
            *second = SECOND * *second + (1.0 - SECOND) * gradient * gradient;
            *weight -= rate * (unbias * *first / (second.sqrt() + 1e-8) + decay * *weight);
        }
    }
}

fn logarithm(value: f64) -> f64 {
    value.signum() * value.abs().ln_1p()
}

fn rectify(value: f64) -> f64 {
    value.max(0.0)
}

fn softmax(mut values: Vec<f64>) -> Vec<f64> {
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter_mut().for_each(|value| *value = (*value - greatest).exp());
    let sum: f64 = values.iter().sum();
    values.iter_mut().for_each(|value| *value /= sum);
    values
}
