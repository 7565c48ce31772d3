//! `stampmill ir`: IR data sets, one file per step.

mod build;
mod dedup;
mod diff;
mod export;
mod extract;
mod license;
mod optimize;
mod run;
mod stats;
mod wrap;

use super::commands;
use crate::{Global, output};
use ir::{Reader, Report};
use std::{ffi::OsString, process::ExitCode};

/// Make data sets of LLVM IR from real packages
#[derive(clap::Args, Debug)]
#[command(after_help = help!("ir"))]
pub(crate) struct Ir {
    #[command(subcommand)]
    step: Step,
}

commands! {
    Step {
        wrap::Wrap,
        build::Build,
        extract::Extract,
        dedup::Dedup,
        license::License,
        optimize::Optimize,
        run::Run,
        stats::Stats,
        export::Export,
        diff::Diff,
    }
}

impl Ir {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        self.step.run(global)
    }
}

/// This program, called with `words`.
fn ourselves(words: &[&str]) -> anyhow::Result<Vec<OsString>> {
    let mut command = vec![std::env::current_exe()?.into_os_string()];
    command.extend(words.iter().map(OsString::from));
    Ok(command)
}

/// The command line that stands before a compiler's.
fn wrapper() -> anyhow::Result<Vec<OsString>> {
    ourselves(&["-q", "ir", "wrap", "--"])
}

pub(super) fn reader(global: &Global) -> anyhow::Result<Reader> {
    Ok(Reader::new(&ourselves(&["worker", "ir"])?, global.jobs()))
}

/// What people read of a run, or a merge, that made modules.
fn print_modules(report: &Report, seconds: f64, out: &str) -> anyhow::Result<()> {
    let count = output::count;
    let rows = report.languages.iter().map(|(language, share)| {
        let language = if language.is_empty() { "not known" } else { language };
        vec![language.to_owned(), count(share.modules), megabytes(share.bitcode_bytes)]
    });
    output::print_table(&["language", "modules", "bitcode"], rows)?;
    let others = report.verdicts.iter().filter(|(verdict, _)| *verdict != "accepted");
    let rows: Vec<_> = others.map(|(verdict, n)| vec![verdict.clone(), count(*n)]).collect();
    if !rows.is_empty() {
        output::print_table(&["other rows", "count"], rows)?;
    }
    if report.packages > 0 {
        let (built, packages) = (count(report.built), count(report.packages));
        output::line(&format!("{built} of {packages} packages built"))?;
    }
    output::line(&format!(
        "{} modules ({} of them stubs of under {} instructions), {}, {} functions, {} instructions, in {seconds:.1} s",
        count(report.modules),
        count(report.stubs),
        ir::STUB,
        megabytes(report.bitcode_bytes),
        count(report.functions),
        count(report.instructions)
    ))?;
    if report.unoptimized > 0 && report.packages > 0 {
        output::line(&format!(
            "{} of {} modules were compiled without -O: clang makes their functions `noinline`, which passes obey; \
             --build 'make CFLAGS=-O2' or the like sets flags",
            count(report.unoptimized),
            count(report.modules)
        ))?;
    }
    let fine = ["accepted", "built", "duplicate", "license-text"];
    if report.verdicts.keys().any(|verdict| !fine.contains(&verdict.as_str())) {
        output::line(&format!(
            "why: stampmill query \"SELECT path, verdict, detail FROM m WHERE verdict NOT IN ('{}')\" m={out}",
            fine.join("', '")
        ))?;
    }
    if report.modules == 0 {
        return Ok(());
    }
    output::hint(&format!("next: stampmill ir dedup {out} --out ..."))
}

fn megabytes(bytes: u64) -> String {
    format!("{:.2} MB", bytes as f64 / 1e6)
}
