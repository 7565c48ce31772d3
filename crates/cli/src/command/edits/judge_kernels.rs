//! `stampmill edits judge-kernels`: candidates for OpenCL kernels are checked and timed beside the slow ones.

use crate::{
    Global,
    destination::StageOutput,
    duration::{duration, limit},
    interrupt, output,
    progress::Bar,
    stage,
};
use device::{KernelEdits, KernelEditsReport, Options};
use std::{path::PathBuf, process::ExitCode, time::Duration};

/// Judge edits of OpenCL kernels: the same results on the same payloads, then both timed in turn
#[derive(clap::Args, Debug)]
#[command(after_help = help!("edits-judge-kernels"))]
pub(crate) struct JudgeKernels {
    /// JSON lines with src_id, src_code and tgt_code, or a folder of folders with slow.cl and candidates
    pairs: PathBuf,
    #[command(flatten)]
    output: StageOutput,
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
    payloads: u32,
    /// Random seed of the arguments' values
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Time limit of one kernel on one device: CPU time on a CPU, else wall-clock time; judging both may take three times
    /// as long
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = limit)]
    limit: Duration,
    /// Time for timing one candidate at one size on one device, the slow kernel as long; 0s only checks it
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = duration)]
    budget: Duration,
}

impl JudgeKernels {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let options = Options {
            devices: self.devices,
            global_sizes: device::sizes(&self.global_sizes)?,
            seed: self.seed,
            limit: self.limit,
            budget: self.budget,
            ..Options::new(self.pairs)
        };
        let bar = Bar::new(global);
        let context = self.output.context(global.jobs(), &bar, &interrupt::flag()?);
        let judge = KernelEdits::new(options, self.payloads, &context.cancel)?;
        stage::run(&judge, &context, global)
    }
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
            "{} of {} candidates are accepted at every size, {} rows in {out} ({seconds:.1} s)",
            output::count(report.accepted),
            output::count(report.candidates),
            output::count(report.rows)
        ))
    }

    fn is_good(report: &KernelEditsReport) -> bool {
        report.rows
            > report.verdicts.get(rows::KernelEditVerdict::SourceFails.name()).copied().unwrap_or(0)
    }
}
