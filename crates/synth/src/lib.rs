//! Search in feature spaces: kernels on demand at any point.
//!
//! A learned heuristic is short of programs where it matters. Given a point of a feature space, a
//! [`Search`] makes an OpenCL kernel that lies at it or as near as the budget allows (BenchPress,
//! PACT'22, was first to; sections 3.3 and 3.4):
//!
//! - a [`Target`] is a point, or a box with free dimensions; what no program can have is named by
//!   [`check`];
//! - a [`Judge`] compiles candidates, thousands a minute, and says where they lie: features are those
//!   of the code after -O1, so what the optimiser deletes does not count;
//! - [`Proposer`]s suggest candidates, and a bandit shares the budget between them: mined kernels as
//!   they are, kernels made from nothing, difference-guided edits, edits tried one by one and then
//!   combined, crossover, mutation, and whatever is added from outside, such as a language model;
//! - a [`Corpus`] holds the mined kernels to start from, less those that an [`Exclusion`] keeps out
//!   because they would give the answer away;
//! - [`Steer`] is the stage that makes a data set of what searches for several targets find, [`Archive`] one of kernels at
//!   known points, which searches start from.
//!
//! The edits know nothing of any space. What each does to a vector is learned on line, from every
//! candidate that differs from its parent by one edit; to move towards a target is to choose the
//! edits whose remembered effects sum to what the vector lacks. New operands are kernel parameters,
//! which the optimiser knows nothing of, and results are stored, so that edits count.
//!
//! ```
//! use stampmill_synth::Target;
//!
//! let space = features::space("instcount")?;
//! let target = Target::parse("Load=12,FMul=8..10", space)?;
//! stampmill_synth::check(&target, space)?;
//! let none = vec![0.0; space.dimensions().len()];
//! assert_eq!(target.distance(&none), (12.0_f64 * 12.0 + 8.0 * 8.0).sqrt());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
mod arguments;
mod bandit;
mod clock;
mod corpus;
mod dead_code;
mod edit;
mod effects;
mod error;
mod exclusion;
mod feasible;
mod halt;
mod ilp;
mod judge;
mod kept;
mod leak_rule;
mod may_race;
mod metric;
mod neighbours;
mod program;
mod proposer;
mod reach;
mod report;
mod search;
mod steer;
mod subset_sum;
mod target;
mod vectors;

pub use archive::{Archive, ArchiveReport, grow as grow_archive, shipped as shipped_archive};
pub use arguments::Arguments;
pub use clock::{Budget, Deadline};
pub use corpus::Corpus;
pub use dead_code::DeadCode;
pub use error::Error;
pub use exclusion::Exclusion;
pub use feasible::check;
pub use judge::{Judge, Named};
pub use may_race::{Hazard, MayRace};
pub use metric::{Metric, deviations};
pub use proposer::{
    Candidate, Judged, Proposer, Standing, State, defaults as default_proposers, model,
    needs_seeds, samples,
};
pub use rand_chacha::ChaCha8Rng as Rng;
pub use reach::far_out;
pub use report::{Fewer, Predictions, Report, Share};
pub use rows::{Ancestor, ArchivedRow, SteeredRow, Survivor};
pub use search::{Acceptance, Found, Natural, NotNear, Predicted, Search, Settings};
pub use steer::{Observed, Seeds, Steer, SteerItem, SteerOptions, Targets};
pub use target::{Constraint, Target};
