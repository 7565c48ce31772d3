use std::path::PathBuf;

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
    /// A committee that is not written as one.
    #[error("committee '{0}': write METHOD:COUNT with commas, for example mlp:7,knn:7,forest:7")]
    Committee(String),
    /// Kernels are to be labelled, but not measured.
    #[error("--measuring 0s only checks kernels: labels need their times")]
    NotMeasured,
    /// No kernel is left once near-duplicates of those to test on are left out.
    #[error("no kernel is left to {0}")]
    NothingLeft(&'static str),
    /// The stop flag was raised.
    #[error("stopped; what was labelled is kept; repeat the command to resume")]
    Stopped,
    /// The place of an export is taken.
    #[error(
        "{} exists already; name another folder with --export-round, or replace it with --force", .0.display()
    )]
    Exported(PathBuf),
    /// An export in the place of something that is needed.
    #[error("--export-round {} is named twice in this command; name another folder", .0.display())]
    NamedTwice(PathBuf),
    /// There is nothing that runs could be the costs of.
    #[error(
        "no kernel of {} waits for measurement: export some first with --export-round FOLDER", .0.display()
    )]
    NothingWaits(PathBuf),
    /// Runs of other kernels.
    #[error(
        "{} has no row of the {kernels} kernels that wait for measurement: \
         run what --export-round wrote last, or export it once more", runs.display()
    )]
    OtherRuns {
        /// The data set.
        runs: PathBuf,
        /// Kernels that wait.
        kernels: usize,
    },
    /// Runs that costs cannot be read from.
    #[error("{} lacks {what}: run the kernels again with `{flags}`", runs.display())]
    LackingRuns {
        /// The data set.
        runs: PathBuf,
        /// What no row of it is.
        what: String,
        /// What `stampmill run` needs.
        flags: String,
    },
    /// Too little to learn from.
    #[error(
        "--{role} gives {found} labelled kernels, at least {wanted} are needed: give more \
         (without --test a third of --train is kept to test on; what does not run, pass the checker \
         and divide into the groups at every choice has no label)"
    )]
    TooFew {
        /// What they are for: `train` or `test`.
        role: &'static str,
        /// Labelled kernels.
        found: usize,
        /// As many as are needed.
        wanted: usize,
    },
}
