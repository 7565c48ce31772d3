use arrow::error::ArrowError;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why rows are not written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A line of a file, or a row of a table, is not what it must be.
    #[error("{}, {unit} {number}: {reason}", path.display())]
    Place {
        /// The file.
        path: PathBuf,
        /// What is counted: lines or rows.
        unit: &'static str,
        /// Its number, from 1.
        number: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A file or folder is not what it must be.
    #[error("{}: {reason}", path.display())]
    Whole {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A data set cannot be read or made.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// Rows cannot be turned into another form.
    #[error("cannot turn rows into another form: {0}")]
    Arrow(#[from] ArrowError),
    /// The file system refused.
    #[error("{}", dataset::refusal(action, path, source))]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The user stopped it.
    #[error("stopped; nothing was written")]
    Stopped,
}

impl Error {
    pub(crate) fn whole(path: &Path, reason: impl Into<String>) -> Error {
        Error::Whole { path: path.to_owned(), reason: reason.into() }
    }

    pub(crate) fn line(path: &Path, number: u64, reason: impl Into<String>) -> Error {
        Error::Place { path: path.to_owned(), unit: "line", number, reason: reason.into() }
    }

    pub(crate) fn row(path: &Path, number: u64, reason: impl Into<String>) -> Error {
        Error::Place { path: path.to_owned(), unit: "row", number, reason: reason.into() }
    }

    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File { action, path, source }
    }
}
