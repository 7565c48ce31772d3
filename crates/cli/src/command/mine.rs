//! `stampmill mine`: real programs from real packages.

use crate::{
    Global, choice::choice, destination::StageOutput, interrupt, output, progress::Bar, stage,
};
use dataset::{Language, Licences, stage::Done};
use mine::{Mine as Stage, Options, Report};
use std::{path::PathBuf, process::ExitCode};

/// Fetch packages and extract every OpenCL kernel, or C program, from them
#[derive(clap::Args, Debug)]
#[command(after_help = "Sources:\n  \
    DIR                  a folder, searched recursively\n  \
    FILE.tar.gz|.zip     an archive (tar with gz, xz, bz2 or zst; zip)\n  \
    git+URL[@REV]        a git repository, by URL or path\n  \
    deb:NAME[@SUITE]     a Debian source package\n  \
    pypi:NAME            a PyPI package: its wheel, else its source archive\n  \
    crate:NAME[@VER]     a Rust crate\n  \
    github:QUERY         repositories a GitHub search finds (GITHUB_TOKEN)\n  \
    parquet:FILE[#COL]   programs in a column of a Parquet file\n  \
    @LIST.toml           many sources\n\n\
Examples:\n  \
    stampmill mine deb:gegl pypi:silx --out raw\n  \
    stampmill mine @packages.toml --out raw --licenses osi\n  \
    stampmill mine ~/src/project --out raw --json\n  \
    stampmill mine @functions.toml --language c --licenses permissive --out raw-c\n\n\
C programs are for pre-training: `prepare` makes one row of each function.\n\
The same command resumes a stopped run.\n\
With --part I/N several machines share one list; `merge` joins their results.")]
pub(crate) struct Mine {
    /// Where programs come from
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<String>,
    #[command(flatten)]
    output: StageOutput,
    /// Accept only programs under these licenses: permissive, osi (OSI-approved) or all
    #[arg(long, value_name = "POLICY", default_value = "all")]
    licenses: Licences,
    /// What to extract: kernels, in files and in strings of programs; or whole C programs
    #[arg(long, default_value = "opencl", value_parser = choice(&[("opencl", Language::OpenCl), ("c", Language::C)]))]
    language: Language,
    /// Use only cached downloads
    #[arg(long)]
    offline: bool,
    /// Download cache
    #[arg(long, value_name = "DIR", env = "STAMPMILL_CACHE")]
    cache: Option<PathBuf>,
}

impl Mine {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let options = Options {
            sources: self.sources,
            licences: self.licenses,
            language: self.language,
            cache: self.cache,
            offline: self.offline,
        };
        let bar = Bar::new(global);
        let context = self.output.context(global.jobs(), &bar, &interrupt::flag()?);
        stage::run(&Stage::new(options, &context)?, &context, global)
    }
}

impl stage::Shown for Stage<'_> {
    fn print(
        Done { summary: report, seconds, .. }: &Done<Report>,
        out: &str,
    ) -> anyhow::Result<()> {
        let count = output::count;
        let rows = report.packages.iter().map(|package| {
            vec![
                package.source.clone(),
                package.version.clone(),
                count(package.files),
                count(package.unique),
                count(package.kernels),
                count(package.families),
                package.licence.clone(),
                package.notes.join("; "),
            ]
        });
        let header =
            ["source", "version", "files", "unique", "kernels", "families", "licence", "notes"];
        output::print_table(&header, rows)?;
        output::line(&format!(
            "{} sources ({} failed), {} files, {} unique in {} families, {} `kernel` functions in their text, \
             in {seconds:.1} s",
            report.sources,
            report.failed_sources,
            count(report.files),
            count(report.unique_files),
            count(report.families),
            count(report.kernels),
        ))?;
        match report.unique_files {
            0 => output::line("no content file was found"),
            _ => output::line(&format!("next: stampmill prepare {out} --out kernels")),
        }
    }

    fn is_good(report: &Report) -> bool {
        report.sources == 0 || report.failed_sources < report.sources
    }
}
