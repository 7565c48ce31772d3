use std::path::PathBuf;

/// What can go wrong with labels. What happens to a single program is a verdict in its row, never one
/// of these.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A task that is none of these.
    #[error("no task `{name}` with exact labels; there are {known}")]
    UnknownTask {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A task that has no pipelines, given some.
    #[error("task `{0}` runs no pipelines: --pipelines is for `passes`")]
    NoPipelines(String),
    /// A flag that is none of those that a program can be compiled with.
    #[error(
        "`{0}` is no flag that a program is compiled with here: there are -I DIR, -D NAME[=VALUE] and -std=STANDARD"
    )]
    Flag(String),
    /// A folder of headers that is none.
    #[error("-I {}: there is no such folder", .0.display())]
    NoFolder(PathBuf),
    /// A file that holds no pipelines.
    #[error(
        "{path}: {reason}; a line is NAME, `minsize` or `-`, and passes as `opt -passes` takes them, \
         with blanks between", path = path.display()
    )]
    Pipelines {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A pipeline that LLVM does not know.
    #[error("pipeline {name}: {reason}")]
    Pipeline {
        /// Its name.
        name: String,
        /// LLVM's message.
        reason: String,
    },
    /// Runs that make no task.
    #[error("{}: {why}", path.display())]
    Runs {
        /// The data set.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
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
    /// A data set refused.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// Feature vectors cannot be had.
    #[error(transparent)]
    Features(#[from] features::Error),
    /// clang cannot be had.
    #[error(transparent)]
    Clang(#[from] clang::Error),
    /// LLVM cannot be had.
    #[error(transparent)]
    Llvm(#[from] llvm::Error),
    /// Programs cannot be timed.
    #[error(transparent)]
    Timing(#[from] timing::Error),
    /// The functions of OpenCL C that programs are linked with cannot be compiled here.
    #[error(
        "the built-in functions of OpenCL C, which programs are linked with, could not be compiled: {0}"
    )]
    Builtins(String),
    /// The tool of one task is missing.
    #[error("task `mca` needs llvm-mca of LLVM 19 (`apt install llvm-19`); it is not on PATH")]
    NoMca,
    /// A worker or a tool cannot be started, or the machine failed it.
    #[error("{tool}: {death}")]
    Worker {
        /// Which.
        tool: &'static str,
        /// How.
        death: sandbox::Death,
    },
    /// The stop flag was raised.
    #[error("stopped; the same command does the rest")]
    Stopped,
}

impl Error {
    /// Whether the machine failed and not a program.
    pub(crate) fn is_fault(&self) -> bool {
        match self {
            Error::Clang(error) => error.is_fault(),
            Error::Worker { death, .. } => death.is_ours(),
            Error::Timing(error) => error.is_fault(),
            _ => false,
        }
    }
}
