use crate::{
    Error, Result,
    tokenizer::{self, Tokenizer},
};
use serde_json::Value;
use std::path::Path;

/// A tokenizer of ours, or one of Hugging Face's format.
#[derive(Debug)]
pub(super) enum Spelling {
    Own(Box<dyn Tokenizer>),
    Foreign(Box<tokenizers::Tokenizer>),
}

impl Spelling {
    /// The `tokenizer.json` of a folder; ours where the configuration says so.
    pub(super) fn read(folder: &Path, config: &Value) -> Result<Spelling> {
        let path = folder.join("tokenizer.json");
        if let Some(name) = config["stampmill"]["tokenizer"].as_str() {
            return Ok(Spelling::Own(tokenizer::read(&path, name)?));
        }
        if !path.is_file() {
            let why = "no such file; `AutoTokenizer.from_pretrained(...).save_pretrained(...)` of the library \
                       `transformers` makes one of older files"
                .to_owned();
            return Err(Error::Tokenizer { path, why });
        }
        let read = tokenizers::Tokenizer::from_file(&path)
            .map_err(|error| Error::Tokenizer { path, why: error.to_string() })?;
        Ok(Spelling::Foreign(Box::new(read)))
    }

    pub(super) fn is_own(&self) -> bool {
        matches!(self, Spelling::Own(_))
    }

    pub(super) fn pieces(&self) -> usize {
        match self {
            Spelling::Own(own) => own.vocabulary().len(),
            Spelling::Foreign(foreign) => foreign.get_vocab_size(true),
        }
    }

    pub(super) fn id(&self, piece: &str) -> Option<u32> {
        match self {
            Spelling::Own(own) => own.vocabulary().id(piece).map(u32::from),
            Spelling::Foreign(foreign) => foreign.token_to_id(piece),
        }
    }

    pub(super) fn piece(&self, id: u32) -> Option<String> {
        match self {
            Spelling::Own(own) => Some(own.vocabulary().piece(u16::try_from(id).ok()?).to_owned()),
            Spelling::Foreign(foreign) => foreign.id_to_token(id),
        }
    }

    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>> {
        match self {
            Spelling::Own(own) => Ok(own.encode(text).into_iter().map(u32::from).collect()),
            Spelling::Foreign(foreign) => {
                let encoded = foreign.encode(text, false).map_err(refused)?;
                Ok(encoded.get_ids().to_vec())
            }
        }
    }

    pub(super) fn decode(&self, ids: &[u32]) -> Result<String> {
        match self {
            Spelling::Own(own) => {
                let ids: Vec<u16> = ids.iter().filter_map(|id| u16::try_from(*id).ok()).collect();
                Ok(own.decode(&ids))
            }
            Spelling::Foreign(foreign) => foreign.decode(ids, true).map_err(refused),
        }
    }
}

fn refused(error: tokenizers::Error) -> Error {
    Error::Prompt(format!("the tokenizer refuses the text: {error}"))
}
