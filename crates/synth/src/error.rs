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
    /// The leak rule cannot look at kernels.
    #[error(transparent)]
    Kernels(#[from] kernels::Error),
    /// A model that does not say what it learned, where something is excluded.
    #[error(
        "{} does not say what it was trained on (it has no training-set.safetensors), and {} names and {} kernels are \
         excluded here: train it again with this version, or accept it with --accept-model",
        folder.display(), excluded.0, excluded.1
    )]
    UnknownTraining {
        /// The checkpoint.
        folder: PathBuf,
        /// Names and kernels that are excluded.
        excluded: (usize, usize),
    },
    /// A model that learned what is excluded.
    #[error(
        "{} was trained on {count} of {of} kernels that are excluded here ({some}): train one with \
         `stampmill train --exclude`, or accept it with --accept-model",
        folder.display()
    )]
    Trained {
        /// The checkpoint.
        folder: PathBuf,
        /// Kernels of its training set that are excluded.
        count: usize,
        /// Kernels of its training set.
        of: usize,
        /// Some of them.
        some: String,
    },
    /// A checkpoint that cannot be read.
    #[error(transparent)]
    Model(#[from] lm::Error),
    /// A language model failed in the middle of a search.
    #[error("the model cannot draw: {0}")]
    Draw(String),
    /// Neither a file nor constraints.
    #[error("no file {0}, and no constraint DIMENSION=VALUE either")]
    NoTarget(String),
    /// What may never end.
    #[error("{} is neither a file nor a folder: copy what it holds to a file", .0.display())]
    NoFile(PathBuf),
    /// A folder where a file of targets is wanted.
    #[error("{} is a folder: --targets takes JSON lines, --target programs", .0.display())]
    FolderOfTargets(PathBuf),
    /// A file of targets without any.
    #[error("no target in {}: a JSON object a line is expected", .0.display())]
    NoLine(PathBuf),
    /// More targets than there is room for.
    #[error(
        "{} has more than {most} targets, the most that a run holds in {space}: split it into files of as many",
        path.display()
    )]
    ManyTargets {
        /// The file.
        path: PathBuf,
        /// The most of them.
        most: usize,
        /// The space of the search.
        space: String,
    },
    /// A target's programs are none.
    #[error("no program in {}", .0.display())]
    NoProgram(PathBuf),
    /// No program that a target is to be the vector of compiles.
    #[error("{name} does not compile, so that it has no vector to steer to{why}")]
    NoVector {
        /// The first of them.
        name: String,
        /// What clang says of it, behind a colon; empty where it says nothing.
        why: String,
    },
    /// None of the targets was drawn.
    #[error("--sample leaves no target")]
    NoTargets,
    /// Seeds were asked for, and there are none.
    #[error("no kernel of {} may be a seed ({excluded} excluded): {why}", path.display())]
    NoSeeds {
        /// Where they were looked for.
        path: PathBuf,
        /// How many the leak rule excludes.
        excluded: usize,
        /// Why none is left.
        why: String,
    },
    /// Seeds that may hold the targets themselves.
    #[error(
        "{} was made with the leak rule off, or of kernels that were: it may hold the targets themselves. Take others as seeds, \
         or accept it with --allow-leaks",
        .0.display()
    )]
    LeakySeeds(PathBuf),
    /// Vectors of seeds that the search would not find itself.
    #[error("the vectors in {} are none for this search: {reason}", path.display())]
    OtherVectors {
        /// The data set of `features`.
        path: PathBuf,
        /// What is different.
        reason: String,
    },
    /// What is no archive.
    #[error(
        "{} is no archive but {what}: `stampmill steer archive build {} --out ARCHIVE` makes one of it, and --seeds takes it as it is",
        path.display(), path.display()
    )]
    NoArchive {
        /// What was named as one.
        path: PathBuf,
        /// What it is.
        what: String,
    },
    /// An archive of points of another space.
    #[error(
        "{} is an archive of {found}, and this search is in {wanted}: `stampmill steer archive build {} --space {wanted} --out ARCHIVE` makes one of its kernels",
        path.display(), path.display()
    )]
    OtherArchive {
        /// The archive.
        path: PathBuf,
        /// Its space.
        found: String,
        /// The space of the search.
        wanted: String,
    },
    /// An archive that another run replaced while kernels were being added to it.
    #[error(
        "{} was replaced by another run meanwhile: `stampmill steer archive build {} FOUND --out ARCHIVE` makes one of both",
        .0.display(), .0.display()
    )]
    ReplacedArchive(PathBuf),
    /// The user stopped the run.
    #[error("stopped; what was found is kept; repeat the command to resume")]
    Stopped,
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
    /// No thread to look at a kernel with.
    #[error("cannot start a thread to look at a kernel: {0}; lower --jobs, or end other programs")]
    Thread(std::io::Error),
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

impl Error {
    /// Whether the machine failed: nothing is said of the target that was searched for then.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        match self {
            Error::Clang(error) | Error::Features(features::Error::Clang(error)) => {
                error.is_fault()
            }
            Error::Features(features::Error::Reader(_))
            | Error::Acceptance(_)
            | Error::Thread(_) => true,
            _ => false,
        }
    }
}
