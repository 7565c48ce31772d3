//! How unlikely a kernel is to a model: bits, as they say what a text would take in a perfect code of the model.

use crate::{Checkpoint, Error, Kind, Result, tokenizer::Special};

/// What a kernel takes in a code in which what a model expects is short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bits {
    /// Of the whole: minus log2 of the probability that the model gives it, its end included.
    pub bits: f64,
    /// What the model promises that it takes: the mean that its own probabilities give, token by token.
    pub expected: f64,
    /// Tokens, its end included.
    pub tokens: usize,
}

impl Bits {
    /// Bits of a token on average.
    #[must_use]
    pub fn per_token(self) -> f64 {
        self.bits / self.tokens as f64
    }
}

impl Checkpoint {
    /// The bits of a kernel as it stands, without conditions; its layout counts as little as it does for training.
    /// `None`: it is longer than the model reads.
    ///
    /// # Errors
    /// When the model is of kind `hole`, which gives no text a probability.
    pub fn bits(&self, text: &str) -> Result<Option<Bits>> {
        if self.kind() == Kind::Hole {
            let why = "a model of kind `hole` gives no text a probability; `infill` and `lstm` do";
            return Err(Error::Prompt(why.to_owned()));
        }
        let special = Special::ALL;
        let ids = self.tokenizer().encode_plain(text);
        let sequence: Vec<u32> = [special.start]
            .iter()
            .chain(&ids)
            .chain([&special.end])
            .map(|id| u32::from(*id))
            .collect();
        if sequence.len() > self.length() {
            return Ok(None);
        }
        let given = &sequence[..sequence.len() - 1];
        let logits = self.model().logits(given)?;
        let width = logits.len() / given.len();
        let places = logits.chunks_exact(width).zip(&sequence[1..]);
        let (bits, expected) =
            places.fold((0.0_f64, 0.0_f64), |(bits, expected), (place, next)| {
                let (surprise, entropy) = surprise(place, *next as usize);
                (bits + surprise, expected + entropy)
            });
        Ok(Some(Bits { bits, expected, tokens: given.len() }))
    }
}

/// Bits of one choice, and the mean bits of a choice by these probabilities (their entropy).
fn surprise(logits: &[f32], chosen: usize) -> (f64, f64) {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let below = logits.iter().map(|logit| f64::from(logit - most)).filter(|one| one.is_finite());
    let (sum, weighted) = below.fold((0.0_f64, 0.0_f64), |(sum, weighted), below| {
        (sum + below.exp(), weighted + below * below.exp())
    });
    let bits = |nats: f64| nats / std::f64::consts::LN_2;
    (bits(sum.ln() - f64::from(logits[chosen] - most)), bits(sum.ln() - weighted / sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn equal_chances_of_four_are_two_bits() {
        let (bits, expected) = surprise(&[1.0; 4], 3);
        assert!((bits - 2.0).abs() < 1e-6 && (expected - 2.0).abs() < 1e-6);
        assert!(surprise(&[9.0, 0.0, 0.0, 0.0], 0).0 < 0.01);
    }

    #[test]
    fn chances_of_three_and_one_quarter_promise_0_81_bits() {
        let logits = [3.0_f32.ln(), 0.0, f32::NEG_INFINITY];
        for (chosen, wanted) in [(0, 0.415), (1, 2.0)] {
            let (bits, expected) = surprise(&logits, chosen);
            assert!((bits - wanted).abs() < 1e-3 && (expected - 0.811).abs() < 1e-3, "{expected}");
        }
    }

    #[test]
    fn what_people_write_is_likelier_than_what_they_do_not() {
        let model =
            Checkpoint::load(Path::new("../../models/infill")).expect("the model that ships");
        let bits = |text: &str| model.bits(text).expect("a causal model").expect("short enough");
        let usual = "__kernel void A(__global float* a, __global float* b) {\n  int c = get_global_id(0);\n  \
                     a[c] = b[c];\n}\n";
        let odd = "__kernel void A(__global float* a, __global float* b) {\n  int c = get_global_id(*b);\n  \
                   a[(int)(c - 7)] = b[a[c]];\n}\n";
        assert!(bits(usual).per_token() < bits(odd).per_token());
        assert_eq!(bits(usual), bits(&usual.replace('\n', " ")), "layout counts nothing");
        assert_eq!(model.bits(&usual.repeat(200)).expect("a causal model"), None);
    }
}
