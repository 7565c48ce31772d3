//! QEMU's user mode with the model of `timing-model` as its plugin.

mod served;

use super::{Prepared, Run, Source};
use crate::{Error, Measurement, bounded::verdict_of, options::Options, target::Target};
use dataset::{Verdict, content_hash, content_hash_of};
use host::Helper;
use rows::TimingVerdict;
use sandbox::{Death, Finished};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};
use timing_model::{Cpu, FunctionCounts, Report};

const INSTALL: &str = "install QEMU's user mode 7.2 or later with plugins (Debian: apt install qemu-user; \
                       qemu-user-static has no plugins)";
/// Bytes of the main stack: programs of contests recurse deeply.
const STACK: &str = "268435456";
/// First version whose plugins see system calls, and which has AVX.
const OLDEST: (u32, u32) = (7, 2);

/// QEMU, found and of the right version.
pub(super) struct Qemu {
    target: &'static Target,
    emulator: PathBuf,
    plugin: PathBuf,
    cpu: Cpu,
    cpu_text: String,
    identity: String,
    version: String,
    options: Options,
}

impl Qemu {
    pub(super) fn find(options: &Options, cpu: &Cpu) -> Result<Qemu, Error> {
        let target = Target::of(cpu.architecture);
        let missing = |tool| Error::Missing { tool, install: INSTALL };
        let emulator = host::on_path(target.emulator).ok_or_else(|| missing(target.emulator))?;
        let version = version(target.emulator, &emulator)?;
        let plugin = Helper::TIMING_PLUGIN.find()?;
        let unusable = |error: timing_model::Error| Error::Cpu {
            name: options.cpu.clone(),
            reason: error.to_string(),
        };
        let cpu_text = cpu.to_toml().map_err(unusable)?;
        let code = std::fs::read(&plugin).map_err(Error::file("read", &plugin))?;
        let settings = format!(
            "{version} {} {} {STACK} {}{}",
            options.sample_rate,
            options.max_instructions,
            target.guest,
            target.environment.concat()
        );
        let identity = content_hash_of([cpu_text.as_bytes(), &code, settings.as_bytes()]);
        Ok(Qemu {
            target,
            emulator,
            plugin,
            cpu: cpu.clone(),
            cpu_text,
            identity,
            version,
            options: options.clone(),
        })
    }

    /// `more` are further arguments of the plugin.
    fn command(
        &self,
        program: &Prepared<'_>,
        cpu: &Path,
        functions: Option<&Path>,
        more: &[(&str, u64)],
    ) -> Vec<OsString> {
        let mut plugin = OsString::new();
        // A comma inside a path is doubled, as QEMU's options want it.
        let mut word = |name: &str, value: &str| {
            if !plugin.is_empty() {
                plugin.push(",");
            }
            plugin.push(format!("{name}={}", value.replace(',', ",,")));
        };
        word("file", &self.plugin.to_string_lossy());
        word("cpu", &cpu.to_string_lossy());
        word("stdin", &program.stdin.to_string_lossy());
        word("main", &program.image.main.to_string());
        word("image_end", &program.image.end.to_string());
        word("max_instructions", &self.options.max_instructions.to_string());
        word("sample_rate", &self.options.sample_rate.to_string());
        if let Some(path) = functions {
            word("functions", &path.to_string_lossy());
        }
        for (name, value) in more {
            word(name, &value.to_string());
        }
        let program: &[&str] = &["./program"];
        let mut command: Vec<OsString> = vec![self.emulator.clone().into_os_string()];
        let guest = self.target.guest;
        command
            .extend(["-cpu", guest, "-seed", "1", "-s", STACK, "-r", "6.1.0"].map(OsString::from));
        for variable in self.target.environment {
            command.extend(["-E", variable].map(OsString::from));
        }
        command.extend(["-0", "program", "-plugin"].map(OsString::from));
        command.push(plugin);
        command.extend(program.iter().map(OsString::from));
        command
    }
}

impl Qemu {
    /// Where functions are, as the plugin reads it; `None` where they are not asked for, or parts are not simulated.
    fn put_functions(&self, program: &Prepared<'_>) -> Result<Option<PathBuf>, Error> {
        if program.functions.is_empty() || self.options.sample_rate > 1 {
            return Ok(None);
        }
        let lines = program.functions.iter().map(|at| format!("{} {}\n", at.start, at.end));
        Ok(Some(program.place.put("functions", lines.collect::<String>().as_bytes())?))
    }

