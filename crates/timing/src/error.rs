use std::path::{Path, PathBuf};

/// What can go wrong with timing; whatever a program under study does is a verdict instead.
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
    /// Neither a built-in processor nor a readable file of one.
    #[error("processor `{name}`: {reason}")]
    Cpu {
        /// As the user named it.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A tool is missing.
    #[error("{tool} was not found: {install}")]
    Missing {
        /// Its name.
        tool: &'static str,
        /// How to get it.
        install: &'static str,
    },
    /// A helper binary is missing.
    #[error(transparent)]
    Helper(#[from] host::Missing),
    /// A tool is there but cannot be used.
    #[error("{tool} cannot be used: {found}; {install}")]
    Unusable {
        /// Its name.
        tool: &'static str,
        /// What is wrong.
        found: String,
        /// How to get another.
        install: &'static str,
    },
    /// A program could not be run under its limits: a fault of this machine, or of what is installed on it, that
    /// says nothing about the program.
    #[error("cannot run {what}: {reason}")]
    Start {
        /// Which program.
        what: String,
        /// Why not.
        reason: String,
    },
    /// A source said something that is no measurement.
    #[error("{source_name} gave no measurement: {reason}")]
    Unreadable {
        /// Which source.
        source_name: &'static str,
        /// What it said.
        reason: String,
    },
    /// No programs in a folder.
    #[error("no programs (.cpp .cc .c, an ELF file, or .jsonl with `name`, `src`, `stdin`) in {}", .0.display())]
    NoPrograms(PathBuf),
    /// An option has a value that makes no sense.
    #[error("{option}: {reason}")]
    Option {
        /// Which option.
        option: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The user stopped it.
    #[error("stopped; repeat the command")]
    Cancelled,
    /// The data set of results cannot be made.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
}

impl Error {
    /// Whether it is a fault of this machine that one program met, so that the others can go on.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(self, Error::Start { .. } | Error::File { .. })
    }

    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File { action, path, source }
    }
}
