//! Difference-guided edits: what the vector lacks says which edits to make.

use super::{Candidate, Judged, LARGEST, Proposer, State};
use crate::{edit::Rng, program::Program};
use rand::{Rng as _, seq::SliceRandom};
use std::sync::Arc;

/// Edits made at once at most.
pub(super) const LONGEST: usize = 6000;
/// Statements of a kernel, or edits of a part of one, from which on it is edited a few statements at
/// a time: an edit of a long program takes long.
const PARAGRAPH: usize = 128;
/// The size up to which a program is copied before each edit.
const COPIED: usize = 48;
/// The squared distance up to which edits are looked for that cancel it exactly.
const NEAR: f64 = 40.0;

/// Takes a survivor and makes the edits that, by what they did before, cancel its difference from
/// the target: one alone as often as several, because only single edits teach their effect.
#[derive(Debug)]
pub(super) struct Guided;

impl Proposer for Guided {
    fn name(&self) -> &'static str {
        "guided"
    }

    fn propose(&mut self, state: &State<'_>, count: usize, rng: &mut Rng) -> Vec<Candidate> {
        state.each(count, rng, |rng| one(state, rng))
    }

    fn needs_calibration(&self) -> bool {
        true
    }
}

fn one(state: &State<'_>, rng: &mut Rng) -> Option<Candidate> {
    let parent = state.parent(rng)?.clone();
    let mut program = state.copy(&parent, rng)?;
    let unknown = state.effects.unknown();
    let share = unknown.len() as f64 / state.effects.edits.len() as f64;
    let unknown = if rng.random_bool(0.02 + 0.5 * share) { unknown } else { Vec::new() };
    if !unknown.is_empty() {
        let edit = unknown[rng.random_range(0..unknown.len())];
        state.effects.edits[edit].apply(&mut program, rng)?;
        let candidate = Candidate::of_program(program, Some(parent));
        return Some(Candidate { edit: Some(edit), ..candidate });
    }
    let lack = lack(state, &parent.vector);
    let is_far = lack > 24.0;
    if lack < 9.0 && rng.random_bool(0.85) {
        return last_steps(state, &parent, rng);
    }
    let limit = match rng.random_range(0..10) {
        0..3 if lack < 200.0 => 1,
        0 => 1,
        3..5 if !is_far => 2,
        5..7 if !is_far => 3,
        _ => LONGEST,
    };
    let made = pursue(state, &mut program, &parent.vector, limit, rng);
    let candidate = Candidate::of_program(program, Some(parent));
    let candidate = Candidate { plan: made.plan, ..candidate };
    match made.edits.as_slice() {
        [] => None,
        [edit] => Some(Candidate { edit: Some(*edit), ..candidate }),
        _ => Some(candidate),
    }
}

/// Near the target: edits that together do exactly what is wanted where such are remembered, else one
/// edit, because that teaches what it does here.
fn last_steps(state: &State<'_>, parent: &Arc<Judged>, rng: &mut Rng) -> Option<Candidate> {
    let mut program = state.copy(parent, rng)?;
    let excess = state.aim.excess(&parent.vector);
    if rng.random_bool(0.65) {
        let mut plan = state.subset_sums.complete(state.aim, &excess, rng);
        plan.shuffle(rng);
        let done = plan.iter().all(|(edit, _)| make(state, *edit, &mut program, rng));
        if done && !plan.is_empty() {
            let edit = (plan.len() == 1).then(|| plan[0].0);
            let candidate = Candidate::of_program(program, Some(parent.clone()));
            return Some(Candidate { edit, plan, ..candidate });
        }
        program = state.copy(parent, rng)?;
    }
    for _ in 0..8 {
        let step = state.effects.best(state.aim, &excess, state.temperature, rng);
        let edit = match step {
            Some(step) if rng.random_bool(0.7) => step.edit,
            _ => state.effects.touching(state.aim, &excess, rng)?,
        };
        if make(state, edit, &mut program, rng) {
            let candidate = Candidate::of_program(program, Some(parent.clone()));
            return Some(Candidate { edit: Some(edit), ..candidate });
        }
    }
    None
}

