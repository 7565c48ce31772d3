use crate::{Global, interrupt, output, progress::Bar, target::Target};
use dataset::stage::{self, Done};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Drop modules whose structure is there already, group those that are alike into families
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Two modules have one structure where they differ only in names, metadata, the order of functions\n\
and the layout of blocks. Duplicates stay as rows without content, of verdict `duplicate`.\n\n\
Examples:\n  \
    stampmill ir dedup modules --out unique\n  \
    stampmill query \"SELECT family, count(*) AS n FROM u WHERE kind = 'module' GROUP BY family ORDER BY n DESC LIMIT 10\" u=unique"
)]
pub(crate) struct Dedup {
    /// A data set of modules
    dataset: PathBuf,
    #[command(flatten)]
    target: Target,
}

impl Dedup {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let cancelled = interrupt::flag()?;
        let bar = Bar::new(global);
        let context = self.target.context(global.jobs(), &bar, &cancelled);
        let done = stage::run(&ir::Dedup::new(&self.dataset)?, &context)?;
        drop(bar);
        show(&done, &self.target.out, global)
    }
}

/// Print what a run or a merge came to.
pub(crate) fn show(
    done: &Done<ir::DedupReport>,
    out: &Path,
    global: &Global,
) -> anyhow::Result<ExitCode> {
    if global.json {
        output::json(done)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Done { summary: report, seconds } = done;
    let count = output::count;
    let rows = report.languages.iter().map(|(name, [modules, unique, bytes, left])| {
        vec![
            if name.is_empty() { "not known".to_owned() } else { name.clone() },
            count(*modules),
            count(*unique),
            super::megabytes(*bytes),
            super::megabytes(*left),
            output::percent(*left, *bytes),
        ]
    });
    let header = ["language", "modules", "unique", "bitcode", "left", "bytes left"];
    output::line(&output::table(&header, rows).to_string())?;
    output::line(&format!(
        "{} of {} modules stay, {:.1} % of the bytes; {} families, the largest of {}; \
             {} of {} functions are unlike all others; in {seconds:.1} s",
        count(report.unique),
        count(report.modules),
        report.bytes_left_percent,
        count(report.families),
        count(report.largest_family),
        count(report.unique_functions),
        count(report.functions)
    ))?;
    output::line(&format!("next: stampmill ir stats {} --out ...", out.display()))?;
    Ok(ExitCode::SUCCESS)
}
