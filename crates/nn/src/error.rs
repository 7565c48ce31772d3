use std::path::{Path, PathBuf};

/// What can go wrong with a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// `read` or `write`.
        action: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A weights file is cut short or no safetensors file.
    #[error("{} is no whole safetensors file: {why}", path.display())]
    Weights {
        /// Which.
        path: PathBuf,
        /// What the reader says.
        why: String,
    },
    /// A tensor that the configuration asks for is not there, or has another shape.
    #[error("{}: {why}", path.display())]
    Tensor {
        /// The weights file.
        path: PathBuf,
        /// Which tensor, what was found, what was wanted.
        why: String,
    },
    /// `config.json` is broken or describes another architecture.
    #[error("{}: {why}", path.display())]
    Config {
        /// Which.
        path: PathBuf,
        /// What.
        why: String,
    },
    /// A sequence is longer than the model has positions.
    #[error("{length} tokens do not fit into the model's {positions} positions")]
    TooLong {
        /// Tokens asked for.
        length: usize,
        /// Positions there are.
        positions: usize,
    },
    /// A token id is outside of the vocabulary.
    #[error("token {id} is outside of the model's vocabulary of {vocabulary}")]
    Token {
        /// The id.
        id: u32,
        /// The vocabulary's size.
        vocabulary: usize,
    },
    /// A model that keeps states was asked to go back.
    #[error("this model keeps no tokens: it cannot go back to the first {length}")]
    States {
        /// Tokens to go back to.
        length: usize,
    },
    /// The tensor library refused.
    #[error(transparent)]
    Candle(#[from] candle_core::Error),
}

impl Error {
    pub(crate) fn file(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> Error + use<> {
        let path = path.to_owned();
        move |source| Error::File { action, path, source }
    }
}
