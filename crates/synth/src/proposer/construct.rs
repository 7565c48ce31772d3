//! Kernels made from nothing: every constraint of the target is met by an edit of the empty kernel.

use super::{
    Candidate, Proposer, State,
    guided::{LONGEST, pursue},
};
use crate::edit::Rng;

/// Starts from the empty kernel and plans edits until nothing of the target seems left.
#[derive(Debug)]
pub(super) struct Construct;

impl Proposer for Construct {
    fn name(&self) -> &'static str {
        "construct"
    }

    fn propose(&mut self, state: &State<'_>, count: usize, rng: &mut Rng) -> Vec<Candidate> {
        let start = state.empty.to_vec();
        state.each(count, rng, |rng| {
            let mut program = state.blank.clone();
            let made = pursue(state, &mut program, &start, LONGEST, rng);
            Some(Candidate { plan: made.plan, ..Candidate::of_program(program, None) })
        })
    }

    fn needs_calibration(&self) -> bool {
        true
    }
}
