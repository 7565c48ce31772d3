//! `stampmill opt`: the smallest module of a few fixed pipelines.

use super::label::bench;
use crate::{
    Global,
    destination::{Output, file},
    interrupt, output,
};
use anyhow::{Context, bail};
use cost::{Flags, Form, Pipeline, Smallest, fixed_set};
use dataset::{Code, Language, Programs};
use llvm::Library;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Make the module of a program small: try a fixed set of pass pipelines, keep the smallest
#[derive(clap::Args, Debug)]
#[command(mut_arg("out", |out| file("The module to write, by default none: bitcode, or text where the name ends in .ll", "FILE")(out).required(false)))]
#[command(after_help = help!("opt"))]
pub(crate) struct Opt {
    /// A program (.cl .c .cpp .rs .ll .bc)
    #[arg(value_name = "FILE")]
    program: PathBuf,
    /// Pipelines to try in the place of those that ship: lines NAME, minsize or -, PASSES
    #[arg(long, value_name = "FILE")]
    pipelines: Option<PathBuf>,
    #[command(flatten)]
    output: Option<Output>,
    /// How a source is compiled, behind `--`: -I DIR, -D NAME[=VALUE], -std=STANDARD
    #[arg(last = true, value_name = "FLAGS")]
    flags: Vec<String>,
}

impl Opt {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if let Some(output) = &self.output {
            output.is_free_file()?;
        }
        let form = match &self.output {
            Some(output) => form(&output.out)?,
            None => Form::Bitcode,
        };
        let flags = Flags::parse(&self.flags)?;
        let pipelines = match &self.pipelines {
            Some(path) => Pipeline::read(path)?,
            None => fixed_set().to_vec(),
        };
        if !self.program.is_file() {
            bail!("{} is no file: give one program", self.program.display());
        }
        // Absent, it would be a verdict on the program.
        Library::newest()?;
        let cancelled = interrupt::flag()?;
        let bench = bench(global, &cancelled)?;
        let Some(program) = Programs::open(&self.program)?.iter()?.next() else {
            bail!("{} cannot be read", self.program.display());
        };
        let program = program?;
        let content = match program.code {
            Code::Text(text) => text.into_bytes(),
            Code::Bytes(bytes) => bytes,
        };
        let shown = self.program.display().to_string();
        if !self.flags.is_empty()
            && matches!(program.language, Language::LlvmIr | Language::Bitcode)
        {
            bail!("{shown} is compiled already: flags behind `--` are for sources");
        }
        if !self.flags.is_empty() && program.language == Language::Rust {
            bail!("{shown}: flags behind `--` are clang's, and rustc takes none of them");
        }
        let module = bench.module_of_file(&self.program, program.language, &content, &flags)?;
        let found = match module {
            Ok(module) => cost::smallest(&bench, &module, &pipelines, form)?,
            Err(verdict) => Err(verdict),
        };
        let smallest = match found {
            Ok(smallest) => smallest,
            Err(verdict) if global.json => {
                output::json(&serde_json::json!({
                    "verdict": verdict.name,
                    "detail": verdict.detail,
                }))?;
                return Ok(ExitCode::FAILURE);
            }
            Err(verdict) => {
                eprintln!("stampmill: {}", output::plain(&format!("{shown}: {verdict}")));
                return Ok(ExitCode::FAILURE);
            }
        };
        if let Some(output) = &self.output {
            host::write_whole(&output.out, &smallest.module)
                .with_context(|| format!("cannot write {}", output.out.display()))?;
        }
        output::report(global, &smallest, || print(&smallest))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// How the module is written, by the name of the file.
fn form(out: &Path) -> anyhow::Result<Form> {
    match out.extension().and_then(|extension| extension.to_str()) {
        Some("ll") => Ok(Form::Text),
        Some("bc") => Ok(Form::Bitcode),
        _ => bail!(
            "{}: name it .bc for bitcode or .ll for text; other things `opt` does not make",
            out.display()
        ),
    }
}

fn print(smallest: &Smallest) -> anyhow::Result<()> {
    let rows = smallest.tried.iter().map(|tried| {
        let kept = if tried.pipeline == smallest.pipeline { "kept" } else { "" };
        let count = tried.instructions.map_or_else(|| tried.verdict.to_owned(), output::count);
        vec![tried.pipeline.clone(), count, kept.to_owned()]
    });
    output::print_table(&["pipeline", "instructions", ""], rows)?;
    let than_oz = smallest.oz.filter(|oz| *oz > 0).map(|oz| {
        let less = 100.0 * (1.0 - smallest.instructions as f64 / oz as f64);
        format!(", {less:.1} % less than -Oz leaves")
    });
    output::line(&format!(
        "{} of {} instructions{}",
        output::count(smallest.instructions),
        output::count(smallest.before),
        than_oz.unwrap_or_default()
    ))
}
