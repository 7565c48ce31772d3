//! Every parameter of a processor, as its TOML file states it.

use crate::{
    Architecture,
    decode::{Class, Cost},
    error::Error,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A processor: what `cpus/*.toml` holds. Times are cycles of its core clock unless a name says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// Name in results.
    pub name: String,
    /// One line: which part of which year, and whose figures.
    pub description: String,
    /// The instruction set that its programs are written in: `x86-64`, which need not be said, `aarch64` or `riscv64`.
    #[serde(default, skip_serializing_if = "is_x86")]
    pub architecture: Architecture,
    /// Core clock in MHz; turns cycles into seconds and nothing else.
    pub clock_mhz: u64,
    /// Fetch, decode and rename.
    pub frontend: Frontend,
    /// Reorder buffer, queues, schedulers.
    pub window: Window,
    /// Execution ports.
    pub ports: PortNames,
    /// Branch prediction.
    pub branch: Branch,
    /// First-level instruction cache.
    pub l1i: CacheShape,
    /// First-level data cache.
    pub l1d: CacheShape,
    /// Second-level cache.
    pub l2: CacheShape,
    /// Last-level cache: the share one busy core sees.
    pub l3: CacheShape,
    /// Main memory.
    pub dram: Dram,
    /// Hardware prefetchers.
    pub prefetch: Prefetch,
    /// Translation of addresses.
    pub tlb: Tlb,
    /// Stores forwarding to loads.
    pub forwarding: Forwarding,
    /// Repeated string instructions, which x86-64 alone has: others say nothing.
    #[serde(default)]
    pub strings: Strings,
    /// What the operating system costs.
    pub kernel: Kernel,
    /// Cost of each class of instructions.
    pub instructions: BTreeMap<Class, Cost>,
}

fn is_x86(architecture: &Architecture) -> bool {
    *architecture == Architecture::X86_64
}

/// Fetch, decode and rename.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frontend {
    /// Fused µops renamed per cycle, 1 to 16.
    pub rename_width: u64,
    /// µops fetched per cycle from the µop cache, up to a taken branch.
    pub fetch_width: u64,
    /// µops that wait between fetch and rename.
    pub queue: u64,
    /// Cycles from the resolution of a mispredicted branch to the first µop renamed on the right path.
    pub mispredict_penalty: u64,
    /// Whether a compare or test directly followed by a conditional branch is one µop.
    pub fuse_compare_branch: bool,
    /// Whether `add`, `sub`, `and`, `inc`, `dec` fuse with the branch as well.
    pub fuse_arithmetic_branch: bool,
    /// Whether register moves are done by renaming.
    pub eliminate_moves: bool,
    /// Whether an instruction that reads the stack pointer waits for a µop of its own after pushes and pops.
    #[serde(default)]
    pub synchronize_stack: bool,
    /// Whether a load at an address with an index and the operation on it are renamed as two µops where the operation
    /// has more than two operands, flags among them, or only writes its first one.
    #[serde(default)]
    pub part_indexed: bool,
}

/// Reorder buffer, queues, schedulers; entries each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Reorder buffer, up to 1022.
    pub reorder_buffer: usize,
    /// Loads between rename and retirement, up to 1022.
    pub load_queue: usize,
    /// Stores between rename and their write to the cache, up to 1022.
    pub store_queue: usize,
    /// Scheduler of integer and memory µops (of all µops where `vector_scheduler` is 0).
    pub scheduler: u64,
    /// Scheduler of vector µops where there is a separate one, else 0.
    pub vector_scheduler: u64,
    /// µops retired per cycle.
    pub retire_width: u64,
}

