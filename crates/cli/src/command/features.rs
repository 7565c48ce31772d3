//! `stampmill features`: programs as vectors.

use crate::{Global, destination, headers, interrupt, output, progress::Bar, stage};
use dataset::{Dataset, Language, Program, Programs, stage::Done};
use features::{
    CompileConfigs, Extractor, FeatureSpace, Features as Stage, ModuleReader, Options, Report, Row,
};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Instant,
};

/// Extract feature vectors from programs
#[derive(clap::Args, Debug)]
#[command(mut_arg(
    "out",
    destination::optional("The data set to make; without it, rows are printed")
))]
#[command(after_help = help!("features"))]
pub(crate) struct Features {
    /// A data set, folder or file of programs (.cl .c .cpp .rs .ll .bc)
    dataset: PathBuf,
    /// Feature spaces, comma-separated
    #[arg(long, value_name = "SPACES", default_value = "grewe,instcount,autophase")]
    space: String,
    #[command(flatten)]
    output: Option<destination::StageOutput>,
    /// Print the rows as well when --out is given
    #[arg(long, value_parser = ["jsonl"])]
    format: Option<String>,
    /// Optimization level, 0 to 3, of what is compiled; modules are described as they are [default: 1]
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    opt: Option<u8>,
}

impl Features {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let spaces = features::spaces(&self.space)?;
        headers::say(&self.dataset, global);
        let programs = Programs::open(&self.dataset)?;
        let cancelled = interrupt::flag()?;
        let options = Options {
            cancelled: Arc::clone(&cancelled),
            ..options(self.opt.unwrap_or(1), global)?
        };
        if let Some(level) = self.opt
            && !global.is_quiet()
            && programs.iter()?.take(SEEN).any(|program| program.is_ok_and(|one| is_module(&one)))
        {
            eprintln!("modules are described as they are: --opt {level} holds for sources alone");
        }
        let extractor = Extractor::new(spaces.clone(), options);
        let bar = Bar::new(global);
        let Some(output) = self.output else {
            let began = Instant::now();
            let summary = extractor.describe_all(&programs, &bar, |rows| {
                for row in rows.iter().filter(|_| !global.json) {
                    // A pipe that was closed ends the program inside `json`.
                    let _ = output::json(&row.to_json(&spaces));
                }
                Ok(())
            })?;
            let (seconds, left_out) = (began.elapsed().as_secs_f64(), programs.left_out()?);
            let done = Done { summary, seconds, left_out };
            drop(bar);
            if global.json {
                output::json(&done)?;
            } else if let Some(left_out) = stage::left_out(&done).filter(|_| !global.is_quiet()) {
                eprintln!("{left_out}");
            }
            if let Some(advice) =
                advice(&self.dataset, &done.summary).filter(|_| !global.is_quiet())
            {
                eprintln!("{advice}");
            }
            if done.summary.programs == 0 {
                eprintln!("no program is in {}", self.dataset.display());
            }
            return Ok(stage::status::<Stage>(&done.summary));
        };
        let context = output.context(global.jobs(), &bar, &cancelled);
        let stage = Stage::new(extractor, programs, &self.dataset.display().to_string())?;
        if self.format.is_none() {
            return stage::run_then(&stage, &context, global, |done| {
                stage::show::<Stage>(done, &output.out, global)?;
                let is_told = !global.json && !global.is_silent();
                match advice(&self.dataset, &done.summary).filter(|_| is_told) {
                    Some(advice) => output::line(advice),
                    None => Ok(()),
                }
            });
        }
        stage::run_then(&stage, &context, global, |_| {
            for row in Dataset::open(&output.out)?.rows::<Row>()? {
                output::json(&row?.to_json(&spaces))?;
            }
            Ok(())
        })
    }
}

/// What may help programs that do not compile: the stages that were not run yet.
fn advice(dataset: &Path, report: &Report) -> Option<&'static str> {
    if !report.verdicts.contains_key("does-not-compile") {
        return None;
    }
    let made = Dataset::open(dataset).map(|one| one.manifest().schema.clone());
    match made.as_deref() {
        Ok("kernel") => None,
        Ok("content-file") => {
            Some("what lacks definitions of its package: `stampmill prepare` adds them")
        }
        _ => Some(
            "what lacks headers or definitions: `stampmill mine` puts headers in (of C: --language c), `stampmill prepare` adds definitions",
        ),
    }
}

impl stage::Shown for Stage {
    fn print(report: &Report, _: f64, out: &str) -> anyhow::Result<()> {
        output::print_shares(["verdict", "rows", "share"], &report.verdicts, report.rows)?;
        let vectors = report.vectors.iter().map(|(name, n)| vec![name.clone(), output::count(*n)]);
        output::print_table(&["space", "vectors"], vectors)?;
        output::line(&format!(
            "{} programs, {} rows in {}",
            output::count(report.programs),
            output::count(report.rows),
            out
        ))
    }

    fn is_good(report: &Report) -> bool {
        report.verdicts.get(dataset::Verdict::ACCEPTED).is_some_and(|count| *count > 0)
    }

    fn is_nothing(manifest: &dataset::Manifest) -> bool {
        stage::is_all_rejected(manifest)
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

/// Programs among which a module is looked for.
const SEEN: usize = 100;

fn is_module(program: &Program) -> bool {
    matches!(program.language, Language::LlvmIr | Language::Bitcode)
}

/// A level as compilers write it, too: 2, O2 or -O2.
fn level(text: &str) -> Result<u8, String> {
    let digits = text.trim_start_matches('-').trim_start_matches('O');
    match digits.parse() {
        Ok(level) if level <= 3 => Ok(level),
        _ => Err("wanted 0, 1, 2 or 3".to_owned()),
    }
}

/// How an extractor works that reads bitcode in a worker of this program.
pub(crate) fn options(level: u8, global: &Global) -> anyhow::Result<Options> {
    let arguments = vec!["worker".into(), "modules".into()];
    let reader = ModuleReader::Worker(std::env::current_exe()?, arguments);
    Ok(Options {
        configs: CompileConfigs::published(Some(kernels::SHIM)).at_level(level),
        jobs: global.jobs(),
        reader,
        ..Options::default()
    })
}
