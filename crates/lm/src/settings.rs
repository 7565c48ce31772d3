//! `training.json`: how the trainer trains in a folder.

use serde::{Deserialize, Serialize};

/// What kind of model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// CLgen's: an LSTM over characters (CGO'17).
    Lstm,
    /// BenchPress's: a bidirectional encoder that fills one hole (PACT'22).
    Hole,
    /// A causal transformer trained on fill-in-the-middle rearrangements, under conditions.
    Infill,
}

/// What is learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// Whole kernels.
    #[default]
    Kernels,
    /// Answers to questions: nothing is learned from the question.
    Edits,
}

/// Adapters of low rank in the place of training all weights (Hu et al. 2022).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lora {
    /// Their rank.
    pub rank: u32,
    /// What they add is multiplied by `alpha / rank`.
    pub alpha: f64,
}

/// How the learning rate goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
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
pub enum Method {
    /// AdamW; Adam where `weight_decay` is 0.
    Adam,
    /// Stochastic gradient descent with momentum 0.9.
    Sgd,
}

/// How to train.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Longest sequence in tokens.
    pub length: usize,
    /// Tokens of one step.
    pub batch_tokens: usize,
    /// Tokens of the whole run.
    pub budget_tokens: u64,
    /// How weights are updated.
    pub method: Method,
    /// Its rate at the most.
    pub learning_rate: f64,
    /// Steps until it is reached.
    pub warmup_steps: u64,
    /// How it falls afterwards.
    pub schedule: Schedule,
    /// Share of the weights taken off each step, times the rate.
    pub weight_decay: f64,
    /// Largest norm of a gradient.
    pub clip: f64,
    /// Probability that an activation is dropped.
    pub dropout: f64,
    /// Steps between looks at the validation split.
    pub validate_every: u64,
    /// Looks without a better loss before training stops; 0 for never.
    pub patience: u64,
    /// Share of instances rearranged for filling in.
    pub infill_share: f64,
    /// Share of instances without conditions, and probability of each condition to be left out.
    pub condition_dropout: f64,
    /// Share of instances without an argument specification.
    pub arguments_dropout: f64,
    /// Most of the training draws that may come from one package.
    pub package_share: f64,
    /// Share of the families kept for validation.
    pub validation_share: f64,
    /// Longer kernels than this many times `length` are left out.
    pub longest: f64,
    /// Share of the budget, from its beginning, in which functions are drawn, where there are any.
    #[serde(default)]
    pub pretrain_share: f64,
    /// Share of the draws in that part that are functions.
    #[serde(default)]
    pub function_share: f64,
}

/// Ids of the special tokens; 0 where a tokenizer has none that is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpecialIds {
    /// Begins every sequence.
    pub start: u32,
    /// Ends every sequence.
    pub end: u32,
    /// Fills rectangles.
    pub pad: u32,
    /// Before what precedes a hole.
    pub prefix: u32,
    /// Before what follows a hole.
    pub suffix: u32,
    /// Before what fills a hole.
    pub middle: u32,
    /// Before an argument specification.
    pub arguments: u32,
    /// Behind an argument specification.
    pub arguments_end: u32,
    /// A hole.
    pub hole: u32,
    /// Nothing more to fill in.
    pub hole_end: u32,
}

/// The file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How to train.
    #[serde(flatten)]
    pub training: Training,
    /// What kind of model.
    pub kind: Kind,
    /// What is learned.
    #[serde(default)]
    pub task: Task,
    /// Ids of the special tokens.
    #[serde(default)]
    pub special: SpecialIds,
    /// The random seed.
    pub seed: u64,
    /// Adapters to train; all weights where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lora: Option<Lora>,
}

impl Settings {
    /// Steps of the whole run.
    #[must_use]
    pub fn steps(&self) -> u64 {
        (self.training.budget_tokens / self.training.batch_tokens.max(1) as u64).max(1)
    }
}
