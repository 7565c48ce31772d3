use crate::{Global, destination, output, progress::Bar};
use anyhow::Context;
use std::process::ExitCode;

/// Measure this machine's clock, caches and memory, and write a CPU file for it
#[derive(clap::Args, Debug)]
#[command(mut_arg("out", destination::file("The CPU file to write", "FILE.toml")))]
#[command(after_help = help!("time-calibrate"))]
pub(super) struct Calibrate {
    /// CPU whose core is used: skylake, zen4 or a CPU file
    #[arg(long, value_name = "NAME")]
    base: Option<String>,
    #[command(flatten)]
    output: destination::Output,
}

impl Calibrate {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        self.output.is_free_file()?;
        let base = self.base.unwrap_or_else(|| timing::nearest_processor().to_owned());
        let bar = Bar::new(global);
        dataset::Progress::begin(&bar, "calibrate", 0);
        let found = timing::calibrate(&base)?;
        drop(bar);
        std::fs::write(&self.output.out, &found.cpu_toml)
            .with_context(|| format!("cannot write {}", self.output.out.display()))?;
        output::report(global, &found, || {
            let mut rows = vec![vec!["clock".to_owned(), format!("{:.0} MHz", found.clock_mhz)]];
            rows.extend(found.load_ns.iter().map(|(kib, ns)| {
                let cycles = ns * found.clock_mhz / 1e3;
                vec![
                    format!("load, {} KiB walked at random", output::count(*kib)),
                    format!("{ns:.2} ns ({cycles:.0} cycles)"),
                ]
            }));
            rows.push(vec![
                "reading in order".into(),
                format!("{:.1} GB/s", found.read_bytes_per_ns),
            ]);
            rows.push(vec!["page fault".into(), format!("{:.0} ns", found.page_fault_ns)]);
            rows.push(vec!["system call".into(), format!("{:.0} ns", found.system_call_ns)]);
            output::print_table(&["measured", ""], rows)?;
            output::line(&format!("{}: this machine, core of {base}", self.output.out.display()))
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
