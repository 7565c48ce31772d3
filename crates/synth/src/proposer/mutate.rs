//! Mutation in the manner of SRCIROR (Hariri and Shi, ASE 2018): operators, constants, statements.

use super::{Candidate, Proposer, State};
use crate::edit::{Edit, Rng, mutations};
use rand::Rng as _;

/// One to three undirected changes of a survivor.
#[derive(Debug)]
pub(super) struct Mutate {
    edits: Vec<Edit>,
}

impl Default for Mutate {
    fn default() -> Mutate {
        Mutate { edits: mutations() }
    }
}

impl Proposer for Mutate {
    fn name(&self) -> &'static str {
        "mutate"
    }

    fn propose(&mut self, state: &State<'_>, count: usize, rng: &mut Rng) -> Vec<Candidate> {
        let one = |rng: &mut Rng| {
            let parent = state.parent(rng)?.clone();
            let mut program = parent.program.clone()?;
            for _ in 0..rng.random_range(1..=3) {
                let edit = self.edits[rng.random_range(0..self.edits.len())];
                let before = program.clone();
                if edit.apply(&mut program, rng).is_none() {
                    program = before;
                }
            }
            Some(Candidate::of_program(program, Some(parent)))
        };
        state.each(count, rng, one)
    }
}
