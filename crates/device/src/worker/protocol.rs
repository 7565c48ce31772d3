use crate::{
    DeviceInfo, Finding,
    check::Contested,
    measure::{Effort, Measurement},
    opencl::KernelFacts,
    payload::{Job, Range},
};
use serde::{Deserialize, Serialize};

/// A question to the worker. It keeps one program at a time, built for any of its devices, and some of contests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Which devices are here?
    List,
    /// Open a device, unless that is done.
    Open {
        /// Place in the list of devices.
        device: usize,
        /// Its name when the list was made; `None`: whatever is there.
        name: Option<String>,
    },
    /// Build a program for an open device, and forget what was built for it before.
    Build {
        /// Place in the list of devices.
        device: usize,
        /// The program.
        text: String,
        /// Whether the driver is to tell what it knows about arguments.
        arguments: bool,
    },
    /// Check what was built for a device.
    Check {
        /// Place in the list of devices.
        device: usize,
        /// What to execute.
        job: Job,
    },
    /// Execute once under Oclgrind, whose log is read afterwards.
    Verify {
        /// Place in the list of devices.
        device: usize,
        /// What to execute.
        job: Job,
        /// Where Oclgrind writes.
        log: std::path::PathBuf,
    },
    /// Judge a candidate beside the kernel that it is to replace, and time both.
    Contest {
        /// Place in the list of devices.
        device: usize,
        /// The slow program's text, and what to execute.
        slow: (String, Job),
        /// The candidate's.
        fast: (String, Job),
        /// How many pairs of payloads.
        payloads: u32,
        /// Whether integers differ among them.
        alter: bool,
        /// How hard to time.
        effort: Effort,
    },
    /// Measure what was built, all cells in turn.
    Measure {
        /// What to execute where.
        cells: Vec<CellKey>,
        /// How hard to try.
        effort: Effort,
    },
}

/// What to measure where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellKey {
    /// Place in the list of devices.
    pub(crate) device: usize,
    /// What to execute.
    pub(crate) job: Job,
}

/// The worker's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// To `List`: the devices, or why there is no OpenCL.
    Devices(Result<Vec<DeviceInfo>, String>),
    /// To `Open`.
    Opened,
    /// To `Build`.
    Built(Result<BuiltFacts, Finding>),
    /// To `Check` and `Verify`.
    Checked(Checked),
    /// To `Measure`, per cell.
    Measured(Vec<Result<Measurement, Finding>>),
    /// To `Contest`.
    Contested(Contested),
    /// The device cannot be opened.
    Gone(String),
}

/// What is known of a program once it is built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BuiltFacts {
    /// Its kernels, in the order of the text.
    pub(crate) kernels: Vec<KernelFacts>,
    /// Options it was built with.
    pub(crate) options: String,
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checked {
    /// What it found.
    pub(crate) finding: Finding,
    /// The range it ran in, of the first kernel; `None` where there was none.
    pub(crate) range: Option<Range>,
    /// Bytes of one execution's transfers.
    pub(crate) transferred_bytes: u64,
    /// Whether the worker is in no state to go on.
    pub(crate) spoilt: bool,
}

impl Checked {
    /// A finding of something that did not come to an execution.
    pub(crate) fn nowhere(finding: Finding) -> Checked {
        Checked { finding, range: None, transferred_bytes: 0, spoilt: false }
    }
}
