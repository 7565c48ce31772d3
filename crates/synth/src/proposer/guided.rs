//! Difference-guided edits: what the vector lacks says which edits to make.

use super::{Candidate, Proposer, State};
use crate::edit::Chance;
use rand::Rng;

/// Edits made at once at most.
const LONGEST: usize = 48;

/// Takes a survivor and makes the edits that, by what they did before, cancel its difference from
/// the target: one alone as often as several, because only single edits teach their effect.
#[derive(Debug)]
pub(super) struct Guided;

impl Proposer for Guided {
    fn name(&self) -> &'static str {
        "guided"
    }

    fn propose(&mut self, state: &State<'_>, count: usize, chance: &mut Chance) -> Vec<Candidate> {
        state.each(count, chance, |chance| one(state, chance))
    }
}

fn one(state: &State<'_>, chance: &mut Chance) -> Option<Candidate> {
    let parent = state.parent(chance)?.clone();
    let mut program = parent.program.clone()?;
    let unknown = state.effects.unknown();
    let share = unknown.len() as f64 / state.effects.edits.len() as f64;
    let unknown = if chance.random_bool(0.02 + 0.5 * share) { unknown } else { Vec::new() };
    if !unknown.is_empty() {
        let edit = unknown[chance.random_range(0..unknown.len())];
        state.effects.edits[edit].apply(&mut program, chance)?;
        let candidate = Candidate::of_program(program, Some(parent));
        return Some(Candidate { edit: Some(edit), ..candidate });
    }
    let limit = match chance.random_range(0..10) {
        0..4 => 1,
        4..6 => 2,
        6..8 => 3,
        _ => LONGEST,
    };
    let made = pursue(state, &mut program, &parent.vector, limit, chance);
    let candidate = Candidate::of_program(program, Some(parent));
    match made.as_slice() {
        [] => None,
        [edit] => Some(Candidate { edit: Some(*edit), ..candidate }),
        _ => Some(candidate),
    }
}

/// Makes up to `limit` edits that promise to lead `program`, which lies at `vector`, to the target;
/// says which.
pub(super) fn pursue(
    state: &State<'_>,
    program: &mut crate::program::Program,
    vector: &[f64],
    limit: usize,
    chance: &mut Chance,
) -> Vec<usize> {
    let mut excess = state.aim.excess(vector);
    let mut made = Vec::new();
    let mut misses = 0;
    while made.len() < limit && misses < 8 {
        let Some((edit, after)) = state.effects.best(state.aim, &excess, state.temperature, chance)
        else {
            break;
        };
        let before = program.clone();
        if state.effects.edits[edit].apply(program, chance).is_some() {
            made.push(edit);
            excess = after;
        } else {
            *program = before;
            misses += 1;
        }
    }
    if made.is_empty() {
        // Nothing promises anything: a step aside may.
        for _ in 0..4 {
            let edit = chance.random_range(0..state.effects.edits.len());
            let before = program.clone();
            if state.effects.edits[edit].apply(program, chance).is_some() {
                made.push(edit);
                break;
            }
            *program = before;
        }
    }
    made
}
