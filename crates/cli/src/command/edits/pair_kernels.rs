//! `stampmill edits pair-kernels`: pairs of OpenCL kernels that people wrote.

use crate::{Global, destination, duration::limit, interrupt, output, progress::Bar};
use anyhow::bail;
use dataset::{Language, Licenses, Program, Programs};
use edits::{
    KernelPairsReport, pair_history, pair_variants, read_variants, with_jobs, write_lines,
};
use mine::HistoryOptions;
use std::{path::PathBuf, process::ExitCode, time::Duration};

/// Make pairs of OpenCL kernels from the commits of a repository, or from variants by macros
#[derive(clap::Args, Debug)]
#[command(mut_arg(
    "out",
    destination::file("The file to write: JSON lines for `edits judge-kernels`", "FILE")
))]
#[command(after_help = help!("edits-pair-kernels"))]
pub(crate) struct PairKernels {
    /// A git repository, `git+URL-OR-PATH@REV`; with --variants a data set, folder or file of OpenCL programs
    source: String,
    #[command(flatten)]
    output: destination::Output,
    /// Commits to look at, the newest first, each beside its first parent
    #[arg(long, value_name = "N", default_value_t = 200, conflicts_with = "variants")]
    commits: u64,
    /// Variants in place of commits: a file with a JSON list of macros (NAME or NAME=VALUE) in each line; the first line is the
    /// slow kernel's
    #[arg(long, value_name = "FILE")]
    variants: Option<PathBuf>,
    /// Accept only programs under these licenses: permissive, osi (OSI-approved) or all
    #[arg(long, value_name = "POLICY", default_value = "all")]
    licenses: Licenses,
    /// Time limit of one clang request; the kernel is rejected when it is exceeded
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = limit)]
    limit: Duration,
    /// Use only cached downloads
    #[arg(long, conflicts_with = "variants")]
    offline: bool,
    /// Download cache
    #[arg(long, value_name = "DIR", env = "STAMPMILL_CACHE")]
    cache: Option<PathBuf>,
}

impl PairKernels {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        self.output.is_free_file()?;
        // Ctrl-C ends the workers.
        let cancelled = interrupt::final_flag()?;
        let bar = Bar::new(global);
        let (lines, report) = match &self.variants {
            None => {
                let options = HistoryOptions {
                    source: self.source.clone(),
                    commits: self.commits,
                    licenses: self.licenses,
                    cache: self.cache.clone(),
                    offline: self.offline,
                };
                with_jobs(global.jobs(), || pair_history(options, self.limit, &cancelled, &bar))?
            }
            Some(file) => {
                let variants = read_variants(file)?;
                let programs = self.programs()?;
                with_jobs(global.jobs(), || pair_variants(&programs, &variants, self.limit, &bar))?
            }
        };
        drop(bar);
        write_lines(&self.output.out, &lines)?;
        output::report(global, &report, || self.print(&report))?;
        Ok(output::status(report.pairs > 0))
    }

    /// The OpenCL programs whose variants are wanted.
    fn programs(&self) -> anyhow::Result<Vec<Program>> {
        let path = PathBuf::from(&self.source);
        let mut programs: Vec<Program> =
            Programs::open(&path)?.iter()?.collect::<Result<_, _>>()?;
        programs.retain(|program| {
            program.language == Language::OpenCl && self.licenses.admit(&program.provenance.license)
        });
        if programs.is_empty() {
            bail!("{}: no OpenCL programs there", path.display());
        }
        Ok(programs)
    }

    fn print(&self, report: &KernelPairsReport) -> anyhow::Result<()> {
        let (count, some) = (output::count, output::some);
        if !report.rejected.is_empty() {
            output::print_counts(["rejected", "kernels"], &report.rejected)?;
        }
        let from = match &self.variants {
            Some(_) => some(report.variants, "variant"),
            None => format!(
                "changes of files with kernels in {} of {}",
                count(report.changes),
                some(report.commits, "commit")
            ),
        };
        output::line(&format!(
            "{from}; {} on both sides: {} the same in normal form, {} before already, {} of a name that is there twice",
            some(report.kernels, "kernel"),
            count(report.same),
            some(report.repeated, "pair"),
            count(report.ambiguous)
        ))?;
        output::line(&format!(
            "{} in {}; `edits judge-kernels` says which are right, and faster",
            some(report.pairs, "pair"),
            self.output.out.display()
        ))
    }
}
