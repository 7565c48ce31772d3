//! What edits do to vectors, learned from every candidate that one edit alone was made in.

use crate::{
    edit::{Chance, Edit},
    metric::Aim,
};
use rand::Rng;

/// Effects of one edit that are remembered.
const MEMORY: usize = 24;

/// A change of a vector: the dimensions that change, and by how much.
type Change = Vec<(u16, f32)>;

#[derive(Clone, Debug, Default)]
struct Known {
    changes: Vec<Change>,
    /// Where the next one is put.
    next: usize,
    tried: u32,
    failed: u32,
}

/// The effects of all edits in one space.
#[derive(Debug)]
pub(crate) struct Effects {
    pub(crate) edits: Vec<Edit>,
    known: Vec<Known>,
}

impl Effects {
    pub(crate) fn new(edits: Vec<Edit>) -> Effects {
        let known = vec![Known::default(); edits.len()];
        Effects { edits, known }
    }

    /// An edit made alone led from one vector to the other; `None`: to nothing that compiles.
    pub(crate) fn learn(&mut self, edit: usize, before: &[f64], after: Option<&[f64]>) {
        let known = &mut self.known[edit];
        known.tried += 1;
        let Some(after) = after else {
            known.failed += 1;
            return;
        };
        let change: Change = before
            .iter()
            .zip(after)
            .enumerate()
            .filter(|(_, (before, after))| before != after)
            .map(|(place, (before, after))| {
                (u16::try_from(place).unwrap_or(u16::MAX), (after - before) as f32)
            })
            .collect();
        if known.changes.len() < MEMORY {
            known.changes.push(change);
        } else {
            known.changes[known.next] = change;
            known.next = (known.next + 1) % MEMORY;
        }
    }

    /// Edits that were never made, or seldom.
    pub(crate) fn unknown(&self) -> Vec<usize> {
        let all = self.known.iter().enumerate();
        all.filter(|(_, known)| known.tried < 3).map(|(edit, _)| edit).collect()
    }

    /// An edit that probably brings a program with this excess nearer to the aim, and the excess
    /// expected then.
    ///
    /// Of every edit one remembered effect is drawn, so that edits whose effect varies are tried as
    /// often as they help. The gains are compared by a softmax at `temperature`, in units of the
    /// greatest gain. `None` where none promises any.
    pub(crate) fn best(
        &self,
        aim: &Aim,
        excess: &[f64],
        temperature: f64,
        chance: &mut Chance,
    ) -> Option<(usize, Vec<f64>)> {
        let mut gains: Vec<(usize, usize, f64)> = Vec::new();
        let mut greatest = 0.0_f64;
        for (edit, known) in self.known.iter().enumerate() {
            if known.changes.is_empty() {
                continue;
            }
            let drawn = chance.random_range(0..known.changes.len());
            let gain: f64 = known.changes[drawn]
                .iter()
                .map(|(place, by)| {
                    let place = usize::from(*place);
                    let (was, by) = (excess[place], f64::from(*by));
                    let free = aim.target.wanted[place].is_none();
                    if free { 0.0 } else { aim.weights[place] * (was * was - (was + by).powi(2)) }
                })
                .sum();
            if gain > 0.0 {
                let works = 1.0 - f64::from(known.failed) / f64::from(known.tried + 1);
                let gain = gain * works.max(0.05);
                greatest = greatest.max(gain);
                gains.push((edit, drawn, gain));
            }
        }
        let weight = |gain: f64| ((gain / greatest - 1.0) / temperature.max(0.01)).exp();
        let total: f64 = gains.iter().map(|(.., gain)| weight(*gain)).sum();
        let mut left = chance.random_range(0.0..1.0) * total;
        let (edit, drawn, _) = *gains.iter().find(|(.., gain)| {
            left -= weight(*gain);
            left <= 0.0
        })?;
        let mut after = excess.to_vec();
        for (place, by) in &self.known[edit].changes[drawn] {
            let place = usize::from(*place);
            if aim.target.wanted[place].is_some() {
                after[place] += f64::from(*by);
            }
        }
        Some((edit, after))
    }
}
