use super::{reader, show, wrapper};
use crate::{Global, interrupt, progress::Bar, target::Target};
use dataset::stage;
use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

/// Build packages with wrapped compilers and keep the modules
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
Builds have no network once fetched, and limits on time and disk. A package that fails is a row with\n\
its verdict and log: stampmill query \"SELECT path, verdict, detail FROM m WHERE kind = 'package'\" m=modules\n\
A run that was stopped is resumed when the same command is given again.")]
pub(crate) struct Build {
    /// What to build
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<String>,
    #[command(flatten)]
    target: Target,
    /// How a folder is built, for a shell
    #[arg(long, value_name = "COMMAND")]
    build: Option<String>,
    /// Time one package may take
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = crate::duration::limit)]
    limit: Duration,
    /// Disk one package's tree may take, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    disk: u64,
    /// With crates: also examples, tests and benches, so that generic code has instances
    #[arg(long)]
    all_targets: bool,
    /// Units rustc may split a crate into
    #[arg(long, value_name = "N", default_value_t = 1)]
    codegen_units: u32,
    /// Use only what is in the cache of downloads
    #[arg(long)]
    offline: bool,
    /// Where downloads are kept
    #[arg(long, value_name = "DIR", env = "STAMPMILL_CACHE")]
    cache: Option<PathBuf>,
    /// Leave the trees that were built (in DIR.work)
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
            out: self.target.out.clone(),
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
        let context = self.target.context(jobs, &bar, &cancelled);
        let done = stage::run(&ir::Build::new(options)?, &context)?;
        drop(bar);
        show(&done, &self.target.out, global, done.summary.built)
    }
}
