//! `stampmill train`: a language model of kernels, or one fine-tuned on edits.

use super::tune;
use crate::{Global, destination::Output, interrupt, output, progress::Bar};
use anyhow::{Context, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dataset::Progress;
use lm::{CorpusReport, Entry, Kind, Origin, Recipe, Trained, TuningReport};
use sampling::corpus::{self, Corpus};
use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};
use synth::Exclusion;

/// Train a language model on kernels, or fine-tune one on edits
#[derive(clap::Args, Debug)]
#[command(after_help = help!("train"))]
pub(crate) struct Train {
    /// A data set of kernels as `prepare` makes it, or a folder of programs; edits: pairs or exported lines
    corpus: PathBuf,
    /// Functions to pre-train on: a data set that `prepare` makes of C programs; may be given several times
    #[arg(long, value_name = "FUNCTIONS")]
    pretrain: Vec<PathBuf>,
    /// Exclude copies of the programs here, and kernels named like them or like a target here; may be given several times
    #[arg(long, value_name = "PATH")]
    exclude: Vec<PathBuf>,
    /// What is learned
    #[arg(long, value_enum, default_value = "kernels")]
    task: Task,
    /// Edits: the checkpoint to fine-tune
    #[arg(long, value_name = "DIR", required_if_eq("task", "edits"))]
    from: Option<PathBuf>,
    /// Edits: train adapters of this rank in the place of all weights, and add them at the end
    #[arg(long, value_name = "RANK", value_parser = clap::value_parser!(u32).range(1..))]
    lora: Option<u32>,
    /// Edits: what adapters add is multiplied by this over their rank [default: twice the rank]
    #[arg(long, value_name = "ALPHA", requires = "lora", value_parser = alpha)]
    lora_alpha: Option<f64>,
    /// Edits: times that each answer is seen, unless the recipe has a budget_tokens
    #[arg(long, value_name = "N", default_value_t = 3.0)]
    epochs: f64,
    /// What the model reads: what stands before (lstm), or both sides of a hole
    #[arg(long, value_name = "MODEL", default_value = "infill", value_parser = kinds())]
    model: Kind,
    #[command(flatten)]
    target: Output,
    /// Sizes and training settings in a TOML file
    #[arg(long, value_name = "FILE")]
    recipe: Option<PathBuf>,
    /// Same seed, same weights on one device
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// cpu, cuda, or auto for CUDA where there is one
    #[arg(long, default_value = "auto")]
    device: String,
    /// Stop after this time, as if the budget were used up
    #[arg(long, value_name = "TIME", value_parser = crate::duration::duration)]
    limit: Option<std::time::Duration>,
    /// Only write the training folder, to train in it somewhere else
    #[arg(long)]
    prepare_only: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    /// Kernels, whole
    Kernels,
    /// Answers to questions for faster programs
    Edits,
}

/// What was prepared.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Prepared {
    Kernels(CorpusReport),
    Edits(TuningReport),
}

fn alpha(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is no alpha; write a number above 0, for example 16");
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0).ok_or_else(wrong)
}

fn kinds() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::name)).map(|name| {
        let mut all = Kind::ALL.into_iter();
        all.find(|kind| kind.name() == name).expect("one of the possible values")
    })
}

