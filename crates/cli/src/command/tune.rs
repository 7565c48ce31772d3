//! What `stampmill train --task edits` learns from: pairs, or lines of `stampmill edits export`.

use anyhow::{Context, bail};
use dataset::Dataset;
use edits::{ExportFormat, ExportMethod, Pairs, schema::OnBroken};
use lm::{Causal, Dialogue, Tuning, TuningReport};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// How a checkpoint is fine-tuned, as flags say it.
pub(super) struct Wish<'a> {
    pub(super) from: &'a Path,
    pub(super) lora: Option<u32>,
    pub(super) epochs: f64,
    pub(super) recipe: Option<&'a PathBuf>,
    pub(super) seed: u64,
}

/// Write the training folder of `out` from the edits in `corpus`.
pub(super) fn prepare(corpus: &Path, wish: &Wish<'_>, out: &Path) -> anyhow::Result<TuningReport> {
    if !(wish.epochs > 0.0 && wish.epochs.is_finite()) {
        bail!("--epochs {}: answers must be seen some time", wish.epochs);
    }
    let dialogues = dialogues(corpus)?;
    let base = Causal::load(wish.from)?;
    let recipe = wish.recipe.map(PathBuf::as_path);
    let mut tuning = Tuning::read(&base, wish.lora, recipe)?;
    tuning.epochs = wish.epochs;
    let work = dataset::begin_folder(out)?;
    super::train::or_nothing(lm::prepare_edits(&dialogues, &base, &tuning, wish.seed, &work), &work)
}

fn dialogues(corpus: &Path) -> anyhow::Result<Vec<Dialogue>> {
    if Dataset::is_at(corpus) {
        return of_pairs(corpus);
    }
    let text =
        fs::read_to_string(corpus).with_context(|| format!("cannot read {}", corpus.display()))?;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("{}, line {number}", corpus.display());
        let line: Value = serde_json::from_str(line).with_context(place)?;
        if lines.is_empty() && !line["src_code"].is_null() {
            return of_pairs(corpus);
        }
        lines.push(Dialogue::of(&line).map_err(anyhow::Error::msg).with_context(place)?);
    }
    if lines.is_empty() {
        bail!(
            "{} is empty; `stampmill edits export PAIRS --format hf --out FILE` writes what to learn from",
            corpus.display()
        );
    }
    Ok(lines)
}

/// Accepted pairs, put into words as the export does.
fn of_pairs(corpus: &Path) -> anyhow::Result<Vec<Dialogue>> {
    let mut pairs = Pairs::read(corpus, OnBroken::Stop)?.pairs;
    pairs.retain(|pair| pair.verdict == dataset::Verdict::ACCEPTED);
    let lines = edits::export(&pairs, ExportFormat::OpenAi, ExportMethod::Plain)?;
    pairs
        .into_iter()
        .zip(lines)
        .map(|(pair, line)| {
            let mut dialogue = Dialogue::of(&Value::Object(line)).map_err(anyhow::Error::msg)?;
            dialogue.problem = pair.problem_id;
            dialogue.split = pair.split;
            Ok(dialogue)
        })
        .collect()
}
