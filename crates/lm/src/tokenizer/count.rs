//! Tokens counted by the tokenizer of any model.

use crate::{Error, Result};
use std::path::Path;

/// Counts the tokens of texts, by a tokenizer in Hugging Face's format.
#[derive(Debug)]
pub struct Counter(Box<tokenizers::Tokenizer>);

impl Counter {
    /// Read a `tokenizer.json`.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn read(path: &Path) -> Result<Counter> {
        let read = tokenizers::Tokenizer::from_file(path)
            .map_err(|error| Error::Tokenizer { path: path.to_owned(), why: error.to_string() })?;
        Ok(Counter(Box::new(read)))
    }

    /// The tokens of a text, without what a model may want around it.
    ///
    /// # Errors
    /// When the tokenizer refuses the text.
    pub fn count(&self, text: &str) -> Result<usize> {
        let refused = |error: tokenizers::Error| {
            Error::Prompt(format!("the tokenizer refuses the text: {error}"))
        };
        Ok(self.0.encode(text, false).map_err(refused)?.get_ids().len())
    }
}
