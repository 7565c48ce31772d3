use crate::{Dialect, Kind, Token};

/// The words and characters of a text, comments and white space left out: runs of ASCII letters, digits and
/// underscores, string literals, and every other character by itself. Near-duplicates are told by these.
pub fn coarse(text: &str) -> impl Iterator<Item = &str> {
    Dialect::FLAT.tokens(text).flat_map(|token| Pieces::of(&token))
}

/// What is left of a token.
struct Pieces<'a>(&'a str, bool);

impl<'a> Pieces<'a> {
    fn of(token: &Token<'a>) -> Pieces<'a> {
        Pieces(token.text, token.kind == Kind::Literal && token.text.starts_with('"'))
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if std::mem::take(&mut self.1) {
            return Some(std::mem::take(&mut self.0));
        }
        self.0 = self.0.trim_start();
        let first = self.0.chars().next()?;
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let word = self.0.bytes().position(|byte| !is_word(byte)).unwrap_or(self.0.len());
        let (piece, rest) = self.0.split_at(word.max(if word == 0 { first.len_utf8() } else { 0 }));
        self.0 = rest;
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_literals_and_characters_stand_alone() {
        let all = |text| coarse(text).collect::<Vec<_>>();
        assert_eq!(all("a/*b*/c\"d\\\"e\"+é"), ["a", "c", "\"d\\\"e\"", "+", "é"]);
        assert_eq!(all("x>>=1.5f;'a'"), ["x", ">", ">", "=", "1", ".", "5f", ";", "'", "a", "'"]);
        assert_eq!(all("#define A \\\n b"), ["#", "define", "A", "\\", "b"]);
        assert_eq!(all("/*").len() + all("\"\\").len(), 1);
    }
}
