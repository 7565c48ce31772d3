//! A deterministic out-of-order processor, fed by an instruction stream.
//!
//! The model answers how many cycles a program takes on a described processor. It uses integer
//! arithmetic only and looks at nothing but the stream, so the same stream gives the same cycles on
//! every machine. [`Core`] takes blocks of machine code (x86-64, AArch64 or RV64GC, as the processor has it: see
//! [`Architecture`]), the addresses they access and the system calls they make, from an emulator or anything else that executes programs; it solves the
//! dataflow of the instruction window as they come (see `pipeline`), with branch prediction, caches,
//! prefetchers, translation, memory and the operating system's share.
//!
//! - [`Cpu`] is a processor: every parameter, read from a documented TOML file (`cpus/`).
//! - [`Core`] is the model; [`Report`] what it says in the end.
//! - [`Sampled`] is how a run of which only samples were simulated in detail came to its figures ([`Settings::sample_rate`]).
//! - [`FunctionCounts`] is what each function took, of a core that was told where functions are ([`Core::watch`]).
//! - [`Refusal`] says why a program cannot be timed, such as reading the processor's clock.
//!
//! ```
//! use stampmill_timing_model::{Core, Cpu, Settings};
//!
//! let mut core = Core::new(&Cpu::named("zen4").expect("built in"), Settings::default());
//! // imul rax, rax; dec rcx; jne back
//! let code: [(u64, &[u8]); 3] = [
//!     (0x40_1000, &[0x48, 0x0f, 0xaf, 0xc0]),
//!     (0x40_1004, &[0x48, 0xff, 0xc9]),
//!     (0x40_1007, &[0x75, 0xf7]),
//! ];
//! let block = core.translate(&code).expect("nothing in it is refused");
//! for _ in 0..100_000 {
//!     core.enter(block).expect("no limit was set");
//! }
//! let report = core.finish();
//! // A chain of multiplications, three cycles each.
//! assert!((299_000..340_000).contains(&report.cycles), "{}", report.cycles);
//! ```

mod architecture;
mod block;
mod branch;
mod core;
mod counters;
mod cpu;
mod decode;
mod error;
mod functions;
mod kernel;
mod memory;
mod pipeline;
mod report;
mod sampling;
mod strings;
mod verdict;

pub use crate::core::{Core, Settings, Slot};
pub use architecture::Architecture;
pub use counters::Counters;
pub use cpu::{
    Branch, CacheShape, Cpu, Dram, Forwarding, Frontend, Kernel, PortNames, Prefetch, Replacement,
    Strings, Tlb, Window,
};
pub use decode::{Class, Cost};
pub use error::Error;
pub use functions::FunctionCounts;
pub use report::{Report, Sampled};
pub use verdict::Refusal;
