//! `stampmill mine`: real programs from real packages.

use crate::{
    Global, choice::choice, destination::StageOutput, interrupt, output, progress::Bar, stage,
};
use dataset::{Language, Licenses};
use mine::{Mine as Stage, Options, Report, Suite};
use std::{path::PathBuf, process::ExitCode};

/// Fetch packages and extract every OpenCL or CUDA kernel, or C or C++ program, from them
#[derive(clap::Args, Debug)]
#[command(after_help = help!("mine"))]
pub(crate) struct Mine {
    /// Where programs come from
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<String>,
    #[command(flatten)]
    output: StageOutput,
    /// Accept only programs under these licenses: permissive, osi (OSI-approved) or all
    #[arg(long, value_name = "POLICY", default_value = "all")]
    licenses: Licenses,
    /// What to extract: kernels in OpenCL C or in CUDA and HIP, in files and in strings of programs; or whole programs in C, C++ or Rust
    #[arg(long, default_value = "opencl", value_parser = choice(&[("opencl", Language::OpenCl), ("cuda", Language::Cuda), ("c", Language::C), ("c++", Language::Cxx), ("rust", Language::Rust)]))]
    language: Language,
    /// The published suite that the sources are: its kernels are built with the macros that its host programs define
    #[arg(long, value_name = "NAME", value_parser = Suite::names())]
    suite: Option<String>,
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
            licenses: self.licenses,
            language: self.language,
            cache: self.cache,
            offline: self.offline,
            suite: self.suite.as_deref().and_then(Suite::of),
        };
        let bar = Bar::new(global);
        let context = self.output.context(global.jobs(), &bar, &interrupt::flag()?);
        stage::run(&Stage::new(options, &context)?, &context, global)
    }
}

impl stage::Shown for Stage<'_> {
    fn print(report: &Report, seconds: f64, out: &str) -> anyhow::Result<()> {
        let (count, some) = (output::count, output::some);
        let rows = report.packages.iter().map(|package| {
            vec![
                package.source.clone(),
                package.version.clone(),
                count(package.files),
                count(package.unique),
                count(package.kernels),
                count(package.families),
                package.license.clone(),
                package.notes.join("; "),
            ]
        });
        let header =
            ["source", "version", "files", "unique", "kernels", "families", "license", "notes"];
        output::print_table(&header, rows)?;
        output::line(&format!(
            "{} ({} failed), {}, {} unique in {}, {} in their text, in {seconds:.1} s",
            some(report.sources, "source"),
            count(report.failed_sources),
            some(report.files, "file"),
            count(report.unique_files),
            some(report.families, "family"),
            some(report.kernels, "`kernel` function"),
        ))?;
        match report.unique_files {
            // Nothing is known of what a source holds that did not arrive.
            0 if report.failed_sources == report.sources => Ok(()),
            0 => output::line(
                "no content file was found; --language cuda extracts kernels in CUDA, c or rust whole programs",
            ),
            // Programs in C or Rust are described as they are.
            _ if report.kernels == 0 => {
                let vectors = output::unused("vectors");
                output::hint(&format!("next: stampmill features {out} --out {vectors}"))
            }
            _ => output::hint(&format!(
                "next: stampmill prepare {out} --out {}",
                output::unused("kernels")
            )),
        }
    }

    fn is_good(report: &Report) -> bool {
        report.sources == 0 || report.failed_sources < report.sources
    }

    fn is_nothing(manifest: &dataset::Manifest) -> bool {
        stage::is_all_rejected(manifest)
    }
}
