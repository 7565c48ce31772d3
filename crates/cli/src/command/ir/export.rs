use super::reader;
use crate::{Global, destination, output, progress::Bar};
use anyhow::ensure;
use ir::Format;
use std::{path::PathBuf, process::ExitCode};

/// Export modules: ComPile's Parquet, an ml-compiler-opt corpus, or textual IR
#[derive(clap::Args, Debug)]
#[command(mut_arg("out", |out| destination::file("The folder to make", "DIR")(out).alias("to")))]
#[command(after_help = help!("ir-export"))]
pub(crate) struct Export {
    /// A data set of modules
    dataset: PathBuf,
    #[command(flatten)]
    output: destination::Output,
    /// compile, mlgo or text
    #[arg(long, value_name = "FORMAT", default_value = "compile")]
    format: Format,
    /// Percent of families in the validation split
    #[arg(long, value_name = "PERCENT", default_value_t = 10)]
    validation: u32,
    /// Percent of families in the test split
    #[arg(long, value_name = "PERCENT", default_value_t = 10)]
    test: u32,
    /// Random seed of the split
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

impl Export {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        ensure!(
            self.validation.saturating_add(self.test) <= 100,
            "--validation {} and --test {} are more than 100 percent",
            self.validation,
            self.test
        );
        let reader = reader(global)?;
        let options = ir::Export {
            dataset: self.dataset,
            out: self.output.out.clone(),
            force: self.output.force,
            format: self.format,
            held_out: (self.validation, self.test),
            seed: self.seed,
            reader: &reader,
        };
        let bar = Bar::new(global);
        let report = ir::export(&options, &bar)?;
        drop(bar);
        output::report(global, &report, || {
            let split = |(name, n): (&String, &u64)| format!("{name} {}", output::count(*n));
            let splits: Vec<String> = report.splits.iter().map(split).collect();
            output::line(&format!(
                "{} modules, {}, in {}: {}; {} license texts",
                output::count(report.modules),
                super::megabytes(report.bitcode_bytes),
                self.output.out.display(),
                splits.join(", "),
                output::count(report.texts)
            ))
        })?;
        Ok(output::status(report.modules > 0))
    }
}
