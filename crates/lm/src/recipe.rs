//! Kinds of models and how each is built and trained: the papers' settings, changed by a file.

use crate::{
    Error, Kind, Result,
    settings::{Method, Schedule, Training},
};
use serde::{Deserialize, Serialize};
use std::{io::Read, path::Path};

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] = [Kind::Lstm, Kind::Hole, Kind::Infill];

    /// Its word in flags and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Lstm => "lstm",
            Kind::Hole => "hole",
            Kind::Infill => "infill",
        }
    }
}

/// Sizes of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// Layers.
    pub layers: usize,
    /// Width of the activations.
    pub width: usize,
    /// Width inside of the feed-forward layers (transformers).
    pub inner: usize,
    /// Heads (transformers).
    pub heads: usize,
    /// Key and value heads (`infill`).
    pub kv_heads: usize,
}

impl Training {
    /// The most tokens that a kernel may have.
    pub(crate) fn longest_tokens(&self) -> usize {
        (self.length as f64 * self.longest) as usize
    }
}

/// A kind of model with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Sizes of the model.
    pub model: Sizes,
    /// How to train it.
    pub training: Training,
}

/// No layer is wider, no model deeper and no sequence longer.
const LARGEST: usize = 1 << 20;
/// A file of settings is not longer.
const FILE_BYTES: u64 = 1 << 20;

/// The text of a file of settings.
///
/// # Errors
/// When it cannot be read, or is longer than any such file.
pub fn settings(path: &Path) -> Result<String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(Error::file("read", path))?;
    let length = file.take(FILE_BYTES + 1).read_to_string(&mut text);
    if length.map_err(Error::file("read", path))? as u64 > FILE_BYTES {
        let why = format!("more than {} KiB are no settings", FILE_BYTES >> 10);
        return Err(Error::Recipe { path: path.to_owned(), why });
    }
    Ok(text)
}

/// Tokens that every kind is given unless a file says otherwise.
const BUDGET: u64 = 200_000_000;

impl Recipe {
    /// The settings of a kind: the paper's for `lstm` and `hole`.
    #[must_use]
    pub fn of(kind: Kind) -> Recipe {
        let training = Training {
            length: 768,
            batch_tokens: 49_152,
            budget_tokens: BUDGET,
            method: Method::Adam,
            learning_rate: 1e-3,
            warmup_steps: 200,
            schedule: Schedule::Cosine,
            weight_decay: 0.1,
            clip: 1.0,
            dropout: 0.1,
            validate_every: 100,
            patience: 0,
            infill_share: 0.5,
            condition_dropout: 0.3,
            arguments_dropout: 0.5,
            package_share: 0.2,
            validation_share: 0.05,
            longest: 2.0,
            pretrain_share: 0.5,
            function_share: 0.8,
        };
        match kind {
            Kind::Lstm => Recipe {
                model: Sizes { layers: 3, width: 2048, inner: 0, heads: 0, kv_heads: 0 },
                training: Training {
                    learning_rate: 2e-3,
                    warmup_steps: 0,
                    schedule: Schedule::Halving,
                    weight_decay: 0.0,
                    dropout: 0.0,
                    clip: 5.0,
                    ..training
                },
            },
            Kind::Hole => Recipe {
                model: Sizes { layers: 2, width: 768, inner: 3072, heads: 12, kv_heads: 12 },
                training: Training {
                    learning_rate: 45e-6,
                    schedule: Schedule::Linear,
                    weight_decay: 0.0,
                    longest: 1.0,
                    ..training
                },
            },
            Kind::Infill => Recipe {
                model: Sizes { layers: 6, width: 384, inner: 1024, heads: 6, kv_heads: 2 },
                training: Training { length: 1024, ..training },
            },
        }
    }

