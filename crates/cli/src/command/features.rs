//! `stampmill features`: programs as vectors.

use crate::{Global, interrupt, output, progress::Bar};
use dataset::{Dataset, Programs};
use features::{Extractor, FeatureSpace, Options, Report, Row, Ways};
use std::{path::PathBuf, process::ExitCode};

/// Describe programs in feature spaces
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Spaces: grewe, grewe-fixed, instcount, autophase, opcodes, tokens, ast-depth\n\n\
Examples:\n  \
    stampmill features kernels --space grewe,instcount,autophase --out vectors\n  \
    stampmill features saxpy.cl --space grewe --format jsonl\n  \
    stampmill features module.bc --space instcount --format jsonl\n\n\
OpenCL is compiled for nvptx64-nvidia-nvcl at -O1, as the published vectors were, with definitions\n\
that kernels commonly take for granted where it does not compile without. C and C++ are compiled for\n\
this machine and may include its system headers, no other file. Programs that cannot be described\n\
have rows with a verdict. A run that was stopped goes on where it was when the same command is given\n\
again."
)]
pub(crate) struct Features {
    /// A data set, folder or file of programs (.cl .c .cpp .ll .bc)
    dataset: PathBuf,
    /// Feature spaces, with commas
    #[arg(long, value_name = "SPACES", default_value = "grewe,instcount,autophase")]
    space: String,
    /// The data set to make; without it, rows are printed
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace what is at --out
    #[arg(long)]
    force: bool,
    /// Go on with an unfinished run (the default when the command is the same)
    #[arg(long)]
    resume: bool,
    /// Print rows too where there is an --out; for other formats `query` that
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Optimisation level, 0 to 3
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
        let options = Options { cancelled: interrupt::flag()?, ..options(self.opt, global)? };
        let extractor = Extractor::new(spaces.clone(), options);
        let bar = Bar::new(global);
        let report = match &self.out {
            Some(out) => {
                let name = self.dataset.display().to_string();
                extractor.describe_to(&name, &programs, out, self.force, &bar)?
            }
            None => {
                extractor.describe_all(&programs, &bar, |rows| {
                    for row in rows.iter().filter(|_| !global.json) {
                        // A pipe that was closed ends the program inside `json`.
                        let _ = output::json(&row.to_json(&spaces));
                    }
                    Ok(())
                })?
            }
        };
        drop(bar);
        if let (Some(out), Some(Format::Jsonl)) = (&self.out, self.format) {
            for row in Dataset::open(out)?.rows::<Row>()? {
                output::json(&row?.to_json(&spaces))?;
            }
        } else if global.json {
            output::json(&report)?;
        } else if let Some(out) = &self.out {
            print(&report, out)?;
        }
        let accepted = report.verdicts.get(dataset::Verdict::ACCEPTED).copied().unwrap_or(0);
        Ok(if accepted > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
    }
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
    let reader = vec![std::env::current_exe()?.into_os_string(), "worker".into(), "modules".into()];
    Ok(Options {
        ways: Ways::published(Some(kernels::SHIM)).at_level(level),
        jobs: global.jobs(),
        reader,
        ..Options::default()
    })
}

fn print(report: &Report, out: &std::path::Path) -> anyhow::Result<()> {
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
