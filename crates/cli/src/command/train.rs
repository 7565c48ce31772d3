//! `stampmill train`: a language model of kernels, or one fine-tuned on edits.

use super::tune;
use crate::{Global, interrupt, output, progress::Bar, target::Target};
use anyhow::{Context, bail};
use dataset::{Builder, Code, Dataset, Language, Notes, Program, Programs, Progress};
use lm::{CorpusReport, Entry, Kind, Metric, Recipe, Trained, TuningReport};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};
use synth::Exclusion;

/// Train a language model on kernels, or fine-tune one on edits
#[derive(clap::Args, Debug)]
#[command(after_help = "Models:\n  \
    lstm    CLgen's: LSTM layers over characters (CGO'17)\n  \
    hole    BenchPress's: a bidirectional encoder that fills one hole (PACT'22)\n  \
    infill  a causal transformer that fills holes, under feature and argument conditions\n\n\
Examples:\n  \
    stampmill train kernels --model infill --out model\n  \
    stampmill train kernels --model lstm --recipe small.toml --device cpu --out clgen\n  \
    stampmill train kernels --model infill --prepare-only --out folder    then, on a GPU machine:\n  \
    stampmill-torch train folder\n  \
    stampmill train kernels --pretrain functions --model infill --out model\n  \
    stampmill train --task edits pairs --from codellama --lora 16 --out tuned\n  \
    stampmill train --task edits export.jsonl --from models/infill --epochs 10 --out tuned\n\n\
Edits: pairs, or lines of `edits export` (openai or hf); --from is a checkpoint of kind infill or of the\n\
Llama family. The loss is on the answers alone; problems stay on one side of the split, those of the split\n\
`test` are left out. Answers that the tokenizer does not give back, or that are too long, are counted and\n\
left out. `stampmill serve` serves what comes out; adapters lie beside it in adapter/, as `peft` reads them.\n\n\
A recipe holds tables [model] (layers, width, inner, heads, kv_heads) and [training] (length,\n\
batch_tokens, budget_tokens, learning_rate, ...); what it leaves out is as in the paper.\n\
With --pretrain the first part of the budget (pretrain_share, half) draws functions (function_share of the\n\
draws, 0.8) and kernels, the rest kernels alone; validation is of kernels.\n\
Training needs the engine `stampmill-torch` (`make torch`). A stopped run goes on with --resume.")]
pub(crate) struct Train {
    /// A data set of kernels as `prepare` makes it, or a folder of programs; edits: pairs or exported lines
    corpus: PathBuf,
    /// Functions to pre-train on: a data set that `prepare` makes of C programs; may be given several times
    #[arg(long, value_name = "FUNCTIONS")]
    pretrain: Vec<PathBuf>,
    /// Keep out near-duplicates of the programs here, and kernels named like a target here; may be given several times
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
    /// Edits: times that each answer is seen, unless the recipe has a budget_tokens
    #[arg(long, value_name = "N", default_value_t = 3.0)]
    epochs: f64,
    /// lstm, hole or infill
    #[arg(long, value_name = "MODEL", default_value = "infill", value_parser = kind)]
    model: Kind,
    #[command(flatten)]
    target: Target,
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
    /// Only write the training folder, for `stampmill-torch train` somewhere else
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

pub(crate) fn kind(text: &str) -> Result<Kind, String> {
    Kind::ALL
        .into_iter()
        .find(|kind| kind.name() == text)
        .ok_or_else(|| "there are lstm, hole and infill".to_owned())
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
        let work = dataset::partial_folder(out)?;
        let resumes = self.target.resume && work.join("corpus.json").is_file();
        let report = match (resumes, &self.from) {
            (true, _) => None,
            (false, Some(from)) if self.task == Task::Edits => {
                if !self.prepare_only {
                    lm::check_engine(&self.device)?;
                }
                let (recipe, seed) = (self.recipe.as_ref(), self.seed);
                let wish = tune::Wish { from, lora: self.lora, epochs: self.epochs, recipe, seed };
                Some(Prepared::Edits(tune::prepare(&self.corpus, &wish, out)?))
            }
            _ => Some(Prepared::Kernels(self.kernels(&work, global, &bar)?)),
        };
        if self.prepare_only {
            drop(bar);
            place(&work, out)?;
            if let Some(report) = &report {
                match global.json {
                    true => output::json(report)?,
                    false => report.print(out)?,
                }
            }
            return Ok(ExitCode::SUCCESS);
        }
        let mut arguments = vec!["--device".to_owned(), self.device.clone()];
        if let Some(limit) = self.limit {
            arguments.extend(["--seconds".to_owned(), limit.as_secs().to_string()]);
        }
        if resumes {
            arguments.push("--resume".to_owned());
        }
        let trained = lm::train(&work, &arguments, planned(&work), &bar, &cancelled)?;
        drop(bar);
        finish(&work)?;
        place(&work, out)?;
        match global.json {
            true => output::json(&trained)?,
            false => print(&trained, self.task, out)?,
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Write the training folder `work` from kernels.
    fn kernels(&self, work: &Path, global: &Global, bar: &Bar) -> anyhow::Result<CorpusReport> {
        let recipe = match &self.recipe {
            Some(path) => Recipe::read(self.model, path)?,
            None => Recipe::of(self.model),
        };
        let exclusion = exclusion(&self.exclude)?;
        let mut kept_out = 0;
        let mut entries = entries(&self.corpus, exclusion.as_ref(), &mut kept_out)?;
        let mut functions = Vec::new();
        for path in &self.pretrain {
            functions.extend(self::entries(path, exclusion.as_ref(), &mut kept_out)?);
        }
        if !self.exclude.is_empty() {
            bar.message(&format!("{} programs kept out", output::count(kept_out)));
        }
        if functions.is_empty() && !self.pretrain.is_empty() {
            bail!("--pretrain: there is no accepted function in what was given");
        }
        if !self.prepare_only {
            lm::check_engine(&self.device)?;
        }
        if self.model == Kind::Infill {
            describe(&mut entries, global, bar)?;
        }
        dataset::begin_folder(&self.target.out)?;
        let prepared = lm::prepare(&entries, &functions, self.model, &recipe, self.seed, work);
        or_nothing(prepared, work)
    }
}

/// Steps that a training folder says; 0 where it says none.
fn planned(work: &Path) -> u64 {
    let text = fs::read_to_string(work.join("training.json")).unwrap_or_default();
    let settings: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let number = |key: &str| settings[key].as_u64().unwrap_or(0);
    number("budget_tokens") / number("batch_tokens").max(1)
}

/// A training folder that could not be written is none: nothing of it is left.
pub(super) fn or_nothing<T>(prepared: lm::Result<T>, work: &Path) -> anyhow::Result<T> {
    if prepared.is_err() {
        // The reason why it could not be written is what matters.
        let _ = dataset::abandon_folder(work);
    }
    Ok(prepared?)
}

/// Put a checkpoint in its place, or in that of another.
fn place(work: &Path, out: &Path) -> anyhow::Result<()> {
    if out.exists() && !out.join("config.json").is_file() {
        bail!("{} holds no checkpoint, so --force does not replace it", out.display());
    }
    Ok(dataset::place_folder(work, out, &is_of_checkpoint)?)
}

/// Whether a checkpoint may have a file of this name.
fn is_of_checkpoint(name: &Path) -> bool {
    let known = ["metrics", "base", "curve.svg", "merges.txt", "vocab.txt", "metrics.jsonl"];
    let endings = ["json", "safetensors", "model", "jinja"];
    known.iter().any(|known| name == Path::new(known))
        || name.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known))
}

