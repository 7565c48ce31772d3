//! Device-mapping heuristics: tasks, models, cross-validation, published results recomputed.
//!
//! A [`Task`] is a table: programs with features, a group that is held out together, and what each
//! choice (for example CPU or GPU) costs. [`import()`] reads one and gives every row that cannot
//! be learnt from a verdict. A [`Method`] names a learner of the folder `model`; [`train`] fits it
//! to a task, [`predict`] uses it, [`crossval`] scores it on groups that it has not seen,
//! [`explain()`] draws its tree and finds the rows that no model could tell apart.
//!
//! A task with one choice asks for that choice's cost: [`fit`] makes regressions of its logarithm. Whether
//! more programs would help a task at all, [`diagnose()`] measures.
//!
//! Scores state their orientation, mean and baseline, because a published evaluation got one of
//! them wrong: [`reproduce`] recomputes the CLgen paper's results with the published formula
//! (predicted / static) and the right way up (static / predicted), side by side.
//!
//! ```
//! use stampmill_heuristics::{CrossvalOptions, Row, Task, crossval};
//!
//! // Where little data moves per operation the GPU is faster.
//! let row = |at: usize| Row {
//!     program: format!("kernel {at}"),
//!     variant: String::new(),
//!     group: format!("suite {}", at % 4),
//!     features: vec![at as f64],
//!     costs: if at < 10 { vec![8.0, 2.0] } else { vec![1.0, 4.0] },
//!     label: usize::from(at < 10),
//! };
//! let task = Task {
//!     features: vec!["transfer per operation".into()],
//!     choices: vec!["CPU".into(), "GPU".into()],
//!     rows: (0..20).map(row).collect(),
//! };
//! let options =
//!     CrossvalOptions { models: vec!["tree".into()], folds: 0, extra: None, seed: 1 };
//! let report = crossval(&task, &options)?;
//! let scores = &report.models[0].scores;
//! assert!(scores.accuracy > 0.8);
//! // Half of the rows would run four times slower if the CPU did everything.
//! assert!((scores.over["CPU"].oracle_geomean - 2.0).abs() < 1e-9);
//! # Ok::<(), stampmill_heuristics::Error>(())
//! ```

mod diagnose;
mod error;
mod explain;
mod heuristic;
mod model;
mod picture;
mod recipe;
mod regression;
mod score;
mod table;
mod task;
mod validate;

pub use diagnose::{
    Arm, ArmOptions, ArmReport, Bin, Ceiling, ChoiceReport, CurvePoint, DiagnoseOptions, Diagnosis,
    ErrorOf, FixedSet, Gap, Interval, MadeReport, Mark, Next, NextOptions, NextReport, Region,
    RegressionReport, Rival, Skipped, Verdict, Way, arms, diagnose, next,
};
pub use error::Error;
pub use explain::{
    CollisionSet, Disagreement, ExplainOptions, ExplainReport, FeatureCollisions, disagree,
    explain, feature_collisions, tree_svg, tree_text,
};
pub use heuristic::{
    Heuristic, PredictReport, Prediction, TrainOptions, TrainReport, predict, train,
};
pub use model::{LEARNERS, Learner, Method, Model, Node, Sample, Setting, Settings, Split, Tree};
pub use recipe::{
    COMPARED, PublishedVectors, RECIPES, Recipe, ReproduceOptions, Reproduction,
    published_benchmarks, published_vectors, reproduce,
};
pub use regression::{
    CostError, CostModel, CostPrediction, CostPredictions, CostTraining, REGRESSORS, Regressor, fit,
};
pub use score::{MEAN, ORIENTATION, Paired, Recognition, Scores, Speedup, compare, score};
pub use task::{
    Features, Group, Import, ImportOptions, ImportReport, Mapping, Origin, Row, Table, Task, import,
};
pub use validate::{CrossvalOptions, CrossvalReport, Validated, WithExtra, crossval};

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
