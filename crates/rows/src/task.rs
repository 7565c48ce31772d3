use dataset::Row;
use serde::{Deserialize, Serialize};

schema! {
    /// One observation that heuristics learn from, a program on one input: the columns that every task
    /// has. Behind them stand the features, one column of doubles each by its name, and `cost_CHOICE`
    /// per choice, null where unmeasured.
    #[derive(Default, Eq)]
    pub struct TaskHead = "task", 2 {
        /// The program or kernel.
        pub program: String,
        /// Which input or size of it; may be empty.
        pub variant: String,
        /// What is held out together in cross-validation, for example the benchmark.
        pub group: String,
        /// The cheapest choice; null where unmeasured.
        pub label: Option<String>,
    }
}

/// A row that `label` makes: a kernel at one size, on a processor and on a GPU. Its features are those of
/// Grewe, Wang and O'Boyle (CGO 2013).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuGpuRow {
    /// `PACKAGE/PATH:KERNEL@` and eight digits of the program's identity.
    pub program: String,
    /// The global size.
    pub variant: String,
    /// What is held out together.
    pub group: String,
    /// License of the program.
    pub license: String,
    /// The faster device: `CPU` or `GPU`.
    pub label: String,
    /// As `label`; for readers of the CLgen paper's tables.
    pub oracle: String,
    /// As the feature space `grewe` counts it, and the five behind it.
    pub comp: f64,
    /// See `comp`.
    pub rational: f64,
    /// See `comp`.
    pub mem: f64,
    /// See `comp`.
    pub localmem: f64,
    /// See `comp`.
    pub coalesced: f64,
    /// See `comp`.
    pub atomic: f64,
    /// Bytes that cross the bus.
    pub transfer: f64,
    /// Work-items of a group, on the GPU.
    pub wgsize: f64,
    /// Bytes transferred per operation.
    #[serde(rename = "F1:transfer/(comp+mem)")]
    pub f1_transfer: f64,
    /// Share of coalesced accesses.
    #[serde(rename = "F2:coalesced/mem")]
    pub f2_coalesced: f64,
    /// Accesses of local per access of global memory, in a group.
    #[serde(rename = "F3:(localmem/mem)*avgws")]
    pub f3_local: f64,
    /// Operations per access of global memory.
    #[serde(rename = "F4:comp/mem")]
    pub f4_comp: f64,
    /// Seconds on the processor: the kernel, and the transfers that count.
    #[serde(rename = "cost_CPU")]
    pub cost_cpu: f64,
    /// Seconds on the GPU.
    #[serde(rename = "cost_GPU")]
    pub cost_gpu: f64,
    /// Slower over faster time; as `oracle`, and in single precision so no feature.
    pub speedup: f32,
    /// Its inverse, likewise.
    pub penalty: f32,
}

impl Row for CpuGpuRow {
    const SCHEMA: &'static str = TaskHead::SCHEMA;
    const VERSION: u32 = TaskHead::VERSION;
}

/// Costs are columns of this prefix and the choice's name.
pub const COST: &str = "cost_";

words! {
    /// Why `label` and `heuristic import` leave an observation out or change it.
    pub enum TaskVerdict, "verdict on an observation" {
        Accepted "accepted" Program "taken as it is";
        Relabelled "relabelled" Program "taken, with the cheapest choice as its label";
        UnknownLabel "unknown-label" Program "a label that is no choice";
        NotANumber "not-a-number" Program "a feature that is no number";
        InfiniteRatio "infinite-ratio" Program "a feature divides by zero";
        GarbageFeature "garbage-feature" Program "a feature that no program can have";
        BadCost "bad-cost" Program "a cost that is not positive";
        Unmeasured "unmeasured" Machine "no time on one of the devices";
        Undescribed "undescribed" Program "no vector";
    }
}
