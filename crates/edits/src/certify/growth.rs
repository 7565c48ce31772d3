//! Inputs grown by coverage: drawn from the grammar, or made of those that reached something new.

use super::{By, Search};
use crate::{
    Result,
    grow::{Scale, mutated},
};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Factors on counts and on values of what is drawn.
const SCALES: [(f64, f64); 8] = [
    (1.0, 1.0),
    (1.0, 1.0),
    (2.0, 1.0),
    (8.0, 1.0),
    (64.0, 1.0),
    (1.0, 16.0),
    (1.0, 4096.0),
    (8.0, 256.0),
];
/// Inputs between two looks at what they reached.
const BATCH: usize = 32;
/// Tries for an input that is new and keeps the promises.
const TRIES: usize = 16;
/// Bytes of an input at most.
const BYTES: usize = 1 << 16;

impl Search<'_> {
    /// Grow inputs; whether no new block came for long enough, or no new input.
    pub(super) fn grow(&mut self) -> Result<bool> {
        let mut rng = self.rng();
        let (mut drawn, mut since) = (0, 0);
        while drawn < self.options.draws {
            let wanted = BATCH.min(self.options.draws - drawn);
            let batch: Vec<String> = (0..wanted).filter_map(|_| self.fresh(&mut rng)).collect();
            if batch.is_empty() {
                return Ok(true);
            }
            drawn += batch.len();
            since += batch.len();
            let kept = self.row.kept;
            if !self.compare_all(batch, By::Growth)? {
                return Ok(false);
            }
            if self.row.kept > kept {
                since = 0;
            }
            if since >= self.options.patience {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An input that keeps the promises, of the grammar where there is one.
    fn fresh(&self, rng: &mut ChaCha8Rng) -> Option<String> {
        (0..TRIES).find_map(|_| {
            let text = match &self.inputs {
                Some(inputs) if self.corpus.is_empty() || rng.random_bool(0.5) => {
                    let (counts, values) = SCALES[rng.random_range(0..SCALES.len())];
                    inputs.draw(Scale { counts, values }, rng)?
                }
                _ => {
                    let samples = self.edit.samples.len();
                    let at = rng.random_range(0..samples + self.corpus.len());
                    let parent = match self.edit.samples.get(at) {
                        Some(sample) => &sample.input,
                        None => &self.corpus[at - samples],
                    };
                    mutated(parent, rng)
                }
            };
            let is_well_formed =
                self.inputs.as_ref().is_none_or(|inputs| inputs.is_well_formed(&text));
            let is_new = || !self.known.contains(&dataset::content_hash(text.as_bytes()));
            (text.len() <= BYTES && is_well_formed && is_new()).then_some(text)
        })
    }
}
