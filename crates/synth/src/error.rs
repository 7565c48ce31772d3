use std::path::PathBuf;

/// What can go wrong in a search, apart from what is wrong with candidates.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No compiler to ask.
    #[error(transparent)]
    Clang(#[from] clang::Error),
    /// A space that is not known, or no LLVM.
    #[error(transparent)]
    Features(#[from] features::Error),
    /// A data set that cannot be read or written.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// A file that cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A target that is not written as one.
    #[error("target '{name}': {reason}")]
    Target {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A point that no program of the space can have.
    #[error("target '{name}' is impossible: {constraint}")]
    Impossible {
        /// Its name.
        name: String,
        /// The constraint it breaks, with the values.
        constraint: String,
    },
    /// A proposer that is not known.
    #[error("no proposer '{name}': there are {known}")]
    UnknownProposer {
        /// As asked for.
        name: String,
        /// Those there are.
        known: String,
    },
    /// What an unfinished run has learned is no such thing.
    #[error(
        "what the unfinished run has learned cannot be read: remove its folder and begin again"
    )]
    Memory,
    /// A kernel could not be tried, for no fault of its own.
    #[error("cannot tell whether a kernel is acceptable: {0}")]
    Acceptance(String),
    /// A metric that is not known.
    #[error("no metric '{0}': there are standardised, euclidean, own")]
    UnknownMetric(String),
    /// A proposer that needs seeds without any.
    #[error("proposer '{0}' needs mined kernels: name a data set of them with --seeds")]
    NeedsSeeds(String),
    /// Not even one generation fits.
    #[error(
        "a budget of {budget} candidates is less than one generation of {generation}: raise it, or lower --generation"
    )]
    SmallBudget {
        /// Candidates allowed.
        budget: u64,
        /// Candidates of a generation.
        generation: usize,
    },
}
