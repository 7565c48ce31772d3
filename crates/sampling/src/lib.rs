//! Kernels from language models: what the models learn from, what is drawn from them, how good that is.
//!
//! [`corpus`] reads the programs that a model is trained on. A [`Sampler`] draws kernels from a
//! checkpoint and judges them as mined kernels are: each is a [`SampleRow`] with a verdict. Samples are
//! numbered, and a row depends on the [`Settings`] and its number alone. So the sampler is a stage too:
//! its items are [`Chunk`]s of numbers, any share of which can be drawn somewhere else.
//! [`mark_duplicates`] looks at all samples together, and [`evaluate()`] says how good they are (Table 1 of BenchPress, PACT'22).
//! [`likelihood()`] says how likely kernels of a data set are to a model, by package.
//!
//! ```
//! use stampmill_sampling::{SampleRow, mark_duplicates};
//!
//! let row = |number, text: &str| SampleRow {
//!     number, text: text.into(), verdict: "accepted".into(), ..SampleRow::default()
//! };
//! let mut rows = [row(0, "a"), row(1, "b"), row(2, "a")];
//! mark_duplicates(&mut rows);
//! assert_eq!(rows.map(|row| row.verdict), ["accepted", "accepted", "duplicate"]);
//! ```

pub mod corpus;

mod arguments;
mod drawn;
mod error;
mod evaluate;
mod fill;
mod likelihood;
mod prompt;
mod sampler;
mod stage;
mod summary;
#[cfg(test)]
mod trial;
mod tries;
mod undefined;

pub use error::Error;
pub use evaluate::{Beside, CostBias, Evaluation, evaluate};
pub use likelihood::{Likelihood, PackageLikelihood, ProgramLikelihood, Total, likelihood};
pub use prompt::{in_known_names, without_directives};
pub use rows::SampleRow;
pub use sampler::{Check, Sampler, Settings};
pub use stage::Chunk;
pub use summary::{Summary, mark_duplicates};

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
