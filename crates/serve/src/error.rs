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
    /// The model's thread has ended.
    #[error("the model's thread has ended; this is a fault of the program")]
    Engine,
}
