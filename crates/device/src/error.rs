use std::path::PathBuf;

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong with a run as a whole; what happens to one kernel is a
/// [`Finding`](crate::Finding).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no OpenCL on this machine.
    #[error(
        "no OpenCL here ({0}): install a loader and a driver, on Debian and Ubuntu \
         `ocl-icd-libopencl1` with `pocl-opencl-icd` for the processor or the vendor's package for \
         a GPU (`nvidia-opencl-icd`, `intel-opencl-icd`, `mesa-opencl-icd`); without root, \
         `pip install pocl-binary-distribution` and set OCL_ICD_FILENAMES to its library"
    )]
    NoOpenCl(String),
    /// No usable device answers to the selection.
    #[error("no usable device for `{wanted}`; here are: {found}")]
    NoDevice {
        /// What was asked for.
        wanted: String,
        /// What there is.
        found: String,
    },
    /// The worker cannot be started or speaks another protocol.
    #[error("the device worker does not work: {0}")]
    Worker(String),
    /// A device that was listed cannot be opened: it is gone, in use, or has no memory left.
    #[error("cannot open the device `{device}`: {why}")]
    Unopened {
        /// Its name.
        device: String,
        /// What the driver says.
        why: String,
    },
    /// A device runs nothing any more.
    #[error("a device does not run a trivial kernel any more: {0}")]
    Device(String),
    /// What says whether a program is harmless cannot be started.
    #[error("the clang worker does not work: {0}")]
    Clang(String),
    /// What counts operations does not work.
    #[error("cannot count operations: {0}")]
    Operations(String),
    /// Reading or writing a data set failed.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// A row of the input is not what its schema promises.
    #[error("{path}: column `{column}`: {reason}", path = path.display())]
    Column {
        /// The data set.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Pairs of kernels cannot be read.
    #[error("{path}: {reason}", path = path.display())]
    Pairs {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A schedule file is wrong.
    #[error("{path}: {reason}", path = path.display())]
    Schedule {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Runs of several machines, where those of a kernel are compared.
    #[error(
        "{path} was measured on {} machines ({}): costs of one would be compared with those of another; label the runs of \
         each by themselves",
        hosts.len(),
        hosts.join(", "),
        path = path.display()
    )]
    SeveralMachines {
        /// The runs.
        path: PathBuf,
        /// The machines.
        hosts: Vec<String>,
    },
    /// The user stopped it; a run that is resumable says [`dataset::Error::Cancelled`] instead.
    #[error("stopped")]
    Stopped,
    /// A list of sizes cannot be read.
    #[error("`{0}` is no size: write 4096, 2^12, 64Ki, 2^7..2^24 or a list of these with commas")]
    Size(String),
    /// A range of sizes has its larger end first.
    #[error("`{0}` ends before it begins: write the smaller size first")]
    Backwards(String),
    /// Oclgrind was asked for and is not here.
    #[error(
        "Oclgrind is not here: install Debian's package `oclgrind`, or run without --verify oclgrind"
    )]
    NoOclgrind,
    /// A scratch folder or an output file cannot be written.
    #[error("cannot {action}: {source}")]
    File {
        /// What was tried.
        action: &'static str,
        /// Why not.
        source: std::io::Error,
    },
}

impl Error {
    /// Whether this machine failed and not a program or a user.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(
            self,
            Error::Worker(_)
                | Error::Unopened { .. }
                | Error::Device(_)
                | Error::Clang(_)
                | Error::Operations(_)
                | Error::File { .. }
        )
    }
}
