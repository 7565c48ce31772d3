use dataset::Row;
use serde::{Deserialize, Serialize};

/// One row of a data set of schema `run`: a kernel at one size on one device. The columns include
/// those of cldrive's CSV.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// Identity of the program: the hash of its text.
    pub id: String,
    /// The package it is from; empty where the input does not say.
    pub package: String,
    /// Its licence as an SPDX expression; empty where the input does not say.
    pub licence: String,
    /// Identity of its family of near-duplicates; empty where the input does not say.
    pub family: String,
    /// Where the program is from.
    pub path: String,
    /// The kernel, or several in order joined by `+`.
    pub kernel: String,
    /// The device's name.
    pub device: String,
    /// `cpu`, `gpu`, `accelerator` or `other`.
    pub device_type: String,
    /// Its platform.
    pub platform: String,
    /// Its driver's version.
    pub driver: String,
    /// The version of the platform, which names PoCL's compiler, and of OpenCL C.
    pub compiler: String,
    /// Greatest clock frequency in MHz; 0 where the driver does not know.
    pub clock_mhz: u32,
    /// What the program was built with, beyond the driver's defaults.
    pub build_options: String,
    /// Work-items.
    pub global_size: u64,
    /// Work-items of a group; `None` where it did not come to that.
    pub local_size: Option<u64>,
    /// Work-items along each dimension of the first kernel, such as `64x16`.
    pub global_shape: String,
    /// The same of a group.
    pub local_shape: String,
    /// How the payload was chosen: a name of [`VARIANTS`](crate::VARIANTS).
    pub payload: String,
    /// Distribution of the contents.
    pub values: String,
    /// An [`Outcome`](crate::Outcome).
    pub outcome: String,
    /// `kernel` or `us`: what the outcome is about.
    pub about: String,
    /// The argument, the limit, the compiler's first error.
    pub detail: String,
    /// Local memory that the kernel declares, in bytes.
    pub work_item_local_mem_size: Option<u64>,
    /// Private memory of a work-item, in bytes.
    pub work_item_private_mem_size: Option<u64>,
    /// Bytes that cross the bus in one execution, both ways.
    pub transferred_bytes: Option<u64>,
    /// Median time of an execution's transfers.
    pub transfer_time_ns: Option<u64>,
    /// Median time of the kernel on the device, by its own clock.
    pub kernel_time_ns: Option<u64>,
    /// Median time of an execution by the host's clock.
    pub wall_time_ns: Option<u64>,
    /// How often it was executed, after a warm-up.
    pub repeats: Option<u32>,
    /// Width of the 95 % confidence interval of the median kernel time, relative to it.
    pub interval: Option<f64>,
}

/// On which devices transfers are a cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum Transfers {
    /// On all but processors, which can read the host's memory where it lies.
    #[default]
    Gpu,
    /// On all.
    Both,
}

impl RunRow {
    /// Seconds of the kernel and of the transfers that count; `None` where nothing was measured.
    #[must_use]
    pub fn seconds(&self, transfers: Transfers) -> Option<f64> {
        let counts = transfers == Transfers::Both || self.device_type != "cpu";
        let transfer = if counts { self.transfer_time_ns? } else { 0 };
        let total = self.kernel_time_ns? + transfer;
        (self.outcome == "pass" && total > 0).then_some(total as f64 * 1e-9)
    }
}

impl Row for RunRow {
    const SCHEMA: &'static str = "run";
    const VERSION: u32 = 1;
}
