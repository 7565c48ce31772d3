//! `stampmill features`: programs as vectors.

use crate::{
    Global,
    destination::{self, StageOutput},
    interrupt, output,
    progress::Bar,
};
use dataset::{
    Dataset, Programs,
    stage::{Done, run},
};
use features::{
    CompileConfigs, Extractor, FeatureSpace, Features as Stage, ModuleReader, Options, Report, Row,
};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

/// Extract feature vectors from programs
#[derive(clap::Args, Debug)]
#[command(mut_arg(
    "out",
    destination::optional("The data set to make; without it, rows are printed")
))]
#[command(
    after_help = "Spaces: grewe, grewe-fixed, instcount, autophase, opcodes, tokens, ast-depth\n\n\
Examples:\n  \
    stampmill features kernels --space grewe,instcount,autophase --out vectors\n  \
    stampmill features saxpy.cl --space grewe --format jsonl\n  \
    stampmill features module.bc --space instcount --format jsonl\n\n\
OpenCL is compiled for nvptx64-nvidia-nvcl at -O1, as for the published vectors; if that fails, with\n\
a header of commonly assumed definitions. C and C++ are compiled for this machine and may include\n\
system headers only. Programs without a vector have a row with a verdict.\n\
The same command resumes a stopped run.\n\
With --part I/N several machines share one input; `merge` joins their results."
)]
pub(crate) struct Features {
    /// A data set, folder or file of programs (.cl .c .cpp .ll .bc)
    dataset: PathBuf,
    /// Feature spaces, comma-separated
    #[arg(long, value_name = "SPACES", default_value = "grewe,instcount,autophase")]
    space: String,
    #[command(flatten)]
    output: Option<StageOutput>,
    /// Print the rows as well when --out is given
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Optimization level, 0 to 3
    #[arg(long, value_name = "LEVEL", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=3))]
    opt: u8,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Format {
    Jsonl,
}

impl Features {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let spaces = features::spaces(&self.space)?;
        let programs = Programs::open(&self.dataset)?;
        let cancelled = interrupt::flag()?;
        let options = Options { cancelled: Arc::clone(&cancelled), ..options(self.opt, global)? };
        let extractor = Extractor::new(spaces.clone(), options);
        let bar = Bar::new(global);
        let Some(output) = self.output else {
            let report = extractor.describe_all(&programs, &bar, |rows| {
                for row in rows.iter().filter(|_| !global.json) {
                    // A pipe that was closed ends the program inside `json`.
                    let _ = output::json(&row.to_json(&spaces));
                }
                Ok(())
            })?;
            drop(bar);
            if global.json {
                output::json(&report)?;
            }
            return Ok(status(&report));
        };
        let stage = Stage::new(extractor, programs, &self.dataset.display().to_string())?;
        let done = run(&stage, &output.context(global.jobs(), &bar, &cancelled))?;
        drop(bar);
        let status = match self.format {
            Some(Format::Jsonl) => {
                for row in Dataset::open(&output.out)?.rows::<Row>()? {
                    output::json(&row?.to_json(&spaces))?;
                }
                status(&done.summary)
            }
            None => show(&done, &output.out, global)?,
        };
        // One part of many may hold nothing.
        Ok(if output.part.is_some() { ExitCode::SUCCESS } else { status })
    }
}

/// Print what a run or a merge came to.
pub(super) fn show(done: &Done<Report>, out: &Path, global: &Global) -> anyhow::Result<ExitCode> {
    output::report(global, &done.summary, || print(&done.summary, out))?;
    Ok(status(&done.summary))
}

fn status(report: &Report) -> ExitCode {
    let accepted = report.verdicts.get(dataset::Verdict::ACCEPTED).copied().unwrap_or(0);
    if accepted > 0 { ExitCode::SUCCESS } else { output::NEGATIVE }
}

/// An extractor that reads bitcode in a worker of this program.
pub(crate) fn extractor(
    spaces: Vec<&'static dyn FeatureSpace>,
    level: u8,
    global: &Global,
) -> anyhow::Result<Extractor> {
    Ok(Extractor::new(spaces, options(level, global)?))
}

fn options(level: u8, global: &Global) -> anyhow::Result<Options> {
    let arguments = vec!["worker".into(), "modules".into()];
    let reader = ModuleReader::Worker(std::env::current_exe()?, arguments);
    Ok(Options {
        configs: CompileConfigs::published(Some(kernels::SHIM)).at_level(level),
        jobs: global.jobs(),
        reader,
        ..Options::default()
    })
}

fn print(report: &Report, out: &Path) -> anyhow::Result<()> {
    let verdicts = report.verdicts.iter();
    let rows = verdicts
        .map(|(name, n)| vec![name.clone(), output::count(*n), output::percent(*n, report.rows)]);
    output::line(&output::table(&["verdict", "rows", "share"], rows).to_string())?;
    let vectors = report.vectors.iter().map(|(name, n)| vec![name.clone(), output::count(*n)]);
    output::line(&output::table(&["space", "vectors"], vectors).to_string())?;
    output::line(&format!(
        "{} programs, {} rows in {}",
        output::count(report.programs),
        output::count(report.rows),
        out.display()
    ))
}
