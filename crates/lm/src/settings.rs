//! `training.json`: how a training folder is trained, as the engine reads it.

use crate::{Error, Kind, Result, Training, checkpoint::put, tokenizer::Special};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What is learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Task {
    /// Whole kernels.
    #[default]
    Kernels,
    /// Answers to questions: nothing is learned from the question.
    Edits,
}

/// Adapters of low rank in the place of training all weights (Hu et al. 2022).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Lora {
    pub(crate) rank: u32,
    /// What they add is multiplied by `alpha / rank`.
    pub(crate) alpha: f64,
}

/// Ids of special tokens.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Ids {
    /// Of our own tokenizers.
    All(Special),
    /// Of another's: all that its texts need is what fills up a batch.
    Padding { pad: u64 },
}

/// The file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Settings {
    #[serde(flatten)]
    pub(crate) training: Training,
    pub(crate) kind: Kind,
    #[serde(default)]
    pub(crate) task: Task,
    pub(crate) special: Ids,
    pub(crate) seed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lora: Option<Lora>,
}

impl Settings {
    /// Steps of the whole run.
    pub(crate) fn steps(&self) -> u64 {
        let Training { budget_tokens, batch_tokens, .. } = self.training;
        (budget_tokens / batch_tokens.max(1) as u64).max(1)
    }

    /// Write them in a training folder.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        write_json(&folder.join("training.json"), self)
    }
}

/// Write a file of JSON for people to read too.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::file("write", path)(std::io::Error::other(error)))?;
    put(path, (text + "\n").as_bytes())
}
