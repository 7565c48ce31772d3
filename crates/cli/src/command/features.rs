//! `stampmill features`: programs as vectors.

use crate::{Global, destination, headers, interrupt, output, progress::Bar, stage};
use dataset::{Dataset, Found, Language, Program, Programs, stage::Done};
use features::{
    ALL, CompileConfigs, Extractor, FeatureSpace, Features as Stage, ModuleReader, Options, Part,
    Report, Row,
};
use rows::FeaturesVerdict;
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
        // What is printed is not kept.
        let cancelled = match self.output {
            Some(_) => interrupt::flag()?,
            None => interrupt::final_flag()?,
        };
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
            let mut printed = Ok(());
            let summary = extractor.describe_all(&programs, &bar, |rows| {
                for row in rows.iter().filter(|_| !global.json) {
                    printed = output::json(&row.to_json(&spaces));
                    if printed.is_err() {
                        return Err(features::Error::Cancelled { done: 0 });
                    }
                }
                Ok(())
            });
            printed?;
            let summary = summary?;
            let (seconds, left_out) = (began.elapsed().as_secs_f64(), programs.left_out()?);
            let done = Done { summary, seconds, left_out };
            drop(bar);
            if global.json {
                output::json(&done)?;
            } else if let Some(left_out) = stage::left_out(&done).filter(|_| !global.is_quiet()) {
                eprintln!("{left_out}");
            }
            if !global.is_quiet() {
                for advice in advice(&self.dataset, &spaces, &done.summary) {
                    eprintln!("{advice}");
                }
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
                if !global.json && !global.is_silent() {
                    for advice in advice(&self.dataset, &spaces, &done.summary) {
                        output::line(&advice)?;
                    }
                }
                Ok(())
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

/// What may help programs without a vector in any of the spaces.
fn advice(dataset: &Path, spaces: &[&'static dyn FeatureSpace], report: &Report) -> Vec<String> {
    let has = |verdict: FeaturesVerdict| report.verdicts.contains_key(verdict.name());
    let mut all = Vec::new();
    if has(FeaturesVerdict::DoesNotCompile) {
        all.extend(remedies(dataset));
    }
    if has(FeaturesVerdict::NoVector) {
        all.push(format!(
            "no-vector: vectors of {} are of OpenCL kernels; any program in OpenCL C, C or C++ has those of {}",
            names(spaces, |space| space.is_of_kernels()),
            names(&ALL, |space| !space.is_of_kernels())
        ));
    }
    if has(FeaturesVerdict::NoExtractor) {
        let is_of_modules = |space: &dyn FeatureSpace| space.parts().contains(&Part::Module);
        all.push(format!(
            "no-extractor: vectors of {} are of sources in OpenCL C, C or C++; modules, and programs in Rust, have those of {}",
            names(spaces, |space| !is_of_modules(space)),
            names(&ALL, is_of_modules)
        ));
    }
    all
}

/// The names of some of these spaces.
fn names(
    spaces: &[&'static dyn FeatureSpace],
    is_one: impl Fn(&dyn FeatureSpace) -> bool,
) -> String {
    let some = spaces.iter().filter(|space| is_one(**space));
    some.map(|space| space.name()).collect::<Vec<_>>().join(", ")
}

/// What may help programs that do not compile, by their languages: the stages that were not run yet.
fn remedies(dataset: &Path) -> Vec<String> {
    let Ok(programs) = Programs::open(dataset) else { return Vec::new() };
    let schema = match &programs {
        Programs::Dataset(dataset) => dataset.manifest().schema.as_str(),
        Programs::Files(..) => "",
    };
    if schema == "kernel" {
        return Vec::new();
    }
    let is_mined = schema == "content-file";
    let languages = languages(&programs);
    let mut all: Vec<String> = Vec::new();
    if languages.contains(&Language::OpenCl) {
        all.push(match is_mined {
            true => "what lacks definitions of its package: `stampmill prepare` adds them".into(),
            false => "what lacks headers or definitions: `stampmill mine` puts headers in, `stampmill prepare` adds definitions".into(),
        });
    }
    for (language, name) in [(Language::C, "C"), (Language::Cxx, "C++")] {
        if languages.contains(&language) {
            all.push(match is_mined {
                true => format!("what lacks headers, in {name}: they have to be installed on this machine"),
                false => format!(
                    "what lacks headers, in {name}: `stampmill mine --language {}` puts in those of its package; others have to be installed on this machine",
                    language.name()
                ),
            });
        }
    }
    if languages.contains(&Language::Cuda) && !is_mined {
        all.push(
            "what lacks headers, in CUDA: `stampmill mine --language cuda` puts them in".into(),
        );
    }
    if languages.contains(&Language::Rust) {
        all.push(
            "what needs other files or crates, in Rust: each program is compiled alone".into(),
        );
    }
    all
}

/// The languages of programs: of files by their names, of a data set those of its first programs.
fn languages(programs: &Programs) -> Vec<Language> {
    match programs {
        Programs::Files(_, files) => {
            files.iter().filter_map(|file| Language::of(Path::new(&file.path))).collect()
        }
        Programs::Dataset(_) => {
            let met = programs.found().into_iter().flatten().take(SEEN);
            met.filter_map(|met| match met {
                Ok(Found::Program(program)) => Some(program.language),
                _ => None,
            })
            .collect()
        }
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
