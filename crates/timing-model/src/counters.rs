use serde::{Deserialize, Serialize};

/// What was counted while a program ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Instructions executed; a repeated string instruction is one.
    pub instructions: u64,
    /// Branches executed, of all kinds.
    pub branches: u64,
    /// Branches whose direction or target was predicted wrongly.
    pub mispredicts: u64,
    /// Loads and stores that missed the first data cache.
    pub l1d_misses: u64,
    /// Misses of the second level, of code and data.
    pub l2_misses: u64,
    /// Misses of the last level.
    pub l3_misses: u64,
    /// Page walks.
    pub tlb_misses: u64,
    /// First touches of pages by data accesses.
    pub page_faults: u64,
    /// System calls.
    pub system_calls: u64,
}
