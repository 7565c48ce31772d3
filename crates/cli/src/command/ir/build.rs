use super::{print_modules, reader, wrapper};
use crate::{Global, destination::StageOutput, interrupt, progress::Bar, stage};
use dataset::stage::Done;
use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

/// Build packages with wrapped compilers and collect their LLVM modules
#[derive(clap::Args, Debug)]
#[command(after_help = "Sources:\n  \
    crate:NAME[@VER]     a Rust crate\n  \
    crates:FILE          a list of crates, one a line; FILE.lock beside it pins what they need\n  \
    deb:NAME[@SUITE]     a Debian source package, built in a root of its own (mmdebstrap; as root)\n  \
    dir:PATH             a folder, built by what it holds (cargo, cmake, configure, make, ...) or by --build\n\n\
Examples:\n  \
    stampmill ir build crate:regex@1.11.1 crate:hex --out modules\n  \
    stampmill ir build crates:crates.txt --out modules --limit 20m\n  \
    stampmill ir build dir:lua --build \"make -j2 linux\" --out modules\n\n\
Builds run without network once fetched, with limits on time and disk. A package that fails has a row\n\
with verdict and log: stampmill query \"SELECT path, verdict, detail FROM m WHERE kind = 'package'\" m=modules\n\
The same command resumes a stopped run.")]
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
    fn print(done: &Done<ir::Report>, out: &str) -> anyhow::Result<()> {
        print_modules(done, out)
    }

    fn is_good(report: &ir::Report) -> bool {
        report.built > 0
    }
}