/// Execution ports. A µop that may go to several free ones takes the first in the order of `names`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortNames {
    /// All ports, at most 16, least special first.
    pub names: Vec<String>,
    /// Ports that take loads.
    pub load: Vec<String>,
    /// Ports that take the address half of stores.
    pub store_address: Vec<String>,
    /// Ports that take it where the address has an index; none: the same.
    #[serde(default)]
    pub indexed_store_address: Vec<String>,
    /// Ports that take the data half of stores.
    pub store_data: Vec<String>,
    /// Ports that take branches.
    pub branch: Vec<String>,
    /// Cycles by which a load into an integer register takes longer, but for one at a register that a load in its block
    /// brought and 0 to 2047 bytes on.
    #[serde(default)]
    pub load_extra: u8,
    /// Cycles by which a load into a vector register takes longer.
    pub vector_load_extra: u8,
    /// Cycles by which one of 16 bytes takes longer still, and one of 32 bytes twice.
    #[serde(default)]
    pub wide_load_extra: u8,
}

/// Branch prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// Counters of the base predictor, as a power of two.
    pub base_bits: u32,
    /// Entries of each tagged table, as a power of two.
    pub table_bits: u32,
    /// History length of each tagged table in branches, shortest first, at most 8 tables of up to 1000.
    pub history_lengths: Vec<u32>,
    /// Entries of the first and second level of the branch target buffer, powers of two.
    pub btb_entries: [usize; 2],
    /// Cycles lost when a taken branch is found in the second level only.
    pub btb_second_level_bubble: u64,
    /// Cycles lost when a taken direct branch is in neither.
    pub btb_miss_bubble: u64,
    /// Return addresses remembered, a power of two.
    pub return_stack: usize,
    /// Entries of the indirect target table, as a power of two.
    pub indirect_bits: u32,
}

/// One cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheShape {
    /// Capacity in KiB; lines are 64 bytes.
    pub size_kib: usize,
    /// Associativity, at most 16; `size / ways` need not be a power of two of sets, the sets are rounded down.
    pub ways: usize,
    /// Cycles from a load's issue to its result.
    pub latency: u64,
    /// Which line leaves.
    pub replacement: Replacement,
    /// Misses outstanding at once.
    pub misses: usize,
    /// Cycles one line occupies the way to the level above.
    pub cycles_per_line: u64,
    /// Whether it holds only what the level above evicted (a victim cache).
    #[serde(default)]
    pub victim: bool,
}

/// Which line of a set leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The least recently used.
    Lru,
    /// Tree pseudo-LRU, as documented for Intel's first level (Abel and Reineke, nanoBench 2020).
    TreePlru,
    /// Static re-reference interval prediction (Jaleel et al., ISCA 2010): new lines leave first unless hit again.
    Srrip,
}

/// Main memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dram {
    /// Cycles from a load's issue to its result.
    pub latency: u64,
    /// Cycles one line occupies the memory channel.
    pub cycles_per_line: u64,
}

/// Hardware prefetchers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefetch {
    /// Lines the stream prefetcher runs ahead in the second level; 0: none.
    pub stream_distance: u64,
    /// Lines it asks for per access.
    pub stream_degree: u64,
    /// Streams followed at once, at most 64.
    pub streams: usize,
    /// Strides the instruction-pointer prefetcher runs ahead in the first level; 0: none.
    pub stride_distance: u64,
    /// Instructions it follows, a power of two.
    pub stride_entries: usize,
    /// Largest stride in bytes.
    pub stride_bytes: i64,
    /// Whether the first level fetches the line after a miss.
    pub next_line: bool,
    /// Whether the second level fetches the other half of an aligned pair of lines.
    pub adjacent_line: bool,
    /// Whether streams cross the ends of pages.
    pub cross_page: bool,
}

/// Translation of addresses; pages are 4 KiB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tlb {
    /// Entries of the first level.
    pub l1_entries: usize,
    /// Its associativity.
    pub l1_ways: usize,
    /// Entries of the second level.
    pub l2_entries: usize,
    /// Its associativity.
    pub l2_ways: usize,
    /// Cycles added by a hit in the second level.
    pub l2_latency: u64,
    /// Cycles of a page walk besides the load of its last entry, which goes through the caches.
    pub walk: u64,
    /// Page walks at once.
    pub walkers: usize,
}

