//! Programs in OpenCL C as tokens, whole and spelled: for tests and `fuzz/`.

use stampmill_grammar::{Constraint, Grammar, KEYWORDS, Piece, TYPES};
use std::{collections::HashMap, sync::Arc};

/// Operators of more than one character.
const OPERATORS: [&str; 21] = [
    "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=",
    "*=", "/=", "%=", "&=", "|=", "^=",
];

/// The id of the end.
pub(crate) const END: u16 = 0;

/// Tokens: the end, bytes that continue a lexeme, characters, operators, then whole words.
pub(crate) struct Tokens {
    pieces: Vec<Piece>,
    ids: HashMap<Piece, u16>,
    grammar: Arc<Grammar>,
}

impl Tokens {
    /// These words are whole; all others are spelled.
    pub(crate) fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Tokens {
        let mut pieces = vec![Piece::End];
        pieces.extend((0..=255).map(Piece::Continue));
        pieces.extend((b'!'..=b'~').map(|byte| Piece::Lexeme(char::from(byte).to_string())));
        let whole = OPERATORS.into_iter().chain(words).filter(|word| word.len() > 1);
        pieces.extend(whole.map(|word| Piece::Lexeme(word.to_owned())));
        // Of two that are alike the first counts.
        let ids = pieces.iter().cloned().zip(0..=u16::MAX).rev().collect();
        let grammar = Arc::new(Grammar::new(pieces.iter().cloned()));
        Tokens { pieces, ids, grammar }
    }

    /// Keywords, types and these words are whole.
    pub(crate) fn with_keywords<'a>(words: impl IntoIterator<Item = &'a str>) -> Tokens {
        Tokens::of(KEYWORDS.into_iter().chain(TYPES).chain(words))
    }

    /// Before the first token of a program.
    pub(crate) fn constraint(&self) -> Constraint {
        Constraint::new(Arc::clone(&self.grammar))
    }

    /// A lexeme's own id, or those of its spelling.
    pub(crate) fn spell(&self, lexeme: &str) -> Vec<u16> {
        if let Some(id) = self.ids.get(&Piece::Lexeme(lexeme.to_owned())) {
            return vec![*id];
        }
        let first = Piece::Lexeme(lexeme[..1].to_owned());
        let rest = lexeme.bytes().skip(1).map(Piece::Continue);
        std::iter::once(first).chain(rest).map(|piece| self.ids[&piece]).collect()
    }

    /// The lexemes of tokens.
    pub(crate) fn lexemes(&self, ids: &[u16]) -> Vec<String> {
        let mut lexemes: Vec<String> = Vec::new();
        for id in ids {
            match &self.pieces[usize::from(*id)] {
                Piece::Lexeme(lexeme) => lexemes.push(lexeme.clone()),
                Piece::Continue(byte) => {
                    lexemes.last_mut().expect("a lexeme").push(char::from(*byte));
                }
                Piece::End | Piece::None => {}
            }
        }
        lexemes
    }
}
