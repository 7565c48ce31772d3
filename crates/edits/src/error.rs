use std::path::{Path, PathBuf};

/// What can go wrong with edits; what a program under study does is a [`dataset::Verdict`] instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("{}", dataset::refusal(action, path, source))]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A line of a file is not what its form says.
    #[error("{path}, line {line}, field `{field}`: {reason}; --on-broken skip leaves such lines out", path = path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: u64,
        /// The field at fault; `-` for the line as a whole.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A program stands where lines of JSON are read.
    #[error(
        "{path} is a program, and JSON lines with programs in them are read here (`stampmill edits validate --forms` shows them); \
         `stampmill time compare SLOW FAST` compares two programs",
        path = .0.display()
    )]
    IsProgram(PathBuf),
    /// A file or folder has nothing of what is wanted.
    #[error("no {what} in {path}", path = path.display())]
    Empty {
        /// What was looked for.
        what: &'static str,
        /// Where.
        path: PathBuf,
    },
    /// A tool or program could not be run under its limits: a fault of this machine that says nothing about a program.
    #[error("cannot run {what}: {reason}")]
    Start {
        /// Which one.
        what: String,
        /// Why not.
        reason: String,
    },
    /// Faults of this machine left programs of a run without an answer; the others are done.
    #[error(
        "{count} of {total} programs have no verdict because this machine failed, not they; the first time: {first}; \
         what is done is cached, and the same command does the rest"
    )]
    Faults {
        /// Programs without an answer.
        count: u64,
        /// Programs in all.
        total: u64,
        /// The first fault.
        first: String,
    },
    /// An option has a value that makes no sense.
    #[error("{option}: {reason}")]
    Option {
        /// Which option.
        option: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A model's endpoint gave no usable answer, however often it was asked.
    #[error("{endpoint} gave no answer in {tries} tries; the last: {reason}")]
    Endpoint {
        /// Address, without credentials.
        endpoint: String,
        /// How often it was asked.
        tries: u32,
        /// What happened last.
        reason: String,
    },
    /// A model's endpoint will not answer this request, however often it is asked.
    #[error("{endpoint} refuses: {reason}")]
    Refused {
        /// Address, without credentials.
        endpoint: String,
        /// What it says.
        reason: String,
    },
    /// A picture could not be drawn.
    #[error("cannot draw {what}: {reason}")]
    Picture {
        /// Which one.
        what: &'static str,
        /// Why not.
        reason: String,
    },
    /// Time cannot be told.
    #[error(transparent)]
    Timing(#[from] timing::Error),
    /// A data set cannot be read or made.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// There is no clang to ask.
    #[error(transparent)]
    Clang(#[from] clang::Error),
    /// A repository cannot be had.
    #[error(transparent)]
    Mine(#[from] mine::Error),
}

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Whether it is a fault of this machine that one program met, so that the others can go on.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        match self {
            Error::Start { .. } | Error::File { .. } => true,
            Error::Timing(error) => error.is_fault(),
            _ => false,
        }
    }

    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File { action, path, source }
    }
}
