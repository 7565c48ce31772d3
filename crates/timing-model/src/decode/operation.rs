//! One decoded instruction, as the pipeline reads it.

use serde::{Deserialize, Serialize};

/// What instructions of one class cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Fused µops, 0 to 255; memory accesses of load-and-operate instructions are not counted apart.
    #[serde(default = "one")]
    pub uops: u8,
    /// Cycles from operands to result, 0 to 255.
    #[serde(default = "one")]
    pub latency: u8,
    /// Ports that take it.
    #[serde(default)]
    pub ports: Vec<String>,
    /// Port slots it takes, one after the other.
    #[serde(default = "one")]
    pub issues: u8,
    /// Cycles until the next instruction that shares its unit may begin; 1: fully pipelined.
    #[serde(default = "one")]
    pub every: u8,
}

fn one() -> u8 {
    1
}

/// Registers of the model, by numbers that each decoder gives them (here those of x86-64: 16 integer, 32 vector, flags
/// and x87), and two slots that stand for "no source" and "no destination".
pub(crate) mod register {
    pub(crate) const VECTOR: u8 = 16;
    pub(crate) const FLAGS: u8 = 48;
    pub(crate) const X87: u8 = 50;
    pub(crate) const MASK: u8 = 52;
    /// The stack pointer of x86-64.
    pub(crate) const STACK: u8 = 4;
    /// Written by instructions without a destination, never read.
    pub(crate) const SINK: u8 = 254;
    /// Never written, ready since ever.
    pub(crate) const NONE: u8 = 255;
}

/// Facts about an instruction, as bits.
pub(crate) mod flag {
    pub(crate) const LOAD: u16 = 1;
    pub(crate) const STORE: u16 = 2;
    /// Needs no execution port.
    pub(crate) const FREE: u16 = 4;
    // What is above is usual; what is below makes an operation a rare one to the pipeline.
    /// A repeated move or fill of memory.
    pub(crate) const REPEATED: u16 = 8;
    pub(crate) const SYSTEM_CALL: u16 = 16;
    /// More µops than are renamed in a cycle or than two, more sources than three, or more
    /// destinations than two.
    pub(crate) const MANY: u16 = 32;
    /// Occupies an unpipelined unit.
    pub(crate) const UNIT: u16 = 64;
    /// Waits for all earlier instructions and holds back all later ones.
    pub(crate) const SERIAL: u16 = 128;
    /// A store past the caches.
    pub(crate) const STREAMING: u16 = 256;
    /// More than one port slot.
    pub(crate) const SLOTS: u16 = 512;
}

/// One instruction, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) flags: u16,
    /// Index of its set of ports.
    pub(crate) ports: u8,
    pub(crate) uops: u8,
    pub(crate) latency: u8,
    pub(crate) issues: u8,
    pub(crate) every: u8,
    /// Bytes of its memory accesses.
    pub(crate) bytes: u8,
    /// Which scheduler it waits in: 0 that of integers, 1 that of vectors.
    pub(crate) scheduler: u8,
    /// Cycles that its loads take longer, as loads to vector registers do.
    pub(crate) load_extra: u8,
    /// Index of the set of ports that take the address of its store.
    pub(crate) store_address: u8,
    pub(crate) sources: [u8; 4],
    pub(crate) address: [u8; 2],
    pub(crate) destinations: [u8; 3],
}
