//! Undirected making: the baseline that knows nothing of the target but its size.

use super::{Candidate, Proposer, State};
use crate::{
    Error, Judge,
    edit::{self, Edit, Rng},
    program::Program,
};
use rand::{Rng as _, SeedableRng};
use std::collections::HashSet;

/// Edits of the empty kernel, drawn without looking at what is wanted.
#[derive(Debug)]
pub(super) struct Random;

impl Proposer for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn propose(&mut self, state: &State<'_>, count: usize, rng: &mut Rng) -> Vec<Candidate> {
        let edits = &state.effects.edits;
        state.each(count, rng, |rng| {
            Some(Candidate::of_program(made(state.blank.clone(), edits, rng), None))
        })
    }

    fn is_directed(&self) -> bool {
        false
    }

    fn is_baseline(&self) -> bool {
        true
    }
}

fn made(mut program: Program, edits: &[Edit], rng: &mut Rng) -> Program {
    for _ in 0..rng.random_range(2..60) {
        let edit = rng.random_range(0..edits.len());
        let before = program.clone();
        if edits[edit].apply(&mut program, rng).is_none() {
            program = before;
        }
    }
    program
}

/// `count` different kernels that compile, made without any aim, and where they lie; fewer where chance
/// gives no more.
///
/// # Errors
/// When there is no LLVM to read modules with.
pub fn samples(judge: &Judge, count: usize, seed: u64) -> Result<Vec<(String, Vec<f64>)>, Error> {
    let edits = edit::all();
    let mut rng = Rng::seed_from_u64(seed);
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for _ in 0..8 {
        let texts: Vec<String> = (found.len()..count + count / 4)
            .map(|_| made(Program::empty(), &edits, &mut rng).to_string())
            .filter(|text| seen.insert(text.clone()))
            .collect();
        let vectors = judge.judge(&texts)?;
        let good = texts.into_iter().zip(vectors);
        found.extend(good.filter_map(|(text, vector)| Some((text, vector?))));
        if found.len() >= count {
            break;
        }
    }
    found.truncate(count);
    Ok(found)
}
