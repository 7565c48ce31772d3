//! The last phase of a search under `--natural`: a kernel that was found is written as people write, at the same point.

use super::{
    discriminator::Discriminator,
    rewrite::{Limits, Measure},
};
use crate::{
    Error,
    program::{Program, as_mined},
    proposer::model::Model,
};
use lm::Bits;
use std::path::Path;

/// Candidates without a likelier one after which the phase ends.
const PATIENCE: u64 = 2_000;

/// Bits for each token that one bit of a person's improbability to the discriminator is worth: of what is found a token takes
/// two to four, of what people wrote one, and the probability seldom takes more than five.
const DISCRIMINATOR: f64 = 0.25;

/// What is natural: what a language model expects, and what a discriminator takes for a person's, where the model has one beside it.
#[derive(Clone, Debug)]
pub struct Natural {
    model: Model,
    discriminator: Option<Discriminator>,
    /// Bits of a token, on average, above which a kernel is no answer.
    most: Option<f64>,
}

impl Natural {
    /// By the checkpoint in `folder`, and the discriminator `discriminator.json` in it, where there is one. Kernels that take
    /// more than `most` bits a token are no answers.
    ///
    /// # Errors
    /// When there is no such checkpoint, its model gives no text a probability, or its discriminator is of another version.
    pub fn load(folder: &Path, most: Option<f64>) -> Result<Natural, Error> {
        let model = Model::load(folder, true)?;
        let discriminator = Discriminator::beside(folder)?;
        let natural = Natural { model, discriminator, most };
        natural.model.bits("")?;
        Ok(natural)
    }

    /// Identities of model and discriminator, and the limit.
    pub(crate) fn settings(&self) -> serde_json::Value {
        serde_json::json!({
            "model": self.model.identity(),
            "discriminator": self.discriminator.as_ref().map(Discriminator::identity),
            "most_bits": self.most,
        })
    }

    /// What is said of a kernel, with its names as mined ones have them; `None`: the model does not read as much.
    pub(super) fn said(&self, text: &str) -> Result<Option<Said>, Error> {
        let bits = self.model.bits(&as_mined(text))?;
        let human = self.discriminator.as_ref().map(|one| one.human(text));
        Ok(bits.map(|bits| Said { bits, human }))
    }
}

/// What model and discriminator say of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    /// What it takes in the model's code.
    pub(super) bits: Bits,
    /// The probability that a person wrote it, above 0; `None` without a discriminator.
    pub(super) human: Option<f64>,
}

impl Said {
    /// Bits of the model and of the discriminator together.
    fn cost(self) -> f64 {
        let made = self.human.map_or(0.0, |human| -human.log2());
        self.bits.bits + DISCRIMINATOR * self.bits.tokens as f64 * made
    }
}

/// What was said of a kernel when it was found, and is now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Likelihood {
    pub(super) before: Said,
    pub(super) after: Said,
}

impl Measure for Natural {
    type Of = Said;

    fn of(&self, _: &Program, text: &str) -> Result<Option<Said>, Error> {
        self.said(text)
    }

    fn cost(said: &Said) -> f64 {
        said.cost()
    }

    fn limits(&self, _: &str) -> Limits {
        Limits { patience: PATIENCE, candidates: u64::MAX, asks_each: true }
    }

    fn told(said: &Said) -> String {
        format!("{:.2} bits a token", said.bits.per_token())
    }
}

impl Natural {
    /// Whether a kernel is likely enough to be an answer.
    pub(super) fn is_natural(&self, likelihood: Option<Likelihood>) -> bool {
        let is_likely =
            |most: f64| likelihood.is_some_and(|one| one.after.bits.per_token() <= most);
        self.most.is_none_or(is_likely)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_discriminator_counts_for_each_token() {
        let bits = Bits { bits: 100.0, expected: 90.0, tokens: 40 };
        let cost = |human| Said { bits, human }.cost();
        assert_eq!(cost(None), 100.0);
        assert_eq!(cost(Some(1.0)), 100.0);
        // Two bits of it for forty tokens.
        assert!((cost(Some(0.25)) - (100.0 + DISCRIMINATOR * 80.0)).abs() < 1e-9);
    }
}
