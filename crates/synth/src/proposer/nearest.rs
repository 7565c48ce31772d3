//! Mined kernels as they are, the nearest first.

use super::{Candidate, Proposer, Standing, State};
use crate::edit::Rng;

/// Its name: kernels that it proposes are as people wrote them.
pub(crate) const NAME: &str = "nearest";

/// How many of the nearest are of use as starting points.
const REACH: usize = 96;

/// Proposes each of the nearest mined kernels once.
#[derive(Debug, Default)]
pub(super) struct Nearest {
    next: usize,
}

impl Proposer for Nearest {
    fn name(&self) -> &'static str {
        NAME
    }

    fn propose(&mut self, state: &State<'_>, count: usize, _: &mut Rng) -> Vec<Candidate> {
        let end = (self.next + count).min(REACH).min(state.nearest.len());
        let some = state.nearest.get(self.next..end).unwrap_or_default();
        self.next = end;
        some.iter()
            .map(|index| Candidate {
                program: state.seed(*index).cloned(),
                ..Candidate::of_text(state.corpus.seeds[*index].text.clone())
            })
            .collect()
    }

    /// Where to start from comes first, whatever it is worth later.
    fn share(&self, standing: &Standing, count: usize) -> usize {
        if standing.generation == 0 { count * 2 / 3 } else { 0 }
    }

    fn is_directed(&self) -> bool {
        false
    }

    fn is_only_mined(&self) -> bool {
        true
    }

    fn needs_seeds(&self) -> bool {
        true
    }

    fn restart(&mut self) {
        self.next = 0;
    }
}
