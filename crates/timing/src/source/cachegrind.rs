//! Valgrind's cachegrind: events counted in order, added up with weights. Coarse: it knows neither
//! overlap nor dependencies.

use super::{Prepared, Source, qemu::seconds, run_bounded, verdict_of};
use crate::{
    Error, Measurement,
    options::Options,
    recipe::{find_on_path, version},
};
use dataset::{Verdict, content_hash, content_hash_of};
use std::{ffi::OsString, path::PathBuf, time::Instant};
use timing_model::{CacheShape, Cpu};

/// Cycles of a miss of the first level, of the last level, and of a misprediction: the weights of
/// KCachegrind's cycle estimate.
const WEIGHTS: [u64; 3] = [10, 100, 10];
const INSTALL: &str = "install valgrind (Debian: apt install valgrind)";

pub(super) struct Cachegrind {
    valgrind: PathBuf,
    cpu: Cpu,
    options: Options,
}

impl Cachegrind {
    pub(super) fn find(options: &Options, cpu: &Cpu) -> Result<Cachegrind, Error> {
        let missing = Error::Missing { tool: "valgrind", install: INSTALL };
        let valgrind = find_on_path("valgrind").ok_or(missing)?;
        Ok(Cachegrind { valgrind, cpu: cpu.clone(), options: options.clone() })
    }
}

impl Source for Cachegrind {
    fn measure(&self, program: &Prepared<'_>) -> Result<Result<Measurement, Verdict>, Error> {
        let cache = |name: &str, shape: &CacheShape| {
            // Cachegrind wants a power of two of sets.
            let sets = shape.size_kib * 16 / shape.ways;
            let sets = if sets.is_power_of_two() { sets } else { sets.next_power_of_two() / 2 };
            OsString::from(format!("--{name}={},{},64", sets * shape.ways * 64, shape.ways))
        };
        let log = program.place.file("cachegrind.log");
        // A shell only to give it the file as its standard input.
        let mut command: Vec<OsString> =
            ["/bin/sh", "-c", "exec \"$@\" < stdin", "sh"].map(OsString::from).into();
        command.push(self.valgrind.clone().into_os_string());
        command.extend(
            ["--tool=cachegrind", "--branch-sim=yes", "--cache-sim=yes"].map(OsString::from),
        );
        command.push("--cachegrind-out-file=/dev/null".into());
        command.push(format!("--log-file={}", log.display()).into());
        command.extend([
            cache("I1", &self.cpu.l1i),
            cache("D1", &self.cpu.l1d),
            cache("LL", &self.cpu.l3),
            "./program".into(),
        ]);
        let writable = vec![program.place.path().into()];
        let started = Instant::now();
        let finished =
            run_bounded("valgrind", command, program, &self.options, Vec::new(), writable, true)?;
        let host_seconds = started.elapsed().as_secs_f64();
        if let Some(death) = &finished.death {
            return Ok(Err(verdict_of(death)));
        }
        let text = std::fs::read_to_string(&log).map_err(Error::file("read", &log))?;
        let events = Events::parse(&text).ok_or_else(|| Error::Unreadable {
            source_name: "cachegrind",
            reason: text.lines().last().unwrap_or("it said nothing").to_owned(),
        })?;
        let cycles = events.cycles();
        Ok(Ok(Measurement {
            source: "cachegrind".into(),
            cpu: self.cpu.name.clone(),
            cycles: Some(cycles),
            seconds_simulated: seconds(cycles, &self.cpu),
            instructions: Some(events.instructions),
            ipc: Some(events.instructions as f64 / cycles.max(1) as f64),
            branches: Some(events.branches),
            mispredicts: Some(events.mispredicts),
            l1d_misses: Some(events.first),
            l3_misses: Some(events.last),
            runs: 1,
            exit_status: finished.status.unwrap_or(0),
            output_hash: content_hash(&finished.stdout),
            host_seconds,
            ..Measurement::default()
        }))
    }

    fn identity(&self) -> Option<String> {
        let text = self.cpu.to_toml().ok()?;
        Some(content_hash_of([&b"cachegrind"[..], text.as_bytes()]))
    }

    fn tool(&self) -> (&'static str, String) {
        ("valgrind", version(self.valgrind.as_os_str()))
    }
}

/// Its summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Events {
    instructions: u64,
    first: u64,
    last: u64,
    branches: u64,
    mispredicts: u64,
}

impl Events {
    fn parse(text: &str) -> Option<Events> {
        let find = |name: &str| -> Option<u64> {
            // "==12== D1  misses:  1,234  ( 1,000 rd + 234 wr)"
            let line = text.lines().find(|line| {
                let words = line.split("== ").nth(1).unwrap_or(line);
                words.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(name)
            })?;
            let value = line.split(':').nth(1)?.split_whitespace().next()?;
            value.replace(',', "").parse().ok()
        };
        Some(Events {
            instructions: find("I refs")?,
            first: find("D1 misses")?,
            last: find("LL misses")?,
            branches: find("Branches")?,
            mispredicts: find("Mispredicts")?,
        })
    }

    fn cycles(&self) -> u64 {
        let [first, last, mispredict] = WEIGHTS;
        self.instructions + first * self.first + last * self.last + mispredict * self.mispredicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_summary() {
        let text = "==7== Cachegrind\n==7== I   refs:      1,234,567\n==7== D1  misses:  2,000  ( 1 rd)\n\
                    ==7== LL misses:  30 ( 1 rd)\n==7== Branches:  500 ( 1 cond)\n==7== Mispredicts:  40\n";
        let events = Events::parse(text).unwrap();
        assert_eq!(events.cycles(), 1_234_567 + 20_000 + 3_000 + 400);
        assert_eq!(Events::parse("==7== nothing"), None);
    }
}
