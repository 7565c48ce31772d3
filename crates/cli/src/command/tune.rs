//! What `stampmill train --task edits` learns from: pairs, or lines of `stampmill edits export`.

use anyhow::bail;
use dataset::Dataset;
use edits::{ExportFormat, ExportMethod, Pairs, schema::OnBroken};
use lm::{Causal, Dialogue, Tuning, TuningReport};
use serde_json::Value;
use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

/// How a checkpoint is fine-tuned, as flags say it.
pub(super) struct Flags<'a> {
    pub(super) from: &'a Path,
    pub(super) lora: Option<u32>,
    pub(super) lora_alpha: Option<f64>,
    pub(super) epochs: f64,
    pub(super) recipe: Option<&'a PathBuf>,
    pub(super) seed: u64,
}

/// Write the training folder of `out` from the edits in `corpus`.
pub(super) fn prepare(
    corpus: &Path,
    flags: &Flags<'_>,
    out: &Path,
) -> anyhow::Result<TuningReport> {
    if !(flags.epochs > 0.0 && flags.epochs.is_finite()) {
        bail!("--epochs {}: answers must be seen some time", flags.epochs);
    }
    let dialogues = if holds_pairs(corpus) { of_pairs(corpus)? } else { Dialogue::read(corpus)? };
    let base = Causal::load(flags.from)?;
    let recipe = flags.recipe.map(PathBuf::as_path);
    let mut tuning = Tuning::read(&base, flags.lora, recipe)?;
    tuning.epochs = flags.epochs;
    tuning.lora_alpha = flags.lora_alpha;
    let work = dataset::begin_folder(out)?;
    let prepared = lm::prepare_edits(&dialogues, &base, &tuning, flags.seed, &work);
    Ok(lm::or_nothing(prepared, &work)?)
}

/// Whether it is a data set, or a file that begins with a pair.
fn holds_pairs(corpus: &Path) -> bool {
    let first = || {
        let lines = BufReader::new(File::open(corpus).ok()?).lines();
        let line = lines.map_while(Result::ok).find(|line| !line.trim().is_empty())?;
        serde_json::from_str::<Value>(&line).ok()
    };
    Dataset::is_at(corpus) || first().is_some_and(|line| !line["src_code"].is_null())
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
