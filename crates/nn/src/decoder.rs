use crate::Result;

/// A causal model that advances many sequences by one token at a time.
///
/// Each sequence lives in a slot. What it has read is kept; a slot that is reset begins anew.
pub trait Decoder {
    /// Number of slots.
    fn slots(&self) -> usize;

    /// Tokens that the slot has read.
    fn length(&self, slot: usize) -> usize;

    /// Forget what the slot has read.
    fn reset(&mut self, slot: usize);

    /// Forget what the slot has read behind its first `length` tokens, at most as many as it has read. Models that
    /// keep states instead of tokens can only forget all.
    ///
    /// # Errors
    /// When the model cannot go back to there.
    fn rewind(&mut self, slot: usize, length: usize) -> Result<()>;

    /// Read one token in each of the named slots (each named once): `(slot, token)`. The answer holds
    /// the logits of what comes next, a row of the vocabulary's size for each, in this order.
    ///
    /// # Errors
    /// When a slot is full, or a token is outside of the vocabulary.
    fn step(&mut self, tokens: &[(usize, u32)]) -> Result<Vec<f32>>;

    /// Read several tokens behind what the slot holds; the answer holds the logits of what comes after
    /// the last of them, empty where there are none.
    ///
    /// # Errors
    /// As [`Decoder::step`].
    fn read(&mut self, slot: usize, tokens: &[u32]) -> Result<Vec<f32>> {
        let mut last = Vec::new();
        for token in tokens {
            last = self.step(&[(slot, *token)])?;
        }
        Ok(last)
    }
}
