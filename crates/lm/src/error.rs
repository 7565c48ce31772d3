use std::path::{Path, PathBuf};

/// What can go wrong with models of programs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}", dataset::refusal(action, path, source))]
    File {
        /// `read` or `write`.
        action: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A checkpoint's weights or configuration.
    #[error("{}", model(.0))]
    Model(nn::Error),
    /// A data set, or a folder in the making.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// A folder that is something else.
    #[error(
        "{} is {what}; a checkpoint is a folder with config.json, model.safetensors and tokenizer.json, as `stampmill train` \
         makes one; models/infill ships", path.display()
    )]
    NotACheckpoint {
        /// The folder.
        path: PathBuf,
        /// What it is.
        what: String,
    },
    /// What is to be replaced is something else.
    #[error("{} holds no checkpoint, so --force does not replace it", .0.display())]
    NoCheckpoint(PathBuf),
    /// There is nothing to train on.
    #[error("{0}")]
    EmptyCorpus(String),
    /// A line of a file is no question with an answer.
    #[error("{}, line {line}: {why}", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// 1-based.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// More pieces than ids.
    #[error("{0} pieces are more than a tokenizer can number (65,535)")]
    Vocabulary(usize),
    /// A `tokenizer.json` is broken or foreign.
    #[error("{}: {why}", path.display())]
    Tokenizer {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The tokenizer is not the one that the model was trained with.
    #[error("{}: the tokenizer has {tokenizer} pieces, the model {model}: they do not belong together", path.display())]
    Mismatch {
        /// The checkpoint.
        path: PathBuf,
        /// Pieces of the tokenizer.
        tokenizer: usize,
        /// Vocabulary of the model.
        model: usize,
    },
    /// A recipe file is broken.
    #[error("{}: {why}", path.display())]
    Recipe {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A prompt that cannot be gone on from.
    #[error("{0}")]
    Prompt(String),
    /// A question that leaves no room for an answer.
    #[error("the prompt has {tokens} tokens, the model reads {length} with the answer")]
    TooLong {
        /// Its tokens.
        tokens: usize,
        /// The model's length.
        length: usize,
    },
    /// The trainer, or an engine.
    #[error("{0}")]
    Engine(String),
    /// Interrupted.
    #[error("interrupted; the same command resumes from the last checkpoint")]
    Cancelled,
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

impl From<nn::Error> for Error {
    fn from(error: nn::Error) -> Error {
        Error::Model(error)
    }
}

fn model(error: &nn::Error) -> String {
    match error {
        nn::Error::File { action, path, source } => dataset::refusal(action, path, source),
        other => other.to_string(),
    }
}