/// Stores forwarding to loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forwarding {
    /// Cycles from a store's data to the result of a load that lies inside it.
    pub latency: u64,
    /// Cycles from such a load's issue to its result, at least.
    pub least: u64,
    /// Cycles after a store's write for a load that overlaps it otherwise.
    pub blocked: u64,
}

/// Repeated string instructions (`rep movs`, `rep stos`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strings {
    /// Cycles before the first byte.
    pub startup: u64,
    /// Bytes moved per cycle when both sides hit the first level.
    pub bytes_per_cycle: u64,
}

impl Default for Strings {
    fn default() -> Strings {
        Strings { startup: 0, bytes_per_cycle: 1 }
    }
}

/// What the operating system costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Cycles of any system call.
    pub system_call: u64,
    /// Added for `read` and `write`.
    pub transfer: u64,
    /// Bytes per cycle that `read` and `write` copy.
    pub transfer_bytes_per_cycle: u64,
    /// Added for `mmap`, `munmap`, `mremap`, `brk`, `mprotect`, `madvise`.
    pub mapping: u64,
    /// Cycles of the first touch of an anonymous page, its later release included.
    pub page_fault: u64,
    /// Pages that one fault on a file's page maps.
    pub fault_around: u64,
}

/// Files of `cpus/`, by name.
const FILES: [(&str, &str); 4] = [
    ("skylake", include_str!("../cpus/skylake.toml")),
    ("zen4", include_str!("../cpus/zen4.toml")),
    ("neoverse-n1", include_str!("../cpus/neoverse-n1.toml")),
    ("sifive-p550", include_str!("../cpus/sifive-p550.toml")),
];

impl Cpu {
    /// Names of the processors that are built in.
    pub const NAMES: [&'static str; 4] = ["skylake", "zen4", "neoverse-n1", "sifive-p550"];

    /// The text of a built-in processor's file, its comments included.
    #[must_use]
    pub fn text(name: &str) -> Option<&'static str> {
        FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// The first built-in processor of an instruction set.
    #[must_use]
    pub fn of(architecture: Architecture) -> &'static str {
        match architecture {
            Architecture::X86_64 => "skylake",
            Architecture::Aarch64 => "neoverse-n1",
            Architecture::Riscv64 => "sifive-p550",
        }
    }

    /// A built-in processor.
    #[must_use]
    pub fn named(name: &str) -> Option<Cpu> {
        Cpu::text(name).map(|text| Cpu::parse(text).expect("built-in files are tested"))
    }

    /// Read a processor file.
    ///
    /// # Errors
    /// When it is no TOML, a parameter is missing, unknown or outside its range, or a class of
    /// instructions has no cost.
    pub fn parse(text: &str) -> Result<Cpu, Error> {
        let cpu: Cpu = toml::from_str(text)
            .map_err(|error| Error::Syntax(error.to_string().trim_end().to_owned()))?;
        cpu.check()?;
        Ok(cpu)
    }

    /// The file of this processor, without comments.
    ///
    /// # Errors
    /// Never for a processor that was read from a file.
    pub fn to_toml(&self) -> Result<String, Error> {
        toml::to_string(self).map_err(|error| Error::Syntax(error.to_string()))
    }

    /// The bits of some ports.
    pub(crate) fn mask(&self, ports: &[String]) -> u16 {
        let bit = |name: &String| self.ports.names.iter().position(|known| known == name);
        ports.iter().filter_map(bit).fold(0, |mask, at| mask | 1 << at)
    }

