//! `tokenizer.json`, the format of Hugging Face's `tokenizers`.

use super::{Characters, Tokenizer, Vocabulary};
use crate::{Error, Result, checkpoint::put};
use serde_json::{Value, json};
use std::path::Path;

/// Lexemes as Hugging Face's pre-tokenizer cuts them: directives, words, numbers, literals,
/// operators, longest first.
const LEXEME: &str = concat!(
    r#"(?m)^[ \t]*#(?:[^\n\\]|\\[\s\S])*|[A-Za-z_$][A-Za-z0-9_$]*|"#,
    r#"\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.])*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|"#,
    r"<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|##|\S"
);

/// The mark of a piece that goes on with the lexeme before it.
pub(crate) const CONTINUES: &str = "##";

pub(super) fn write(tokenizer: &dyn Tokenizer, path: &Path) -> Result<()> {
    let vocabulary = tokenizer.vocabulary();
    let added: Vec<Value> = (0..vocabulary.len() as u16)
        .take_while(|id| vocabulary.is_special(*id))
        .map(|id| {
            json!({"id": id, "content": vocabulary.piece(id), "single_word": false,
                   "lstrip": false, "rstrip": false, "normalized": false, "special": true})
        })
        .collect();
    let ids: serde_json::Map<String, Value> = vocabulary
        .pieces()
        .iter()
        .enumerate()
        .map(|(id, piece)| (piece.clone(), json!(id)))
        .collect();
    let characters = tokenizer.name() == Characters::NAME;
    let split = |pattern: Value, behavior: &str| json!({"type": "Split", "pattern": pattern, "behavior": behavior, "invert": false});
    let (cut, model, decoder) = if characters {
        (
            split(json!({"Regex": r"[\s\S]"}), "Isolated"),
            json!({"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                   "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": true,
                   "ignore_merges": true, "vocab": ids, "merges": []}),
            json!({"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}),
        )
    } else {
        (
            json!({"type": "Sequence", "pretokenizers": [
                split(json!({"Regex": LEXEME}), "Isolated"),
                split(json!({"Regex": r"^\s+$"}), "Removed"),
            ]}),
            json!({"type": "BPE", "dropout": null, "unk_token": null,
                   "continuing_subword_prefix": CONTINUES, "end_of_word_suffix": null,
                   "fuse_unk": false, "byte_fallback": false, "ignore_merges": true,
                   "vocab": ids, "merges": []}),
            json!({"type": "WordPiece", "prefix": CONTINUES, "cleanup": false}),
        )
    };
    let whole = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
        "normalizer": null, "pre_tokenizer": cut, "post_processor": null, "decoder": decoder,
        "model": model,
    });
    let text = serde_json::to_string_pretty(&whole).unwrap_or_default();
    put(path, text.as_bytes())
}

pub(super) fn read(path: &Path) -> Result<Vocabulary> {
    let broken = |why: &str| Error::Tokenizer { path: path.to_owned(), why: why.to_owned() };
    let text = std::fs::read_to_string(path).map_err(Error::file("read", path))?;
    let whole: Value = serde_json::from_str(&text).map_err(|error| broken(&error.to_string()))?;
    let ids = whole["model"]["vocab"].as_object().ok_or_else(|| broken("it has no model.vocab"))?;
    let mut pieces = vec![None; ids.len()];
    for (piece, id) in ids {
        let id = id.as_u64().and_then(|id| usize::try_from(id).ok());
        let place = id.and_then(|id| pieces.get_mut(id));
        let place = place.ok_or_else(|| broken(&format!("the id of {piece} is out of order")))?;
        *place = Some(piece.clone());
    }
    let pieces: Option<Vec<String>> = pieces.into_iter().collect();
    let pieces = pieces.ok_or_else(|| broken("two pieces have one id"))?;
    let special = whole["added_tokens"].as_array().map_or(0, Vec::len);
    let known = super::SPECIAL.iter().zip(&pieces).all(|(special, piece)| special == piece);
    if !known || special < super::SPECIAL.len() {
        return Err(broken("its special tokens are not this program's"));
    }
    Vocabulary::of(pieces, special)
}
