//! Undirected making: the baseline that knows nothing of the target but its size.

use super::{Candidate, Proposer, State};
use crate::{edit::Chance, program::Program};
use rand::Rng;

/// Edits of the empty kernel, drawn without looking at what is wanted.
#[derive(Debug)]
pub(super) struct Random;

impl Proposer for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn propose(&mut self, state: &State<'_>, count: usize, chance: &mut Chance) -> Vec<Candidate> {
        let edits = &state.effects.edits;
        state.each(count, chance, |chance| {
            let mut program = Program::empty();
            for _ in 0..chance.random_range(2..60) {
                let edit = chance.random_range(0..edits.len());
                let before = program.clone();
                if edits[edit].apply(&mut program, chance).is_none() {
                    program = before;
                }
            }
            Some(Candidate::of_program(program, None))
        })
    }
}
