//! Which points of a feature space matter: query by committee.
//!
//! A heuristic learns most from programs that its present models disagree about (Seung, Opper and
//! Sompolinsky, COLT 1992; BenchPress, PACT'22, section 3.5). [`learn`] goes round: a [`Committee`]
//! is fitted to what is labelled; points between known ones are looked at, and those of highest vote
//! entropy, apart from each other, are taken; `synth` makes kernels there; they are run, labelled
//! and added. [`Strategy::ExpectedError`] takes those whose label is expected to leave the least error,
//! [`Strategy::Passive`] points at random: the baseline. Test kernels are never looked at but for
//! scoring. The state is a data set of [`LearnedRow`]s: stop and resume, or have the kernels of a round
//! measured on another machine ([`Remote`]).
//! [`experiment()`] compares the two, and programs that were not aimed at all, with paired statistics.
//!
//! ```
//! use heuristics::{Row, Task};
//! use stampmill_learn::Plan;
//!
//! let row = |x: f64| Row {
//!     program: x.to_string(), variant: String::new(), group: x.to_string(), features: vec![x],
//!     costs: vec![1.0 + x, 9.0 - x], label: usize::from(x > 4.0),
//! };
//! let task = Task {
//!     features: vec!["x".into()],
//!     choices: vec!["CPU".into(), "GPU".into()],
//!     rows: (0..9).map(|x| row(f64::from(x))).collect(),
//! };
//! let committee = Plan::parse("tree:5,knn:5")?.fit(&task, 1)?;
//! assert!(committee.entropy(&[4.5]) >= committee.entropy(&[0.0]));
//! # Ok::<(), stampmill_learn::Error>(())
//! ```

mod committee;
mod error;
mod expected_error;
mod experiment;
mod kernels;
mod labels;
mod remote;
mod rounds;
mod split;
mod strategy;

pub use committee::{Committee, Plan};
pub use error::Error;
pub use experiment::{ARMS, Arm, Design, Findings, experiment};
pub use labels::Task;
pub use remote::{Commands, Remote, Waiting, WaitingRow};
pub use rounds::{Options, Report, Round, State, learn};
pub use rows::LearnedRow;
pub use split::Split;
pub use strategy::{Strategy, choose};
