use crate::{Global, output, progress::Bar};
use anyhow::{Context, bail};
use std::{path::PathBuf, process::ExitCode};

/// Measure this machine's clock, caches and memory, and write a processor file for it
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill time calibrate --base skylake --out host.toml\n  \
    stampmill time sum.cpp --stdin sum.in --cpu host.toml\n\n\
What micro-benchmarks cannot tell (widths, ports, predictors) stays as in --base: name the built-in\n\
processor that is nearest to this machine. Run it on an idle machine.")]
pub(super) struct Calibrate {
    /// Processor whose core is kept: skylake, zen4 or a processor file
    #[arg(long, value_name = "NAME")]
    base: Option<String>,
    /// The processor file to write
    #[arg(short, long, value_name = "FILE.toml")]
    out: PathBuf,
    /// Replace --out
    #[arg(long)]
    force: bool,
}

impl Calibrate {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if self.out.exists() && !self.force {
            bail!("{} exists; --force replaces it", self.out.display());
        }
        let base = self.base.unwrap_or_else(|| timing::nearest_processor().to_owned());
        let bar = Bar::new(global);
        dataset::Progress::begin(&bar, "calibrate", 0);
        let found = timing::calibrate(&base)?;
        drop(bar);
        std::fs::write(&self.out, &found.cpu_toml)
            .with_context(|| format!("cannot write {}", self.out.display()))?;
        if global.json {
            output::json(&found)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut rows = vec![vec!["clock".to_owned(), format!("{:.0} MHz", found.clock_mhz)]];
        rows.extend(found.load_ns.iter().map(|(kib, ns)| {
            let cycles = ns * found.clock_mhz / 1e3;
            vec![
                format!("load, {} KiB walked at random", output::count(*kib)),
                format!("{ns:.2} ns ({cycles:.0} cycles)"),
            ]
        }));
        rows.push(vec!["reading in order".into(), format!("{:.1} GB/s", found.read_bytes_per_ns)]);
        rows.push(vec!["page fault".into(), format!("{:.0} ns", found.page_fault_ns)]);
        rows.push(vec!["system call".into(), format!("{:.0} ns", found.system_call_ns)]);
        output::line(&output::table(&["measured", ""], rows).to_string())?;
        output::line(&format!("{}: this machine, core of {base}", self.out.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}
