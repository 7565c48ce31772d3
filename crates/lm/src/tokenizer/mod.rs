//! Tokenizers: text to ids and back without loss.

mod characters;
mod count;
mod file;
mod layout;
mod syntax;

pub use characters::Characters;
pub use count::Counter;
pub use syntax::Syntax;

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, path::Path};

/// A way from text to ids and back.
///
/// Law: `decode(encode(text)) == text` for any text.
pub trait Tokenizer: Send + Sync + std::fmt::Debug {
    /// Its name in `config.json`: `characters` or `syntax`.
    fn name(&self) -> &'static str;
    /// The ids of a text, its layout included.
    fn encode(&self, text: &str) -> Vec<u16>;
    /// The ids that a model learns from: as [`Tokenizer::encode`], but without layout where this
    /// tokenizer can restore a usual one.
    fn encode_plain(&self, text: &str) -> Vec<u16>;
    /// The text of ids; special tokens have none.
    fn decode(&self, ids: &[u16]) -> String;
    /// Its pieces.
    fn vocabulary(&self) -> &Vocabulary;
}

/// Ids of the tokens that are no text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Special {
    /// Begins every sequence (`[START]`).
    pub start: u16,
    /// Ends every sequence (`[END]`).
    pub end: u16,
    /// Fills rectangles (`[PAD]`).
    pub pad: u16,
    /// Before what precedes a hole.
    pub prefix: u16,
    /// Before what follows a hole.
    pub suffix: u16,
    /// Before what fills a hole.
    pub middle: u16,
    /// Before an argument specification.
    pub arguments: u16,
    /// Behind an argument specification.
    pub arguments_end: u16,
    /// A hole (`[HOLE]`).
    pub hole: u16,
    /// Nothing more to fill in (`[ENDHOLE]`).
    pub hole_end: u16,
}

/// Spellings of [`Special`], in the order of its fields; their ids are 0 to 9.
pub const SPECIAL: [&str; 10] =
    ["<s>", "</s>", "<pad>", "<pre>", "<suf>", "<mid>", "<args>", "</args>", "<hole>", "<endhole>"];

impl Special {
    /// The ids that every vocabulary gives.
    pub const ALL: Special = Special {
        start: 0,
        end: 1,
        pad: 2,
        prefix: 3,
        suffix: 4,
        middle: 5,
        arguments: 6,
        arguments_end: 7,
        hole: 8,
        hole_end: 9,
    };
}

/// Pieces by id, ids by piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    pieces: Vec<String>,
    ids: HashMap<String, u16>,
    special: usize,
}

impl Vocabulary {
    /// A vocabulary of the special tokens, `conditions` and `pieces`, in this order.
    ///
    /// # Errors
    /// When there are more than 65,535.
    pub fn new(
        conditions: &[String],
        pieces: impl IntoIterator<Item = String>,
    ) -> Result<Vocabulary> {
        let mut all: Vec<String> = SPECIAL.iter().map(ToString::to_string).collect();
        all.extend_from_slice(conditions);
        let special = all.len();
        all.extend(pieces);
        Vocabulary::of(all, special)
    }

    pub(crate) fn of(pieces: Vec<String>, special: usize) -> Result<Vocabulary> {
        if pieces.len() > usize::from(u16::MAX) {
            return Err(Error::Vocabulary(pieces.len()));
        }
        let ids = pieces.iter().enumerate().map(|(id, piece)| (piece.clone(), id as u16)).collect();
        Ok(Vocabulary { pieces, ids, special })
    }

    /// Number of pieces.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there are none, which is never so.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The id of a piece.
    #[must_use]
    pub fn id(&self, piece: &str) -> Option<u16> {
        self.ids.get(piece).copied()
    }

    /// The piece of an id; empty for an unknown one.
    #[must_use]
    pub fn piece(&self, id: u16) -> &str {
        self.pieces.get(usize::from(id)).map_or("", String::as_str)
    }

    /// The pieces in the order of their ids.
    #[must_use]
    pub fn pieces(&self) -> &[String] {
        &self.pieces
    }

    /// What tells it from other vocabularies, in order of the ids.
    #[must_use]
    pub fn identity(&self) -> String {
        dataset::content_hash_of(self.pieces.iter().map(String::as_bytes))
    }

    /// Whether the id is a special token or a condition: no text.
    #[must_use]
    pub fn is_special(&self, id: u16) -> bool {
        usize::from(id) < self.special
    }
}

/// Read the tokenizer called `name` from a `tokenizer.json`.
///
/// # Errors
/// When the file cannot be read, or is another tokenizer's.
pub fn read(path: &Path, name: &str) -> Result<Box<dyn Tokenizer>> {
    let vocabulary = file::read(path)?;
    match name {
        Characters::NAME => Ok(Box::new(Characters::new(vocabulary))),
        Syntax::NAME => Ok(Box::new(Syntax::new(vocabulary))),
        _ => Err(Error::Tokenizer {
            path: path.to_owned(),
            why: format!("there is no tokenizer `{name}`"),
        }),
    }
}

/// Write a tokenizer as a `tokenizer.json` that Hugging Face's `tokenizers` reads.
///
/// # Errors
/// When the file cannot be written.
pub fn write(tokenizer: &dyn Tokenizer, path: &Path) -> Result<()> {
    file::write(tokenizer, path)
}
