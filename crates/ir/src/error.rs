use std::path::{Path, PathBuf};

/// What can go wrong while IR data sets are made. What happens to a package or a module is a
/// verdict in its row and never one of these.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data set refused.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// LLVM refused, or there is none.
    #[error(transparent)]
    Llvm(#[from] llvm::Error),
    /// A program cannot be linked or timed here.
    #[error(transparent)]
    Timing(timing::Error),
    /// A source refused.
    #[error(transparent)]
    Mine(#[from] mine::Error),
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
    /// A command line that names no compiler.
    #[error("no compiler given; write `stampmill ir wrap -- clang-19 -c a.c`")]
    NoCompiler,
    /// A program could not be started.
    #[error("cannot start {program}: {reason}")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        reason: String,
    },
    /// A source as written names nothing that can be built.
    #[error(
        "`{text}` is no source: {reason}; possible are crate:NAME[@VERSION], crates:FILE, crates:top:N, \
         deb:NAME[@SUITE][#FOLDER], debian:popcon:N, git+URL-OR-PATH[@REV][#FOLDER], an archive[#FOLDER], dir:PATH, \
         @LIST.toml"
    )]
    UnknownSource {
        /// As the user wrote it.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The list of a registry's packages cannot be had.
    #[error(
        "`{text}` cannot be had: {reason}; or write names into a file, NAME@VERSION a line, and give crates:FILE"
    )]
    NoIndex {
        /// As the user wrote it.
        text: String,
        /// Why not.
        reason: String,
    },
    /// A source that cannot be built without a program that is not here.
    #[error("`{text}` needs {program}, which is not on the path: {install}")]
    MissingTool {
        /// As the user wrote it.
        text: String,
        /// The program.
        program: &'static str,
        /// How to get it.
        install: String,
    },
    /// A folder whose build system is not known.
    #[error(
        "{path} {}", match dataset::Dataset::is_at(path) {
            true => "is a data set and no project with sources",
            false => "holds none of Cargo.toml, CMakeLists.txt, configure, Makefile, build.zig; say how it is built with \
                --build \"COMMAND\"",
        }, path = path.display()
    )]
    NoRecipe {
        /// The folder.
        path: PathBuf,
    },
    /// A file that is not what it should be.
    #[error("{path}: {reason}", path = path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Modules cannot be read here at all: there is no LLVM, for example.
    #[error("cannot read modules: {0}")]
    Worker(String),
    /// LLVM does not know a pipeline.
    #[error("{0}")]
    Pipeline(String),
    /// The machine failed while a module was read.
    #[error("cannot read a module: {0}")]
    Fault(String),
    /// What was taken for a compiler calls `ir wrap` again, without end.
    #[error(
        "`{program}` calls `ir wrap` again and again: what is called so on PATH is a script around it, not a compiler"
    )]
    WrapsItself {
        /// As the build calls it.
        program: String,
    },
    /// What is in the way is not ours to replace.
    #[error("{path} is no {what} of stampmill's, so it is not replaced; name another place", path = path.display())]
    Foreign {
        /// What is in the way.
        path: PathBuf,
        /// What would have been replaced.
        what: &'static str,
    },
    /// The disk of a build is full.
    #[error("no room is left on the disk of {path}; make some and repeat the command to resume", path = path.display())]
    DiskFull {
        /// The folder of the build.
        path: PathBuf,
    },
    /// The user stopped the run.
    #[error("stopped; repeat the command to resume")]
    Cancelled,
}

impl Error {
    /// Whether the machine failed over one item, so that the others can be done.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        match self {
            Error::Timing(error) => error.is_fault(),
            error => matches!(error, Error::Fault(_) | Error::Start { .. }),
        }
    }

    pub(crate) fn unknown_source(text: &str, reason: impl Into<String>) -> Error {
        Error::UnknownSource { text: text.to_owned(), reason: reason.into() }
    }

    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File { action, path, source }
    }

    pub(crate) fn format(path: &Path, reason: impl std::fmt::Display) -> Error {
        Error::Format { path: path.to_owned(), reason: reason.to_string() }
    }
}

impl From<timing::Error> for Error {
    fn from(error: timing::Error) -> Error {
        match error {
            timing::Error::Cancelled => Error::Cancelled,
            error => Error::Timing(error),
        }
    }
}
