use super::{print_modules, reader, wrapper};
use crate::{Global, destination::StageOutput, interrupt, output, progress::Bar, stage};
use std::{path::PathBuf, process::ExitCode};

/// Extract modules from stores, objects, archives, corpora, compilation databases and ComPile's Parquet
#[derive(clap::Args, Debug)]
#[command(after_help = help!("ir-extract"))]
pub(crate) struct Extract {
    /// What to extract modules from
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    output: StageOutput,
}

impl Extract {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let reader = reader(global)?;
        let bar = Bar::new(global);
        let context = self.output.context(global.jobs(), &bar, &interrupt::flag()?);
        stage::run(&ir::Extract::new(&self.inputs, &reader, wrapper()?)?, &context, global)
    }
}

impl stage::Shown for ir::Extract<'_> {
    fn print(report: &ir::Report, seconds: f64, out: &str) -> anyhow::Result<()> {
        print_modules(report, seconds, out)?;
        if report.modules == 0 {
            output::line(
                "no modules: `ir extract` reads objects, archives, .bc, .ll, .parquet, corpora and compilation databases; \
                 sources are built by: stampmill ir build dir:FOLDER --out ...",
            )?;
        }
        Ok(())
    }

    fn is_good(report: &ir::Report) -> bool {
        report.modules > 0
    }
}
