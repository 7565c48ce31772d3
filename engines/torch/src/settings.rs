//! `training.json`: how to train, written by `stampmill train`.

use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What kind of model a folder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// CLgen's: LSTM over characters.
    Lstm,
    /// BenchPress's: a bidirectional encoder that fills one hole.
    Hole,
    /// A causal transformer trained on fill-in-the-middle rearrangements.
    Infill,
}

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
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Lora {
    /// Their rank.
    pub(crate) rank: i64,
    /// What they add is multiplied by `alpha / rank`.
    pub(crate) alpha: f64,
}

/// How the learning rate goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Schedule {
    /// Half a cosine down to a tenth.
    Cosine,
    /// A line down to zero (BenchPress).
    Linear,
    /// Halved ten times over the run (CLgen: every 5 of 50 epochs).
    Halving,
}

/// How weights are updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
    /// AdamW; Adam where `weight_decay` is 0.
    Adam,
    /// Stochastic gradient descent with momentum 0.9.
    Sgd,
}

/// Ids of the special tokens; those that a kind has no use for are absent.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Special {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) pad: u32,
    pub(crate) prefix: u32,
    pub(crate) suffix: u32,
    pub(crate) middle: u32,
    pub(crate) arguments: u32,
    pub(crate) arguments_end: u32,
    pub(crate) hole: u32,
    pub(crate) hole_end: u32,
}

/// `training.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) kind: Kind,
    #[serde(default)]
    pub(crate) task: Task,
    #[serde(default)]
    pub(crate) lora: Option<Lora>,
    #[serde(default)]
    pub(crate) special: Special,
    /// Longest instance in tokens.
    pub(crate) length: usize,
    /// Tokens of one step.
    pub(crate) batch_tokens: usize,
    /// Tokens of the whole run: all kinds can be given the same.
    pub(crate) budget_tokens: u64,
    pub(crate) method: Method,
    pub(crate) learning_rate: f64,
    pub(crate) warmup_steps: u64,
    pub(crate) schedule: Schedule,
    pub(crate) weight_decay: f64,
    /// Largest norm of a step's gradient.
    pub(crate) clip: f64,
    pub(crate) dropout: f64,
    pub(crate) seed: u64,
    /// Steps between looks at the validation split.
    pub(crate) validate_every: u64,
    /// Looks without a better loss before training stops; 0 for never.
    pub(crate) patience: u64,
    /// Share of instances that are rearranged for filling in.
    pub(crate) infill_share: f64,
    /// Share of instances without any condition; of the others each condition is left out with the
    /// same chance.
    pub(crate) condition_dropout: f64,
    /// Share of instances without an argument specification.
    pub(crate) arguments_dropout: f64,
    /// Share of the budget, from its beginning, in which functions are drawn.
    #[serde(default)]
    pub(crate) pretrain_share: f64,
    /// Share of the draws in that part that are functions.
    #[serde(default)]
    pub(crate) function_share: f64,
}

impl Settings {
    pub(crate) fn read(folder: &Path) -> anyhow::Result<Settings> {
        let path = folder.join("training.json");
        let text = std::fs::read_to_string(&path).with_context(|| {
            format!(
                "cannot read {}: is this a folder of `stampmill train --prepare-only`?",
                path.display()
            )
        })?;
        serde_json::from_str(&text).with_context(|| format!("{} is broken", path.display()))
    }

    /// Steps of the whole run.
    pub(crate) fn steps(&self) -> u64 {
        (self.budget_tokens / self.batch_tokens.max(1) as u64).max(1)
    }

    /// The chance that what is drawn in a step is a function to pre-train on.
    pub(crate) fn chance_of_function(&self, step: u64) -> f64 {
        let pretrains = (step as f64) < self.pretrain_share * self.steps() as f64;
        if pretrains { self.function_share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The learning rate of a step.
    pub(crate) fn rate(&self, step: u64) -> f64 {
        let (step, steps) = (step as f64, self.steps() as f64);
        let warm = (self.warmup_steps as f64).min(steps / 2.0);
        if step < warm {
            return self.learning_rate * (step + 1.0) / warm;
        }
        let gone = (step - warm) / (steps - warm).max(1.0);
        let factor = match self.schedule {
            Schedule::Cosine => 0.1 + 0.45 * (1.0 + (std::f64::consts::PI * gone).cos()),
            Schedule::Linear => 1.0 - gone,
            Schedule::Halving => 0.5_f64.powf((gone * 10.0).floor()),
        };
        self.learning_rate * factor
    }
}
