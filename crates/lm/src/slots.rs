//! Sequences that are drawn side by side, each in a slot of one decoder.

use crate::{Remote, Result};
use nn::Decoder;
use rayon::prelude::*;
use std::ops::Range;

/// What reads tokens: a decoder of this process, or one in another.
pub(crate) enum Source {
    /// The logits of the last step wait to be taken.
    Here(Box<dyn Decoder>, Vec<f32>),
    Elsewhere(Remote),
}

impl Source {
    /// The slots, in groups that are read one after the other.
    pub(crate) fn groups(&self) -> Vec<Range<usize>> {
        let (slots, groups) = match self {
            Source::Here(decoder, _) => (decoder.slots(), 1),
            Source::Elsewhere(remote) => (remote.slots(), remote.groups()),
        };
        let width = slots / groups;
        (0..groups).map(|at| at * width..(at + 1) * width).collect()
    }

    /// Forget what the slot has read behind its first `length` tokens.
    pub(crate) fn rewind(&mut self, slot: usize, length: usize) -> Result<()> {
        match self {
            Source::Here(decoder, _) => decoder.rewind(slot, length)?,
            Source::Elsewhere(remote) => remote.rewind(slot, length),
        }
        Ok(())
    }

    /// Begin to read tokens of one group.
    fn begin(&mut self, tokens: &[(usize, u32)]) -> Result<()> {
        match self {
            Source::Here(decoder, logits) => *logits = decoder.step(tokens)?,
            Source::Elsewhere(remote) => remote.begin(tokens)?,
        }
        Ok(())
    }

    /// The logits of what was begun first.
    fn finish(&mut self) -> Result<Vec<f32>> {
        match self {
            Source::Here(_, logits) => Ok(std::mem::take(logits)),
            Source::Elsewhere(remote) => remote.finish(),
        }
    }
}

/// Begin to read each one's `last` token, if any runs; the slots are numbered from `first`.
///
/// # Errors
/// When the model fails.
pub(crate) fn begin<R>(
    source: &mut Source,
    first: usize,
    running: &[Option<R>],
    last: impl Fn(&R) -> Option<u32>,
) -> Result<()> {
    let tokens = tokens(first, running, last);
    if tokens.is_empty() { Ok(()) } else { source.begin(&tokens) }
}

/// Hand each one the logits of what [`begin`] began.
///
/// # Errors
/// As [`begin`].
pub(crate) fn finish<R: Send>(
    source: &mut Source,
    running: &mut [Option<R>],
    take: impl Fn(&mut R, &[f32]) + Sync,
) -> Result<()> {
    hand(&source.finish()?, running, take);
    Ok(())
}

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
    let tokens = tokens(0, running, last);
    if tokens.is_empty() {
        return Ok(false);
    }
    hand(&decoder.step(&tokens)?, running, take);
    Ok(true)
}

fn tokens<R>(
    first: usize,
    running: &[Option<R>],
    last: impl Fn(&R) -> Option<u32>,
) -> Vec<(usize, u32)> {
    let numbered = (first..).zip(running);
    numbered.filter_map(|(slot, one)| Some((slot, last(one.as_ref()?)?))).collect()
}

fn hand<R: Send>(logits: &[f32], running: &mut [Option<R>], take: impl Fn(&mut R, &[f32]) + Sync) {
    let mut all: Vec<&mut R> = running.iter_mut().flatten().collect();
    let vocabulary = logits.len() / all.len().max(1);
    all.par_iter_mut()
        .zip(logits.par_chunks(vocabulary.max(1)))
        .for_each(|(one, logits)| take(one, logits));
}