/// About how many units are too many or too few.
fn lack(state: &State<'_>, vector: &[f64]) -> f64 {
    let excess = state.aim.excess(vector);
    let leading = excess.iter().zip(&state.aim.leads).filter(|(_, leads)| **leads);
    leading.map(|(excess, _)| excess.abs()).sum()
}

/// What was done to a program.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) edits: Vec<usize>,
    /// The remembered changes that were counted on to reach the target.
    pub(super) plan: Vec<(usize, u64)>,
}

/// Makes up to `limit` edits that promise to lead `program`, which lies at `vector`, to the target.
pub(super) fn pursue(
    state: &State<'_>,
    program: &mut Program,
    vector: &[f64],
    limit: usize,
    rng: &mut Rng,
) -> Made {
    let mut excess = state.aim.excess(vector);
    let mut made = Made::default();
    let mut misses = 0;
    let is_large = program.size() > PARAGRAPH || lack(state, vector) > PARAGRAPH as f64 / 2.0;
    let in_paragraphs = limit == LONGEST && is_large;
    let mut paragraph = in_paragraphs.then(|| program.paragraph(rng));
    let mut in_paragraph = 0;
    // A small program has room for all edits there may be before it is a large one.
    let mut room = LARGEST.saturating_sub(if in_paragraphs { program.length() } else { 0 });
    while made.edits.len() < limit && misses < 24 && room > 0 && !state.is_halted() {
        if crate::metric::square(&excess, &state.aim.fitness_weights) < NEAR && rng.random_bool(0.5)
        {
            let mut plan = state.subset_sums.complete(state.aim, &excess, rng);
            if !plan.is_empty() {
                if let Some(mut paragraph) = paragraph.take() {
                    program.append(&mut paragraph);
                }
                plan.shuffle(rng);
                let whole = plan.iter().all(|(edit, _)| make(state, *edit, program, rng));
                made.edits.extend(plan.iter().map(|(edit, _)| *edit));
                if whole || plan.len() > 1 {
                    made.plan = plan;
                    return made;
                }
                break;
            }
        }
        let step = state.effects.best(state.aim, &excess, state.temperature, rng);
        let Some(step) = step else { break };
        let place = paragraph.as_mut().unwrap_or(program);
        // An edit looks through what it is made in: a paragraph stays one.
        let most = if in_paragraphs { PARAGRAPH + 1 } else { limit };
        let wanted = step.times.min(limit - made.edits.len()).min(most);
        let make_one = |_: &usize| !state.is_halted() && make(state, step.edit, place, rng);
        let times = (0..wanted).take_while(make_one).count();
        made.edits.extend(std::iter::repeat_n(step.edit, times));
        in_paragraph += times;
        if times == 0 {
            misses += 1;
            continue;
        }
        let part = times as f64 / step.times as f64;
        for (old, new) in excess.iter_mut().zip(&step.after) {
            *old += (new - *old) * part;
        }
        if let Some(paragraph) = &mut paragraph
            && in_paragraph > PARAGRAPH
        {
            room = room.saturating_sub(paragraph.length());
            program.append(paragraph);
            *paragraph = program.paragraph(rng);
            in_paragraph = 0;
        }
    }
    if let Some(mut paragraph) = paragraph {
        program.append(&mut paragraph);
    }
    if made.edits.is_empty() {
        // Nothing promises anything: a step aside may.
        for _ in 0..4 {
            let edit = rng.random_range(0..state.effects.edits.len());
            if make(state, edit, program, rng) {
                made.edits.push(edit);
                break;
            }
        }
    }
    made
}

/// Makes an edit, or leaves the program as it is; a large one may have got a parameter that it does
/// not need, because a copy of it for every edit would take most of the time.
fn make(state: &State<'_>, edit: usize, program: &mut Program, rng: &mut Rng) -> bool {
    if program.size() > COPIED {
        return state.effects.edits[edit].apply(program, rng).is_some();
    }
    let before = program.clone();
    let done = state.effects.edits[edit].apply(program, rng).is_some();
    if !done {
        *program = before;
    }
    done
}
