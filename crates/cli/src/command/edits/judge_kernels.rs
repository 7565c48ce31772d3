//! `stampmill edits judge-kernels`: candidates for OpenCL kernels are checked and timed beside the slow ones.

use crate::{
    Global,
    command::features::options as extractor_options,
    destination::StageOutput,
    duration::{duration, limit},
    interrupt, output,
    progress::Bar,
    stage,
};
use anyhow::{Context, bail};
use device::{KernelEdits, KernelEditsReport, KernelLaunch, OperationCounter, Options};
use features::{Extractor, Launch};
use std::{
    path::PathBuf,
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// Judge edits of OpenCL kernels: the same results on the same payloads, then both timed in turn
#[derive(clap::Args, Debug)]
#[command(after_help = help!("edits-judge-kernels"))]
pub(crate) struct JudgeKernels {
    /// JSON lines with src_id, src_code and tgt_code, or a folder of folders with slow.cl and candidates
    pairs: PathBuf,
    #[command(flatten)]
    output: StageOutput,
    #[command(flatten)]
    conditions: KernelConditions,
    /// Random seed of the arguments' values
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Time limit of one kernel on one device: CPU time on a CPU, else wall-clock time; judging both may take three times
    /// as long
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = limit)]
    limit: Duration,
    /// Count the floating-point operations of candidates too, on this machine's processor; needs LLVM and gcc
    #[arg(long)]
    operations: bool,
}

/// On what candidates for kernels are compared with the slow ones, and for how long they are timed.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct KernelConditions {
    /// cpu, gpu, all, or parts of device names, comma-separated
    #[arg(long, default_value = "all")]
    devices: String,
    /// Global sizes (work-items), comma-separated; 2^7..2^24 is every power of two between
    #[arg(
        long,
        value_name = "SIZES",
        default_value = "2^10,2^16,2^20",
        allow_hyphen_values = true
    )]
    global_sizes: String,
    /// Pairs of payloads on which results are compared, at each size
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) payloads: u32,
    /// Time for timing one candidate at one size on one device, the slow kernel as long; 0s only checks it
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = duration)]
    pub(crate) budget: Duration,
}

impl KernelConditions {
    /// Options of a judge with this limit; pairs are read from `input`, if from anywhere.
    pub(crate) fn options(self, input: PathBuf, limit: Duration) -> anyhow::Result<Options> {
        Ok(Options {
            devices: self.devices,
            global_sizes: device::sizes(&self.global_sizes)?,
            limit,
            budget: self.budget,
            ..Options::new(input)
        })
    }
}

impl JudgeKernels {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let payloads = self.conditions.payloads;
        let options = self.conditions.options(self.pairs, self.limit)?;
        let options = Options { seed: self.seed, ..options };
        let bar = Bar::new(global);
        let stop = interrupt::flag()?;
        let context = self.output.context(global.jobs(), &bar, &stop);
        let mut judge = KernelEdits::new(options, payloads, &context.cancel)?;
        if self.operations {
            judge = judge.counting(counter(&stop, global)?);
        }
        stage::run(&judge, &context, global)
    }
}

/// Counts operations as feature space `dynamic` does.
///
/// # Errors
/// When none can be counted here: better now than after the first candidate.
fn counter(stop: &Arc<AtomicBool>, global: &Global) -> anyhow::Result<OperationCounter> {
    const LEVEL: u8 = 1;
    let options =
        features::Options { cancelled: Arc::clone(stop), ..extractor_options(LEVEL, global)? };
    let extractor = Extractor::new(features::spaces("dynamic")?, options);
    let trial = "kernel void A(global float* x) { x[get_global_id(0)] += 1.0f; }";
    let (kernel, range) = ("A".to_owned(), [64, 1, 1]);
    let launch = Launch { kernel, global: range, local: range, integers: vec![0] };
    if let Err(verdict) = extractor.operations(trial, &[launch]).context("--operations")? {
        bail!("--operations: {verdict}");
    }
    let tools = extractor.llvm().map(|version| ("llvm".to_owned(), version));
    let count = move |text: &str, launches: &[KernelLaunch]| {
        let launches: Vec<Launch> = launches.iter().cloned().map(launch_of).collect();
        match extractor.operations(text, &launches) {
            Ok(counted) => Ok(counted.ok()),
            Err(error) => Err(error.to_string()),
        }
    };
    Ok(OperationCounter { count: Box::new(count), tools: tools.into_iter().collect() })
}

fn launch_of(KernelLaunch { kernel, global, local, integers }: KernelLaunch) -> Launch {
    Launch { kernel, global, local, integers }
}

impl stage::Shown for KernelEdits {
    fn print(report: &KernelEditsReport, seconds: f64, out: &str) -> anyhow::Result<()> {
        output::print_shares(["verdict", "rows", "share"], &report.verdicts, report.rows)?;
        let KernelEditsReport { faster, slower, equal, .. } = report;
        if faster + slower + equal > 0 {
            output::line(&format!(
                "of the accepted rows {} are faster, {} slower, {} neither (95 % intervals); slow / fast {:.2} in the \
                 geometric mean",
                output::count(*faster),
                output::count(*slower),
                output::count(*equal),
                report.mean_speedup
            ))?;
        }
        output::line(&format!(
            "{} of {} accepted at every size, {} in {out} ({seconds:.1} s)",
            output::count(report.accepted),
            output::some(report.candidates, "candidate"),
            output::some(report.rows, "row")
        ))
    }

    fn is_good(report: &KernelEditsReport) -> bool {
        report.rows
            > report.verdicts.get(rows::KernelEditVerdict::SourceFails.name()).copied().unwrap_or(0)
    }
}
