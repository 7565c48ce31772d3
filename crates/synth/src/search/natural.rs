//! The last phase of a search under `--natural`: a kernel that was found is written as people write, at the same point.

use super::rewrite::{Limits, Measure};
use crate::{
    Error,
    program::{Program, as_mined},
    proposer::model::Model,
};
use lm::Bits;
use std::path::Path;

/// Candidates without a likelier one after which the phase ends.
const PATIENCE: u64 = 2_000;

/// What is natural: what a language model expects.
#[derive(Clone, Debug)]
pub struct Natural {
    model: Model,
    /// Bits of a token, on average, above which a kernel is no answer.
    most: Option<f64>,
}

impl Natural {
    /// By the checkpoint in `folder`. Kernels that take more than `most` bits a token are no answers.
    ///
    /// # Errors
    /// When there is no such checkpoint, or its model gives no text a probability.
    pub fn load(folder: &Path, most: Option<f64>) -> Result<Natural, Error> {
        let natural = Natural { model: Model::load(folder, true)?, most };
        natural.model.bits("")?;
        Ok(natural)
    }

    /// Identity of the model, and the limit.
    pub(crate) fn settings(&self) -> serde_json::Value {
        serde_json::json!({ "model": self.model.identity(), "most_bits": self.most })
    }

    /// What a kernel takes, with its names as mined ones have them; `None`: the model does not read as much.
    pub(super) fn bits(&self, text: &str) -> Result<Option<Bits>, Error> {
        Ok(self.model.bits(&as_mined(text))?)
    }
}

/// How unlikely a kernel was when it was found, and is now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Likelihood {
    pub(super) before: Bits,
    pub(super) after: Bits,
}

impl Measure for Natural {
    type Of = Bits;

    fn of(&self, _: &Program, text: &str) -> Result<Option<Bits>, Error> {
        self.bits(text)
    }

    fn cost(bits: &Bits) -> f64 {
        bits.bits
    }

    fn limits(&self, _: &str) -> Limits {
        Limits { patience: PATIENCE, candidates: u64::MAX, asks_each: true }
    }

    fn told(bits: &Bits) -> String {
        format!("{:.2} bits a token", bits.per_token())
    }
}

impl Natural {
    /// Whether a kernel is likely enough to be an answer.
    pub(super) fn is_natural(&self, likelihood: Option<Likelihood>) -> bool {
        self.most.is_none_or(|most| likelihood.is_some_and(|one| one.after.per_token() <= most))
    }
}
