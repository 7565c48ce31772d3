//! `stampmill run`: kernels executed, checked and measured.

use crate::{
    Global,
    destination::StageOutput,
    duration::{duration, limit},
    interrupt, output,
    progress::Bar,
};
use anyhow::Context;
use dataset::{
    Dataset, Licences,
    stage::{self, Done},
};
use device::{Options, Report, Run as Stage, RunRow, Values, Verify};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

/// Run every kernel on every device at every size: check its results, then measure its time
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill run kernels --devices cpu --global-sizes 2^10..2^16 --out runs\n  \
    stampmill run my.cl --devices cpu,gpu --out runs --verify oclgrind\n  \
    stampmill run kernels --sample 500 --licenses permissive --seed 1 --out runs\n  \
    stampmill run kernels --devices gpu --out runs --format cldrive > runs.csv\n  \
    stampmill query \"SELECT outcome, count(*) FROM r GROUP BY outcome\" r=runs\n\n\
Outcomes: pass, build-failure, refused, no-kernel, no-arguments, unsupported-argument, invalid-size,\n\
out-of-resources, crash, timeout, no-output, input-insensitive, non-deterministic, out-of-bounds,\n\
race. Programs with inline assembly, #include, calls through pointers, linker attributes or undefined\n\
symbols are never passed to a driver: their outcome is `refused`.\n\
A kernel does not state how large its buffers must be: if it does not pass with one element per\n\
work-item, other integer arguments and larger buffers are tried (column `payload`).\n\
The same command resumes a stopped run.")]
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
    /// Local sizes (work-items of a group), comma-separated, or auto
    #[arg(long, value_name = "SIZES", default_value = "auto", allow_hyphen_values = true)]
    local_sizes: String,
    /// Buffer contents: uniform random, small integers, sorted, or all ones
    #[arg(long, value_enum, default_value = "uniform")]
    values: Filling,
    /// Random seed of the payloads
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Time limit of one kernel on one device over all sizes: CPU time on a CPU (and four times that
    /// in wall-clock time), else wall-clock time
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = limit)]
    limit: Duration,
    /// Time for measuring one kernel at one size on one device; 0s only checks it
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = duration)]
    budget: Duration,
    /// Run kernels that pass in Oclgrind as well: it finds races and accesses out of bounds;
    /// oclgrind-uninitialised also finds results that depend on uninitialized memory
    #[arg(long, value_enum, default_value = "none")]
    verify: Opinion,
    /// Start no further kernel after this time; the rest is counted
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// Run only N kernels, chosen by --seed
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Run only kernels under these licenses: permissive, osi (OSI-approved) or all
    #[arg(long, value_name = "POLICY", default_value = "all")]
    licenses: Licences,
    /// Print the rows in the CSV format of cldrive, CLgen's driver
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Filling {
    Uniform,
    Small,
    Sorted,
    Ones,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Opinion {
    None,
    Oclgrind,
    OclgrindUninitialised,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Format {
    Cldrive,
}

impl Run {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let local_sizes = match self.local_sizes.as_str() {
            "auto" => Vec::new(),
            sizes => device::sizes(sizes)?,
        };
        let options = Options {
            devices: self.devices,
            global_sizes: device::sizes(&self.global_sizes)?,
            local_sizes,
            values: match self.values {
                Filling::Uniform => Values::Uniform,
                Filling::Small => Values::Small,
                Filling::Sorted => Values::Sorted,
                Filling::Ones => Values::Ones,
            },
            seed: self.seed,
            limit: self.limit,
            budget: self.budget,
            verify: match self.verify {
                Opinion::None => Verify::None,
                Opinion::Oclgrind => Verify::Oclgrind,
                Opinion::OclgrindUninitialised => Verify::OclgrindUninitialised,
            },
            sample: self.sample,
            licences: self.licenses,
            ..Options::new(self.dataset)
        };
        let bar = Bar::new(global);
        let context = self.output.context(global.jobs(), &bar, &interrupt::flag()?);
        let stage = Stage::new(options, &context.cancel)?;
        let done = stage::run(&stage, &stage::Context { time: self.time, ..context })?;
        drop(bar);
        let status = match self.format {
            Some(Format::Cldrive) => {
                let rows: Vec<RunRow> =
                    Dataset::open(&self.output.out)?.rows()?.collect::<dataset::Result<_>>()?;
                device::write_cldrive(&mut std::io::stdout().lock(), &rows)
                    .context("cannot write to standard output")?;
                status(&done.summary)
            }
            None => show(&done, &self.output.out, global)?,
        };
        // One part of many may hold no kernel that passes.
        Ok(if self.output.part.is_some() { ExitCode::SUCCESS } else { status })
    }
}

/// Print what a run or a merge came to.
pub(super) fn show(done: &Done<Report>, out: &Path, global: &Global) -> anyhow::Result<ExitCode> {
    match global.json {
        true => output::json(done)?,
        false => print(done, out)?,
    }
    Ok(status(&done.summary))
}

fn status(report: &Report) -> ExitCode {
    let passed = report.outcomes.get("pass").is_some_and(|count| *count > 0);
    if passed { ExitCode::SUCCESS } else { output::NEGATIVE }
}

fn print(Done { summary: report, seconds }: &Done<Report>, out: &Path) -> anyhow::Result<()> {
    for (device, outcomes) in &report.by_device {
        let rows: u64 = outcomes.values().sum();
        let cells = outcomes.iter().map(|(outcome, count)| {
            let (outcome, about) = match outcome.strip_suffix(" (us)") {
                Some(outcome) => (outcome, "how it was run"),
                None => (outcome.as_str(), "the kernel"),
            };
            let cells = [outcome.to_owned(), about.to_owned()];
            [&cells[..], &[output::count(*count), output::percent(*count, rows)]].concat()
        });
        output::line(device)?;
        let headings = ["outcome", "about", "rows", "share"];
        output::line(&output::table(&headings, cells).to_string())?;
    }
    output::line(&format!(
        "{} of {} kernels pass on every device, {} pass or end in an outcome about the kernel",
        output::count(report.kernels_passing),
        output::count(report.kernels),
        output::count(report.kernels_judged)
    ))?;
    if report.kernels_left > 0 {
        output::line(&format!("{} kernels left when the time was up", report.kernels_left))?;
    }
    output::line(&format!(
        "{} rows in {} ({seconds:.1} s)",
        output::count(report.rows),
        out.display()
    ))
}