    /// The settings of a kind with those of a TOML file in their place.
    ///
    /// # Errors
    /// When the file cannot be read, or names a setting that there is not.
    pub fn read(kind: Kind, path: &Path) -> Result<Recipe> {
        let text = settings(path)?;
        Recipe::parse(kind, &text).map_err(|why| Error::Recipe { path: path.to_owned(), why })
    }

    pub(crate) fn parse(kind: Kind, text: &str) -> std::result::Result<Recipe, String> {
        let given: toml::Table =
            text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let whole = toml::Table::try_from(Recipe::of(kind)).map_err(|error| error.to_string())?;
        let mut whole = toml::Value::Table(whole);
        merge(&mut whole, toml::Value::Table(given));
        let recipe: Recipe = whole.try_into().map_err(|error| error.to_string())?;
        match recipe.problem(kind) {
            Some(problem) => Err(problem),
            None => Ok(recipe),
        }
    }

    fn problem(&self, kind: Kind) -> Option<String> {
        let (model, training) = (&self.model, &self.training);
        let heads = kind != Kind::Lstm
            && (model.heads == 0
                || model.kv_heads == 0
                || !model.width.is_multiple_of(model.heads)
                || !model.heads.is_multiple_of(model.kv_heads));
        if heads {
            return Some(format!("{} heads do not divide a width of {}", model.heads, model.width));
        }
        let shares = [
            ("pretrain_share", training.pretrain_share),
            ("function_share", training.function_share),
            ("validation_share", training.validation_share),
            ("package_share", training.package_share),
            ("infill_share", training.infill_share),
            ("condition_dropout", training.condition_dropout),
            ("arguments_dropout", training.arguments_dropout),
            ("dropout", training.dropout),
        ];
        if let Some((name, share)) = shares.iter().find(|(_, share)| !(0.0..=1.0).contains(share)) {
            return Some(format!("{name} is a share of 0 to 1, not {share}"));
        }
        let amounts = [
            ("learning_rate", training.learning_rate, 0.0..=1e3),
            ("weight_decay", training.weight_decay, 0.0..=1e3),
            ("clip", training.clip, 0.0..=1e9),
            ("longest", training.longest, 0.01..=1e3),
        ];
        if let Some((name, amount, range)) =
            amounts.iter().find(|(_, amount, range)| !range.contains(amount))
        {
            let (from, to) = (range.start(), range.end());
            return Some(format!("{name} is a number of {from} to {to}, not {amount}"));
        }
        let sizes = [model.layers, model.width, model.inner, model.heads, model.kv_heads];
        if let Some(size) = sizes.iter().chain([&training.length]).find(|size| **size > LARGEST) {
            return Some(format!("a size of {size}: none is above {LARGEST}"));
        }
        if training.length < 16 || training.batch_tokens < training.length {
            return Some("a batch must hold at least one sequence of `length` tokens".to_owned());
        }
        None
    }

    /// `config.json` of a model with this tokenizer.
    #[must_use]
    pub(crate) fn config(
        &self,
        kind: Kind,
        tokenizer: &dyn crate::tokenizer::Tokenizer,
    ) -> serde_json::Value {
        let (model, training) = (&self.model, &self.training);
        let special = crate::tokenizer::Special::ALL;
        let vocabulary = tokenizer.vocabulary().len();
        let own = serde_json::json!({
            "kind": kind.name(), "tokenizer": tokenizer.name(), "special": special,
            "vocabulary": tokenizer.vocabulary().identity(), "length": training.length,
        });
        let ids = [special.start, special.end, special.pad];
        match kind {
            Kind::Infill => serde_json::json!({
                "architectures": ["LlamaForCausalLM"], "model_type": "llama",
                "vocab_size": vocabulary, "hidden_size": model.width,
                "intermediate_size": model.inner, "num_hidden_layers": model.layers,
                "num_attention_heads": model.heads, "num_key_value_heads": model.kv_heads,
                "head_dim": model.width / model.heads.max(1), "hidden_act": "silu",
                "max_position_embeddings": training.length, "rms_norm_eps": 1e-6,
                "rope_theta": 10000.0, "tie_word_embeddings": false, "attention_bias": false,
                "mlp_bias": false, "torch_dtype": "bfloat16", "bos_token_id": ids[0],
                "eos_token_id": ids[1], "pad_token_id": ids[2], "stampmill": own,
            }),
            Kind::Hole => serde_json::json!({
                "model_type": "bert", "vocab_size": vocabulary, "hidden_size": model.width,
                "intermediate_size": model.inner, "num_hidden_layers": model.layers,
                "num_attention_heads": model.heads, "max_position_embeddings": training.length,
                "layer_norm_eps": 1e-12, "hidden_act": "gelu", "pad_token_id": ids[2],
                "stampmill": own,
            }),
            Kind::Lstm => serde_json::json!({
                "model_type": "stampmill-lstm", "vocab_size": vocabulary,
                "hidden_size": model.width, "num_hidden_layers": model.layers, "stampmill": own,
            }),
        }
    }
}

