//! Compiles by construction: which tokens can go on to a program that compiles.
//!
//! A [`Constraint`] follows a program token by token, with the scopes and types that a compiler
//! would have at that place, and refuses what cannot compile any more: names that nothing declares,
//! the wrong number of arguments, members that a vector or struct does not have, assignment to
//! what is constant or no place, operands that do not go together, anything unbalanced. Where a
//! type is not known it lets everything through: it is made to accept all of a corpus, not to
//! prove anything.
//!
//! ```
//! use lm::{constrain::{Constraint, Grammar}, tokenizer::{Syntax, Tokenizer}};
//! use std::sync::Arc;
//!
//! let tokenizer = Syntax::learn(&[], [])?;
//! let mut constraint = Constraint::new(Arc::new(Grammar::new(&tokenizer)));
//! for id in tokenizer.encode_plain("kernel void A(global float* a) { a[get_global_id(0)] =") {
//!     constraint.push(id).expect("so far it may compile");
//! }
//! let id = |text: &str| tokenizer.encode_plain(text)[0];
//! assert!(constraint.allows(id("a")));
//! assert!(!constraint.allows(id(";")), "a value is missing");
//! # Ok::<(), lm::Error>(())
//! ```

mod attribute;
mod builtins;
mod call;
mod close;
mod declare;
mod express;
mod operate;
mod parser;
mod records;
mod types;

pub use builtins::is_builtin;
pub use parser::Refusal;

use crate::tokenizer::{Special, Syntax, Tokenizer};
use parser::{Lexeme, Parser, Sort};
use std::sync::Arc;

/// What a token adds to a program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// Nothing that can be in a program.
    None,
    /// The program ends.
    End,
    /// One more byte of the lexeme before.
    Continue(u8),
    /// A lexeme, or its first character.
    Lexeme(String),
}

/// The tokens of a [`Syntax`] tokenizer, as the parser sees them.
#[derive(Clone, Debug)]
pub struct Grammar {
    pieces: Vec<Piece>,
    ids: std::collections::HashMap<String, u16>,
}

impl Grammar {
    /// For a tokenizer.
    #[must_use]
    pub fn new(tokenizer: &Syntax) -> Grammar {
        let vocabulary = tokenizer.vocabulary();
        let mut ids = std::collections::HashMap::new();
        let pieces: Vec<Piece> = (0..vocabulary.len() as u16)
            .map(|id| {
                if id == Special::ALL.end {
                    return Piece::End;
                }
                if vocabulary.is_special(id) || vocabulary.piece(id) == "<gap>" {
                    return Piece::None;
                }
                match tokenizer.continued(id) {
                    Some(byte) => Piece::Continue(byte),
                    None => {
                        ids.insert(vocabulary.piece(id).to_owned(), id);
                        Piece::Lexeme(vocabulary.piece(id).to_owned())
                    }
                }
            })
            .collect();
        Grammar { pieces, ids }
    }
}

/// A program so far.
#[derive(Clone, Debug)]
pub struct Constraint {
    grammar: Arc<Grammar>,
    parser: Parser,
    /// A lexeme that may still grow.
    pending: String,
}

impl Constraint {
    /// Before the first token.
    #[must_use]
    pub fn new(grammar: Arc<Grammar>) -> Constraint {
        Constraint { grammar, parser: Parser::new(), pending: String::new() }
    }

    /// Go on with a token.
    ///
    /// # Errors
    /// Why no program that compiles goes on like this; the state is as before.
    pub fn push(&mut self, token: u16) -> Result<(), Refusal> {
        *self = self.after(token)?;
        Ok(())
    }

    /// Whether [`Constraint::push`] would take the token.
    #[must_use]
    pub fn allows(&self, token: u16) -> bool {
        self.after(token).is_ok()
    }

