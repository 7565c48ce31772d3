use std::path::PathBuf;

/// What can go wrong with feature extraction and projection. What happens to a single program is a
/// verdict in its [`Row`](crate::Row), never one of these.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A space nobody registered.
    #[error("no feature space `{name}`; {near}there are {known}")]
    UnknownSpace {
        /// The name asked for.
        name: String,
        /// What may have been meant, as a question; empty where nothing is near.
        near: String,
        /// The names there are.
        known: String,
    },
    /// Spaces that cannot be one.
    #[error("`{name}` cannot be joined with other spaces: its vectors come from running programs")]
    NotJoined {
        /// The space.
        name: String,
    },
    /// Nothing to extract.
    #[error("no feature space named; there are {known}")]
    NoSpace {
        /// The names there are.
        known: String,
    },
    /// Points of another length than the space has dimensions.
    #[error("{from}: a vector of {found} values where `{space}` has {wanted} dimensions")]
    Dimensions {
        /// Where the vector stands.
        from: String,
        /// The space.
        space: String,
        /// Its length.
        found: usize,
        /// The length wanted.
        wanted: usize,
    },
    /// A vector with a value that is no number.
    #[error("{from}: dimension `{dimension}` of `{space}` is no finite number")]
    NotFinite {
        /// Where the vector stands.
        from: String,
        /// The space.
        space: String,
        /// The dimension.
        dimension: String,
    },
    /// A data set of features without a single vector of the space asked for.
    #[error("{} has no vectors of `{space}`; extract them with `stampmill features --space {space}`", path.display())]
    NoVectors {
        /// The data set.
        path: PathBuf,
        /// The space.
        space: String,
    },
    /// Two vectors at least are needed to see anything.
    #[error("a projection needs two vectors or more, found {0}")]
    TooFew(usize),
    /// A line of a file of points cannot be read.
    #[error("{} line {line}: {reason}", path.display())]
    Points {
        /// The file.
        path: PathBuf,
        /// 1-based.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The drawing could not be written.
    #[error("cannot draw {}: {reason}", path.display())]
    Draw {
        /// The picture.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}", dataset::refusal(action, path, source))]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The user stopped the run.
    #[error("stopped: {done} programs are described")]
    Cancelled {
        /// Programs described.
        done: u64,
    },
    /// The compiler cannot be had at all.
    #[error(transparent)]
    Clang(#[from] clang::Error),
    /// The program that reads modules does not start.
    #[error("cannot start what reads modules: {0}")]
    Reader(sandbox::Death),
    /// No LLVM to read modules with.
    #[error(transparent)]
    Llvm(#[from] llvm::Error),
    /// Kernels cannot be run.
    #[error(transparent)]
    Timing(#[from] timing::Error),
    /// The functions of OpenCL C that kernels are linked with cannot be compiled here.
    #[error(
        "the built-in functions of OpenCL C, which `dynamic` runs kernels with, could not be compiled: {0}"
    )]
    Builtins(String),
    /// Programs or rows cannot be read or written.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
}
