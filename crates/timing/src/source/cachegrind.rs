//! Valgrind's cachegrind: events counted in order, added up with weights. Coarse: it knows neither
//! overlap nor dependencies.

use super::{Prepared, Run, Source, qemu::seconds};
use crate::{Error, Measurement, bounded::verdict_of, options::Options, recipe::version};
use dataset::{Verdict, content_hash, content_hash_of};
use rows::TimingVerdict;
use sandbox::{Calls, Death};
use std::{ffi::OsString, path::PathBuf, time::Instant};
use timing_model::{CacheShape, Cpu};

/// Cycles of a miss of the first level, of the last level, and of a misprediction: the weights of
/// KCachegrind's cycle estimate.
const WEIGHTS: [u64; 3] = [10, 100, 10];
/// Bytes of temporary files, which Valgrind makes for itself; the program's go with them.
const SCRATCH: u64 = 16 << 20;
const INSTALL: &str = "install valgrind (Debian: apt install valgrind)";

pub(super) struct Cachegrind {
    valgrind: PathBuf,
    cpu: Cpu,
    options: Options,
}

impl Cachegrind {
    pub(super) fn find(options: &Options, cpu: &Cpu) -> Result<Cachegrind, Error> {
        let missing = Error::Missing { tool: "valgrind", install: INSTALL };
        let valgrind = host::on_path("valgrind").ok_or(missing)?;
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
        let mut command = vec![self.valgrind.clone().into_os_string()];
        command.extend(
            ["--tool=cachegrind", "--branch-sim=yes", "--cache-sim=yes"].map(OsString::from),
        );
        // Its log goes to us alone, and no file of any kind is left for a program to find.
        command.extend(
            ["--cachegrind-out-file=/dev/null", "--log-fd=3", "--vgdb=no"].map(OsString::from),
        );
        command.extend([
            cache("I1", &self.cpu.l1i),
            cache("D1", &self.cpu.l1d),
            cache("LL", &self.cpu.l3),
            "./program".into(),
        ]);
        let mut run = Run::new("valgrind", command, program, &self.options, &[&self.valgrind]);
        run.profile.scratch = SCRATCH;
        run.profile.proc = true;
        run.profile.calls = Calls::Files;
        run.stdin = std::fs::read(&program.stdin).map_err(Error::file("read", &program.stdin))?;
        run.channel = true;
        let started = Instant::now();
        let finished = run.go()?;
        let host_seconds = started.elapsed().as_secs_f64();
        if let Some(death) = &finished.death {
            return Ok(Err(verdict_of(death)));
        }
        let text = String::from_utf8_lossy(&finished.channel);
        let events = match Events::parse(&text) {
            Log::Events(events) => events,
            Log::Forged => {
                let detail = "writes to the descriptor that its time is reported through";
                return Ok(Err(Verdict::new(TimingVerdict::TouchesChannel, detail)));
            }
            // Valgrind's own start: nothing of the program had run.
            Log::Nothing if text.is_empty() => {
                let words = String::from_utf8_lossy(&finished.stderr);
                let reason = words.lines().last().unwrap_or("it said nothing").to_owned();
                return Err(Error::Start { what: "valgrind".into(), reason });
            }
            Log::Nothing => {
                let status = finished.status.unwrap_or(-1);
                let words = String::from_utf8_lossy(&finished.stderr).into_owned();
                return Ok(Err(verdict_of(&Death::Exit(status, words))));
            }
        };
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

/// What Valgrind's log says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Log {
    Events(Events),
    /// More than Valgrind writes: the program has the descriptor too.
    Forged,
    Nothing,
}

impl Events {
    fn parse(text: &str) -> Log {
        const NAMES: [&str; 5] = ["I refs", "D1 misses", "LL misses", "Branches", "Mispredicts"];
        let Some(mark) = text.split_inclusive("== ").next().filter(|mark| is_mark(mark)) else {
            return if text.is_empty() { Log::Nothing } else { Log::Forged };
        };
        // Valgrind's warnings.
        let warning = mark.replace('=', "-");
        let mut found = [None; 5];
        for line in text.lines().filter(|line| !line.starts_with(&warning)) {
            let Some(words) =
                line.strip_prefix(mark).or_else(|| line.strip_prefix(mark.trim_end()))
            else {
                return Log::Forged;
            };
            // "==12== D1  misses:  1,234  ( 1,000 rd + 234 wr)"
            let Some((name, value)) = words.split_once(':') else { continue };
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            let Some(at) = NAMES.iter().position(|known| *known == name) else { continue };
            let value = value.split_whitespace().next().unwrap_or_default().replace(',', "");
            match (found[at], value.parse::<u64>()) {
                (None, Ok(value)) => found[at] = Some(value),
                _ => return Log::Forged,
            }
        }
        match found {
            [Some(instructions), Some(first), Some(last), Some(branches), Some(mispredicts)] => {
                Log::Events(Events { instructions, first, last, branches, mispredicts })
            }
            _ => Log::Nothing,
        }
    }

    fn cycles(&self) -> u64 {
        let [first, last, mispredict] = WEIGHTS;
        // A program that writes into the log may claim any number.
        [(first, self.first), (last, self.last), (mispredict, self.mispredicts)]
            .into_iter()
            .fold(self.instructions, |sum, (weight, count)| {
                sum.saturating_add(weight.saturating_mul(count))
            })
    }
}

/// The cycles that a log comes to, if it is whole.
pub(super) fn cycles_in(text: &str) -> Option<u64> {
    match Events::parse(text) {
        Log::Events(events) => Some(events.cycles()),
        Log::Forged | Log::Nothing => None,
    }
}

/// Whether it is what each of Valgrind's lines begins with, its process in it: `==12== `.
fn is_mark(mark: &str) -> bool {
    let number = mark.strip_prefix("==").and_then(|rest| rest.strip_suffix("== "));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_summary() {
        let text = "==7== Cachegrind\n==7== I   refs:      1,234,567\n==7== D1  misses:  2,000  ( 1 rd)\n\
                    ==7== LL misses:  30 ( 1 rd)\n==7== Branches:  500 ( 1 cond)\n==7== Mispredicts:  40\n";
        let Log::Events(events) = Events::parse(text) else { panic!("{text}") };
        assert_eq!(events.cycles(), 1_234_567 + 20_000 + 3_000 + 400);
        assert_eq!(Events::parse("==7== nothing"), Log::Nothing);
        assert_eq!(Events::parse(""), Log::Nothing);
    }

    #[test]
    fn counts_beyond_all_bounds_are_the_largest() {
        let most = u64::MAX;
        let text = format!(
            "==7== I refs: {most}\n==7== D1 misses: {most}\n==7== LL misses: {most}\n==7== Branches: 1\n==7== Mispredicts: 1\n"
        );
        assert_eq!(cycles_in(&text), Some(most));
    }

    #[test]
    fn a_second_summary_is_the_programs() {
        let own = "==7== Cachegrind\n--7-- warning: x\n==7== I refs:  9\n==7== D1 misses: 1\n==7== LL misses: 1\n==7== Branches: 1\n==7== Mispredicts: 1\n";
        assert!(matches!(Events::parse(own), Log::Events(_)));
        assert_eq!(Events::parse(&format!("==7== I refs: 7\n{own}")), Log::Forged);
        assert_eq!(Events::parse(&format!("{own}==7== Branches: 0\n")), Log::Forged);
        assert_eq!(Events::parse(&format!("noise\n{own}")), Log::Forged);
        assert_eq!(Events::parse(&format!("==7==\n{own}noise")), Log::Forged);
    }
}
