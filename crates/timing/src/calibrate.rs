//! A processor file for this host, from micro-benchmarks of its clock, caches and memory.

use crate::{
    Code, Compiler, Cpu, Error, Job, Options, SourceKind,
    place::Place,
    recipe,
    source::{must_be_of_this_machine, run_plain},
};
use serde::{Deserialize, Serialize};

const PROGRAM: &str = include_str!("calibrate.cpp");

/// What the host was found to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Core clock in MHz, from a chain of additions.
    pub clock_mhz: f64,
    /// Nanoseconds of a dependent load, by KiB of the memory walked at random.
    pub load_ns: Vec<(u64, f64)>,
    /// Bytes per nanosecond of reading memory in order.
    pub read_bytes_per_ns: f64,
    /// Nanoseconds of the first touch of a page.
    pub page_fault_ns: f64,
    /// Nanoseconds of a system call that does nothing.
    pub system_call_ns: f64,
    /// The processor file.
    pub cpu_toml: String,
}

/// Measure this host and fit the memory side of `base` (`zen4`, `skylake` or a file) to it.
///
/// # Errors
/// When there is no C++ compiler, or the micro-benchmarks cannot run.
pub fn calibrate(base: &str) -> Result<Calibration, Error> {
    let options = Options {
        cpu: base.to_owned(),
        source: SourceKind::Wall,
        compiler: Compiler::Gcc,
        net: false,
        ..Options::default()
    };
    let mut cpu = options.processor()?;
    must_be_of_this_machine(&cpu, "a file of this machine begins with one of its instruction set")?;
    let job =
        Job { name: "calibrate".into(), program: Code::Cpp(PROGRAM.into()), stdin: Vec::new() };
    let place = Place::new()?;
    // The recipe's fixed clock would measure itself.
    if let Err(verdict) = recipe::build_plain(&job.program, &cpu, &options, &place)? {
        return Err(Error::Start {
            what: "the micro-benchmarks".into(),
            reason: verdict.to_string(),
        });
    }
    let output = run_plain("the micro-benchmarks", &place, &options)?;
    let found = Found::parse(&output).ok_or_else(|| Error::Unreadable {
        source_name: "calibration",
        reason: output.lines().last().unwrap_or_default().to_owned(),
    })?;
    for (level, shape) in [(1, &mut cpu.l1d), (2, &mut cpu.l2), (3, &mut cpu.l3)] {
        if let Some((size, ways)) = geometry(level) {
            (shape.size_kib, shape.ways) = (size, ways);
        }
    }
    fit(&mut cpu, &found);
    let wrong =
        |error: timing_model::Error| Error::Cpu { name: base.into(), reason: error.to_string() };
    Ok(Calibration {
        clock_mhz: found.clock_mhz,
        load_ns: found.load_ns,
        read_bytes_per_ns: found.read_bytes_per_ns,
        page_fault_ns: found.page_fault_ns,
        system_call_ns: found.system_call_ns,
        cpu_toml: cpu.to_toml().map_err(wrong)?,
    })
}

/// The built-in processor whose core is nearest to this host's, by its maker.
#[must_use]
pub fn nearest_processor() -> &'static str {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if text.contains("AuthenticAMD") { "zen4" } else { "skylake" }
}

/// Size in KiB and associativity of a data or unified cache level of this host, as Linux says.
fn geometry(level: u32) -> Option<(usize, usize)> {
    let folder = std::path::Path::new("/sys/devices/system/cpu/cpu0/cache");
    let says = |index: usize, file: &str| {
        let path = folder.join(format!("index{index}")).join(file);
        std::fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
    };
    let index = (0..8).find(|index| {
        says(*index, "level") == level.to_string() && says(*index, "type") != "Instruction"
    })?;
    let size = says(index, "size").trim_end_matches('K').parse().ok()?;
    let ways = says(index, "ways_of_associativity").parse().ok()?;
    (size > 0 && (1..=16).contains(&ways)).then_some((size, ways))
}

/// The micro-benchmarks' answers.
#[derive(Clone, Debug, Default, PartialEq)]
struct Found {
    clock_mhz: f64,
    load_ns: Vec<(u64, f64)>,
    read_bytes_per_ns: f64,
    page_fault_ns: f64,
    system_call_ns: f64,
}

