//! AdamW and SGD over one flat vector, with a state that is stored to the bit.

use crate::{
    model::Parameters,
    settings::{Method, Settings},
};
use anyhow::Context;
use std::{collections::BTreeMap, path::Path};
use tch::{Kind, Tensor};

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.98;
const EPSILON: f64 = 1e-8;
const MOMENTUM: f64 = 0.9;

/// Moments of the gradient so far.
#[derive(Debug)]
pub(crate) struct Optimiser {
    method: Method,
    first: Tensor,
    second: Tensor,
}

impl Optimiser {
    pub(crate) fn new(parameters: &Parameters, method: Method) -> Optimiser {
        let zeros = || parameters.flat.zeros_like();
        Optimiser { method, first: zeros(), second: zeros() }
    }

    /// One step along the gradient, which is first cut to the norm `clip`; answers its norm before.
    pub(crate) fn step(
        &mut self,
        parameters: &Parameters,
        mut gradient: Tensor,
        settings: &Settings,
        step: u64,
    ) -> Tensor {
        let _no_grad = tch::no_grad_guard();
        let mut flat = parameters.flat.shallow_clone();
        let rate = settings.rate(step);
        let norm = gradient.norm();
        if settings.clip > 0.0 {
            gradient *= (settings.clip / (&norm + 1e-6)).clamp_max(1.0);
        }
        if settings.weight_decay > 0.0 {
            let kept = 1.0 - &parameters.decay * (rate * settings.weight_decay);
            flat *= kept;
        }
        match self.method {
            Method::Sgd => {
                self.first *= MOMENTUM;
                self.first += &gradient;
                flat -= &self.first * rate;
            }
            Method::Adam => {
                self.first *= BETA1;
                self.first += &gradient * (1.0 - BETA1);
                self.second *= BETA2;
                self.second += gradient.square() * (1.0 - BETA2);
                let at = step as i32 + 1;
                let (one, two) = (1.0 - BETA1.powi(at), 1.0 - BETA2.powi(at));
                let divisor = (&self.second / two).sqrt() + EPSILON;
                flat -= &self.first * (rate / one) / divisor;
            }
        }
        norm
    }

    /// The state as tensors, weights included.
    pub(crate) fn state(&self, parameters: &Parameters) -> Vec<(String, Tensor)> {
        let all = [("weights", &parameters.flat), ("first", &self.first), ("second", &self.second)];
        all.map(|(name, tensor)| (name.to_owned(), tensor.to_kind(Kind::Float))).into()
    }

    /// Go on from a state.
    pub(crate) fn restore(
        &mut self,
        parameters: &Parameters,
        mut state: BTreeMap<String, Tensor>,
        path: &Path,
    ) -> anyhow::Result<()> {
        let _no_grad = tch::no_grad_guard();
        let mut take = |name: &str| {
            let found = state.remove(name).filter(|t| t.size() == parameters.flat.size());
            found.with_context(|| format!("{} is of another model: {name}", path.display()))
        };
        let (weights, first, second) = (take("weights")?, take("first")?, take("second")?);
        parameters.flat.shallow_clone().copy_(&weights);
        self.first.copy_(&first);
        self.second.copy_(&second);
        Ok(())
    }
}
