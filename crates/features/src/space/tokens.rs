use super::{Extracted, FeatureSpace};
use crate::{Part, ProgramView};
use clang::TokenKind;

/// Tokens of the source as written, before preprocessing and without comments: all, and by kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tokens;

impl FeatureSpace for Tokens {
    fn name(&self) -> &'static str {
        "tokens"
    }

    fn dimensions(&self) -> Vec<&'static str> {
        vec!["tokens", "keywords", "identifiers", "literals", "punctuation"]
    }

    fn parts(&self) -> &'static [Part] {
        &[Part::Tokens]
    }

    fn extract(&self, program: &ProgramView<'_>) -> Option<Extracted> {
        let mut counts = [0_u32; 5];
        for token in program.tokens?.iter().filter(|token| token.kind != TokenKind::Comment) {
            counts[0] += 1;
            match token.kind {
                TokenKind::Keyword => counts[1] += 1,
                TokenKind::Identifier => counts[2] += 1,
                TokenKind::Literal => counts[3] += 1,
                TokenKind::Punctuation => counts[4] += 1,
                TokenKind::Comment | TokenKind::Other => {}
            }
        }
        Some(Extracted::Whole(counts.map(f64::from).to_vec()))
    }
}
