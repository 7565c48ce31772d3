//! Checkpoints that continue text: those of `stampmill train`, and any of the Llama family in Hugging
//! Face's layout with its own tokenizer.

mod draw;
mod spelling;
mod template;

pub use draw::{Answer, End, Job, Listener, Question, Turn};
pub use template::{Message, PLAIN, Template};

use crate::{Error, Result, checkpoint::expect, tokenizer::Special};
use nn::Model;
use serde_json::Value;
use spelling::Spelling;
use std::path::{Path, PathBuf};

/// A causal model with its tokenizer and its way of putting a chat into one text.
///
/// Laws: [`Causal::chat`] of a conversation is what a model is trained to go on from
/// ([`crate::prepare_edits`]); [`Causal::text`] of [`Causal::tokens`] is the text again, unless the tokenizer
/// cannot spell it.
#[derive(Debug)]
pub struct Causal {
    folder: PathBuf,
    model: Model,
    spelling: Spelling,
    template: Template,
    begin: Option<u32>,
    ends: Vec<u32>,
    length: usize,
}

impl Causal {
    /// Load `config.json`, `model.safetensors` (or its shards), `tokenizer.json` and, where there are some,
    /// `tokenizer_config.json`, `generation_config.json` and `chat_template.jinja` of a folder.
    ///
    /// # Errors
    /// When a file is missing or broken, they do not belong together, or the model is not causal.
    pub fn load(folder: &Path) -> Result<Causal> {
        std::fs::metadata(folder).map_err(Error::file("read", folder))?;
        expect(folder)?;
        let config = folder.join("config.json");
        let model = Model::load(folder)?;
        if model.decoder(1).is_none() {
            let why =
                "a model of kind `hole` fills holes and continues no text; `infill`, `lstm` and \
                       Llama-family checkpoints do"
                    .to_owned();
            return Err(nn::Error::Config { path: config, why }.into());
        }
        Causal::of(folder, model)
    }

    fn of(folder: &Path, model: Model) -> Result<Causal> {
        let config = model.config();
        let spelling = Spelling::read(folder, config)?;
        let (pieces, vocabulary) = (spelling.pieces(), model.vocabulary());
        if pieces > vocabulary || (spelling.is_own() && pieces != vocabulary) {
            return Err(Error::Mismatch {
                path: folder.to_owned(),
                tokenizer: pieces,
                model: vocabulary,
            });
        }
        let (begin, ends) = if spelling.is_own() {
            (Some(u32::from(Special::ALL.start)), vec![u32::from(Special::ALL.end)])
        } else {
            let generation = optional(&folder.join("generation_config.json"))?;
            let mut ends = ids(&config["eos_token_id"]);
            ends.extend(ids(&generation["eos_token_id"]));
            ends.sort_unstable();
            ends.dedup();
            if ends.is_empty() {
                ends.extend(spelling.id("</s>"));
            }
            let begin = ids(&config["bos_token_id"]).first().copied();
            (begin.or_else(|| spelling.id("<s>")), ends)
        };
        let own = config["stampmill"]["length"].as_u64().and_then(|n| usize::try_from(n).ok());
        let length = match (model.positions(), own) {
            (Some(positions), Some(own)) => positions.min(own),
            (Some(length), None) | (None, Some(length)) => length,
            (None, None) => usize::MAX,
        };
        let template = Template::read(folder)?;
        Ok(Causal { folder: folder.to_owned(), model, spelling, template, begin, ends, length })
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// How it puts a chat into one text.
    #[must_use]
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// The same with another template.
    #[must_use]
    pub fn with_template(mut self, template: Template) -> Causal {
        self.template = template;
        self
    }

    /// Longest sequence in tokens, answer included.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// The token that begins a sequence, where there is one.
    #[must_use]
    pub fn begin(&self) -> Option<u32> {
        self.begin
    }

    /// The tokens that end an answer, the usual one first.
    #[must_use]
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// The tokens of a text alone: nothing begins or ends it.
    ///
    /// # Errors
    /// When the tokenizer refuses it.
    pub fn tokens(&self, text: &str) -> Result<Vec<u32>> {
        self.spelling.encode(text)
    }

    /// The text of tokens; those that are no text have none.
    ///
    /// # Errors
    /// When the tokenizer refuses them.
    pub fn text(&self, tokens: &[u32]) -> Result<String> {
        self.spelling.decode(tokens)
    }

    /// The tokens of a text to go on from, begun as sequences of this model are.
    ///
    /// # Errors
    /// As [`Causal::tokens`].
    pub fn prompt(&self, text: &str) -> Result<Vec<u32>> {
        let mut tokens: Vec<u32> = self.begin.into_iter().collect();
        tokens.extend(self.tokens(text)?);
        Ok(tokens)
    }

    /// The tokens of a chat whose next message is asked for.
    ///
    /// # Errors
    /// When the template does not take such a chat, or the tokenizer refuses its text.
    pub fn chat(&self, messages: &[Message]) -> Result<Vec<u32>> {
        let piece = |id: Option<u32>| id.and_then(|id| self.spelling.piece(id)).unwrap_or_default();
        let (begin, end) = (piece(self.begin), piece(self.ends.first().copied()));
        let text = self.template.render(messages, &begin, &end)?;
        match text.strip_prefix(begin.as_str()).filter(|_| !begin.is_empty()) {
            Some(rest) => self.prompt(rest),
            None => self.tokens(&text),
        }
    }

    /// The embedding of a text: the mean of what the output layer reads at its tokens. `None` where the
    /// model has no such thing.
    ///
    /// # Errors
    /// When the text has more tokens than the model reads.
    pub fn embedding(&self, tokens: &[u32]) -> Result<Option<Vec<f32>>> {
        Ok(self.model.embedding(tokens)?)
    }
}

/// One id or a list of them.
fn ids(value: &Value) -> Vec<u32> {
    let one = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
    match value {
        Value::Array(list) => list.iter().filter_map(one).collect(),
        value => one(value).into_iter().collect(),
    }
}

/// A JSON file that need not be there.
pub(crate) fn optional(path: &Path) -> Result<Value> {
    if !path.is_file() {
        return Ok(Value::Null);
    }
    let text = std::fs::read_to_string(path).map_err(Error::file("read", path))?;
    serde_json::from_str(&text)
        .map_err(|error| Error::Tokenizer { path: path.to_owned(), why: error.to_string() })
}
