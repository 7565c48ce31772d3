use dataset::Verdict;
use serde::{Deserialize, Serialize};
use timing_model::FunctionCounts;

/// What a source says about one program on one input. A source that does not know a figure leaves
/// it out; every result names its source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Which source measured: `qemu`, `gem5`, `cachegrind` (coarse estimate) or `wall` (this host).
    pub source: String,
    /// Name of the processor that was simulated; `host` for wall-clock time.
    pub cpu: String,
    /// Cycles from the first instruction to the last.
    pub cycles: Option<u64>,
    /// `cycles` at the processor's clock; for wall-clock time, the best run.
    pub seconds_simulated: f64,
    /// That less what an empty program with the same headers takes. At least 0.
    pub seconds_net: Option<f64>,
    /// Instructions executed.
    pub instructions: Option<u64>,
    /// Instructions per cycle.
    pub ipc: Option<f64>,
    /// Branches executed.
    pub branches: Option<u64>,
    /// Branches predicted wrongly.
    pub mispredicts: Option<u64>,
    /// Loads and stores that missed the first data cache.
    pub l1d_misses: Option<u64>,
    /// Misses of the second level: of data, of code and of page walks.
    pub l2_misses: Option<u64>,
    /// Misses of the last level.
    pub l3_misses: Option<u64>,
    /// Page walks.
    pub tlb_misses: Option<u64>,
    /// Cycles before `main`.
    pub startup_cycles: Option<u64>,
    /// Cycles of system calls and page faults.
    pub kernel_cycles: Option<u64>,
    /// One standard error of `cycles`, where they were sampled.
    pub sampling_error_cycles: Option<u64>,
    /// Instructions that were simulated in detail, where not all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detailed_instructions: Option<u64>,
    /// Kinds of code that sampling told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strata: Option<u64>,
    /// 95 % interval of the seconds: of sampled ones, and of those by the wall clock from two runs on.
    pub interval: Option<[f64; 2]>,
    /// What each function took that was asked for; sampled times have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionCounts>,
    /// Times the program ran for this measurement.
    pub runs: u64,
    /// The program's exit status.
    pub exit_status: i32,
    /// Whether the program asked for more input than there was.
    pub input_ended: Option<bool>,
    /// Content hash of its standard output; empty where nobody read it (wall-clock time).
    pub output_hash: String,
    /// Seconds that measuring took on this host, compilation not included.
    pub host_seconds: f64,
}

/// The measurement of a program, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// `accepted`, or why the program could not be timed, such as `does-not-compile`, `crashes`,
    /// `output-limit`, `instruction-limit`, `reads-clock`, `dynamic`.
    pub verdict: String,
    /// What a person would ask next about a verdict other than `accepted`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// There where the verdict is `accepted`.
    #[serde(flatten)]
    pub measurement: Option<Measurement>,
}

impl Timing {
    pub(crate) fn accepted(measurement: Measurement) -> Timing {
        let verdict = Verdict::ACCEPTED.to_owned();
        Timing { verdict, detail: String::new(), measurement: Some(measurement) }
    }

    /// Whether there is a measurement.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.measurement.is_some()
    }
}

impl From<Result<Measurement, Verdict>> for Timing {
    fn from(measured: Result<Measurement, Verdict>) -> Timing {
        measured.map_or_else(Timing::from, Timing::accepted)
    }
}

impl From<Verdict> for Timing {
    fn from(verdict: Verdict) -> Timing {
        Timing { verdict: verdict.name.into_owned(), detail: verdict.detail, measurement: None }
    }
}
