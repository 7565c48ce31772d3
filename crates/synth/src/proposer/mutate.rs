//! Mutation in the manner of SRCIROR (Hariri and Shi, ASE 2018): operators, constants, statements.

use super::{Candidate, Proposer, State};
use crate::edit::{Chance, Edit, mutations};
use rand::Rng;

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

    fn propose(&mut self, state: &State<'_>, count: usize, chance: &mut Chance) -> Vec<Candidate> {
        let one = |chance: &mut Chance| {
            let parent = state.parent(chance)?.clone();
            let mut program = parent.program.clone()?;
            for _ in 0..chance.random_range(1..=3) {
                let edit = self.edits[chance.random_range(0..self.edits.len())];
                let before = program.clone();
                if edit.apply(&mut program, chance).is_none() {
                    program = before;
                }
            }
            Some(Candidate::of_program(program, Some(parent)))
        };
        state.each(count, chance, one)
    }
}
