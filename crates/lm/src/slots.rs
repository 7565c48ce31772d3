//! Sequences that are drawn side by side, each in a slot of one decoder.

use crate::Result;
use nn::Decoder;
use rayon::prelude::*;

/// One token more for all that run: the decoder reads each one's `last` token, and each takes its
/// logits, in parallel. False where none runs.
///
/// # Errors
/// When the model fails.
pub(crate) fn step<R: Send>(
    decoder: &mut dyn Decoder,
    running: &mut [Option<R>],
    last: impl Fn(&R) -> Option<u32>,
    take: impl Fn(&mut R, &[f32]) + Sync,
) -> Result<bool> {
    let tokens: Vec<(usize, u32)> = running
        .iter()
        .enumerate()
        .filter_map(|(slot, one)| Some((slot, last(one.as_ref()?)?)))
        .collect();
    if tokens.is_empty() {
        return Ok(false);
    }
    let logits = decoder.step(&tokens)?;
    let vocabulary = logits.len() / tokens.len();
    running
        .iter_mut()
        .flatten()
        .zip(logits.chunks(vocabulary))
        .collect::<Vec<_>>()
        .into_par_iter()
        .for_each(|(one, logits)| take(one, logits));
    Ok(true)
}
