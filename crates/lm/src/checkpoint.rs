//! A checkpoint: a folder with weights, configuration and tokenizer.

use crate::{
    Error, Kind, Result,
    tokenizer::{self, Special, Tokenizer},
};
use dataset::Dataset;
use nn::Model;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Weights, configuration and tokenizer of a model.
#[derive(Debug)]
pub struct Checkpoint {
    folder: PathBuf,
    kind: Kind,
    model: Model,
    tokenizer: Box<dyn Tokenizer>,
    length: usize,
}

/// What `config.json` says beyond the architecture.
#[derive(Deserialize)]
struct Own {
    kind: Kind,
    tokenizer: String,
    /// Identity of its vocabulary; checkpoints of older versions lack it.
    #[serde(default)]
    vocabulary: Option<String>,
    special: Special,
    length: usize,
}

impl Checkpoint {
    /// Load a checkpoint.
    ///
    /// # Errors
    /// When a file is missing or broken, the checkpoint is not one of `stampmill train`, or its
    /// tokenizer is another model's.
    pub fn load(folder: &Path) -> Result<Checkpoint> {
        expect(folder)?;
        let model = Model::load(folder)?;
        let path = folder.join("config.json");
        let own: Own =
            serde_json::from_value(model.config()["stampmill"].clone()).map_err(|_| {
                nn::Error::Config {
                path: path.clone(),
                why: "no section `stampmill`: the weights can be run, but which tokens begin and \
                      end a kernel is not known; only checkpoints of `stampmill train` are sampled"
                    .to_owned(),
            }
            })?;
        if own.special != Special::ALL {
            let why = "its special tokens have other ids than this program's".to_owned();
            return Err(nn::Error::Config { path, why }.into());
        }
        let tokenizer = tokenizer::read(&folder.join("tokenizer.json"), &own.tokenizer)?;
        let (pieces, vocabulary) = (tokenizer.vocabulary().len(), model.vocabulary());
        if pieces != vocabulary {
            return Err(Error::Mismatch {
                path: folder.to_owned(),
                tokenizer: pieces,
                model: vocabulary,
            });
        }
        if own.vocabulary.is_some_and(|own| own != tokenizer.vocabulary().identity()) {
            return Err(Error::Tokenizer {
                path: folder.join("tokenizer.json"),
                why: "it is not the tokenizer that the model was trained with: its pieces differ"
                    .to_owned(),
            });
        }
        let length = model.positions().map_or(own.length, |most| most.min(own.length));
        Ok(Checkpoint { folder: folder.to_owned(), kind: own.kind, model, tokenizer, length })
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> &dyn Tokenizer {
        &*self.tokenizer
    }

    /// The ids of what stands before or behind a prompt's hole: blanks at its ends count for a model of characters alone.
    #[must_use]
    pub fn encode_prompt(&self, text: &str) -> Vec<u16> {
        self.tokenizer.encode_plain(if self.kind() == Kind::Lstm { text } else { text.trim() })
    }

    /// Longest sequence in tokens, prompt included.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }
}

/// Whether a checkpoint may lie there: nothing at all is an error of reading.
///
/// # Errors
/// When something else does.
pub(crate) fn expect(folder: &Path) -> Result<()> {
    if !folder.is_dir() || folder.join("config.json").exists() {
        return Ok(());
    }
    let what = match Dataset::open(folder) {
        Ok(found) => format!("a data set of schema `{}`", found.manifest().schema),
        Err(_) => "a folder without config.json".to_owned(),
    };
    Err(Error::NotACheckpoint { path: folder.to_owned(), what })
}

/// Write a value as JSON that people can read too.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::file("write", path)(std::io::Error::other(error)))?;
    put(path, (text + "\n").as_bytes())
}

/// Write a file, whole or not at all.
pub(crate) fn put(path: &Path, content: &[u8]) -> Result<()> {
    host::write_whole(path, content).map_err(Error::file("write", path))
}
