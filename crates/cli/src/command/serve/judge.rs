//! `stampmill serve --judge`: the judge of edits as a reward function.

use super::Serve;
use crate::{
    Global,
    choice::choice,
    command::edits::{Conditions, judge::WATCHED, judge_kernels::KernelConditions},
    duration::limit,
    interrupt, output,
};
use anyhow::bail;
use edits::{JudgeOptions, Sanitize};
use serde_json::json;
use serve::{JudgeServer, JudgeSettings, KernelSettings};
use std::{path::PathBuf, process::ExitCode, time::Duration};

/// How a judge that is served judges.
#[derive(clap::Args, Debug)]
pub(super) struct Judging {
    /// Candidates of a batch; a larger one gets status 400
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    max_batch: u16,
    /// Speedup from which the sanitizers look at a candidate
    #[arg(long, value_name = "RATIO", default_value_t = 1.1)]
    threshold: f64,
    /// Candidates to run with sanitizers
    #[arg(long, default_value = "faster", value_parser = choice(WATCHED))]
    sanitize: Sanitize,
    #[command(flatten)]
    conditions: Conditions,
    #[command(flatten, next_help_heading = "Judge of kernels")]
    kernels: KernelJudging,
}

/// How kernels are judged.
#[derive(clap::Args, Debug)]
struct KernelJudging {
    #[command(flatten)]
    conditions: KernelConditions,
    /// Time limit of one kernel on one device: CPU time on a CPU, else wall-clock time; judging both may take three times
    /// as long
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = limit)]
    kernel_limit: Duration,
}

impl Serve {
    pub(super) fn judge(self, global: &Global) -> anyhow::Result<ExitCode> {
        // The first who asks says what Ctrl-C does: what is being judged has its grace.
        let stop = interrupt::gentle_flag()?;
        let (limits, token) = (self.limits(32, 16 << 20), self.token()?);
        let bench = self.judging.conditions.bench()?;
        let store = self.judging.conditions.store();
        let KernelJudging { conditions, kernel_limit } = self.judging.kernels;
        if conditions.budget.is_zero() {
            bail!(
                "--budget 0s times no kernel, and the reward of one is its speedup; give 50ms or more"
            );
        }
        let kernels = KernelSettings {
            payloads: conditions.payloads,
            options: conditions.options(PathBuf::new(), kernel_limit)?,
            store,
        };
        let settings = JudgeSettings {
            listen: self.listen,
            token,
            options: JudgeOptions {
                threshold: self.judging.threshold,
                sanitize: self.judging.sanitize,
                most: None,
            },
            kernels,
            most: usize::from(self.judging.max_batch),
            slots: usize::from(self.slots.unwrap_or(2)),
            jobs: global.jobs(),
            limits,
            grace: self.grace,
        };
        let server = JudgeServer::bind(settings, bench)?;
        let url = server.url();
        let started = json!({ "url": url, "pid": std::process::id() });
        output::report(global, &started, || {
            output::line(&format!("judging at {url}/judge (Ctrl-C stops it)"))
        })?;
        let judged = server.run(&stop);
        // What the grace was too short for is ended.
        sandbox::stop_all();
        let judged = judged?;
        if !global.json && !global.is_quiet() {
            output::line(&format!(
                "stopped: {} requests, {} of them refused; {} candidates judged, {} of them known",
                output::count(judged.requests),
                output::count(judged.refused),
                output::count(judged.candidates),
                output::count(judged.known)
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
