use ballista_core::error::BallistaError;
use datafusion::error::DataFusionError;

/// Why a role could not be played.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// It was started by hand.
    #[error("`stampmill cluster` and the commands with --cluster start this program")]
    Usage,
    /// The machine refused.
    #[error("{0}")]
    Machine(std::io::Error),
    /// A port cannot be had.
    #[error("cannot listen at {address}: {source}; name another with --listen")]
    Listen {
        /// Where.
        address: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The other side of the cluster.
    #[error(transparent)]
    Cluster(#[from] cluster::Error),
    /// The engine.
    #[error("{0}")]
    Ballista(#[from] BallistaError),
    /// The query.
    #[error("{0}")]
    Sql(#[from] DataFusionError),
    /// Rows cannot be sent.
    #[error("cannot send rows: {0}")]
    Send(#[from] arrow::error::ArrowError),
    /// A connection.
    #[error("{0}")]
    Transport(#[from] tonic::transport::Error),
    /// Rows of a plan may be wrong.
    #[error("executors were lost while they worked on it, {} times in a row", crate::losses::TRIES)]
    ExecutorLost,
    /// In words.
    #[error("{0}")]
    Failed(String),
}
