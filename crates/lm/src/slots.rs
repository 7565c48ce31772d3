//! Sequences that are drawn side by side, each in a slot of one decoder.

use crate::{Remote, Result, remote::Next};
use nn::Decoder;
use rayon::prelude::*;
use std::ops::Range;

/// What reads tokens: a decoder of this process, or one in another.
pub(crate) enum Source {
    /// The logits of the last step wait to be taken.
    Here(Box<dyn Decoder>, Vec<f32>),
    Elsewhere(Remote),
}

/// What comes next in one slot.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ahead<'a> {
    /// Of all tokens.
    Logits(&'a [f32]),
    /// Tokens drawn without replacement, the first drawn first.
    Ranked(&'a [u32]),
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
    fn begin(&mut self, tokens: &[(usize, u32, u32)]) -> Result<()> {
        match self {
            Source::Here(decoder, logits) => {
                let tokens: Vec<_> =
                    tokens.iter().map(|(slot, token, _)| (*slot, *token)).collect();
                *logits = decoder.step(&tokens)?;
            }
            Source::Elsewhere(remote) => remote.begin(tokens)?,
        }
        Ok(())
    }

    /// What follows what was begun first.
    fn finish(&mut self) -> Result<Next> {
        match self {
            Source::Here(_, logits) => Ok(Next::Logits(std::mem::take(logits))),
            Source::Elsewhere(remote) => remote.finish(),
        }
    }
}

/// Begin to read each one's `last` token and key of chance, if any runs; the slots are numbered from `first`.
///
/// # Errors
/// When the model fails.
pub(crate) fn begin<R>(
    source: &mut Source,
    first: usize,
    running: &[Option<R>],
    last: impl Fn(&R) -> (u32, u32),
) -> Result<()> {
    let numbered = (first..).zip(running);
    let read = |(slot, one): (usize, &Option<R>)| {
        let (token, key) = last(one.as_ref()?);
        Some((slot, token, key))
    };
    let tokens: Vec<_> = numbered.filter_map(read).collect();
    if tokens.is_empty() { Ok(()) } else { source.begin(&tokens) }
}

/// Hand each one what follows what [`begin`] began.
///
/// # Errors
/// As [`begin`].
pub(crate) fn finish<R: Send>(
    source: &mut Source,
    running: &mut [Option<R>],
    take: impl Fn(&mut R, Ahead<'_>) + Sync,
) -> Result<()> {
    match source.finish()? {
        Next::Logits(logits) => hand(&logits, running, |one, row| take(one, Ahead::Logits(row))),
        Next::Ranked(tokens) => hand(&tokens, running, |one, row| take(one, Ahead::Ranked(row))),
    }
    Ok(())
}

fn hand<R: Send, T: Sync>(
    rows: &[T],
    running: &mut [Option<R>],
    take: impl Fn(&mut R, &[T]) + Sync,
) {
    let mut all: Vec<&mut R> = running.iter_mut().flatten().collect();
    let width = rows.len() / all.len().max(1);
    all.par_iter_mut().zip(rows.par_chunks(width.max(1))).for_each(|(one, row)| take(one, row));
}
