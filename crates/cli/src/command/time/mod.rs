//! `stampmill time`: how long programs take on a described processor, the same every time.

mod calibrate;
mod compare;
mod cpu;
mod validate;

use crate::{
    Global,
    choice::choice,
    destination,
    duration::limit,
    headers, interrupt, output,
    progress::Bar,
    size::{count, size},
    stage,
};
use anyhow::bail;
use dataset::{Language, stage::Done};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};
use timing::{
    Code, Compiler, Job, Measurement, Options, SourceKind, Suite, SuiteReport, TimeSuite, Timing,
};

/// Time native programs deterministically on a simulated CPU: the same cycles on every host
#[derive(clap::Args, Debug)]
#[command(
    mut_arg("out", |out| {
        destination::optional("The data set that a suite's times go to")(out).requires("suite")
    }),
    mut_arg("force", |force| force.requires("suite")),
    mut_arg("part", |part| part.requires("suite"))
)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = help!("time")
)]
pub(crate) struct Time {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// C++ (.cpp .cc .cxx), C (.c), or a static executable for the CPU
    #[arg(required_unless_present = "suite", conflicts_with = "suite")]
    program: Option<PathBuf>,
    /// Another version of it, to compare: as `time compare` does
    #[arg(conflicts_with = "suite")]
    other: Option<PathBuf>,
    /// The program's standard input; `-`: what this command reads [default: empty]
    #[arg(long, value_name = "FILE", conflicts_with = "suite")]
    stdin: Option<PathBuf>,
    /// Time all programs of a folder or .jsonl file
    #[arg(long, value_name = "DIR", requires = "out")]
    suite: Option<PathBuf>,
    #[command(flatten)]
    output: Option<destination::StageOutput>,
    #[command(flatten)]
    how: How,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    Calibrate(calibrate::Calibrate),
    Compare(compare::Compare),
    Cpu(cpu::Cpu),
    Validate(validate::Validate),
}

/// The processor that programs run on, and what they may use.
#[derive(clap::Args, Debug)]
pub(crate) struct Bounds {
    /// Simulated CPU: skylake, zen4, neoverse-n1, sifive-p550 or a CPU file (.toml)
    #[arg(long, value_name = "NAME", default_value = "skylake")]
    cpu: String,
    /// Instruction limit of a program (2000000, 2^31, 2e9) [default: none]
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true, value_parser = count)]
    max_instructions: u64,
    /// Wall-clock limit of one run
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = limit)]
    timeout: Duration,
    /// Memory limit of a program and its emulator
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size)]
    memory: u64,
    /// Limit of a program's standard output
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = size)]
    max_output: u64,
}

impl Bounds {
    pub(crate) fn options(&self) -> Options {
        Options {
            cpu: self.cpu.clone(),
            max_instructions: self.max_instructions,
            timeout: self.timeout,
            memory_bytes: self.memory,
            output_bytes: self.max_output,
            ..Options::default()
        }
    }
}

/// How programs are built and timed.
#[derive(clap::Args, Debug)]
pub(super) struct How {
    #[command(flatten)]
    bounds: Bounds,
    /// What measures the cycles
    #[arg(long, default_value = "qemu", value_parser = choice(SOURCES))]
    source: SourceKind,
    /// Number of runs: wall takes the best, simulated runs must agree
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: u64,
    /// Simulate about one of N instructions (1 to 1000) in detail and estimate the rest: faster, with an interval
    #[arg(long, value_name = "1/N", default_value = "1/1", value_parser = rate)]
    sample_rate: u64,
    /// Compiler of source files
    #[arg(long, default_value = "gcc", value_parser = choice(&[("gcc", Compiler::Gcc), ("clang", Compiler::Clang)]))]
    compiler: Compiler,
    /// Compiler flag to append; may be repeated
    #[arg(long = "flag", value_name = "FLAG", allow_hyphen_values = true)]
    flags: Vec<String>,
    /// Do not measure start-up on an empty program (leaves out seconds_net)
    #[arg(long)]
    no_net: bool,
}

/// What can measure times.
pub(super) const SOURCES: &[(&str, SourceKind)] = &[
    ("qemu", SourceKind::Qemu),
    ("gem5", SourceKind::Gem5),
    ("cachegrind", SourceKind::Cachegrind),
    ("wall", SourceKind::Wall),
];

impl How {
    pub(super) fn options(&self) -> Options {
        Options {
            source: self.source,
            runs: self.runs,
            sample_rate: self.sample_rate,
            compiler: self.compiler,
            flags: self.flags.clone(),
            net: !self.no_net,
            ..self.bounds.options()
        }
    }
}