    /// Run the program once.
    fn measure_once(&self, program: &Prepared<'_>) -> Result<Result<Measurement, Verdict>, Error> {
        let cpu = program.place.put("cpu.toml", self.cpu_text.as_bytes())?;
        let functions = self.put_functions(program)?;
        let command = self.command(program, &cpu, functions.as_deref(), &[]);
        let tools = [self.emulator.as_path(), &self.plugin];
        let mut run = Run::new(self.target.emulator, command, program, &self.options, &tools);
        run.channel = true;
        let started = Instant::now();
        let finished = run.go()?;
        let host_seconds = started.elapsed().as_secs_f64();
        let channel = String::from_utf8_lossy(&finished.channel);
        let said = told(self.target, &channel, &finished)?;
        let said =
            |what: &str| said.iter().rev().find_map(|line| line.strip_prefix(what).map(str::trim));
        let input_ended = said("input-ended").is_some();
        let bad_end = |verdict: Verdict| {
            if input_ended
                && matches!(
                    verdict.name.as_ref(),
                    "crashes" | "timeout" | "cpu-limit" | "instruction-limit"
                )
            {
                let detail = format!("asked for more than its input, then: {verdict}");
                Verdict::new(TimingVerdict::ReadsPastInput, detail)
            } else {
                verdict
            }
        };
        if let Some(name) = said("refused") {
            return Ok(Err(bad_end(refusal(name, self.target, &self.options))));
        }
        if let Some(death) = &finished.death {
            return Ok(Err(bad_end(verdict_of(death))));
        }
        let Some(report) = said("report").and_then(Report::parse) else {
            let status = finished.status.unwrap_or(-1);
            let words = String::from_utf8_lossy(&finished.stderr).into_owned();
            // QEMU raises the program's fatal signal again, or leaves with 128 and its number.
            return Ok(Err(bad_end(verdict_of(&Death::Exit(status, words)))));
        };
        if !is_plausible(report.counters.instructions, &finished) {
            let detail = format!(
                "{} instructions in {:.0} s of processor time: it changed its emulator's memory",
                report.counters.instructions, finished.user_seconds
            );
            return Ok(Err(Verdict::new(TimingVerdict::ImplausibleReport, detail)));
        }
        let counts = functions.and_then(|_| said("functions"));
        let counts = counts.and_then(|line| FunctionCounts::parse(line, program.functions.len()));
        Ok(Ok(Measurement {
            functions: counts.unwrap_or_default(),
            exit_status: finished.status.unwrap_or(0),
            input_ended: Some(input_ended),
            output_hash: content_hash(&finished.stdout),
            host_seconds,
            ..self.measurement(&report)
        }))
    }
}

impl Source for Qemu {
    /// Several runs must give the same figures: that is what a simulation is for.
    fn measure(&self, program: &Prepared<'_>) -> Result<Result<Measurement, Verdict>, Error> {
        let mut first = match self.measure_once(program)? {
            Ok(measurement) => measurement,
            Err(verdict) => return Ok(Err(verdict)),
        };
        for _ in 1..self.options.runs {
            let again = match self.measure_once(program)? {
                Ok(measurement) => measurement,
                Err(verdict) => return Ok(Err(verdict)),
            };
            let took = first.host_seconds.min(again.host_seconds);
            if again != (Measurement { host_seconds: again.host_seconds, ..first.clone() }) {
                let cycles = |m: &Measurement| m.cycles.unwrap_or(0);
                let (one, other) = (cycles(&first), cycles(&again));
                let detail = match one == other {
                    true => "two runs gave different output".to_owned(),
                    false => format!("two runs took {one} and {other} cycles"),
                };
                return Ok(Err(Verdict::new(TimingVerdict::NonDeterministic, detail)));
            }
            first.host_seconds = took;
        }
        first.runs = self.options.runs;
        Ok(Ok(first))
    }

    /// The program starts once, where it can; what it comes to a bad end on is run by itself, which
    /// says how.
    fn measure_each(
        &self,
        program: &Prepared<'_>,
        inputs: &[&[u8]],
    ) -> Result<Vec<Result<Measurement, Verdict>>, Error> {
        let served = match (inputs, self.options.runs) {
            ([_, _, ..], 1) => self.serve(program, inputs)?,
            _ => Vec::new(),
        };
        let mut served = served.into_iter();
        let mut all = Vec::new();
        for input in inputs {
            let one = match served.next().flatten() {
                Some(measurement) => Ok(measurement),
                None => {
                    program.give(input)?;
                    self.measure(program)?
                }
            };
            let ended = one.is_err();
            all.push(one);
            if ended {
                break;
            }
        }
        Ok(all)
    }

    fn identity(&self) -> Option<String> {
        Some(self.identity.clone())
    }

    fn tool(&self) -> (&'static str, String) {
        (self.target.emulator, self.version.clone())
    }
}

