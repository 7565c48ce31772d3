use std::path::PathBuf;

/// What can go wrong with samples as a whole; what is wrong with one of them is its verdict.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A model that cannot be read or run, or a prompt that it cannot continue.
    #[error(transparent)]
    Model(#[from] lm::Error),
    /// What judges samples cannot be started.
    #[error(transparent)]
    Clang(#[from] clang::Error),
    /// Samples or programs that cannot be described.
    #[error(transparent)]
    Features(#[from] features::Error),
    /// Programs that cannot be read.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// A prompt whose directives lead nowhere.
    #[error("the prompt cannot be preprocessed: {0}")]
    Directives(String),
    /// Arguments that no kernel can have.
    #[error("no kernel can have the arguments `{asked}`: {reason}")]
    Arguments {
        /// As they were asked for.
        asked: String,
        /// The first diagnostic.
        reason: String,
    },
    /// Near-duplicates of a training set that is not there.
    #[error(
        "{} does not say what it learned from, so that near-duplicates cannot be told: leave --novel out", .0.display()
    )]
    UnknownTraining(PathBuf),
    /// What runs kernels does not work.
    #[error("the samples cannot be run: {0}")]
    Check(String),
    /// A file that cannot be read.
    #[error("{}", dataset::refusal("read", path, source))]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line of drawn tokens that is none.
    #[error("{}, line {line}: no list of ids: {source}", path.display())]
    Ids {
        /// The file.
        path: PathBuf,
        /// 1-based.
        line: u64,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The stop flag was raised.
    #[error(
        "stopped after {done} of {all} samples; nothing is written, the same seed draws them again"
    )]
    Stopped {
        /// Samples judged till then.
        done: usize,
        /// Samples asked for.
        all: u64,
    },
}
