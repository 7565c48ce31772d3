//! gem5's out-of-order processor in system-call emulation, with the processor file's parameters as
//! far as gem5 has them (those of `skylake` are PIE's).

use super::{Prepared, Run, Source, qemu::seconds};
use crate::{
    Error, Measurement, bounded::verdict_of, compiler::read_made, options::Options, recipe::version,
};
use dataset::{Verdict, content_hash, content_hash_of};
use sandbox::Calls;
use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, time::Instant};
use timing_model::Cpu;

const INSTALL: &str = "build gem5 for X86 and put gem5.opt on PATH (www.gem5.org)";
/// Bytes of its statistics at most.
const STATISTICS: u64 = 16 << 20;
const CONFIGURATION: &str = include_str!("gem5.py");

pub(super) struct Gem5 {
    gem5: PathBuf,
    cpu: Cpu,
    options: Options,
}

impl Gem5 {
    pub(super) fn find(options: &Options, cpu: &Cpu) -> Result<Gem5, Error> {
        let found = ["gem5.opt", "gem5.fast", "gem5"].into_iter().find_map(host::on_path);
        let gem5 = found.ok_or(Error::Missing { tool: "gem5.opt", install: INSTALL })?;
        Ok(Gem5 { gem5, cpu: cpu.clone(), options: options.clone() })
    }

    /// The parameters that `gem5.py` reads.
    fn parameters(&self) -> serde_json::Value {
        let c = &self.cpu;
        let cache = |shape: &timing_model::CacheShape| {
            serde_json::json!({"size": format!("{}KiB", shape.size_kib), "ways": shape.ways,
                "latency": shape.latency, "misses": shape.misses})
        };
        serde_json::json!({
            "clock": format!("{}MHz", c.clock_mhz), "width": c.frontend.fetch_width,
            "reorder_buffer": c.window.reorder_buffer, "load_queue": c.window.load_queue,
            "store_queue": c.window.store_queue, "scheduler": c.window.scheduler,
            "l1i": cache(&c.l1i), "l1d": cache(&c.l1d), "l2": cache(&c.l2), "l3": cache(&c.l3),
            "max_instructions": self.options.max_instructions,
        })
    }
}

impl Source for Gem5 {
    fn measure(&self, program: &Prepared<'_>) -> Result<Result<Measurement, Verdict>, Error> {
        let place = program.place;
        let script = place.put("gem5.py", CONFIGURATION.as_bytes())?;
        place.put("gem5.json", self.parameters().to_string().as_bytes())?;
        let mut command: Vec<OsString> = vec![self.gem5.clone().into_os_string()];
        command.extend(["--outdir=gem5-out", "--silent-redirect"].map(OsString::from));
        command.extend([
            script.into_os_string(),
            "gem5.json".into(),
            "program".into(),
            "stdin".into(),
        ]);
        let started = Instant::now();
        let made = place.file("gem5-out");
        std::fs::create_dir_all(&made).map_err(Error::file("create", &made))?;
        let mut run = Run::new("gem5", command, program, &self.options, &[&self.gem5]);
        run.profile.writable.push(made.clone());
        run.profile.processes = 4;
        run.profile.proc = true;
        run.profile.calls = Calls::Files;
        let finished = run.go()?;
        let host_seconds = started.elapsed().as_secs_f64();
        if let Some(death) = &finished.death {
            return Ok(Err(verdict_of(death)));
        }
        let text = read_made(&made.join("stats.txt"), STATISTICS)?;
        let statistics = parse(&String::from_utf8_lossy(&text));
        let find =
            |ends: &str| statistics.iter().find(|(name, _)| name.ends_with(ends)).map(|(_, v)| *v);
        let cycles = find("cpu.numCycles").ok_or_else(|| Error::Unreadable {
            source_name: "gem5",
            reason: "stats.txt has no numCycles".into(),
        })?;
        let instructions = find("commitStats0.numInsts").or_else(|| find("cpu.committedInsts"));
        Ok(Ok(Measurement {
            source: "gem5".into(),
            cpu: self.cpu.name.clone(),
            cycles: Some(cycles),
            seconds_simulated: seconds(cycles, &self.cpu),
            instructions,
            ipc: instructions.map(|count| count as f64 / cycles.max(1) as f64),
            branches: find("branchPred.condPredicted")
                .or_else(|| find("branchPred.lookups_0::total")),
            mispredicts: find("commit.branchMispredicts"),
            l1d_misses: find("dcache.demandMisses::total"),
            l2_misses: find("l2cache.demandMisses::total"),
            l3_misses: find("l3cache.demandMisses::total"),
            runs: 1,
            exit_status: finished.status.unwrap_or(0),
            output_hash: content_hash(&finished.stdout),
            host_seconds,
            ..Measurement::default()
        }))
    }

    fn identity(&self) -> Option<String> {
        let text = self.cpu.to_toml().ok()?;
        Some(content_hash_of([CONFIGURATION.as_bytes(), text.as_bytes()]))
    }

    fn tool(&self) -> (&'static str, String) {
        ("gem5", version(self.gem5.as_os_str()))
    }
}

/// The whole numbers of a `stats.txt`.
pub(super) fn parse(text: &str) -> BTreeMap<String, u64> {
    text.lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_whole_numbers_of_the_statistics() {
        let text =
            "---------- Begin\nsystem.cpu.numCycles   1234  # cycles\nsystem.cpu.ipc 0.5 # x\n";
        let found = parse(text);
        assert_eq!(found.get("system.cpu.numCycles"), Some(&1234));
        assert_eq!(found.len(), 1);
    }
}
