//! `stampmill steer archive`: kernels at known points, which searches start from.

use crate::{Global, destination::Output, headers, interrupt, output, progress::Bar, stage};
use anyhow::Context as _;
use dataset::{
    Dataset, Manifest, Verdict,
    stage::{Cancel, Context},
};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};
use synth::{ArchiveReport, Judge};

/// Archives: kernels at known points of a feature space, which searches start from (`steer --archive`)
#[derive(clap::Args, Debug)]
pub(super) struct Archive {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    Build(Build),
}

/// Fill an archive: of several kernels at one point the shortest stands for it
#[derive(clap::Args, Debug)]
struct Build {
    /// Kernels: data sets of `prepare`, of `steer` and other archives, folders or files of programs
    #[arg(value_name = "DATASET", required = true)]
    datasets: Vec<PathBuf>,
    /// The feature space, or several at once, as for `steer`: a search in another takes no point of it
    #[arg(long, value_name = "SPACE", default_value = "instcount")]
    space: String,
    #[command(flatten)]
    output: Output,
}

impl Archive {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        let Verb::Build(build) = &self.verb;
        build.run(global)
    }
}

impl Build {
    fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        let judge = Judge::new(features::joint(&self.space)?, global.jobs())?;
        for path in &self.datasets {
            headers::say(path, global);
        }
        let archive = synth::Archive::new(&self.datasets, &judge)?;
        if archive.is_leaky() && !global.is_quiet() {
            eprintln!(
                "warning: the leak rule was off where some of these kernels come from: the archive says so, and `steer` takes it \
                 with --allow-leaks alone"
            );
        }
        let cancel = Cancel::from(interrupt::flag()?);
        let bar = Bar::new(global);
        let (force, jobs, progress) = (self.output.force, global.jobs(), &bar);
        let context = Context { force, jobs, progress, cancel, ..Context::new(&self.output.out) };
        stage::run(&archive, &context, global)
    }
}

/// Add what a search made to an archive, in its place; `context` is of the search.
pub(super) fn grow(
    archive: &Path,
    judge: &Judge,
    context: &Context<'_>,
    global: &Global,
) -> anyhow::Result<()> {
    let found = &context.out;
    if stage::is_all_rejected(Dataset::open(found)?.manifest()) {
        return Ok(());
    }
    let before = points(Dataset::open(archive)?.manifest());
    let done = synth::grow_archive(archive, found, judge, context).with_context(|| {
        format!("what is in {} was not added to {}", found.display(), archive.display())
    })?;
    if !global.is_quiet() {
        let [more, all] = [done.summary.kernels.saturating_sub(before), done.summary.kernels];
        let (more, all) = (output::some(more, "point"), output::count(all));
        eprintln!("{}: {more} more, {all} in all", archive.display());
    }
    Ok(())
}

/// Points of an archive that a kernel stands for.
fn points(archive: &Manifest) -> u64 {
    archive.notes.verdicts.get(Verdict::ACCEPTED).copied().unwrap_or_default()
}

impl stage::Shown for synth::Archive<'_> {
    fn print(report: &ArchiveReport, seconds: f64, out: &str) -> anyhow::Result<()> {
        let ArchiveReport { space, kernels, same_point, no_vector, .. } = report;
        let others = [(same_point, "more at the same points"), (no_vector, "without a vector")];
        let others = others.into_iter().filter(|(count, _)| **count > 0);
        let others = others.map(|(count, what)| format!(", {} {what}", output::count(*count)));
        output::line(&format!(
            "{} of {space}, a kernel at each, in {out}{} ({seconds:.0} s)",
            output::some(*kernels, "point"),
            others.collect::<String>()
        ))
    }

    fn is_nothing(manifest: &Manifest) -> bool {
        stage::is_all_rejected(manifest)
    }

    fn is_good(report: &ArchiveReport) -> bool {
        report.kernels > 0
    }
}
