//! `stampmill prepare`: from content files to kernels.

use crate::{Global, destination::StageOutput, interrupt, output, progress::Bar};
use dataset::{
    Licences,
    stage::{Done, run},
};
use kernels::{Options, Prepare as Stage, Report};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

/// Compile, isolate and normalize the kernels of a raw data set; reject what does not compile
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill prepare raw --out kernels\n  \
    stampmill prepare my_kernels.cl --out kernels --json\n  \
    stampmill prepare raw-c --out functions    of C programs, found by `mine --language c`\n  \
    stampmill query \"SELECT verdict, detail, path FROM k WHERE verdict <> 'accepted'\" k=kernels\n\n\
Every file in RAW except license texts becomes one or more rows. Rejected rows have a verdict and the\n\
first diagnostic; links that lead out of the folder, pipes, unreadable files and files above 64 MiB\n\
are rejected too. At most 4,096 kernels per file are processed, for at most 30 times --limit.\n\
A C program gives one row for each function that is also valid OpenCL C: input of `train --pretrain`.\n\
The same command resumes a stopped run.\n\
With --part I/N several machines share one input; `merge` joins their results.")]
pub(crate) struct Prepare {
    /// A raw data set as `mine` makes it, or a folder or file of OpenCL programs (`mine DIR` finds
    /// kernels inside C, C++, Python and Rust sources too)
    raw: PathBuf,
    #[command(flatten)]
    output: StageOutput,
    /// Accept only programs under these licenses: permissive, osi (OSI-approved) or all
    #[arg(long, value_name = "POLICY", default_value = "all")]
    licenses: Licences,
    /// Time limit of one clang request; the kernel is rejected when it is exceeded
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = crate::duration::limit)]
    limit: Duration,
}

impl Prepare {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let cancelled = interrupt::flag()?;
        let options = Options { input: self.raw, limit: self.limit, licences: self.licenses };
        let stage = Stage::new(&options)?;
        let bar = Bar::new(global);
        let done = run(&stage, &self.output.context(global.jobs(), &bar, &cancelled))?;
        drop(bar);
        let status = show(&done, &self.output.out, global)?;
        // One part of many may hold nothing.
        Ok(if self.output.part.is_some() { ExitCode::SUCCESS } else { status })
    }
}

/// Print what a run or a merge came to.
pub(super) fn show(done: &Done<Report>, out: &Path, global: &Global) -> anyhow::Result<ExitCode> {
    output::report(global, done, || print(&done.summary, done.seconds, out))?;
    Ok(if done.summary.unique_kernels == 0 { output::NEGATIVE } else { ExitCode::SUCCESS })
}

/// The funnel, one line a stage, each with its share of the stage before.
fn print(report: &Report, seconds: f64, out: &Path) -> anyhow::Result<()> {
    let compiled = report.compiled_plain + report.compiled_shim + report.compiled_repaired;
    let widest = report.files.max(report.kernels).max(1);
    let row = |name: &str, number: u64, of: u64| {
        let length =
            usize::try_from(number * 40 / widest).unwrap_or(40).max(usize::from(number > 0));
        vec![
            name.to_owned(),
            output::count(number),
            output::percent(number, of),
            "█".repeat(length),
        ]
    };
    let rows = vec![
        row("files", report.files, report.files),
        row("unique files", report.unique_files, report.files),
        row("with a kernel that compiles", compiled, report.unique_files),
        row("    as it is", report.compiled_plain, compiled),
        row("    with the shim", report.compiled_shim, compiled),
        row("    repaired", report.compiled_repaired, compiled),
        row("kernels", report.kernels, report.kernels),
        row("unique kernels", report.unique_kernels, report.kernels),
    ];
    output::line(&output::table(&["funnel", "count", "share", ""], rows).to_string())?;
    let mut rejected: Vec<_> = report.rejected.iter().collect();
    rejected.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    if !rejected.is_empty() {
        let rows = rejected.into_iter().map(|(name, n)| vec![name.clone(), output::count(*n)]);
        output::line(&output::table(&["rejected", "count"], rows).to_string())?;
    }
    for (status, same) in &report.same_ir {
        output::line(&format!(
            "same IR after rewriting, {status}: {} of {} kernels that clang accepts in their files ({})",
            output::count(same.proved),
            output::count(same.kernels),
            output::percent(same.proved, same.kernels)
        ))?;
    }
    output::line(&format!(
        "vocabulary {} → {}, lines {} → {}, in {:.1} s",
        output::count(report.vocabulary_before),
        output::count(report.vocabulary_after),
        output::count(report.lines_before),
        output::count(report.lines_after),
        seconds
    ))?;
    let why = "SELECT path, verdict, detail FROM k WHERE verdict <> 'accepted'";
    if !report.rejected.is_empty() && report.unique_kernels > 0 {
        let out = out.display();
        output::line(&format!("rejected, and why: stampmill query \"{why}\" k={out}"))?;
    }
    output::line(&match report.unique_kernels {
        0 if report.files == 0 => "no program was read: none falls in this part".to_owned(),
        0 => format!("no kernel was accepted; why: stampmill query \"{why}\" k={}", out.display()),
        _ => format!("next: stampmill show {}", out.display()),
    })
}
