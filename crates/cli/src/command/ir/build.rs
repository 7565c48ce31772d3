use super::{print, reader, wrapper};
use crate::{Global, interrupt, output, progress::Bar, target::Target};
use std::{path::PathBuf, process::ExitCode, time::Duration};

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
A run that was stopped goes on where it was when the same command is given again.")]
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
        let options = ir::Build {
            sources: self.sources,
            out: self.target.out.clone(),
            force: self.target.force,
            // A package's own build uses several cores already.
            jobs: global.jobs().div_ceil(2),
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
            cancelled: &cancelled,
        };
        let bar = Bar::new(global);
        let report = ir::build(&options, &bar)?;
        drop(bar);
        match global.json {
            true => output::json(&report)?,
            false => print(&report, &self.target.out, "dedup")?,
        }
        Ok(if report.built == 0 { output::NEGATIVE } else { ExitCode::SUCCESS })
    }
}
