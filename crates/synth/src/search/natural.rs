//! The second phase of a search under `--natural`: a kernel that was found is written as people write, at the same point.

use super::{Found, Run, Search};
use crate::{
    Error,
    edit::{self, Rng},
    judge::Location,
    program::{Program, as_mined},
    proposer::{Judged, model::Model},
};
use lm::Bits;
use rand::{Rng as _, seq::IndexedRandom};
use std::{
    collections::HashSet,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Candidates without a likelier one after which the phase ends.
const PATIENCE: u64 = 2_000;
/// Edits of a candidate at most.
const EDITS: usize = 3;
/// The likeliest kernels so far, which candidates are made of.
const PARENTS: usize = 6;

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
    fn bits(&self, text: &str) -> Result<Option<Bits>, Error> {
        Ok(self.model.bits(&as_mined(text))?)
    }
}

/// How unlikely a kernel was when it was found, and is now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Likelihood {
    pub(super) before: Bits,
    pub(super) after: Bits,
}

/// A kernel of the phase.
struct Written {
    bits: Bits,
    program: Program,
    judged: Arc<Judged>,
}

impl Search<'_> {
    /// The kernel in the likeliest way of writing it that what is left of the budget finds, and how likely it is.
    /// `None`: nothing was asked for, or the kernel is longer than the model reads.
    ///
    /// # Errors
    /// When candidates cannot be judged at all.
    pub(super) fn naturalize(
        &self,
        run: &mut Run,
        judged: &Arc<Judged>,
        found: &mut Found,
        stop: &AtomicBool,
    ) -> Result<Option<(Arc<Judged>, Likelihood)>, Error> {
        let Some(natural) = &self.natural else { return Ok(None) };
        let Some(before) = natural.bits(&judged.text)? else { return Ok(None) };
        let as_it_is = Likelihood { before, after: before };
        let tree = judged.program.clone().or_else(|| self.judge.read_one(&judged.text));
        let Some(program) = tree else { return Ok(Some((judged.clone(), as_it_is))) };
        let edits = edit::natural();
        let mut seen = HashSet::from([as_mined(&judged.text)]);
        let mut best = vec![Written { bits: before, program, judged: judged.clone() }];
        let mut idle = 0;
        while idle < PATIENCE
            && !run.clock.is_spent(found.candidates)
            && !stop.load(Ordering::Relaxed)
        {
            let wanted = run.clock.allows(found.candidates, self.settings.generation);
            let programs = variants(&best, &edits, wanted, &mut seen, &mut run.rng);
            if programs.is_empty() {
                break;
            }
            let texts: Vec<&str> = programs.iter().map(|(_, text)| text.as_str()).collect();
            let locations = self.judge.locate(&texts)?;
            let known = locations.iter().filter(|one| **one != Location::Unknown).count() as u64;
            found.candidates += known;
            idle += known.max(1);
            let there: Vec<(Program, String, Vec<f64>)> = programs
                .into_iter()
                .zip(locations)
                .filter_map(|((program, text), location)| match location {
                    Location::At(vector) if run.aim.distance(&vector) <= judged.distance => {
                        Some((program, text, vector))
                    }
                    _ => None,
                })
                .collect();
            let bits = self.judge.in_parallel(&there, |(_, text, _)| natural.bits(text));
            for ((program, text, vector), bits) in there.into_iter().zip(bits) {
                let Some(bits) = bits? else { continue };
                let (distance, fitness) = (run.aim.distance(&vector), run.aim.fitness(&vector));
                let judged = Arc::new(Judged {
                    is_near: self.is_near(&text),
                    text,
                    vector,
                    distance,
                    fitness,
                    program: Some(program.clone()),
                    lineage: judged.lineage,
                    proposer: judged.proposer,
                });
                let is_likelier = bits.bits < best[0].bits.bits;
                let is_room = best.len() < PARENTS
                    || best.last().is_some_and(|last| bits.bits < last.bits.bits);
                if !is_room || is_likelier && !self.accepts(&judged)? {
                    continue;
                }
                if is_likelier {
                    idle = 0;
                }
                best.push(Written { bits, program, judged });
                best.sort_by(|a, b| a.bits.bits.total_cmp(&b.bits.bits));
                best.truncate(PARENTS);
            }
            self.tell(|| {
                let per_token = best[0].bits.per_token();
                format!("{}: {per_token:.2} bits a token", run.aim.target.name)
            });
        }
        let first = best.swap_remove(0);
        Ok(Some((first.judged, Likelihood { before, after: first.bits })))
    }

    /// Whether a kernel is likely enough to be an answer.
    pub(super) fn is_natural(&self, likelihood: Option<Likelihood>) -> bool {
        let most = self.natural.as_ref().and_then(|natural| natural.most);
        most.is_none_or(|most| likelihood.is_some_and(|one| one.after.per_token() <= most))
    }
}

/// So many programs that were not seen yet, each some edits from one of the best.
fn variants(
    best: &[Written],
    edits: &[edit::Edit],
    wanted: usize,
    seen: &mut HashSet<String>,
    rng: &mut Rng,
) -> Vec<(Program, String)> {
    let mut programs = Vec::new();
    for _ in 0..4 * wanted {
        let Some(parent) = best.choose(rng) else { break };
        let mut program = parent.program.clone();
        for _ in 0..rng.random_range(1..=EDITS) {
            let before = program.clone();
            let made = edits.choose(rng).and_then(|edit| edit.apply(&mut program, rng));
            if made.is_none() {
                program = before;
            }
        }
        let text = program.to_string();
        // Other names alone make no other kernel.
        if seen.insert(as_mined(&text)) {
            programs.push((program, text));
            if programs.len() == wanted {
                break;
            }
        }
    }
    programs
}
