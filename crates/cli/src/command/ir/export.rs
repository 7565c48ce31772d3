use super::reader;
use crate::{Global, output, progress::Bar};
use anyhow::ensure;
use ir::Format;
use std::{path::PathBuf, process::ExitCode};

/// Write modules as others read them: ComPile's Parquet, an ml-compiler-opt corpus, textual IR
#[derive(clap::Args, Debug)]
#[command(after_help = "Splits are drawn by family (see `ir dedup`): no family lies in two.\n\n\
Examples:\n  \
    stampmill ir export unique --format compile --out dataset\n  \
    stampmill ir export unique --format mlgo --out corpus\n  \
    stampmill ir export unique --format text --out text --validation 5 --test 5 --seed 7")]
pub(crate) struct Export {
    /// A data set of modules
    dataset: PathBuf,
    /// The folder to make
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Replace what is at --out
    #[arg(long)]
    force: bool,
    /// compile, mlgo or text
    #[arg(long, value_name = "FORMAT", default_value = "compile")]
    format: Format,
    /// Percent of families for validation
    #[arg(long, value_name = "PERCENT", default_value_t = 10)]
    validation: u32,
    /// Percent of families for tests
    #[arg(long, value_name = "PERCENT", default_value_t = 10)]
    test: u32,
    /// Families are drawn with it
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
            out: self.out.clone(),
            force: self.force,
            format: self.format,
            held_out: (self.validation, self.test),
            seed: self.seed,
            reader: &reader,
        };
        let bar = Bar::new(global);
        let report = ir::export(&options, &bar)?;
        drop(bar);
        let status = if report.modules == 0 { output::NEGATIVE } else { ExitCode::SUCCESS };
        if global.json {
            output::json(&report)?;
            return Ok(status);
        }
        let splits: Vec<String> =
            report.splits.iter().map(|(name, n)| format!("{name} {}", output::count(*n))).collect();
        output::line(&format!(
            "{} modules, {}, in {}: {}; {} licence texts",
            output::count(report.modules),
            super::megabytes(report.bitcode_bytes),
            self.out.display(),
            splits.join(", "),
            output::count(report.texts)
        ))?;
        Ok(status)
    }
}