pub(crate) fn merge(whole: &mut toml::Value, given: toml::Value) {
    match (whole, given) {
        (toml::Value::Table(whole), toml::Value::Table(given)) => {
            for (name, value) in given {
                match whole.get_mut(&name) {
                    Some(place) => merge(place, value),
                    None => {
                        whole.insert(name, value);
                    }
                }
            }
        }
        (toml::Value::Float(place), toml::Value::Integer(value)) => *place = value as f64,
        (place, value) => *place = value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_changes_what_it_names_and_nothing_else() {
        let text = "[model]\nlayers = 2\n[training]\nlearning_rate = 1\n";
        let recipe = Recipe::parse(Kind::Infill, text).expect("known settings");
        let mut wanted = Recipe::of(Kind::Infill);
        wanted.model.layers = 2;
        wanted.training.learning_rate = 1.0;
        assert_eq!(recipe, wanted);
    }

    #[test]
    fn a_share_is_no_more_than_the_whole() {
        let error = Recipe::parse(Kind::Hole, "[training]\npretrain_share = 1.5");
        assert!(error.expect_err("too much").contains("pretrain_share"));
    }

    #[test]
    fn settings_that_nothing_can_be_done_with_are_named() {
        for (text, name) in [
            ("[training]\nvalidation_share = nan", "validation_share"),
            ("[training]\nvalidation_share = -1", "validation_share"),
            ("[training]\ndropout = inf", "dropout"),
            ("[training]\nlearning_rate = nan", "learning_rate"),
            ("[training]\nlearning_rate = 1e308", "learning_rate"),
            ("[training]\nlongest = 0", "longest"),
            ("[model]\nwidth = 4611686018427387904", "4611686018427387904"),
            (
                "[training]\nlength = 4611686018427387904\nbatch_tokens = 4611686018427387904",
                "none is above",
            ),
        ] {
            let error = Recipe::parse(Kind::Lstm, text).expect_err(text);
            assert!(error.contains(name), "{text}: {error}");
        }
        let endless = settings(Path::new("/dev/zero")).expect_err("no end");
        assert!(endless.to_string().contains("1024 KiB"), "{endless}");
    }

    #[test]
    fn kinds_that_are_compared_differ_in_their_models_alone() {
        // Not `env!`: a build folder may serve several checkouts. Cargo runs tests in the crate's folder.
        let read = |kind: Kind| {
            let path = format!("../../scripts/train_kinds/{}.toml", kind.name());
            Recipe::read(kind, Path::new(&path)).unwrap_or_else(|error| panic!("{error}"))
        };
        let [lstm, hole, infill] = Kind::ALL.map(read);
        assert_eq!(lstm.training, infill.training);
        assert_eq!(hole.training, infill.training);
    }

    #[test]
    fn an_unknown_setting_is_named() {
        let error = Recipe::parse(Kind::Lstm, "[training]\nrate = 1.0").expect_err("unknown");
        assert!(error.contains("rate"), "{error}");
    }
}
