use crate::{
    Decoder, Encoder, EncoderConfig, Error, Llama, LlamaConfig, Lstm, LstmConfig, Precision,
    Result, llama::LlamaDecoder, lstm::LstmDecoder, weights::Weights,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{path::Path, sync::Arc};

/// What a model computes.
#[derive(Clone, Debug)]
pub enum Architecture {
    /// A causal transformer.
    Llama(Arc<Llama>),
    /// A bidirectional encoder.
    Encoder(Arc<Encoder>),
    /// Stacked LSTM layers.
    Lstm(Arc<Lstm>),
}

/// A checkpoint, loaded.
#[derive(Clone, Debug)]
pub struct Model {
    architecture: Architecture,
    config: Value,
}

/// Put today's names in a configuration that was written when this project was called Benchstone.
fn current_names(config: &mut Value) {
    if let Some(own) = config.as_object_mut().and_then(|keys| keys.remove("benchstone")) {
        config["stampmill"] = own;
    }
    if config["model_type"] == "benchstone-lstm" {
        config["model_type"] = "stampmill-lstm".into();
    }
}

impl Model {
    /// Load `config.json` and the weights of a folder: `model.safetensors`, or the several files that
    /// `model.safetensors.index.json` names.
    ///
    /// # Errors
    /// When one of them is missing, cut short, or of another architecture.
    pub fn load(folder: &Path) -> Result<Model> {
        let path = folder.join("config.json");
        let text = std::fs::read_to_string(&path).map_err(Error::file("read", &path))?;
        let wrong = |why: String| Error::Config { path: path.clone(), why };
        let mut config: Value =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        current_names(&mut config);
        let weights = || Weights::of_checkpoint(folder);
        let architecture = match config["model_type"].as_str() {
            Some("llama") => {
                let shape = LlamaConfig::of(&config).map_err(wrong)?;
                Architecture::Llama(Arc::new(Llama::new(shape, weights()?)?))
            }
            Some("bert") => {
                let shape: EncoderConfig = part(&config).map_err(wrong)?;
                Architecture::Encoder(Arc::new(Encoder::new(shape, weights()?)?))
            }
            Some("stampmill-lstm") => {
                let shape: LstmConfig = part(&config).map_err(wrong)?;
                Architecture::Lstm(Arc::new(Lstm::new(shape, weights()?)?))
            }
            other => {
                let found = other.unwrap_or("none");
                return Err(wrong(format!(
                    "model_type is {found}; there are llama, bert and stampmill-lstm"
                )));
            }
        };
        Ok(Model { architecture, config })
    }

    /// What it computes.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Its `config.json`.
    #[must_use]
    pub fn config(&self) -> &Value {
        &self.config
    }

    /// Size of the vocabulary.
    #[must_use]
    pub fn vocabulary(&self) -> usize {
        match &self.architecture {
            Architecture::Llama(model) => model.config().vocab_size,
            Architecture::Encoder(model) => model.config().vocab_size,
            Architecture::Lstm(model) => model.config().vocab_size,
        }
    }

    /// Longest sequence; `None` where there is no limit.
    #[must_use]
    pub fn positions(&self) -> Option<usize> {
        match &self.architecture {
            Architecture::Llama(model) => Some(model.config().max_position_embeddings),
            Architecture::Encoder(model) => Some(model.config().max_position_embeddings),
            Architecture::Lstm(_) => None,
        }
    }

    /// Logits `[length × vocabulary]` of one sequence.
    ///
    /// # Errors
    /// When the sequence is too long or holds a token outside of the vocabulary.
    pub fn logits(&self, tokens: &[u32]) -> Result<Vec<f32>> {
        match &self.architecture {
            Architecture::Llama(model) => model.logits(tokens),
            Architecture::Encoder(model) => model.logits(tokens),
            Architecture::Lstm(model) => model.logits(tokens),
        }
    }

    /// The mean over all places of what the output layer reads, `[width]`; `None` for models that are no
    /// causal transformers.
    ///
    /// # Errors
    /// When the sequence is too long or holds a token outside of the vocabulary.
    pub fn embedding(&self, tokens: &[u32]) -> Result<Option<Vec<f32>>> {
        match &self.architecture {
            Architecture::Llama(model) => model.embedding(tokens).map(Some),
            Architecture::Encoder(_) | Architecture::Lstm(_) => Ok(None),
        }
    }

    /// A decoder of `slots` slots; `None` for models that are not causal. Its products are in numbers of 32 bits.
    #[must_use]
    pub fn decoder(&self, slots: usize) -> Option<Box<dyn Decoder>> {
        self.decoder_in(slots, Precision::Single)
    }

    /// The same with the products of a Llama in this precision.
    #[must_use]
    pub fn decoder_in(&self, slots: usize, precision: Precision) -> Option<Box<dyn Decoder>> {
        match &self.architecture {
            Architecture::Llama(model) => {
                let decoder = LlamaDecoder::new(Arc::clone(model), slots, precision).ok()?;
                Some(Box::new(decoder))
            }
            Architecture::Encoder(_) => None,
            Architecture::Lstm(model) => Some(Box::new(LstmDecoder::new(Arc::clone(model), slots))),
        }
    }
}

fn part<T: DeserializeOwned>(config: &Value) -> std::result::Result<T, String> {
    serde_json::from_value(config.clone()).map_err(|error| error.to_string())
}