    fn check(&self) -> Result<(), Error> {
        let range = |name: &'static str, value: u64, least: u64, most: u64| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(Error::Range { name, value, least, most })
            }
        };
        range("clock_mhz", self.clock_mhz, 1, 100_000)?;
        range("frontend.rename_width", self.frontend.rename_width, 1, 16)?;
        range("frontend.fetch_width", self.frontend.fetch_width, 1, 64)?;
        range("frontend.queue", self.frontend.queue, 1, 1024)?;
        range("window.retire_width", self.window.retire_width, 1, 16)?;
        range("window.scheduler", self.window.scheduler, 4, 1024)?;
        for (name, entries) in [
            ("window.reorder_buffer", self.window.reorder_buffer),
            ("window.load_queue", self.window.load_queue),
            ("window.store_queue", self.window.store_queue),
        ] {
            range(name, entries as u64, 1, 1022)?;
        }
        for (name, cache) in
            [("l1i", &self.l1i), ("l1d", &self.l1d), ("l2", &self.l2), ("l3", &self.l3)]
        {
            range(name, cache.ways as u64, 1, 16)?;
            range(name, cache.misses as u64, 1, 64)?;
            range(name, cache.size_kib as u64, 1, 1 << 20)?;
            range(name, cache.cycles_per_line, 1, 1000)?;
        }
        range("dram.cycles_per_line", self.dram.cycles_per_line, 1, 1000)?;
        range("prefetch.streams", self.prefetch.streams as u64, 1, 64)?;
        range("tlb.l1_ways", self.tlb.l1_ways as u64, 1, 16)?;
        range("tlb.l2_ways", self.tlb.l2_ways as u64, 1, 16)?;
        range("tlb.walkers", self.tlb.walkers as u64, 1, 16)?;
        range("branch.base_bits", u64::from(self.branch.base_bits), 4, 20)?;
        range("branch.table_bits", u64::from(self.branch.table_bits), 4, 16)?;
        range("branch.indirect_bits", u64::from(self.branch.indirect_bits), 4, 16)?;
        range("branch.history_lengths", self.branch.history_lengths.len() as u64, 1, 8)?;
        for &length in &self.branch.history_lengths {
            range("branch.history_lengths", u64::from(length), 1, 1000)?;
        }
        for (name, entries) in [
            ("branch.btb_entries", self.branch.btb_entries[0]),
            ("branch.btb_entries", self.branch.btb_entries[1]),
            ("branch.return_stack", self.branch.return_stack),
            ("prefetch.stride_entries", self.prefetch.stride_entries),
        ] {
            if !entries.is_power_of_two() {
                return Err(Error::PowerOfTwo { name, value: entries });
            }
        }
        range("strings.bytes_per_cycle", self.strings.bytes_per_cycle, 1, 1024)?;
        range("kernel.transfer_bytes_per_cycle", self.kernel.transfer_bytes_per_cycle, 1, 1024)?;
        range("kernel.fault_around", self.kernel.fault_around, 1, 512)?;
        range("ports.names", self.ports.names.len() as u64, 1, 16)?;
        let lists = [
            &self.ports.load,
            &self.ports.store_address,
            &self.ports.store_data,
            &self.ports.branch,
        ];
        let indexed = &self.ports.indexed_store_address;
        let costs = self.instructions.values().map(|cost| &cost.ports);
        for name in lists.into_iter().chain([indexed]).chain(costs).flatten() {
            if !self.ports.names.contains(name) {
                return Err(Error::Port(name.clone()));
            }
        }
        for class in Class::ALL.iter().filter(|class| class.is_of(self.architecture)) {
            match self.instructions.get(class) {
                None if class.otherwise().is_some() => {}
                None => return Err(Error::Class(class.name())),
                Some(cost) if cost.ports.is_empty() && class.executes() => {
                    return Err(Error::NoPort(class.name()));
                }
                Some(_) => {}
            }
        }
        if lists.iter().any(|list| list.is_empty()) {
            return Err(Error::NoPort("load, store or branch"));
        }
        Ok(())
    }
}
