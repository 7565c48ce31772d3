//! Tokens of a byte-pair encoding trained on the data (Sennrich, Haddow and Birch, ACL 2016), at
//! several sizes of vocabulary.
//!
//! Pieces are told apart before pairs are merged, so that counts are exact sums over distinct
//! pieces: each is encoded once, however often it occurs. One training at the largest size gives
//! all: the first merges of a larger vocabulary are those of a smaller one.

use crate::Error;
use ahash::AHashMap;
use compact_str::CompactString;
use std::{collections::HashMap, path::Path};
use tokenizers::{
    Model, Tokenizer,
    models::bpe::{BPE, BpeTrainer},
    pre_tokenizers::split::{Split, SplitPattern},
    tokenizer::SplitDelimiterBehavior,
};

/// The sizes that are counted.
pub const SIZES: [usize; 4] = [10_000, 50_000, 100_000, 200_000];

/// What [`pieces`] finds, as a tokenizer's file says it.
const PATTERN: &str = r" ?[A-Za-z]+| ?[0-9]{1,3}| ?[^A-Za-z0-9\s]+|\s+";

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Letter,
    Digit,
    Blank,
    Other,
}

fn kind(letter: char) -> Kind {
    match letter {
        'A'..='Z' | 'a'..='z' => Kind::Letter,
        '0'..='9' => Kind::Digit,
        blank if blank.is_whitespace() => Kind::Blank,
        _ => Kind::Other,
    }
}

/// The pieces of a text: words, numbers of up to three digits and runs of signs, each with the
/// blank before it; other blanks.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut letters = rest.chars();
        let first = letters.next()?;
        let second = letters.next().map(kind).filter(|next| *next != Kind::Blank);
        let (start, body) = match (first, second) {
            (' ', Some(body)) => (1, body),
            _ => (0, kind(first)),
        };
        let mut length = start;
        for (count, letter) in rest[start..].chars().enumerate() {
            if kind(letter) != body || body == Kind::Digit && count == 3 {
                break;
            }
            length += letter.len_utf8();
        }
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some(piece)
    })
}

/// How often each piece occurs.
pub(super) type Counts = HashMap<CompactString, u64>;

pub(super) fn count(text: &str, counts: &mut Counts) {
    for piece in pieces(text) {
        match counts.get_mut(piece) {
            Some(count) => *count += 1,
            None => {
                counts.insert(piece.into(), 1);
            }
        }
    }
}

/// The names of the tokenizers' files.
pub(super) const FILES: [&str; 4] =
    ["tokenizer-10k.json", "tokenizer-50k.json", "tokenizer-100k.json", "tokenizer-200k.json"];

/// The trained encodings.
pub(super) struct Encodings {
    models: Vec<BPE>,
    /// Sizes that the data really gave.
    pub(super) sizes: [usize; 4],
}

impl Encodings {
    /// Train on counted pieces.
    pub(super) fn train(counts: &Counts) -> Result<Encodings, Error> {
        let failed = |error: tokenizers::Error| Error::Worker(format!("tokenizer: {error}"));
        let words: AHashMap<CompactString, u64> =
            counts.iter().map(|(piece, count)| (piece.clone(), *count)).collect();
        let largest = SIZES[SIZES.len() - 1];
        let trainer =
            BpeTrainer::builder().vocab_size(largest).min_frequency(2).show_progress(false).build();
        let mut whole = BPE::default();
        trainer.do_train(&words, &mut whole).map_err(failed)?;
        let value = serde_json::to_value(&whole)
            .map_err(|error| Error::Worker(format!("tokenizer: {error}")))?;
        let merges: Vec<(String, String)> =
            serde_json::from_value(value["merges"].clone()).unwrap_or_default();
        let mut vocabulary: Vec<(String, u32)> =
            serde_json::from_value::<HashMap<String, u32>>(value["vocab"].clone())
                .unwrap_or_default()
                .into_iter()
                .collect();
        vocabulary.sort_by_key(|(_, id)| *id);
        let mut models = Vec::new();
        let mut sizes = [0; 4];
        for (at, size) in SIZES.into_iter().enumerate() {
            let kept = vocabulary.len().min(size);
            let some: AHashMap<String, u32> = vocabulary[..kept].iter().cloned().collect();
            // Two merges may give one token; those of tokens that are not in are left out.
            let merges = merges.iter().filter(|(a, b)| {
                some.contains_key(a)
                    && some.contains_key(b)
                    && some.contains_key(&format!("{a}{b}"))
            });
            let merges = merges.cloned().collect();
            sizes[at] = kept;
            let model = BPE::builder().vocab_and_merges(some, merges).cache_capacity(0).build();
            models.push(model.map_err(failed)?);
        }
        Ok(Encodings { models, sizes })
    }

