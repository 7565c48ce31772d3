//! Language models of programs: tokenizers, model kinds, training, constrained sampling.
//!
//! Three [`Kind`]s of models stand for three ways to write a kernel: `lstm` goes on from what is there, character by
//! character (CLgen, CGO'17); `hole` reads both sides of a hole and fills it, token by token (BenchPress, PACT'22); `infill`
//! is a causal transformer that fills holes too, because what stands behind one was moved before it. Of these `infill` alone
//! takes conditions: wanted features ([`condition::FEATURES`], in steps of powers of two) and wanted arguments
//! (BenchDirect, 2023).
//!
//! - A [`tokenizer`] turns text into ids and back without loss: [`tokenizer::Characters`] for `lstm`,
//!   [`tokenizer::Syntax`], whose pieces are lexemes, for the others.
//! - [`prepare()`] makes a training folder of kernels: families of near-duplicates stay on one side of the split, and large
//!   packages are drawn less than their size says. [`prepare_edits`] makes one of questions with answers, to go on from any
//!   checkpoint of the Llama family. A [`Recipe`] has the sizes and the schedule.
//! - [`Run::train`] trains in such a folder by the trainer, a Python program, and puts the [`Checkpoint`] in its place:
//!   weights, configuration and tokenizer under Hugging Face's names, and what says later which kernels the model learned from
//!   ([`TrainingSet`], [`Seen`]).
//! - A [`Sampler`] draws from a [`Prompt`]. A constraint (crate `grammar`) follows each sample: tokens after which nothing can
//!   compile any more are not drawn, and a sample that has no more room is ended by what ends it soonest. Under
//!   [`Drawing::useful`] statements without an effect are written anew. The same seed gives the same samples, however many are
//!   drawn side by side; [`Sampler::elsewhere`] has the libtorch engine run the model.
//! - [`Checkpoint::bits`] says how unlikely a kernel is to a model, which is how naturalness is compared.
//! - A [`Causal`] model answers chats, with the templates and tokenizers of others.
//!
//! ```
//! use stampmill_lm::{
//!     condition,
//!     tokenizer::{Syntax, Tokenizer as _},
//! };
//!
//! let kernel = "kernel void A(global float* a, const int b) {\n  a[0] = b;\n}\n";
//! let tokenizer = Syntax::learn(&condition::pieces(), [kernel])?;
//! let ids = tokenizer.encode(kernel);
//! assert_eq!(tokenizer.decode(&ids), kernel);
//! // What a model is told of this kernel before it reads it: its arguments, and the steps of its features.
//! assert_eq!(condition::arguments(kernel), ["global", "float", "*", ",", "const", "int"]);
//! assert_eq!([0.0, 1.0, 3.0, 4.0].map(condition::step), [0, 1, 2, 3]);
//! # Ok::<(), stampmill_lm::Error>(())
//! ```
//!
//! With a checkpoint, such as the one that ships:
//!
//! ```no_run
//! use stampmill_lm::{Checkpoint, Drawing, Prompt, START, Sampler};
//! use std::path::Path;
//!
//! let checkpoint = Checkpoint::load(Path::new("models/infill"))?;
//! let sampler = Sampler::new(&checkpoint, Drawing { seed: 7, useful: true, ..Drawing::default() });
//! let arguments = Some("global float*, const int".to_owned());
//! let prompt = Prompt { arguments, ..Prompt::new(START) };
//! sampler.draw(&prompt, 0..10, &mut |sample| {
//!     println!("{}", sample.text);
//!     true
//! })?;
//! # Ok::<(), stampmill_lm::Error>(())
//! ```

pub mod causal;
pub mod condition;
pub mod settings;
pub mod tokenizer;

mod card;
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

pub use card::{Origin, write_card};
pub use causal::Causal;
pub use checkpoint::Checkpoint;
pub use corpus::{CorpusReport, Entry, Seen, held_back, prepare};
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