impl Found {
    fn parse(output: &str) -> Option<Found> {
        let mut found = Found::default();
        for line in output.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["clock_mhz", value] => found.clock_mhz = value.parse().ok()?,
                ["load_ns", kib, value] => {
                    found.load_ns.push((kib.parse().ok()?, value.parse().ok()?));
                }
                ["read_bytes_per_ns", value] => found.read_bytes_per_ns = value.parse().ok()?,
                ["page_fault_ns", value] => found.page_fault_ns = value.parse().ok()?,
                ["system_call_ns", value] => found.system_call_ns = value.parse().ok()?,
                _ => {}
            }
        }
        let positive = found.clock_mhz > 0.0 && found.read_bytes_per_ns > 0.0;
        (positive && !found.load_ns.is_empty()).then_some(found)
    }

    /// Cycles of a dependent load in a working set of about `kib`.
    fn cycles(&self, kib: u64) -> u64 {
        self.in_cycles(self.nanoseconds(kib))
    }

    fn nanoseconds(&self, kib: u64) -> f64 {
        let nearest = self.load_ns.iter().min_by_key(|(size, _)| size.abs_diff(kib));
        nearest.map_or(1.0, |(_, ns)| *ns)
    }

    fn in_cycles(&self, ns: f64) -> u64 {
        (ns * self.clock_mhz / 1000.0).round().max(1.0) as u64
    }
}

/// Replace what the micro-benchmarks measured; the core's own parameters stay the base's.
fn fit(cpu: &mut Cpu, found: &Found) {
    cpu.description = format!("this host, fitted from {}", cpu.name);
    cpu.name = "host".into();
    cpu.clock_mhz = found.clock_mhz.round().clamp(1.0, 100_000.0) as u64;
    cpu.l1d.latency = found.cycles(16).clamp(3, 8);
    // As far as the first translation buffer reaches with room to spare.
    let reach = cpu.tlb.l1_entries as u64 * 4 / 2;
    cpu.l2.latency = found.cycles(reach).clamp(cpu.l1d.latency + 4, 40);
    // Past the second level by enough, and before others' share of the third.
    let third_ns = found.nanoseconds(cpu.l2.size_kib as u64 * 2);
    let third = found.in_cycles(third_ns).saturating_sub(cpu.tlb.l2_latency);
    cpu.l3.latency = third.clamp(cpu.l2.latency + 10, 200);
    let last = found.load_ns.iter().max_by_key(|(kib, _)| *kib).map_or(1.0, |(_, ns)| *ns);
    // What others on the same chip leave of the last level: the largest walk nearer to it than to memory.
    let near = found.load_ns.iter().filter(|(_, ns)| *ns < (third_ns + last) / 2.0);
    let share = near.map(|(kib, _)| *kib as usize).max().unwrap_or(cpu.l3.size_kib);
    cpu.l3.size_kib = share.clamp(cpu.l2.size_kib, cpu.l3.size_kib.max(cpu.l2.size_kib));
    // A walk through the largest set misses the second translation buffer as well.
    let memory = found.in_cycles(last).saturating_sub(cpu.tlb.walk + cpu.l3.latency / 2);
    cpu.dram.latency = memory.clamp(cpu.l3.latency + 20, 2000);
    let line = found.in_cycles(64.0 / found.read_bytes_per_ns);
    cpu.dram.cycles_per_line = line.clamp(1, 200);
    cpu.kernel.page_fault = found.in_cycles(found.page_fault_ns);
    cpu.kernel.system_call = found.in_cycles(found.system_call_ns);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fitted_processor_is_one_that_can_be_read_again() {
        let output = "clock_mhz 3500\nload_ns 16 1.2\nload_ns 512 4.1\nload_ns 4096 15\n\
                      load_ns 131072 130\nread_bytes_per_ns 12\npage_fault_ns 700\nsystem_call_ns 150\n";
        let found = Found::parse(output).unwrap();
        let mut cpu = Cpu::named("zen4").unwrap();
        fit(&mut cpu, &found);
        assert_eq!((cpu.clock_mhz, cpu.l1d.latency, cpu.kernel.page_fault), (3500, 4, 2450));
        assert_eq!(Cpu::parse(&cpu.to_toml().unwrap()).unwrap(), cpu);
    }

    #[test]
    fn half_an_answer_is_none() {
        assert_eq!(Found::parse("clock_mhz 3500\n"), None);
    }
}