    /// The state after a token.
    ///
    /// # Errors
    /// As [`Constraint::push`].
    pub fn after(&self, token: u16) -> Result<Constraint, Refusal> {
        let mut next = self.clone();
        match self.grammar.pieces.get(usize::from(token)) {
            None | Some(Piece::None) => return Err(Refusal::Syntax),
            Some(Piece::End) => {
                next.complete()?;
                if !next.parser.may_end() {
                    return Err(Refusal::Syntax);
                }
            }
            Some(Piece::Continue(byte)) => {
                if self.pending.is_empty() || is_complete(&self.pending) || !byte.is_ascii() {
                    return Err(Refusal::Syntax);
                }
                next.pending.push(char::from(*byte));
                if !is_spelling(&next.pending) {
                    return Err(Refusal::Syntax);
                }
                next.check_pending()?;
            }
            Some(Piece::Lexeme(text)) => {
                next.complete()?;
                if grows(text) {
                    // Either it is a lexeme by itself, or the beginning of a longer one.
                    let lexeme = Lexeme::new(text, false);
                    let whole = next.parser.clone().push(lexeme);
                    next.pending.clone_from(text);
                    if let Err(refusal) = whole
                        && next.check_pending().is_err()
                    {
                        return Err(refusal);
                    }
                } else {
                    next.parser.push(Lexeme::new(text, false))?;
                }
            }
        }
        Ok(next)
    }

    /// Whether the program may end here.
    #[must_use]
    pub fn may_end(&self) -> bool {
        self.allows(Special::ALL.end)
    }

    /// Whether nothing is open: what comes next is a declaration or the end.
    #[must_use]
    pub fn at_file_scope(&self) -> bool {
        let mut next = self.clone();
        next.complete().is_ok() && next.parser.at_file_scope()
    }

    /// About how many tokens are needed to end the program.
    #[must_use]
    pub fn distance(&self) -> usize {
        self.parser.distance() + 4
    }

    /// Whether a statement or a declaration of the file may begin here.
    #[must_use]
    pub fn at_statement(&self) -> bool {
        self.pending.is_empty()
            && (self.parser.at_file_scope()
                || matches!(self.parser.goals.last(), Some(parser::Goal::Block { .. })))
    }

    fn complete(&mut self) -> Result<(), Refusal> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.pending);
        if text.starts_with('#') && !text.starts_with("#pragma ") {
            return Err(Refusal::Syntax);
        }
        self.parser.push(Lexeme::new(&text, false))
    }

    fn check_pending(&self) -> Result<(), Refusal> {
        let lexeme = Lexeme::new(&self.pending, true);
        if lexeme.sort == Sort::Directive {
            let text = &self.pending;
            if !("#pragma ".starts_with(text.as_str()) || text.starts_with("#pragma ")) {
                return Err(Refusal::Syntax);
            }
        }
        self.parser.clone().push(lexeme)
    }
}

/// Whether a piece may be the beginning of a longer lexeme.
fn grows(text: &str) -> bool {
    let Some(first) = text.bytes().next() else { return false };
    text.len() == 1
        && (first.is_ascii_alphanumeric()
            || matches!(first, b'_' | b'$' | b'.' | b'"' | b'\'' | b'#'))
}

/// Whether a lexeme may be spelled like this so far.
fn is_spelling(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(b'#') => bytes.iter().all(|byte| (b' '..=b'~').contains(byte)),
        Some(quote @ (b'"' | b'\'')) => {
            let mut escaped = false;
            for byte in &bytes[1..] {
                let fits = match byte {
                    _ if escaped => b"ntr0\\\"'abfv".contains(byte),
                    byte => (b' '..=b'~').contains(byte),
                };
                if !fits {
                    return false;
                }
                escaped = !escaped && *byte == b'\\';
            }
            let inner = bytes.len() - 1 - usize::from(bytes.get(1) == Some(&b'\\'));
            *quote == b'"'
                || inner <= 2 && bytes.get(1) != Some(quote) && (inner < 2 || is_complete(text))
        }
        Some(b'0'..=b'9' | b'.') => true,
        _ => bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'),
    }
}

/// Whether a literal has its closing quote.
fn is_complete(text: &str) -> bool {
    let quote = text.bytes().next().filter(|byte| matches!(byte, b'"' | b'\''));
    let Some(quote) = quote else { return false };
    let escapes = text[..text.len() - 1].bytes().rev().take_while(|byte| *byte == b'\\').count();
    text.len() > 1 && text.as_bytes().last() == Some(&quote) && escapes % 2 == 0
}

#[cfg(test)]
mod tests;
