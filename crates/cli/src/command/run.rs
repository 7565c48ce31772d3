//! `stampmill run`: kernels executed, checked and measured.

use crate::{
    Global,
    choice::choice,
    command::time::seconds,
    destination::StageOutput,
    duration::{duration, limit},
    headers, interrupt, output,
    progress::Bar,
    stage,
};
use anyhow::{Context as _, bail};
use dataset::{Dataset, Licenses, Row as _, stage::Context};
use device::{HostArgument, HostPayload, Options, Report, Run as Stage, RunRow, Values, Verify};
use mine::{Launch, Suite};
use rows::{KernelProgram, Module};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

/// Run every kernel on every device at every size: check its results, then measure its time
#[derive(clap::Args, Debug)]
#[command(after_help = help!("run"))]
pub(crate) struct Run {
    /// A data set of kernels, a folder or file of programs, or a schedule (.toml)
    dataset: PathBuf,
    #[command(flatten)]
    output: StageOutput,
    /// cpu, gpu, all, or parts of device names, comma-separated
    #[arg(long, default_value = "all")]
    devices: String,
    /// Global sizes (work-items), comma-separated; 2^7..2^24 is every power of two between
    #[arg(long, value_name = "SIZES", default_value = "2^7..2^20", allow_hyphen_values = true)]
    global_sizes: String,
    /// The published suite that the kernels are of: those that it describes run at the sizes and with the values that its
    /// host programs pass
    #[arg(long, value_name = "NAME", value_parser = Suite::names())]
    suite: Option<String>,
    /// Local sizes (work-items of a group), comma-separated, or auto
    #[arg(long, value_name = "SIZES", default_value = "auto", allow_hyphen_values = true)]
    local_sizes: String,
    /// Buffer contents: uniform random, small integers, sorted, or all ones
    #[arg(long, default_value = "uniform", value_parser = choice(VALUES))]
    values: Values,
    /// Random seed of the arguments' values
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Time limit of one kernel on one device over all sizes: CPU time on a CPU (and four times that
    /// in wall-clock time), else wall-clock time
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = limit_of)]
    limit: Duration,
    /// Time for measuring one kernel at one size on one device, three runs at least; 0s only checks it
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = duration)]
    budget: Duration,
    /// Run kernels that pass in Oclgrind as well: it finds races and accesses out of bounds;
    /// oclgrind-uninitialised also finds results that depend on uninitialized memory
    #[arg(long, default_value = "none", value_parser = choice(VERIFIERS))]
    verify: Verify,
    /// Start no further kernel after this time; the rest is counted
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// Run only N kernels, chosen by --seed
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Run only kernels under these licenses: permissive, osi (OSI-approved) or all
    #[arg(long, value_name = "POLICY", default_value = "all")]
    licenses: Licenses,
    /// Print the rows in the CSV format of cldrive, CLgen's driver
    #[arg(long, value_parser = ["cldrive"])]
    format: Option<String>,
}

/// Who also looks at a kernel that passes.
const VERIFIERS: &[(&str, Verify)] = &[
    ("none", Verify::None),
    ("oclgrind", Verify::Oclgrind),
    ("oclgrind-uninitialised", Verify::OclgrindUninitialised),
];

const VALUES: &[(&str, Values)] = &[
    ("uniform", Values::Uniform),
    ("small", Values::Small),
    ("sorted", Values::Sorted),
    ("ones", Values::Ones),
];

/// A time limit, where a number of kernels may be meant.
fn limit_of(text: &str) -> Result<Duration, String> {
    limit(text).map_err(|why| match text.parse::<u64>() {
        Ok(_) => format!("{why}; --sample {text} runs so many kernels"),
        Err(_) => why,
    })
}

impl Run {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let local_sizes = match self.local_sizes.as_str() {
            "auto" => Vec::new(),
            sizes => device::sizes(sizes)?,
        };
        if holds(&self.dataset, Module::SCHEMA) {
            bail!(
                "{0} is a data set of LLVM modules, and `run` runs kernels of OpenCL C: `stampmill ir run {0}` runs modules",
                self.dataset.display()
            );
        }
        headers::say(&self.dataset, global);
        let options = Options {
            devices: self.devices,
            global_sizes: device::sizes(&self.global_sizes)?,
            local_sizes,
            values: self.values,
            seed: self.seed,
            limit: self.limit,
            budget: self.budget,
            verify: self.verify,
            sample: self.sample,
            licenses: self.licenses,
            ..Options::new(self.dataset)
        };
        let bar = Bar::new(global);
        let context = self.output.context(global.jobs(), &bar, &interrupt::flag()?);
        let context = Context { time: self.time, ..context };
        let stage = Stage::new(options, &context.cancel)?;
        let stage = match self.suite.as_deref().and_then(Suite::of) {
            Some(suite) => {
                stage.with_suite(&suite.source, |path, name| suite.launch(path, name).map(payload))
            }
            None => stage,
        };
        if self.format.is_none() {
            return stage::run(&stage, &context, global);
        }
        stage::run_then(&stage, &context, global, |_| {
            let rows: Vec<RunRow> =
                Dataset::open(&context.out)?.rows()?.collect::<dataset::Result<_>>()?;
            device::write_cldrive(&mut std::io::stdout().lock(), &rows)
                .context("cannot write to standard output")
        })
    }
}