/// A sampling rate as people write it: `1/10`.
fn rate(text: &str) -> Result<u64, String> {
    let parsed = text.strip_prefix("1/").and_then(|rest| rest.parse::<u64>().ok());
    let one = if text == "1" { Some(1) } else { None };
    match parsed.or(one) {
        Some(rate) if (1..=1000).contains(&rate) => Ok(rate),
        _ => Err(format!("`{text}` is no sampling rate; write 1/N with N from 1 to 1000")),
    }
}

impl Time {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        // What is printed is not kept.
        let cancelled = match self.output {
            Some(_) => interrupt::flag()?,
            None => interrupt::final_flag()?,
        };
        match self.verb {
            Some(Verb::Calibrate(verb)) => return verb.run(global),
            Some(Verb::Compare(verb)) => return verb.run(global),
            Some(Verb::Cpu(verb)) => return verb.run(),
            Some(Verb::Validate(verb)) => return verb.run(global),
            None => {}
        }
        if let (Some(_), Some(_)) = (&self.other, &self.output) {
            bail!(
                "--out takes the times of a --suite; what two programs compare to is printed (--json)"
            );
        }
        if let (Some(before), Some(after)) = (&self.program, self.other) {
            let compare = compare::Compare::of(before.clone(), after, self.stdin, self.how);
            return compare.run(global);
        }
        let options = self.how.options();
        let bar = Bar::new(global);
        match (&self.program, &self.suite, &self.output) {
            (Some(_), _, Some(_)) => {
                bail!("--out takes the times of a --suite; one program's are printed (--json)")
            }
            (Some(program), ..) if Language::of(program) == Some(Language::OpenCl) => bail!(
                "{0} is OpenCL C, and native programs are timed here: `stampmill run {0}` times its kernels on devices, `stampmill \
                 label --task cost {0}` counts their cycles",
                program.display()
            ),
            (Some(program), ..) => {
                let job = Job::read(program, self.stdin.as_ref())?;
                let beside = headers::quoted(program);
                let flags = options.flags.into_iter().chain(beside).collect();
                let options = Options { flags, ..options };
                dataset::Progress::begin(&bar, "time", 0);
                let timing = timing::time(&job, &options)?;
                drop(bar);
                output::report(global, &timing, || {
                    print(&timing, program, &job, self.stdin.is_some())
                })?;
                Ok(output::status(timing.is_accepted()))
            }
            (None, Some(suite), Some(output)) => {
                headers::say_flag(&[suite], &options.flags, global);
                let suite = TimeSuite::new(Suite::read(suite)?, &options)?;
                let context = output.context(global.jobs(), &bar, &cancelled);
                stage::run(&suite, &context, global)
            }
            _ => bail!("name a program, or --suite DIR with --out DIR"),
        }
    }
}

impl stage::Shown for TimeSuite {
    /// `seconds` may be taken for what the programs took.
    fn json(Done { summary, seconds, .. }: &Done<SuiteReport>) -> anyhow::Result<()> {
        #[derive(serde::Serialize)]
        struct Report<'a> {
            #[serde(flatten)]
            summary: &'a SuiteReport,
            host_seconds: f64,
        }
        output::json(&Report { summary, host_seconds: *seconds })
    }

    fn print(report: &SuiteReport, host_seconds: f64, out: &str) -> anyhow::Result<()> {
        output::print_shares(["verdict", "rows", "share"], &report.verdicts, report.rows)?;
        if report.without_input > 0 {
            output::line(&format!(
                "{} of {} read their input and were given none: NAME.in beside a program is its input",
                output::count(report.without_input),
                output::count(report.rows)
            ))?;
        }
        output::line(&format!(
            "{} rows in {}: {} instructions, {} simulated on {} by {} ({host_seconds:.1} s)",
            output::count(report.rows),
            out,
            output::count(report.instructions),
            seconds(report.seconds_simulated),
            report.cpu,
            report.source
        ))
    }

    fn is_good(report: &SuiteReport) -> bool {
        report.verdicts.get(dataset::Verdict::ACCEPTED).is_some_and(|count| *count > 0)
    }

    fn is_nothing(manifest: &dataset::Manifest) -> bool {
        stage::is_all_rejected(manifest)
    }
}

/// What is said of a program that was timed without the input that it reads.
const LACKS_INPUT: &str =
    "reads its input and was given none: --stdin FILE, or `--stdin -` for what this command reads";

