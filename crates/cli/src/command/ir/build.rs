use super::{print_modules, reader, wrapper};
use crate::{Global, destination::StageOutput, interrupt, progress::Bar, stage};
use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

/// Build packages with wrapped compilers and collect their LLVM modules
#[derive(clap::Args, Debug)]
#[command(after_help = help!("ir-build"))]
pub(crate) struct Build {
    /// What to build
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<String>,
    #[command(flatten)]
    output: StageOutput,
    /// Shell command that builds a folder
    #[arg(long, value_name = "COMMAND")]
    build: Option<String>,
    /// Time limit of one package
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = crate::duration::limit)]
    limit: Duration,
    /// Disk limit of one package, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    disk: u64,
    /// Crates: build examples, tests and benches too, which instantiate generic code
    #[arg(long)]
    all_targets: bool,
    /// rustc's codegen-units
    #[arg(long, value_name = "N", default_value_t = 1)]
    codegen_units: u32,
    /// The table of Debian's popularity contest for debian:popcon:N
    #[arg(long, value_name = "FILE")]
    popcon: Option<PathBuf>,
    /// Use only cached downloads
    #[arg(long)]
    offline: bool,
    /// Download cache
    #[arg(long, value_name = "DIR", env = "STAMPMILL_CACHE")]
    cache: Option<PathBuf>,
    /// Keep the build trees (in DIR.work)
    #[arg(long)]
    keep: bool,
}

impl Build {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let cancelled = interrupt::flag()?;
        let reader = reader(global)?;
        let bar = Bar::new(global);
        let options = ir::BuildOptions {
            sources: self.sources,
            out: self.output.out.clone(),
            reader: &reader,
            wrapper: wrapper()?,
            wall: self.limit,
            disk_bytes: self.disk << 20,
            command: self.build,
            all_targets: self.all_targets,
            codegen_units: self.codegen_units,
            cache: self.cache,
            popcon: self.popcon,
            offline: self.offline,
            keep: self.keep,
            progress: &bar,
            cancel: Arc::clone(&cancelled).into(),
        };
        // A package's own build uses several cores already.
        let jobs = global.jobs().div_ceil(2);
        let context = self.output.context(jobs, &bar, &cancelled);
        stage::run(&ir::Build::new(options)?, &context, global)
    }
}

impl stage::Shown for ir::Build<'_> {
    fn print(report: &ir::Report, seconds: f64, out: &str) -> anyhow::Result<()> {
        print_modules(report, seconds, out)
    }

    fn is_good(report: &ir::Report) -> bool {
        report.built > 0
    }
}