impl Train {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let cancelled = interrupt::flag()?;
        if self.task == Task::Edits && !(self.pretrain.is_empty() && self.exclude.is_empty()) {
            bail!("--pretrain and --exclude are for kernels, not for --task edits");
        }
        let out = &self.target.out;
        if out.exists() && !self.target.force {
            return Err(dataset::Error::Exists(out.clone()).into());
        }
        let bar = Bar::new(global);
        let (settings, work) = (self.settings()?, dataset::partial_folder(out)?);
        let (device, limit) = (self.device.as_str(), self.limit);
        let training = lm::Run { out, settings: &settings, device, limit };
        if self.prepare_only || !training.resumes()? {
            let report = match &self.from {
                Some(from) if self.task == Task::Edits => {
                    if !self.prepare_only {
                        lm::check_trainer(&self.device)?;
                    }
                    let flags = tune::Flags {
                        from,
                        lora: self.lora,
                        lora_alpha: self.lora_alpha,
                        epochs: self.epochs,
                        recipe: self.recipe.as_ref(),
                        seed: self.seed,
                    };
                    Prepared::Edits(tune::prepare(&self.corpus, &flags, out)?)
                }
                _ => Prepared::Kernels(self.kernels(&work, global, &bar)?),
            };
            if self.prepare_only {
                drop(bar);
                lm::place(&work, out)?;
                output::report(global, &report, || report.print(out))?;
                return Ok(ExitCode::SUCCESS);
            }
        }
        let trained = training.train(&bar, &cancelled)?;
        drop(bar);
        output::report(global, &trained, || print(&trained, self.task, out))?;
        Ok(ExitCode::SUCCESS)
    }

    /// What decides about the weights: a stopped run is resumed by a command that says the same.
    fn settings(&self) -> anyhow::Result<String> {
        let recipe = match &self.recipe {
            Some(path) => lm::settings_text(path)?,
            None => String::new(),
        };
        let identity = |path: &PathBuf| match dataset::Dataset::open(path) {
            Ok(dataset) => dataset.manifest().identity.clone(),
            Err(_) => path.display().to_string(),
        };
        let inputs = std::iter::once(&self.corpus).chain(&self.pretrain).chain(&self.exclude);
        let inputs: Vec<String> = inputs.chain(&self.from).map(identity).collect();
        let mut settings = serde_json::json!({
            "inputs": inputs, "pretrain": self.pretrain.len(), "task": format!("{:?}", self.task),
            "lora": self.lora, "epochs": self.epochs, "model": self.model.name(), "recipe": recipe,
            "seed": self.seed,
        });
        if let Some(alpha) = self.lora_alpha {
            settings["lora_alpha"] = alpha.into();
        }
        Ok(settings.to_string())
    }

    /// Write the training folder `work` from kernels.
    fn kernels(&self, work: &Path, global: &Global, bar: &Bar) -> anyhow::Result<CorpusReport> {
        let recipe = match &self.recipe {
            Some(path) => Recipe::read(self.model, path)?,
            None => Recipe::of(self.model),
        };
        let mut exclusion = Exclusion::default();
        for path in &self.exclude {
            exclusion.add_path(path)?;
        }
        let (mut kernels, mut functions) = (Corpus::default(), Corpus::default());
        corpus::read(&mut kernels, &self.corpus)?;
        for path in &self.pretrain {
            corpus::read(&mut functions, path)?;
        }
        let (mut entries, mut functions) = (kernels.entries, functions.entries);
        let before = entries.len() + functions.len();
        if !exclusion.is_empty() {
            for entries in [&mut entries, &mut functions] {
                retain(entries, &exclusion)?;
            }
        }
        let left_out = before - entries.len() - functions.len();
        if !exclusion.is_empty() {
            bar.message(&format!("{} programs excluded", output::count(left_out as u64)));
        }
        if functions.is_empty() && !self.pretrain.is_empty() {
            bail!("--pretrain: there is no accepted function in what was given");
        }
        if !self.prepare_only {
            lm::check_trainer(&self.device)?;
        }
        if self.model == Kind::Infill {
            let spaces = features::spaces(corpus::SPACES)?;
            let extractor = super::features::extractor(spaces, 1, global)?;
            corpus::describe(&mut entries, &extractor, bar)?;
        }
        dataset::begin_folder(&self.target.out)?;
        let prepared = lm::prepare(&entries, &functions, self.model, &recipe, self.seed, work);
        let report = lm::or_nothing(prepared, work)?;
        self.write_provenance(&exclusion, work)?;
        let shown = |paths: &[PathBuf]| -> Vec<String> {
            paths.iter().map(|path| path.display().to_string()).collect()
        };
        let (excluded_names, excluded_kernels) = exclusion.len();
        let origin = Origin {
            kernels: vec![self.corpus.display().to_string()],
            functions: shown(&self.pretrain),
            excluded: shown(&self.exclude),
            excluded_names,
            excluded_kernels,
            left_out,
        };
        lm::write_card(work, self.model, &report, &origin)?;
        Ok(report)
    }

    /// What the training set is made of, beside `training-set.safetensors`, which says what is in it.
    fn write_provenance(&self, exclusion: &Exclusion, work: &Path) -> anyhow::Result<()> {
        let input = |path: &PathBuf| -> anyhow::Result<serde_json::Value> {
            let identity = dataset::Programs::open(path)?.identity()?;
            Ok(serde_json::json!({ "name": path.display().to_string(), "identity": identity }))
        };
        let inputs = |paths: &mut dyn Iterator<Item = &PathBuf>| {
            paths.map(input).collect::<anyhow::Result<Vec<_>>>()
        };
        let files = self.exclude.iter().map(|path| path.display().to_string());
        let (names, kernels) = exclusion.len();
        let provenance = serde_json::json!({
            "stampmill": env!("CARGO_PKG_VERSION"),
            "kernels": inputs(&mut std::iter::once(&self.corpus))?,
            "functions": inputs(&mut self.pretrain.iter())?,
            "excluded": { "from": files.collect::<Vec<_>>(), "names": names, "kernels": kernels },
        });
        let path = work.join("provenance.json");
        let text = serde_json::to_string_pretty(&provenance)? + "\n";
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Leave out what is excluded.
fn retain(entries: &mut Vec<Entry>, exclusion: &Exclusion) -> anyhow::Result<()> {
    let programs: Vec<(&str, &str)> =
        entries.iter().map(|entry| (entry.name.as_str(), entry.text.as_str())).collect();
    let matches = exclusion.matches(&programs)?;
    let mut matches = matches.iter();
    entries.retain(|_| matches.next().is_some_and(Option::is_none));
    Ok(())
}

impl Prepared {
    fn print(&self, out: &Path) -> anyhow::Result<()> {
        let mut rows: Vec<(&str, u64)> = Vec::new();
        match self {
            Prepared::Kernels(report) => {
                rows.extend([
                    ("kernels to train on", report.training as u64),
                    ("to validate on", report.validation as u64),
                    ("too long", report.too_long as u64),
                    ("families", report.families as u64),
                    ("effective families", report.effective_families as u64),
                    ("packages", report.packages as u64),
                    ("training tokens", report.training_tokens),
                    ("distinct tokens", report.vocabulary as u64),
                ]);
                rows.extend(report.pretraining.iter().flat_map(|functions| {
                    let count = functions.functions as u64;
                    [("functions to pre-train on", count), ("their tokens", functions.tokens)]
                }));
            }
            Prepared::Edits(report) => {
                let left = report.verdicts.iter().filter(|(name, _)| *name != "accepted");
                rows.extend([
                    ("answers to train on", report.training as u64),
                    ("to validate on", report.validation as u64),
                    ("problems", report.problems as u64),
                ]);
                rows.extend(left.map(|(name, count)| (name.as_str(), *count as u64)));
                rows.extend([
                    ("training tokens", report.training_tokens),
                    ("of them answers", report.answer_tokens),
                    ("longest, in tokens", report.longest as u64),
                    ("most tokens", report.length as u64),
                    ("steps", report.steps),
                ]);
            }
        }
        let rows = rows.into_iter().map(|(name, n)| vec![name.to_owned(), output::count(n)]);
        output::print_table(&["corpus", "count"], rows)?;
        output::line(&format!("next: python3 -m stampmill.trainer train {}", out.display()))
    }
}

fn print(trained: &Trained, task: Task, out: &Path) -> anyhow::Result<()> {
    output::line(&format!(
        "{} steps, {} tokens in {:.0} s on {} ({} tokens/s); loss {:.4}{}; stopped by {}",
        output::count(trained.steps),
        output::count(trained.tokens),
        trained.seconds,
        trained.device,
        output::count(trained.tokens_per_second as u64),
        trained.loss,
        trained.validation_loss.map(|l| format!(", validation {l:.4}")).unwrap_or_default(),
        trained.stopped,
    ))?;
    if let Some(fitted) = trained.fitted {
        let fitted = output::count(fitted);
        output::line(&format!(
            "memory held {fitted} tokens at a time; a step was taken in pieces"
        ))?;
    }
    let out = out.display();
    output::line(&match task {
        Task::Kernels => format!("next: stampmill sample {out} --n 10 --out samples"),
        Task::Edits => format!("next: stampmill serve {out}"),
    })
}
