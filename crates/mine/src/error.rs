use std::path::{Path, PathBuf};

/// What can go wrong while mining.
///
/// A source that cannot be had is a verdict in the report and never ends a run: inside this crate
/// it travels as [`Error::Unavailable`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data set refused.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
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
    /// A source as written names nothing known.
    #[error("`{spec}` is no source: {reason}; possible are {forms}")]
    UnknownSource {
        /// As the user wrote it.
        spec: String,
        /// What is wrong with it.
        reason: String,
        /// The forms there are.
        forms: String,
    },
    /// A file or folder that a stopped run may have been at is not there.
    #[error(
        "the source {spec} is no longer there, and {} is unfinished: put it back and give the same command again, \
         or leave it out and start over with --force", partial.display()
    )]
    SourceGone {
        /// As the user wrote it.
        spec: String,
        /// What the stopped run left.
        partial: PathBuf,
    },
    /// A list of sources that cannot be read.
    #[error("{}: {reason}", path.display())]
    List {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No source was named.
    #[error("no sources given; possible are {0}")]
    NoSources(String),
    /// A source that cannot be had.
    #[error("{spec}: {reason}")]
    Unavailable {
        /// The source.
        spec: String,
        /// Why not.
        reason: String,
    },
    /// The user stopped the run.
    #[error("stopped; repeat the command to resume")]
    Cancelled,
    /// No threads to work with.
    #[error("cannot start {jobs} threads: {reason}")]
    Threads {
        /// How many were wanted.
        jobs: usize,
        /// Why not.
        reason: String,
    },
}

impl Error {
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File { action, path, source }
    }

    pub(crate) fn unavailable(spec: &str, reason: impl std::fmt::Display) -> Error {
        Error::Unavailable { spec: spec.to_owned(), reason: reason.to_string() }
    }
}
