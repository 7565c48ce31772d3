/// What can go wrong while learning which points matter.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A search that cannot be made.
    #[error(transparent)]
    Synth(#[from] synth::Error),
    /// A model that cannot be fitted or named.
    #[error(transparent)]
    Heuristics(#[from] heuristics::Error),
    /// A device that cannot be used.
    #[error(transparent)]
    Device(#[from] device::Error),
    /// A data set that cannot be read or written.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// A file that cannot be written.
    #[error("cannot write the kernels of a round: {0}")]
    Write(#[from] std::io::Error),
    /// A committee that is not written as one.
    #[error("committee '{0}': write METHOD:COUNT with commas, for example mlp:7,knn:7,forest:7")]
    Committee(String),
    /// The stop flag was raised.
    #[error("stopped; what was labelled is kept, the same command goes on from there")]
    Stopped,
    /// Too little to learn from.
    #[error(
        "{found} labelled kernels to begin with, at least {wanted} are needed: give more with --train"
    )]
    TooFew {
        /// Labelled kernels.
        found: usize,
        /// As many as are needed.
        wanted: usize,
    },
}