impl Qemu {
    fn measurement(&self, report: &Report) -> Measurement {
        let c = &report.counters;
        let sampled = report.sampled;
        let interval = sampled.map(|sampled| {
            let half = sampled.interval_cycles;
            let ends = [report.cycles.saturating_sub(half), report.cycles.saturating_add(half)];
            ends.map(|cycles| seconds(cycles, &self.cpu))
        });
        Measurement {
            source: "qemu".into(),
            cpu: self.cpu.name.clone(),
            cycles: Some(report.cycles),
            seconds_simulated: seconds(report.cycles, &self.cpu),
            instructions: Some(c.instructions),
            ipc: Some(c.instructions as f64 / report.cycles.max(1) as f64),
            branches: Some(c.branches),
            mispredicts: Some(c.mispredicts),
            l1d_misses: Some(c.l1d_misses),
            l2_misses: Some(c.l2_misses),
            l3_misses: Some(c.l3_misses),
            tlb_misses: Some(c.tlb_misses),
            startup_cycles: report.startup_cycles,
            kernel_cycles: Some(report.kernel_cycles),
            sampling_error_cycles: sampled.map(|_| report.sampling_error_cycles),
            detailed_instructions: sampled.map(|sampled| sampled.detailed_instructions),
            strata: sampled.map(|sampled| sampled.strata),
            interval,
            runs: 1,
            ..Measurement::default()
        }
    }
}

/// What the plugin said over its channel. It first says a key that it made up, which begins each of its lines: what a
/// program writes there, should it ever find a way, is skipped.
///
/// # Errors
/// When the plugin did not even begin, or says itself that it failed: nothing of the program had run.
fn told<'a>(target: &Target, channel: &'a str, finished: &Finished) -> Result<Vec<&'a str>, Error> {
    let fault = |reason: String| Error::Start { what: target.emulator.into(), reason };
    let lines = |key: &'a str| {
        let own = channel.lines().filter_map(move |line| line.strip_prefix(key));
        own.filter_map(|line| line.strip_prefix(' '))
    };
    let key = channel.lines().find_map(|line| line.strip_prefix("begun "));
    let Some(key) = key.filter(|key| key.len() == KEY_LENGTH) else {
        let words = String::from_utf8_lossy(&finished.stderr);
        let last = words.lines().last().unwrap_or("it said nothing").to_owned();
        let death = finished.death.as_ref().map(|death| format!("{death}; ")).unwrap_or_default();
        return Err(fault(format!("the timing plugin did not begin: {death}{last}")));
    };
    let all: Vec<&str> = lines(key).collect();
    match all.iter().find_map(|line| line.strip_prefix("failed ")) {
        Some(reason) => Err(fault(reason.to_owned())),
        None => Ok(all),
    }
}

/// Characters of the plugin's key.
const KEY_LENGTH: usize = 32;

/// Whether a count of instructions fits the processor time of the emulator: what changes the counters in the emulator's
/// memory can report anything. Programs that are all translation and system calls are far above the bound.
fn is_plausible(instructions: u64, finished: &Finished) -> bool {
    const LEAST_PER_SECOND: f64 = 5_000.0;
    const MOST_PER_SECOND: f64 = 1e10;
    let seconds = finished.user_seconds;
    let instructions = instructions as f64;
    instructions >= (seconds - 5.0) * LEAST_PER_SECOND
        && instructions <= (seconds + 1.0) * MOST_PER_SECOND
}

/// Cycles as seconds of the processor's clock.
pub(super) fn seconds(cycles: u64, cpu: &Cpu) -> f64 {
    cycles as f64 / (cpu.clock_mhz as f64 * 1e6)
}

fn refusal(name: &str, target: &Target, options: &Options) -> Verdict {
    let [clock, random] = target.refused;
    let (name, detail) = match name {
        "reads-clock" => (
            "reads-clock",
            format!("asks for the time or executes {clock}: the answer differs from run to run"),
        ),
        "reads-random" => ("reads-random", format!("executes {random}")),
        "needs-avx512" => {
            ("needs-avx512", "the emulator has no AVX-512; compile for x86-64-v3 or less".into())
        }
        "starts-threads" => (
            "starts-threads",
            "starts a thread or a process; only programs of one thread have one time".into(),
        ),
        "uses-network" => ("uses-network", "opens a socket".into()),
        "sends-signals" => ("sends-signals", "sends a signal to another process".into()),
        "touches-channel" => (
            "touches-channel",
            "makes a system call about the descriptor that its time is reported through".into(),
        ),
        _ => (
            "instruction-limit",
            format!("ran for more than {} instructions", options.max_instructions),
        ),
    };
    Verdict::new(name, detail)
}

/// The emulator's version, when it is one that can be used.
fn version(tool: &'static str, emulator: &Path) -> Result<String, Error> {
    let unusable = |found: String| Error::Unusable { tool, found, install: INSTALL };
    let output = Command::new(emulator).arg("--version").output();
    let output = output.map_err(|error| unusable(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = parse_version(&text)
        .ok_or_else(|| unusable(format!("its version is `{}`", text.trim())))?;
    if found < OLDEST {
        return Err(unusable(format!("version {}.{} is too old", found.0, found.1)));
    }
    Ok(format!("{}.{}", found.0, found.1))
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let number = text.split("version ").nth(1)?;
    let mut parts = number.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_versions_of_distributions() {
        let debian = "qemu-x86_64 version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)\nCopyright";
        assert_eq!(parse_version(debian), Some((7, 2)));
        assert_eq!(parse_version("qemu-x86_64 version 10.0.0"), Some((10, 0)));
        assert_eq!(parse_version("something else"), None);
    }
}