/// What a suite's description says of a kernel, as `device` takes it.
fn payload(launch: &Launch) -> HostPayload {
    let arguments = launch.arguments.iter().map(|argument| HostArgument {
        elements: argument.elements,
        value: argument.value,
        below: argument.below,
    });
    HostPayload {
        global: launch.global.clone(),
        local: launch.local.clone(),
        arguments: arguments.collect(),
    }
}

/// Rows of a run whose times are printed, at most.
const MOST_TIMES: u64 = 28;

/// The times of the rows that have one, without transfers.
fn print_times(out: &str) -> anyhow::Result<()> {
    let rows: Vec<RunRow> = Dataset::open(out.as_ref())?.rows()?.collect::<dataset::Result<_>>()?;
    let differ = |of: fn(&RunRow) -> String| {
        let all: std::collections::BTreeSet<String> = rows.iter().map(of).collect();
        all.len() > 1
    };
    // Where they tell rows apart.
    let of_files = differ(|row| row.path.clone());
    let in_groups = differ(|row| row.local_size.map(|size| size.to_string()).unwrap_or_default());
    for row in &rows {
        let Some(nanoseconds) = row.kernel_time_ns else { continue };
        let path = if of_files { format!(" in {}", row.path) } else { String::new() };
        let groups = row.local_size.filter(|_| in_groups);
        let groups = groups.map(|size| format!(" in groups of {size}")).unwrap_or_default();
        output::line(&format!(
            "{}{path}, {} work-items{groups} on {}: {} ({} runs)",
            row.known_as(),
            output::count(row.global_size),
            row.device_type,
            seconds(nanoseconds as f64 / 1e9),
            row.repeats.unwrap_or(1)
        ))?;
    }
    Ok(())
}

/// Whether a data set of kernels lies there.
pub(crate) fn is_kernels(path: &Path) -> bool {
    holds(path, KernelProgram::SCHEMA)
}

/// Whether a data set of such rows lies there.
pub(crate) fn holds(path: &Path, schema: &str) -> bool {
    Dataset::open(path).is_ok_and(|found| found.manifest().schema == schema)
}

impl stage::Shown for Stage {
    fn print(report: &Report, seconds: f64, out: &str) -> anyhow::Result<()> {
        for (device, outcomes) in &report.by_device {
            let rows: u64 = outcomes.values().sum();
            let cells = outcomes.iter().map(|(outcome, count)| {
                let (outcome, about) = match outcome.strip_suffix(" (us)") {
                    Some(outcome) => (outcome, "how it was run"),
                    None => (outcome.as_str(), "the kernel"),
                };
                let share = output::percent(*count, rows);
                vec![outcome.to_owned(), about.to_owned(), output::count(*count), share]
            });
            output::line(device)?;
            output::print_table(&["outcome", "about", "rows", "share"], cells)?;
        }
        if report.kernels == 0 {
            return output::line(
                "no OpenCL program was found: `stampmill mine DIR` finds kernels inside other programs",
            );
        }
        let rows = |is_counted: &dyn Fn(&str) -> bool| -> u64 {
            let all = report.by_device.values().flatten();
            all.filter(|(outcome, _)| is_counted(outcome)).map(|(_, count)| count).sum()
        };
        let of_us = rows(&|outcome| outcome.ends_with(" (us)"));
        let unknown = match (report.kernels - report.kernels_judged, of_us) {
            (0, 0) => String::new(),
            (0, some) => format!(
                "; {} of {} rows could not be judged (about: how it was run)",
                output::count(some),
                output::count(report.rows)
            ),
            (some, _) => {
                format!("; {} could not be judged (about: how it was run)", output::count(some))
            }
        };
        let mixed = match report.kernels_passing_at_some_sizes {
            0 => String::new(),
            some => format!(", {} more at some sizes only", output::count(some)),
        };
        output::line(&format!(
            "{} of {} kernels pass on every device{mixed}{unknown}",
            output::count(report.kernels_passing - report.kernels_passing_at_some_sizes),
            output::count(report.kernels),
        ))?;
        if let Some(described) = report.described {
            output::line(&format!(
                "{} of {} kernels run as the suite's host programs launch them",
                output::count(described),
                output::count(report.kernels)
            ))?;
        }
        if report.kernels_left > 0 {
            output::line(&format!("{} kernels left when the time was up", report.kernels_left))?;
        }
        output::line(&format!("{} rows in {} ({seconds:.1} s)", output::count(report.rows), out))?;
        if report.rows <= MOST_TIMES {
            print_times(out)?;
        }
        if rows(&|outcome| outcome.starts_with("build-failure") || outcome.starts_with("refused"))
            > 0
        {
            output::hint(
                "what does not build may lack headers or definitions of its package: `stampmill mine` and `stampmill prepare` put them in",
            )?;
        }
        match Self::is_good(report) && of_us == 0 {
            true => output::line(&format!(
                "times: stampmill query \"SELECT path, kernel, original_name, global_size, local_size, kernel_time_ns FROM r\" r={out}"
            )),
            false => output::line(&format!(
                "why: stampmill query \"SELECT path, kernel, outcome, detail FROM r\" r={out}"
            )),
        }
    }

    fn is_good(report: &Report) -> bool {
        report.outcomes.get("pass").is_some_and(|count| *count > 0)
    }

    fn is_nothing(manifest: &dataset::Manifest) -> bool {
        manifest.notes.summary["kernels_judged"].as_u64() == Some(0)
    }
}
