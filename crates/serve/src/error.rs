/// Why there is no server, or it ended before it was stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The checkpoint cannot be loaded.
    #[error(transparent)]
    Checkpoint(#[from] lm::Error),
    /// The address is not free, or none of this machine's.
    #[error(
        "cannot listen on {address}: {source}; name another address with --listen, port 0 takes any free one"
    )]
    Listen {
        /// The address as it was asked for.
        address: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A thread or the event loop cannot be started.
    #[error("cannot start the server: {0}")]
    Start(std::io::Error),
    /// The folder of a report cannot be read.
    #[error("{}", dataset::refusal("read", folder, source))]
    Folder {
        /// The folder.
        folder: std::path::PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Others could have this machine run programs.
    #[error(
        "whoever can reach {address} could have programs run here: name a file with a token with --token-file, or listen on 127.0.0.1"
    )]
    Open {
        /// The address.
        address: std::net::SocketAddr,
    },
    /// Kernels of one side are missing.
    #[error("the quiz needs kernels of both sides: add --quiz {0}=DATASET")]
    OneSided(&'static str),
    /// A folder of programs as they were found.
    #[error(
        "{} is no data set; a quiz asks about kernels in normal form, which `stampmill prepare {} --out DIR` makes",
        .0.display(), .0.display()
    )]
    Unprepared(std::path::PathBuf),
    /// What should be asked about is not in normal form.
    #[error(
        "{} holds rows of schema `{schema}`, not kernels in normal form: name a data set of `stampmill prepare`, `sample` or `steer`",
        path.display()
    )]
    NoKernels {
        /// The data set.
        path: std::path::PathBuf,
        /// What it holds.
        schema: String,
    },
    /// A source has nothing to ask about.
    #[error(
        "{} has no kernel to ask about: none is accepted, at most 16 KiB long, and only on its side; name another data set",
        .0.display()
    )]
    Empty(std::path::PathBuf),
    /// A side has too few kernels.
    #[error(
        "{questions} questions need {} kernels of each side, and {kind} has {kernels}: give --questions {}, or add --quiz {kind}=DATASET",
        questions / 2,
        2 * kernels
    )]
    TooFew {
        /// `human` or `machine`.
        kind: &'static str,
        /// How many there are.
        kernels: usize,
        /// Questions of a player.
        questions: usize,
    },
    /// A data set cannot be read or written.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// The model's thread has ended.
    #[error("the model's thread has ended; this is a fault of the program")]
    Engine,
}
