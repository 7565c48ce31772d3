//! What edits do, tried once before the first search.

use super::{Search, attempt::Run};
use crate::{Error, judge::Location};
use std::sync::atomic::{AtomicBool, Ordering};

/// Candidates that are judged before the clock is looked at, while edits are first tried.
const AT_ONCE: usize = 32;
/// What edits are first tried on.
const BASES: [&str; 2] = [include_str!("calibrate/float.cl"), include_str!("calibrate/integer.cl")];

impl Search<'_> {
    /// Every edit made once in each of two programs that have a place for most: so that the first plans
    /// know something. Done once, it takes two or three seconds of a processor and counts as the first
    /// target's; a budget of fewer candidates than three times as many goes without, one of time
    /// spends a third on it at most.
    pub(super) fn calibrate(&mut self, run: &mut Run, stop: &AtomicBool) -> Result<u64, Error> {
        let is_needed = self.proposers.iter().any(|proposer| proposer.needs_calibration());
        let wanted = 2 * self.effects.edits.len();
        if !is_needed
            || std::mem::replace(&mut self.calibrated, true)
            || run.clock.allows(0, 3 * wanted) < 3 * wanted
        {
            return Ok(0);
        }
        let bases = self.judge.read(&BASES);
        let vectors = self.locate(&BASES)?;
        let mut candidates = BASES.len() as u64;
        for (base, vector) in bases.into_iter().zip(vectors) {
            let (Some(base), Location::At(vector)) = (base, vector) else { continue };
            let mut edits = Vec::new();
            let mut texts = Vec::new();
            for edit in 0..self.effects.edits.len() {
                let mut program = base.clone();
                if self.effects.edits[edit].apply(&mut program, &mut run.rng).is_some() {
                    edits.push(edit);
                    texts.push(program.to_string());
                }
            }
            for (edits, texts) in edits.chunks(AT_ONCE).zip(texts.chunks(AT_ONCE)) {
                if run.clock.share() > 1.0 / 3.0 || stop.load(Ordering::Relaxed) {
                    return Ok(candidates);
                }
                candidates += texts.len() as u64;
                let locations = self.locate(texts)?;
                for (edit, after) in edits.iter().zip(locations) {
                    match after {
                        Location::At(after) => self.effects.learn(*edit, &vector, Some(&after)),
                        Location::Nowhere => self.effects.learn(*edit, &vector, None),
                        Location::Unknown => {}
                    }
                }
            }
        }
        Ok(candidates)
    }
}
