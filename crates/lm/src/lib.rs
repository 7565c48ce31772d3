//! Language models of programs: tokenizers, model kinds, training, constrained sampling.

pub mod causal;
pub mod condition;
pub mod settings;
pub mod tokenizer;

mod checkpoint;
mod corpus;
mod curve;
mod engine;
mod error;
mod folder;
#[doc(hidden)]
pub mod fuzz;
mod likelihood;
mod pretrain;
mod recipe;
mod remote;
mod sample;
mod slots;
mod trainer;
mod training_set;
mod tune;
mod usefulness;

pub use causal::Causal;
pub use checkpoint::Checkpoint;
pub use corpus::{CorpusReport, Entry, Seen, prepare};
pub use engine::{ENGINE_VARIABLE, find_engine};
pub use error::Error;
pub use folder::{Run, finish, or_nothing, place, planned_steps};
pub use likelihood::Bits;
pub use nn::{Choice, Precision};
pub use pretrain::FunctionReport;
pub use recipe::{Recipe, Sizes, settings as settings_text};
pub use remote::{Next, Ranked, Remote};
pub use sample::{Drawing, HOLE, Prompt, START, Sample, Sampler};
pub use settings::{Kind, Training};
pub use trainer::{
    Metric, PYTHON_VARIABLE, Trained, check_trainer, find_python, metrics, train, trainer,
};
pub use training_set::TrainingSet;
pub use tune::{Asked, Dialogue, Tuning, TuningReport, prepare_edits};

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
