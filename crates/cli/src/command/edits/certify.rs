//! `stampmill edits certify`: edits are compared with their slow programs on all small inputs, and on others grown by coverage.

use super::{Conditions, Reading, tell_broken};
use crate::{Global, destination::StageOutput, output, progress::Bar, stage};
use anyhow::bail;
use edits::{Candidates, CertifyOptions, CertifyReport, Problem};
use std::{path::PathBuf, process::ExitCode};

/// Certify edits: exhaustive testing within a bound, then inputs grown by coverage
#[derive(clap::Args, Debug)]
#[command(after_help = help!("edits-certify"))]
pub(crate) struct Certify {
    /// Pairs: a data set, or JSON lines in one of PIE's forms
    pairs: PathBuf,
    /// Problems with samples: JSON lines, or a folder in CodeNet's layout
    #[arg(long, value_name = "PROBLEMS")]
    problems: PathBuf,
    /// Candidates, as `edits judge` takes them [default: each pair's improved version]
    #[arg(long, value_name = "FILE")]
    candidates: Option<PathBuf>,
    #[command(flatten)]
    output: StageOutput,
    /// Limit of enumerated inputs per edit; a bound with more is not tried
    #[arg(long, value_name = "N", default_value_t = CertifyOptions::default().inputs)]
    inputs: usize,
    /// Limit of inputs grown by coverage, per edit
    #[arg(long, value_name = "N", default_value_t = CertifyOptions::default().draws)]
    draws: usize,
    /// Growing ends when so many inputs in a row reached no new block
    #[arg(long, value_name = "N", default_value_t = CertifyOptions::default().patience)]
    patience: usize,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    conditions: Conditions,
}

impl Certify {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let read = self.reading.pairs(&self.pairs, global)?;
        if let (Some(part), true) = (&self.reading.split, read.pairs.is_empty()) {
            bail!("--split: {} has no pairs of part `{part}`", self.pairs.display());
        }
        let on_broken = self.reading.on_broken;
        let (problems, broken) = Problem::read(&self.problems, on_broken.into())?;
        tell_broken(&self.problems, &broken, global);
        let candidates = match &self.candidates {
            Some(path) => {
                let (candidates, broken) = Candidates::read(path, &read.pairs, on_broken.into())?;
                tell_broken(path, &broken, global);
                candidates
            }
            None => Candidates::same_human(&read.pairs),
        };
        let (bench, cancelled) = self.conditions.bench_and_flag()?;
        let options = CertifyOptions {
            inputs: self.inputs,
            draws: self.draws,
            patience: self.patience,
            seed: self.seed,
            ..CertifyOptions::default()
        };
        let certify = edits::Certify::new(&read.pairs, &candidates, &problems, &bench, options);
        let bar = Bar::new(global);
        stage::run(&certify, &self.output.context(global.jobs(), &bar, &cancelled), global)
    }
}

impl stage::Shown for edits::Certify<'_> {
    fn print(report: &CertifyReport, seconds: f64, out: &str) -> anyhow::Result<()> {
        let header = ["certificate", "edits", "share"];
        output::print_shares(header, &report.certificates, report.edits)?;
        if report.untested() > 0 {
            output::line(&format!(
                "{} of {} edits are of problems without samples (--problems)",
                output::count(report.untested()),
                output::count(report.edits)
            ))?;
        }
        if report.unmatched > 0 {
            output::line(&format!("{} lines of candidates belong to no pair", report.unmatched))?;
        }
        output::line(&format!(
            "{} in {} ({seconds:.1} s: {} compared, {} of them within the bounds; {} of {} reached)",
            output::some(report.edits, "edit"),
            out,
            output::some(report.inputs, "input"),
            output::count(report.enumerated),
            output::count(report.reached),
            output::some(report.blocks, "block")
        ))
    }

    fn is_good(report: &CertifyReport) -> bool {
        report.edits > report.untested()
    }
}
