use std::path::PathBuf;

/// Why a cluster did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An address that is none.
    #[error(
        "`{0}` is no address of a scheduler: write http://HOST:PORT, as `cluster scheduler` prints it"
    )]
    Address(String),
    /// Nobody answers.
    #[error(
        "no scheduler answers at {url}: {why}; start one with `stampmill cluster scheduler`, or both sides on this machine with `stampmill cluster up`"
    )]
    NoScheduler {
        /// Where it should be.
        url: String,
        /// What happened instead.
        why: String,
    },
    /// Somebody answers who is no scheduler of ours.
    #[error("what answers at {url} is no scheduler of stampmill: {why}")]
    NotAScheduler {
        /// Where.
        url: String,
        /// What it said.
        why: String,
    },
    /// The token is missing or another.
    #[error(
        "the scheduler at {url} refuses the token: {why}; name the file that the scheduler was started with by --token-file"
    )]
    Refused {
        /// Where.
        url: String,
        /// What it said.
        why: String,
    },
    /// A token file that holds none.
    #[error("{} holds no token: one line of 16 or more letters, digits and -._~ (`openssl rand -hex 32` makes one)", .0.display())]
    NoToken(PathBuf),
    /// Not a stage that executors know.
    #[error(
        "`{stage}` does not run on a cluster; it runs in parts: --part I/N on each machine, then `stampmill merge`. These do: {known}"
    )]
    NotAStage {
        /// The stage asked for.
        stage: String,
        /// Those that do.
        known: String,
    },
    /// There is nobody to work.
    #[error(
        "the scheduler at {0} has no executor: start some with `stampmill cluster executor --scheduler {0}`"
    )]
    NoExecutors(String),
    /// An executor that would make other rows.
    #[error(
        "executor {executor} is not like this machine ({differences}): install the same build and tools on both, or stop it"
    )]
    Differs {
        /// Its name.
        executor: String,
        /// In what it differs.
        differences: String,
    },
    /// A data set, or the object store of one, cannot be used.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// The program with the engine is not here.
    #[error(transparent)]
    NoProgram(#[from] host::Missing),
    /// The machine refused.
    #[error("cannot {action}: {source}")]
    Machine {
        /// What was tried.
        action: String,
        /// Why not.
        source: std::io::Error,
    },
    /// What the engine says of the job, or how it ended.
    #[error("{0}")]
    Failed(String),
}

pub(crate) fn machine(action: &str) -> impl FnOnce(std::io::Error) -> Error + '_ {
    move |source| Error::Machine { action: action.to_owned(), source }
}