/// What must not be learned from: the leak rule of the search. `None` where nothing is named.
fn exclusion(paths: &[PathBuf]) -> anyhow::Result<Option<Exclusion>> {
    if paths.is_empty() {
        return Ok(None);
    }
    let mut exclusion = Exclusion::default();
    for path in paths {
        exclusion.add_path(path)?;
    }
    Ok(Some(exclusion))
}

/// The kernels or functions to learn from; `kept_out` counts those that the exclusion holds.
fn entries(
    corpus: &Path,
    exclusion: Option<&Exclusion>,
    kept_out: &mut u64,
) -> anyhow::Result<Vec<Entry>> {
    let mut is_free = |name: &str, text: &str| {
        let held = exclusion.is_some_and(|exclusion| exclusion.holds(name, text));
        *kept_out += u64::from(held);
        !held
    };
    let mut entries = Vec::new();
    let is_kernels = Dataset::is_at(corpus)
        && Dataset::open(corpus)?.manifest().schema == <rows::KernelText as dataset::Row>::SCHEMA;
    if is_kernels {
        for row in Dataset::open(corpus)?.rows::<rows::KernelText>()? {
            let row = row?;
            if row.verdict == dataset::Verdict::ACCEPTED && is_free(&row.original_name, &row.text) {
                entries.push(Entry {
                    text: row.text,
                    package: row.package,
                    licence: row.licence,
                    features: BTreeMap::new(),
                });
            }
        }
    } else {
        for program in Programs::open(corpus)?.iter()? {
            let program = program?;
            if let Code::Text(text) = program.code
                && is_free(&program.name, &text)
            {
                entries.push(Entry { text, ..Entry::default() });
            }
        }
    }
    Ok(entries)
}

/// Fill in the features that conditions are made of.
fn describe(entries: &mut [Entry], global: &Global, bar: &dyn Progress) -> anyhow::Result<()> {
    const CHUNK: usize = 256;
    let spaces = features::spaces("grewe,instcount")?;
    let extractor = super::features::extractor(spaces.clone(), 1, global)?;
    bar.begin("describing", entries.len() as u64);
    for chunk in entries.chunks_mut(CHUNK) {
        let programs: Vec<Program> = chunk
            .iter()
            .map(|entry| Program {
                language: Language::OpenCl,
                code: Code::Text(entry.text.clone()),
                ..Program::default()
            })
            .collect();
        let rows = extractor.describe_many(&programs)?;
        for (entry, rows) in chunk.iter_mut().zip(rows) {
            // The last kernel is the one that the program is about.
            let Some(row) = rows.iter().rfind(|row| row.is_accepted()) else { continue };
            for space in &spaces {
                let Some(vector) = row.vectors.get(space.name()) else { continue };
                for (name, value) in space.dimensions().iter().zip(vector) {
                    if let Some(feature) = lm::condition::feature(name) {
                        entry.features.insert(feature.to_owned(), *value);
                    }
                }
            }
        }
        bar.advance(chunk.len() as u64);
    }
    Ok(())
}

