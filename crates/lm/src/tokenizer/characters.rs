use super::{Tokenizer, Vocabulary};
use crate::Result;
use std::collections::BTreeSet;

/// One id a character, as CLgen reads (CGO'17, section 4.2).
///
/// Characters that the corpus does not hold are spelled by their bytes, `<0x00>` to `<0xFF>`.
#[derive(Clone, Debug)]
pub struct Characters {
    vocabulary: Vocabulary,
    bytes: u16,
}

impl Characters {
    pub(crate) const NAME: &'static str = "characters";

    /// The tokenizer of a vocabulary that [`Characters::learn`] made.
    #[must_use]
    pub fn new(vocabulary: Vocabulary) -> Characters {
        let bytes = vocabulary.id("<0x00>").unwrap_or(0);
        Characters { vocabulary, bytes }
    }

    /// A vocabulary of the characters of `texts`.
    ///
    /// # Errors
    /// When there are more than ids.
    pub fn learn<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Characters> {
        let mut seen: BTreeSet<char> = (' '..='~').chain(['\n', '\t']).collect();
        for text in texts {
            seen.extend(text.chars().filter(char::is_ascii));
        }
        let bytes = (0..=255_u8).map(|byte| format!("<0x{byte:02X}>"));
        let pieces = bytes.chain(seen.iter().map(ToString::to_string));
        Ok(Characters::new(Vocabulary::new(&[], pieces)?))
    }
}

impl Tokenizer for Characters {
    fn name(&self) -> &'static str {
        Characters::NAME
    }

    fn encode(&self, text: &str) -> Vec<u16> {
        let mut ids = Vec::with_capacity(text.len());
        let mut buffer = [0; 4];
        for letter in text.chars() {
            let piece = letter.encode_utf8(&mut buffer);
            match self.vocabulary.id(piece) {
                Some(id) => ids.push(id),
                None => ids.extend(piece.bytes().map(|byte| self.bytes + u16::from(byte))),
            }
        }
        ids
    }

    fn encode_plain(&self, text: &str) -> Vec<u16> {
        self.encode(text)
    }

    fn decode(&self, ids: &[u16]) -> String {
        let mut bytes = Vec::new();
        for id in ids {
            match id.checked_sub(self.bytes).and_then(|byte| u8::try_from(byte).ok()) {
                Some(byte) => bytes.push(byte),
                None if self.vocabulary.is_special(*id) => {}
                None => bytes.extend_from_slice(self.vocabulary.piece(*id).as_bytes()),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_comes_back(text in "\\PC*|[ -~\n\t\r\u{0}é€]{0,60}") {
            let tokenizer = Characters::learn(["kernel void A(global float* a) {}\n"]).expect("few");
            prop_assert_eq!(tokenizer.decode(&tokenizer.encode(&text)), text);
        }
    }
}
