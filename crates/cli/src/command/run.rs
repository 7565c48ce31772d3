//! `stampmill run`: kernels executed, checked and measured.

use crate::{
    Global,
    duration::{duration, limit},
    interrupt, output,
    progress::Bar,
    target::Target,
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

/// Run every kernel on every device at every size: check it, then measure it
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill run kernels --devices cpu --global-sizes 2^10..2^16 --out runs\n  \
    stampmill run my.cl --devices cpu,gpu --out runs --verify oclgrind\n  \
    stampmill run kernels --sample 500 --licences permissive --seed 1 --out runs\n  \
    stampmill run kernels --devices gpu --out runs --format cldrive > runs.csv\n  \
    stampmill query \"SELECT outcome, count(*) FROM r GROUP BY outcome\" r=runs\n\n\
Outcomes: pass, build-failure, refused, no-kernel, no-arguments, unsupported-argument, invalid-size,\n\
out-of-resources, crash, timeout, no-output, input-insensitive, non-deterministic, out-of-bounds,\n\
race. No driver is given a program that holds assembly, includes a file, calls an address, speaks to\n\
the linker, or uses what it declares and does not define: it is refused. What a kernel expects of its buffers is not written in it: one that does not pass with as many\n\
elements as work-items is tried with other integers and more room (column payload says which). A run\n\
that was stopped is resumed when the same command is given again.")]
pub(crate) struct Run {
    /// A data set of kernels, a folder or file of programs, or a schedule (.toml)
    dataset: PathBuf,
    #[command(flatten)]
    target: Target,
    /// cpu, gpu, all, or parts of device names, with commas
    #[arg(long, default_value = "all")]
    devices: String,
    /// Work-items: sizes with commas, ranges of powers of two as 2^7..2^24
    #[arg(long, value_name = "SIZES", default_value = "2^7..2^20", allow_hyphen_values = true)]
    global_sizes: String,
    /// Work-items of a group: auto, or sizes with commas
    #[arg(long, value_name = "SIZES", default_value = "auto", allow_hyphen_values = true)]
    local_sizes: String,
    /// What buffers hold: uniform, small, sorted, ones
    #[arg(long, value_enum, default_value = "uniform")]
    values: Filling,
    /// Seed of the payloads
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Limit of one kernel on one device, all sizes together: processor time where that is a
    /// processor, with four times as much on the wall; else time on the wall
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = limit)]
    limit: Duration,
    /// Time to measure one kernel at one size on one device; 0s only checks
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = duration)]
    budget: Duration,
    /// A second opinion on kernels that pass: oclgrind looks for races and accesses out of bounds,
    /// oclgrind-uninitialised also for results that depend on memory nobody has written
    #[arg(long, value_enum, default_value = "none")]
    verify: Opinion,
    /// Begin no further kernel after this time; those left are counted
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// Only so many kernels, drawn by the seed
    #[arg(long, value_name = "KERNELS")]
    sample: Option<usize>,
    /// Only kernels under such licenses: permissive, osi, all
    #[arg(long, visible_alias = "licenses", default_value = "all")]
    licences: Licences,
    /// `cldrive` prints the rows as CLgen's driver did
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
            licences: self.licences,
            ..Options::new(self.dataset)
        };
        let bar = Bar::new(global);
        let context = self.target.context(global.jobs(), &bar, &interrupt::flag()?);
        let stage = Stage::new(options, &context.cancel)?;
        let done = stage::run(&stage, &stage::Context { time: self.time, ..context })?;
        drop(bar);
        let status = match self.format {
            Some(Format::Cldrive) => {
                let rows: Vec<RunRow> =
                    Dataset::open(&self.target.out)?.rows()?.collect::<dataset::Result<_>>()?;
                device::write_cldrive(&mut std::io::stdout().lock(), &rows)
                    .context("cannot write to standard output")?;
                status(&done.summary)
            }
            None => show(&done, &self.target.out, global)?,
        };
        // One part of many may hold no kernel that passes.
        Ok(if self.target.part.is_some() { ExitCode::SUCCESS } else { status })
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
