//! Kernels made from nothing: every wish of the target is met by an edit of the empty kernel.

use super::{Candidate, Proposer, State, guided::pursue};
use crate::{edit::Chance, program::Program};

/// Edits of one kernel at most.
const LONGEST: usize = 600;

/// Starts from the empty kernel and plans edits until nothing of the target seems left.
#[derive(Debug)]
pub(super) struct Construct;

impl Proposer for Construct {
    fn name(&self) -> &'static str {
        "construct"
    }

    fn propose(&mut self, state: &State<'_>, count: usize, chance: &mut Chance) -> Vec<Candidate> {
        let start = state.empty.to_vec();
        state.each(count, chance, |chance| {
            let mut program = Program::empty();
            pursue(state, &mut program, &start, LONGEST, chance);
            Some(Candidate::of_program(program, None))
        })
    }
}
