//! What a search leaves behind, as rows.

use dataset::Row;
use serde::{Deserialize, Serialize};

/// A kernel found for a target: a row of schema `steered`. It opens wherever a data set of programs
/// does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteeredRow {
    /// The target's name.
    pub target: String,
    /// The space of the search.
    pub space: String,
    /// 1 for the nearest kernel of its target.
    pub rank: u32,
    /// `TARGET#RANK`, what other stages call the program.
    pub path: String,
    /// The kernel's name.
    pub name: String,
    /// The program.
    pub text: String,
    /// `accepted`; `impossible` for a target that no program can have, `nothing-found` for one that
    /// nothing came near to.
    pub verdict: String,
    /// The constraint that is broken.
    pub detail: String,
    /// Whether it lies right at the target.
    pub exact: bool,
    /// Distance from the target by the metric of the search.
    pub distance: f64,
    /// 1 − Euclidean distance / norm of the target.
    pub proximity: f64,
    /// Who proposed it.
    pub proposer: String,
    /// How many mined kernels lie right at the target; they are no part of the answer.
    pub mined_exact: u32,
    /// Proximity of the nearest mined kernel; 0 without any.
    pub mined_proximity: f64,
    /// Candidates judged for the target.
    pub candidates: u64,
    /// What the search took, in the unit of its budget: seconds of the clock or of processors; 0
    /// where it counts candidates, whose rows are the same each time.
    pub seconds: f64,
    /// The values in the space, in its order.
    pub vector: Vec<f64>,
}

impl Row for SteeredRow {
    const SCHEMA: &'static str = "steered";
    const VERSION: u32 = 1;
}

/// A candidate that survived its generation: a row of schema `trajectory`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryRow {
    /// The target's name.
    pub target: String,
    /// Its generation, from 1.
    pub generation: u32,
    /// Candidates judged for the target up to the end of the generation.
    pub candidates: u64,
    /// Seconds up to the end of the generation, of the clock or of processors as the budget is; 0
    /// where it counts candidates.
    pub seconds: f64,
    /// Who proposed it.
    pub proposer: String,
    /// Its distance.
    pub distance: f64,
    /// Its proximity.
    pub proximity: f64,
    /// Whether nothing was nearer before.
    pub best: bool,
}

impl Row for TrajectoryRow {
    const SCHEMA: &'static str = "trajectory";
    const VERSION: u32 = 1;
}
