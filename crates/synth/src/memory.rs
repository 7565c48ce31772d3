//! What a search carries from one target to the next: what edits were seen to do, and what was found.
//!
//! The search for a target is a function of the settings, of the target, and of this; who keeps it
//! beside what was found can go on behind a target in another process as if it were the same.

use crate::{Error, effects::Known, program::Program, proposer::Judged};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What one target's search adds to what the next one starts from; [`crate::Search::recall`] takes
/// those of all targets before, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory(Vec<u8>);

impl Memory {
    /// Kept as bytes before.
    #[must_use]
    pub fn of_bytes(bytes: Vec<u8>) -> Memory {
        Memory(bytes)
    }

    /// To be kept; what they mean is the search's own affair.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn of(carried: &Carried) -> Memory {
        Memory(postcard::to_stdvec(carried).expect("plain data always encodes"))
    }

    /// # Errors
    /// [`Error::Memory`] where another version of this program wrote it, or something else.
    pub(crate) fn read(&self) -> Result<Carried, Error> {
        postcard::from_bytes(&self.0).map_err(|_| Error::Memory)
    }
}

/// The state of a search between two targets.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Carried {
    /// Whether all edits were tried.
    pub(crate) calibrated: bool,
    /// Lineages begun so far.
    pub(crate) lineages: u64,
    /// What is known of each edit, as a whole.
    pub(crate) known: Vec<Known>,
    /// What was found for this target alone: the others' stand in theirs.
    pub(crate) found: Vec<Kept>,
}

/// A program that later searches may start from.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    text: String,
    vector: Vec<f64>,
    program: Program,
    lineage: u64,
}

impl Kept {
    /// `None` where it is known by its text alone, which nothing can start from.
    pub(crate) fn of(judged: &Judged) -> Option<Kept> {
        Some(Kept {
            text: judged.text.clone(),
            vector: judged.vector.clone(),
            program: judged.program.clone()?,
            lineage: judged.lineage,
        })
    }

    /// As it stands in the archive, where distances mean nothing.
    pub(crate) fn recalled(self) -> Arc<Judged> {
        let Kept { text, vector, program, lineage } = self;
        let program = Some(program);
        Arc::new(Judged {
            text,
            vector,
            distance: 0.0,
            fitness: 0.0,
            program,
            lineage,
            proposer: "archive",
        })
    }
}
