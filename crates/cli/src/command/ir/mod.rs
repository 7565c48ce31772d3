//! `stampmill ir`: IR data sets, one file per step.

mod build;
mod dedup;
mod export;
mod extract;
mod license;
mod stats;
mod wrap;

pub(super) use {
    dedup::show as show_dedup, license::show as show_license, stats::show as show_stats,
};

use crate::{Global, output};
use dataset::stage::Done;
use ir::{Reader, Report};
use std::{ffi::OsString, path::Path, process::ExitCode};

/// Make data sets of LLVM IR from real packages
#[derive(clap::Args, Debug)]
#[command(after_help = "A first data set:\n  \
    stampmill ir build crate:memchr crate:hex dir:zlib --out modules\n  \
    stampmill ir dedup modules --out unique\n  \
    stampmill ir stats unique --out statistics\n  \
    stampmill ir export unique --format compile --out dataset\n\n\
`stampmill doctor` lists the toolchains found; each step reads the output of the one before.")]
pub(crate) struct Ir {
    #[command(subcommand)]
    step: Step,
}

#[derive(clap::Subcommand, Debug)]
enum Step {
    Wrap(wrap::Wrap),
    Build(build::Build),
    Extract(extract::Extract),
    Dedup(dedup::Dedup),
    License(license::License),
    Stats(stats::Stats),
    Export(export::Export),
}

impl Ir {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        match self.step {
            Step::Wrap(step) => step.run(),
            Step::Build(step) => step.run(global),
            Step::Extract(step) => step.run(global),
            Step::Dedup(step) => step.run(global),
            Step::License(step) => step.run(global),
            Step::Stats(step) => step.run(global),
            Step::Export(step) => step.run(global),
        }
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

fn reader(global: &Global) -> anyhow::Result<Reader> {
    Ok(Reader::new(&ourselves(&["worker", "ir"])?, global.jobs()))
}

/// The summary of a run that made modules.
/// Print what a run or a merge came to; the status is negative where nothing is `good`.
pub(super) fn show(
    done: &Done<Report>,
    out: &Path,
    global: &Global,
    good: u64,
) -> anyhow::Result<ExitCode> {
    output::report(global, done, || print(done, out, "dedup"))?;
    Ok(if good == 0 { output::NEGATIVE } else { ExitCode::SUCCESS })
}

fn print(
    Done { summary: report, seconds }: &Done<Report>,
    out: &Path,
    next: &str,
) -> anyhow::Result<()> {
    let count = output::count;
    let rows = report.languages.iter().map(|(language, share)| {
        let language = if language.is_empty() { "not known" } else { language };
        vec![language.to_owned(), count(share.modules), megabytes(share.bitcode_bytes)]
    });
    output::line(&output::table(&["language", "modules", "bitcode"], rows).to_string())?;
    let others = report.verdicts.iter().filter(|(verdict, _)| *verdict != "accepted");
    let rows: Vec<Vec<String>> =
        others.map(|(verdict, number)| vec![verdict.clone(), count(*number)]).collect();
    if !rows.is_empty() {
        output::line(&output::table(&["other rows", "count"], rows).to_string())?;
    }
    if report.packages > 0 {
        output::line(&format!(
            "{} of {} packages built",
            count(report.built),
            count(report.packages)
        ))?;
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
    let out = out.display();
    let fine = ["accepted", "built", "duplicate", "licence-text"];
    if report.verdicts.keys().any(|verdict| !fine.contains(&verdict.as_str())) {
        output::line(&format!(
            "why: stampmill query \"SELECT path, verdict, detail FROM m WHERE verdict NOT IN ('{}')\" m={out}",
            fine.join("', '")
        ))?;
    }
    if report.modules == 0 {
        return Ok(());
    }
    output::line(&format!("next: stampmill ir {next} {out} --out ..."))
}

fn megabytes(bytes: u64) -> String {
    format!("{:.2} MB", bytes as f64 / 1e6)
}