    /// Tokens of one piece, by size.
    pub(super) fn lengths(&self, piece: &str) -> [u32; 4] {
        let mut lengths = [0; 4];
        for (length, model) in lengths.iter_mut().zip(&self.models) {
            // A letter that was never seen in training gives no token; none is ever such here.
            *length = model
                .tokenize(piece)
                .map_or(0, |tokens| u32::try_from(tokens.len()).unwrap_or(u32::MAX));
        }
        lengths
    }

    /// Write them as files that Hugging Face's `tokenizers` reads.
    pub(super) fn save(&self, folder: &Path) -> Result<(), Error> {
        for (model, name) in self.models.iter().zip(FILES) {
            let failed = |error: tokenizers::Error| Error::Worker(format!("tokenizer: {error}"));
            let mut tokenizer = Tokenizer::new(model.clone());
            let pattern = SplitPattern::Regex(PATTERN.to_owned());
            let split = Split::new(pattern, SplitDelimiterBehavior::Isolated, false);
            tokenizer.with_pre_tokenizer(Some(split.map_err(failed)?));
            tokenizer.save(folder.join(name), false).map_err(failed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "define i32 @main(i32 %0) {\n  %2 = add nsw i32 %0, 12345\n  ret i32 %2\n}\n\n; x\t\u{e9}\n";

    #[test]
    fn pieces_are_what_the_pattern_of_the_saved_file_finds() {
        let counts = counted(&TEXT.repeat(3));
        let encodings = Encodings::train(&counts).unwrap();
        let folder = tempfile::tempdir().unwrap();
        encodings.save(folder.path()).unwrap();
        for size in ["10k", "200k"] {
            let file = folder.path().join(format!("tokenizer-{size}.json"));
            let tokenizer = Tokenizer::from_file(&file).unwrap();
            let whole = tokenizer.encode(TEXT, false).unwrap().len();
            let summed: u32 = pieces(TEXT).map(|piece| encodings.lengths(piece)[0]).sum();
            assert_eq!(whole, summed as usize, "{size}");
        }
    }

    fn counted(text: &str) -> Counts {
        let mut counts = Counts::new();
        count(text, &mut counts);
        counts
    }

    #[test]
    fn pieces_make_the_text_again() {
        assert_eq!(pieces(TEXT).collect::<String>(), TEXT);
        let found: Vec<&str> = pieces("  a 1234 %x").collect();
        assert_eq!(found, ["  ", "a", " 123", "4", " %", "x"]);
        assert_eq!(pieces("").count(), 0);
    }

    #[test]
    fn larger_vocabularies_need_no_more_tokens() {
        let text: String = (0..300)
            .map(|n| format!("%value{n} = add i{} %other{}, {n}\n", n % 64, n * 7))
            .collect();
        let encodings = Encodings::train(&counted(&text)).unwrap();
        let sums = pieces(&text).fold([0; 4], |mut all, piece| {
            for (sum, length) in all.iter_mut().zip(encodings.lengths(piece)) {
                *sum += length;
            }
            all
        });
        assert!(sums.is_sorted_by(|a, b| a >= b), "{sums:?}");
        assert!(encodings.sizes[0] <= SIZES[0]);
    }
}