/// What a training folder becomes a checkpoint by: metrics as a table and as a picture, and nothing
/// that only training needs.
fn finish(work: &Path) -> anyhow::Result<()> {
    let metrics = lm::metrics(work)?;
    let table = work.join("metrics");
    let notes = Notes::default();
    let builder = Builder::<Metric>::create(&table, true, &"metrics")?;
    fs::write(work.join("curve.svg"), curve(&metrics)).context("cannot write curve.svg")?;
    builder.finish(metrics, notes)?;
    for file in ["metrics.jsonl", "corpus.safetensors", "state.safetensors"] {
        let path = work.join(file);
        if path.exists() {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    let base = work.join("base");
    if base.is_dir() {
        fs::remove_dir_all(&base).with_context(|| format!("cannot remove {}", base.display()))?;
    }
    if !work.join("model.safetensors").is_file() {
        bail!("the training engine wrote no model.safetensors in {}", work.display());
    }
    Ok(())
}

/// The curve of losses over tokens as a picture.
fn curve(metrics: &[Metric]) -> String {
    use std::fmt::Write;
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 360.0;
    const MARGIN: f64 = 48.0;
    let last = metrics.last().map_or(1.0, |metric| metric.tokens as f64).max(1.0);
    let top = metrics.iter().map(|metric| metric.loss).fold(0.1, f64::max);
    let place = |tokens: u64, loss: f64| {
        let x = MARGIN + tokens as f64 / last * (WIDTH - 2.0 * MARGIN);
        let y = HEIGHT - MARGIN - loss / top * (HEIGHT - 2.0 * MARGIN);
        format!("{x:.1},{y:.1} ")
    };
    let line = |points: String, colour: &str| {
        format!("<polyline fill=\"none\" stroke=\"{colour}\" points=\"{}\"/>\n", points.trim_end())
    };
    let training: String = metrics.iter().map(|m| place(m.tokens, m.loss)).collect();
    let validation: String = metrics
        .iter()
        .filter_map(|m| m.validation_loss.map(|loss| place(m.tokens, loss)))
        .collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" \
         fill=\"white\"/>\n"
    );
    svg += &line(training, "#8899aa");
    svg += &line(validation, "#cc3311");
    let (bottom, right) = (HEIGHT - MARGIN, WIDTH - MARGIN);
    // Writing to a string does not fail.
    let _ = write!(
        svg,
        "<path d=\"M{MARGIN} {MARGIN}V{bottom}H{right}\" fill=\"none\" stroke=\"black\"/>\n\
         <text x=\"{MARGIN}\" y=\"{:.0}\">loss of training (grey) and validation (red) in nats; top {top:.2}</text>\n\
         <text x=\"{right}\" y=\"{:.0}\" text-anchor=\"end\">{:.1} million tokens</text>\n</svg>\n",
        MARGIN - 12.0,
        HEIGHT - MARGIN + 20.0,
        last / 1e6,
    );
    svg
}

impl Prepared {
    fn print(&self, out: &Path) -> anyhow::Result<()> {
        let row = |name: &str, number: u64| vec![name.to_owned(), output::count(number)];
        let rows: Vec<Vec<String>> = match self {
            Prepared::Kernels(report) => [
                row("kernels to train on", report.training as u64),
                row("to validate on", report.validation as u64),
                row("too long", report.too_long as u64),
                row("families", report.families as u64),
                row("effective families", report.effective_families as u64),
                row("packages", report.packages as u64),
                row("training tokens", report.training_tokens),
                row("vocabulary", report.vocabulary as u64),
            ]
            .into_iter()
            .chain(report.pretraining.iter().flat_map(|functions| {
                [
                    row("functions to pre-train on", functions.functions as u64),
                    row("their tokens", functions.tokens),
                ]
            }))
            .collect(),
            Prepared::Edits(report) => {
                let left = report.verdicts.iter().filter(|(name, _)| *name != "accepted");
                let first = [
                    row("answers to train on", report.training as u64),
                    row("to validate on", report.validation as u64),
                    row("problems", report.problems as u64),
                ];
                let last = [
                    row("training tokens", report.training_tokens),
                    row("of them answers", report.answer_tokens),
                    row("longest, in tokens", report.longest as u64),
                    row("most tokens", report.length as u64),
                    row("steps", report.steps),
                ];
                let left = left.map(|(name, count)| row(name, *count as u64));
                first.into_iter().chain(left).chain(last).collect()
            }
        };
        output::line(&output::table(&["corpus", "count"], rows).to_string())?;
        output::line(&format!("next: stampmill-torch train {}", out.display()))
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
