//! What is printed of a stage that ran, or whose parts were merged.

use crate::{Global, interrupt, output, tasks};
use dataset::{
    Dataset, Manifest, Row, Verdict,
    stage::{Context, Done, Stage},
};
use rows::{ModuleVerdict, module_kind::LICENSE_TEXT};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// A stage whose outcome can be printed.
pub(crate) trait Shown: Stage<Error: Sync + 'static> {
    /// What people read of it; `out` is the data set's folder.
    fn print(report: &Self::Summary, seconds: f64, out: &str) -> anyhow::Result<()>;

    /// Whether it came to something: the exit status says so.
    fn is_good(summary: &Self::Summary) -> bool;

    /// Whether a data set of this stage has nothing that is worth keeping: the next run replaces it.
    fn is_nothing(manifest: &Manifest) -> bool {
        manifest.rows == 0
    }

    /// What else is made of a data set that was merged from parts.
    fn merged(_out: &Path, _parts: &[PathBuf], _summary: &Self::Summary) -> anyhow::Result<()> {
        Ok(())
    }

    /// What `--json` prints.
    fn json(done: &Done<Self::Summary>) -> anyhow::Result<()> {
        output::json(done)
    }
}

/// Whether no row of a data set was accepted.
pub(crate) fn is_all_rejected(manifest: &Manifest) -> bool {
    manifest.notes.verdicts.get(Verdict::ACCEPTED).is_none_or(|count| *count == 0)
}

/// The same, with leave to replace what a command made for nothing.
fn replacing<'a, S: Shown>(context: &Context<'a>, global: &Global) -> Context<'a> {
    let out = &context.out;
    let is_begun = dataset::partial_folder(out).is_ok_and(|folder| folder.exists());
    if context.force || dataset::is_url(out) || is_begun || !Dataset::is_at(out) {
        return context.clone();
    }
    let Ok(found) = Dataset::open(out) else { return context.clone() };
    let manifest = found.manifest();
    // A share may hold nothing and still be a part of something.
    let is_nothing = manifest.schema == <S::Row as Row>::SCHEMA
        && manifest.notes.share.is_none()
        && S::is_nothing(manifest);
    if is_nothing && !global.is_silent() {
        let why = if manifest.rows == 0 { "no rows" } else { "no accepted row" };
        eprintln!("{} is replaced: it has {why}", out.display());
    }
    Context { force: is_nothing, ..context.clone() }
}

/// Run a stage and print what it comes to.
pub(crate) fn run<S: Shown>(
    stage: &S,
    context: &Context<'_>,
    global: &Global,
) -> anyhow::Result<ExitCode> {
    run_then(stage, context, global, |done| show::<S>(done, &context.out, global).map(drop))
}

/// The same for a command that prints something else, or does more, at the end.
pub(crate) fn run_then<S: Shown>(
    stage: &S,
    context: &Context<'_>,
    global: &Global,
    then: impl FnOnce(&Done<S::Summary>) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let context = &replacing::<S>(context, global);
    let done = match &global.cluster {
        None => dataset::stage::run(stage, context)?,
        Some(asked) => {
            let about = || tasks::about(cluster::tools_of(S::NAME).unwrap_or_default());
            cluster::run(asked, stage, about, context, |shares, summary| {
                S::merged(&context.out, shares, summary)
            })?
        }
    };
    // A stop that came when all items were done: what was told of it is not so.
    if interrupt::status().is_some() && !global.is_quiet() {
        eprintln!("{}: the run was at its end, and the data set is whole", context.out.display());
    }
    then(&done)?;
    // One part of many may hold nothing.
    Ok(output::status(context.share.is_some() || S::is_good(&done.summary)))
}

/// Print what a run or a merge came to.
pub(crate) fn show<S: Shown>(
    done: &Done<S::Summary>,
    out: &Path,
    global: &Global,
) -> anyhow::Result<ExitCode> {
    match global.json {
        true => S::json(done)?,
        false if global.is_silent() => {}
        false => {
            if let Some(left_out) = left_out(done) {
                output::line(&left_out)?;
            }
            S::print(&done.summary, done.seconds, &out.display().to_string())?;
        }
    }
    Ok(status::<S>(&done.summary))
}

/// What of the input was not worked on, and why.
pub(crate) fn left_out<S>(done: &Done<S>) -> Option<String> {
    // Rows about packages and texts of licenses are no modules that are missed.
    let no_programs = [ModuleVerdict::Built.name(), LICENSE_TEXT];
    let missed = done.left_out.iter().filter(|(why, _)| !no_programs.contains(&why.as_str()));
    let each = missed.map(|(why, n)| format!("{} {why}", output::count(*n)));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("left out of the input: {}", each.join(", ")))
}

/// The exit status of a summary.
pub(crate) fn status<S: Shown>(summary: &S::Summary) -> ExitCode {
    output::status(S::is_good(summary))
}
