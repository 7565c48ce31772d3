use crate::{Global, destination::StageOutput, interrupt, output, progress::Bar, stage};
use std::{path::PathBuf, process::ExitCode};

/// Remove structurally equal modules and group similar ones into families
#[derive(clap::Args, Debug)]
#[command(after_help = help!("ir-dedup"))]
pub(crate) struct Dedup {
    /// A data set of modules
    dataset: PathBuf,
    #[command(flatten)]
    output: StageOutput,
}

impl Dedup {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let bar = Bar::new(global);
        let context = self.output.context(global.jobs(), &bar, &interrupt::flag()?);
        stage::run(&ir::Dedup::new(&self.dataset)?, &context, global)
    }
}

impl stage::Shown for ir::Dedup {
    fn print(report: &ir::DedupReport, seconds: f64, out: &str) -> anyhow::Result<()> {
        let count = output::count;
        let rows = report.languages.iter().map(|(name, [modules, unique, bytes, left])| {
            vec![
                if name.is_empty() { "not known".to_owned() } else { name.clone() },
                count(*modules),
                count(*unique),
                super::megabytes(*bytes),
                super::megabytes(*left),
                output::percent(*left, *bytes),
            ]
        });
        let header = ["language", "modules", "unique", "bitcode", "left", "bytes left"];
        output::print_table(&header, rows)?;
        output::line(&format!(
            "{} of {} modules stay, {:.1} % of the bytes; {} families, the largest of {}; \
             {} of {} functions are unlike all others; in {seconds:.1} s",
            count(report.unique),
            count(report.modules),
            report.bytes_left_percent,
            count(report.families),
            count(report.largest_family),
            count(report.unique_functions),
            count(report.functions)
        ))?;
        output::hint(&format!("next: stampmill ir stats {out} --out ..."))
    }

    fn is_good(_: &ir::DedupReport) -> bool {
        true
    }
}
