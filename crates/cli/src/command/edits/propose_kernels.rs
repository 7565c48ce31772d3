//! `stampmill edits propose-kernels`: candidates for OpenCL kernels, by rule.

use crate::{Global, destination, interrupt, output, progress::Bar};
use anyhow::bail;
use dataset::{Program, Programs};
use edits::{
    KernelCandidate, KernelRewriter, kernel_rule_names, propose_kernels, with_jobs, write_lines,
};
use std::{path::PathBuf, process::ExitCode};

/// Propose faster versions of OpenCL kernels, by rewrite rules
#[derive(clap::Args, Debug)]
#[command(mut_arg(
    "out",
    destination::file("The file to write: JSON lines for `edits judge-kernels`", "FILE")
))]
#[command(after_help = help!("edits-propose-kernels"))]
pub(crate) struct ProposeKernels {
    /// A data set, folder or file of OpenCL programs
    kernels: PathBuf,
    /// Only these rules, comma-separated [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = kernel_rule_names())]
    rules: Vec<String>,
    /// Leave out rules that round numbers in another way (native, vectorize)
    #[arg(long)]
    exact: bool,
    #[command(flatten)]
    output: destination::Output,
}

impl ProposeKernels {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        self.output.is_free_file()?;
        // Ctrl-C ends the workers.
        interrupt::flag()?;
        let programs: Vec<Program> =
            Programs::open(&self.kernels)?.iter()?.collect::<Result<_, _>>()?;
        let rewriter = KernelRewriter::start(global.jobs())?;
        let is_wanted = |one: &KernelCandidate| {
            (self.rules.is_empty() || self.rules.iter().any(|name| name == one.rule))
                && (one.exact || !self.exact)
        };
        let bar = Bar::new(global);
        let (lines, report) =
            with_jobs(global.jobs(), || propose_kernels(&programs, &rewriter, is_wanted, &bar))?;
        drop(bar);
        if report.kernels == 0 {
            bail!("{}: no OpenCL programs there", self.kernels.display());
        }
        write_lines(&self.output.out, &lines)?;
        output::report(global, &report, || {
            if !report.rules.is_empty() {
                output::print_counts(["rule", "changes"], &report.rules)?;
            }
            output::line(&format!(
                "{} for {} of {} in {}; `edits judge-kernels` says which are right, and faster",
                output::some(report.candidates, "candidate"),
                output::count(report.changed),
                output::some(report.kernels, "kernel"),
                self.output.out.display()
            ))
        })?;
        Ok(output::status(report.candidates > 0))
    }
}
