//! The only tensor library: engines, weights, layers.
//!
//! Several programs share one set of weights, safetensors under Hugging Face's names:
//!
//! - **candle on the CPU**, here: loads a checkpoint and runs it, with nothing to install;
//! - the trainer (`python/src/stampmill/trainer`), on torch and `transformers`;
//! - **libtorch**, `stampmill-torch` (`engines/torch`, a program of its own): samples on GPUs.
//!
//! Three architectures: [`Llama`] (causal transformer), [`Encoder`] (bidirectional, BERT's) and
//! [`Lstm`]. Each computes the logits of whole sequences; the causal two also run as a [`Decoder`],
//! which keeps what it has read in numbered slots, so that sequences of different lengths advance
//! together and a finished one makes room for the next.
//!
//! ```no_run
//! use stampmill_nn::{Decoder, Model};
//! use std::path::Path;
//!
//! let model = Model::load(Path::new("models/infill"))?;
//! let mut decoder = model.decoder(2).expect("a causal model");
//! let logits = decoder.step(&[(0, 0), (1, 0)])?;
//! assert_eq!(logits.len(), 2 * model.vocabulary());
//! # Ok::<(), stampmill_nn::Error>(())
//! ```

mod attend;
mod choose;
mod decoder;
mod encoder;
mod error;
mod lanes;
mod llama;
mod lstm;
mod model;
mod panels;
mod rope;
mod weights;

pub use choose::{Choice, Chooser};
pub use decoder::Decoder;
pub use encoder::{Encoder, EncoderConfig};
pub use error::Error;
pub use lanes::Precision;
pub use llama::{Llama, LlamaConfig};
pub use lstm::{Lstm, LstmConfig};
pub use model::{Architecture, Model};
pub use rope::{Rope, Scaling};
pub use weights::{Array, Numbers, read, write};

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
