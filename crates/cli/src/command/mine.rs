//! `stampmill mine`: real programs from real packages.

use crate::{Global, destination::StageOutput, interrupt, output, progress::Bar};
use dataset::{
    Language, Licences,
    stage::{Done, run},
};
use mine::{Mine as Stage, Options, Report};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

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
    /// What to extract
    #[arg(long, value_enum, default_value = "opencl")]
    language: Wanted,
    /// Use only cached downloads
    #[arg(long)]
    offline: bool,
    /// Download cache
    #[arg(long, value_name = "DIR", env = "STAMPMILL_CACHE")]
    cache: Option<PathBuf>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Wanted {
    /// Kernels, in files and in strings of programs
    Opencl,
    /// C programs, whole
    C,
}

impl Mine {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let cancelled = interrupt::flag()?;
        let options = Options {
            sources: self.sources,
            licences: self.licenses,
            language: match self.language {
                Wanted::Opencl => Language::OpenCl,
                Wanted::C => Language::C,
            },
            cache: self.cache,
            offline: self.offline,
        };
        let bar = Bar::new(global);
        let context = self.output.context(global.jobs(), &bar, &cancelled);
        let done = run(&Stage::new(options, &context)?, &context)?;
        drop(bar);
        show(&done, &self.output.out, global)
    }
}

/// Print what a run or a merge came to.
pub(super) fn show(done: &Done<Report>, out: &Path, global: &Global) -> anyhow::Result<ExitCode> {
    output::report(global, done, || print(&done.summary, done.seconds, out))?;
    let report = &done.summary;
    let nothing = report.sources > 0 && report.failed_sources == report.sources;
    Ok(if nothing { output::NEGATIVE } else { ExitCode::SUCCESS })
}

fn print(report: &Report, seconds: f64, out: &Path) -> anyhow::Result<()> {
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
    output::line(&output::table(&header, rows).to_string())?;
    output::line(&format!(
        "{} sources ({} failed), {} files, {} unique in {} families, {} kernels by text, in {:.1} s",
        report.sources,
        report.failed_sources,
        count(report.files),
        count(report.unique_files),
        count(report.families),
        count(report.kernels),
        seconds
    ))?;
    match report.unique_files {
        0 => output::line("no content file was found"),
        _ => output::line(&format!("next: stampmill prepare {} --out kernels", out.display())),
    }
}