fn print(timing: &Timing, program: &Path, job: &Job, has_input: bool) -> anyhow::Result<()> {
    let Some(m) = &timing.measurement else {
        let (name, why) = (program.display(), &timing.detail);
        return output::line(&format!("{name} has no time: {why} ({})", timing.verdict));
    };
    output::print_table(&["figure", "value", ""], rows(m, &job.program))?;
    if m.input_ended == Some(true) && !has_input {
        output::line(&format!("it {LACKS_INPUT}"))?;
    }
    Ok(())
}

/// What a person wants to know first, first.
fn rows(m: &Measurement, code: &Code) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String, note: String| {
        rows.push(vec![name.to_owned(), value, note]);
    };
    let whose = match m.source.as_str() {
        "wall" => "best run, this machine's clock".to_owned(),
        source => format!("on {} by {source}", m.cpu),
    };
    row("time", seconds(m.seconds_simulated), whose);
    if let Some([low, high]) = m.interval {
        let note = match m.sampling_error_cycles {
            Some(_) => "95 % interval of the estimate".to_owned(),
            None => format!("95 % interval of the best of {}", m.runs),
        };
        row("", format!("{} to {}", seconds(low), seconds(high)), note);
    }
    if let Some(net) = m.seconds_net {
        let less = match code {
            Code::Elf(_) => "less what is before main",
            Code::C(_) | Code::Cpp(_) => "less an empty program of the same headers",
        };
        row("net", seconds(net), less.into());
    }
    let startup = m.startup_cycles.map(|c| format!("{} before main", output::count(c)));
    let error = m.sampling_error_cycles.map(|c| format!("± {} (sampled)", output::count(c)));
    let mut counted = |name: &str, value: Option<u64>, note: String| {
        if let Some(value) = value {
            row(name, output::count(value), note);
        }
    };
    let cycles_note = [startup, error].into_iter().flatten().collect::<Vec<_>>().join(", ");
    counted("cycles", m.cycles, cycles_note);
    let ipc = m.ipc.map_or(String::new(), |ipc| format!("{ipc:.2} per cycle"));
    counted("instructions", m.instructions, ipc);
    if let (Some(detailed), Some(strata), Some(all)) =
        (m.detailed_instructions, m.strata, m.instructions)
    {
        let share = output::percent(detailed, all);
        let kinds = if strata == 1 { "stratum" } else { "strata" };
        counted("in detail", Some(detailed), format!("{share} of instructions, {strata} {kinds}"));
    }
    let of = |part: Option<u64>, whole: Option<u64>| match (part, whole) {
        (Some(part), Some(whole)) => format!("{} of branches", output::percent(part, whole)),
        _ => String::new(),
    };
    counted("branches", m.branches, String::new());
    counted("mispredicts", m.mispredicts, of(m.mispredicts, m.branches));
    counted("L1D misses", m.l1d_misses, String::new());
    counted("L2 misses", m.l2_misses, String::new());
    counted("L3 misses", m.l3_misses, String::new());
    counted("TLB misses", m.tlb_misses, String::new());
    counted("kernel cycles", m.kernel_cycles, "system calls and page faults".into());
    if m.exit_status != 0 {
        row("exit status", m.exit_status.to_string(), String::new());
    }
    row("took", seconds(m.host_seconds), speed(m));
    rows
}

fn speed(m: &Measurement) -> String {
    match m.instructions {
        Some(count) if count > 1_000_000 && m.host_seconds > 0.0 => {
            format!("{:.1} M instructions/s", count as f64 / m.host_seconds / 1e6)
        }
        _ => String::new(),
    }
}

/// Seconds in the unit that shows four digits.
pub(crate) fn seconds(value: f64) -> String {
    match value {
        v if v >= 1.0 => format!("{v:.3} s"),
        v if v >= 1e-3 => format!("{:.3} ms", v * 1e3),
        v => format!("{:.3} µs", v * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::{rate, seconds};

    #[test]
    fn sampling_rates_read_as_people_write_them() {
        assert_eq!(rate("1/10"), Ok(10));
        assert_eq!(rate("1"), Ok(1));
        assert!(rate("0.1").is_err() && rate("1/0").is_err() && rate("1/5000").is_err());
    }

    #[test]
    fn seconds_keep_four_digits() {
        assert_eq!(seconds(0.012_345), "12.345 ms");
        assert_eq!(seconds(2.5), "2.500 s");
        assert_eq!(seconds(0.0), "0.000 µs");
    }
}
