//! Compiles by construction: which tokens can go on to a program that compiles.
//!
//! A [`Constraint`] follows a program token by token, with the scopes and types that a compiler
//! would have at that place, and refuses what cannot compile any more: names that nothing declares,
//! the wrong number of arguments, members that a vector or struct does not have, assignment to
//! what is constant or no place, operands that do not go together, anything unbalanced. Where a
//! type is not known it lets everything through: it is made to accept all of a corpus, not to
//! prove anything.
//!
//! The tokens are a caller's own: each is a [`Piece`], and its id is its place among them.
//!
//! ```
//! use stampmill_grammar::{Constraint, Grammar, Piece};
//! use std::sync::Arc;
//!
//! let words = ["kernel", "void", "A", "(", ")", "{", "}", "a", ";"];
//! let pieces = words.map(|word| Piece::Lexeme(word.to_owned())).into_iter();
//! let grammar = Arc::new(Grammar::new(pieces.chain([Piece::End])));
//! let id = |word: &str| words.iter().position(|known| *known == word).expect("a word") as u16;
//! let mut constraint = Constraint::new(Arc::clone(&grammar));
//! for word in ["kernel", "void", "A", "(", ")", "{"] {
//!     constraint.push(id(word)).expect("so far it may compile");
//! }
//! assert!(constraint.allows(id("}")));
//! assert!(!constraint.allows(id(")")), "no parenthesis is open");
//! constraint.push(id("}")).expect("it is whole");
//! assert!(constraint.may_end());
//! ```

mod agree;
mod attribute;
mod builtins;
mod call;
mod close;
mod declaration;
mod declare;
mod express;
mod operand;
mod operands;
mod operate;
mod parameters;
mod parser;
mod records;
mod statement;
mod storage;
mod types;
mod useful;
mod words;

pub use builtins::is_builtin;
pub use parser::Refusal;
pub use useful::{Useful, Useless, is_builtin_type};
pub use words::{KEYWORDS, TYPES};

use parser::{Goal, Lexeme, Parser, Sort};
use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

/// What a token adds to a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Nothing that can be in a program.
    None,
    /// The program ends.
    End,
    /// One more byte of the lexeme before.
    Continue(u8),
    /// A lexeme, or its first character.
    Lexeme(String),
}

/// The tokens that programs are written with.
#[derive(Clone, Debug)]
pub struct Grammar {
    pieces: Vec<Piece>,
    ids: HashMap<Piece, u16>,
}

impl Grammar {
    /// Of tokens in the order of their ids; those behind the first 65,536 are left out.
    #[must_use]
    pub fn new(pieces: impl IntoIterator<Item = Piece>) -> Grammar {
        let pieces: Vec<Piece> = pieces.into_iter().collect();
        let numbered = pieces.iter().zip(0..=u16::MAX);
        // Of two that are alike the first counts.
        let ids = numbered.rev().map(|(piece, id)| (piece.clone(), id)).collect();
        Grammar { pieces, ids }
    }

    fn lexeme(&self, text: &str) -> Option<u16> {
        self.ids.get(&Piece::Lexeme(text.to_owned())).copied()
    }

    /// Tokens that spell lexemes; `None` where some cannot be spelled.
    #[must_use]
    pub fn spell(&self, lexemes: &[&str]) -> Option<Vec<u16>> {
        let mut tokens = Vec::new();
        for lexeme in lexemes {
            if let Some(id) = self.lexeme(lexeme) {
                tokens.push(id);
                continue;
            }
            let (first, rest) = lexeme.split_at_checked(1)?;
            tokens.push(self.lexeme(first)?);
            tokens.extend(self.spell_rest(rest)?);
        }
        Some(tokens)
    }

    /// The rest of a lexeme that was begun.
    fn spell_rest(&self, rest: &str) -> Option<Vec<u16>> {
        rest.bytes().map(|byte| self.continued(byte)).collect()
    }

    /// The lexemes that tokens spell.
    #[must_use]
    pub fn lexemes(&self, tokens: &[u16]) -> Vec<String> {
        let mut lexemes: Vec<String> = Vec::new();
        for token in tokens {
            match self.pieces.get(usize::from(*token)) {
                Some(Piece::Lexeme(text)) => lexemes.push(text.clone()),
                Some(Piece::Continue(byte)) => {
                    if let Some(last) = lexemes.last_mut() {
                        last.push(char::from(*byte));
                    }
                }
                _ => {}
            }
        }
        lexemes
    }

    fn continued(&self, byte: u8) -> Option<u16> {
        self.ids.get(&Piece::Continue(byte)).copied()
    }
}

/// A program so far.
#[derive(Clone, Debug)]
pub struct Constraint {
    grammar: Arc<Grammar>,
    parser: Parser,
    /// A lexeme that may still grow.
    pending: String,
    /// The parser with that lexeme read, once it was asked for: all tokens that begin another need it.
    completed: OnceLock<Result<Parser, Refusal>>,
}

impl Constraint {
    /// Before the first token.
    #[must_use]
    pub fn new(grammar: Arc<Grammar>) -> Constraint {
        Constraint::of(grammar, Parser::new(), String::new())
    }

    fn of(grammar: Arc<Grammar>, parser: Parser, pending: String) -> Constraint {
        Constraint { grammar, parser, pending, completed: OnceLock::new() }
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
        let next = |parser, pending| Constraint::of(Arc::clone(&self.grammar), parser, pending);
        match self.grammar.pieces.get(usize::from(token)) {
            None | Some(Piece::None) => Err(Refusal::Syntax),
            Some(Piece::End) => {
                let whole = self.completed()?;
                match whole.may_end() {
                    true => Ok(next(whole.clone(), String::new())),
                    false => Err(Refusal::Syntax),
                }
            }
            Some(Piece::Continue(byte)) => {
                if self.pending.is_empty() || is_complete(&self.pending) || !byte.is_ascii() {
                    return Err(Refusal::Syntax);
                }
                let pending = format!("{}{}", self.pending, char::from(*byte));
                if !is_spelling(&pending) {
                    return Err(Refusal::Syntax);
                }
                check_pending(&self.parser, &pending)?;
                Ok(next(self.parser.clone(), pending))
            }
            Some(Piece::Lexeme(text)) => {
                let whole = self.completed()?;
                let grows = grows(text);
                if let Some(Goal::Exactly(wanted)) = whole.goals.last()
                    && !text.starts_with('#')
                    && !(text == wanted || grows && wanted.starts_with(text.as_str()))
                {
                    return Err(Refusal::Syntax);
                }
                let lexeme = Lexeme::new(text, false);
                if whole.refuses(lexeme) {
                    return Err(Refusal::Syntax);
                }
                let mut parser = whole.clone();
                let read = parser.push(lexeme);
                if !grows {
                    return read.map(|()| next(parser, String::new()));
                }
                // Either it is a lexeme by itself, or the beginning of a longer one.
                if let Err(refusal) = read
                    && check_pending(whole, text).is_err()
                {
                    return Err(refusal);
                }
                Ok(next(whole.clone(), text.clone()))
            }
        }
    }

    /// The parser with the pending lexeme read.
    fn completed(&self) -> Result<&Parser, Refusal> {
        if self.pending.is_empty() {
            return Ok(&self.parser);
        }
        let completed = self.completed.get_or_init(|| {
            if self.pending.starts_with('#') && !self.pending.starts_with("#pragma ") {
                return Err(Refusal::Syntax);
            }
            let mut parser = self.parser.clone();
            parser.push(Lexeme::new(&self.pending, false)).map(|()| parser)
        });
        completed.as_ref().map_err(|refusal| *refusal)
    }

    /// Whether the program may end here.
    #[must_use]
    pub fn may_end(&self) -> bool {
        self.completed().is_ok_and(Parser::may_end)
    }

    /// Whether nothing is open: what comes next is a declaration or the end.
    #[must_use]
    pub fn at_file_scope(&self) -> bool {
        self.completed().is_ok_and(Parser::at_file_scope)
    }

    /// Keep what stands around this place as it is: from here on no block is closed that is open, no declaration ended
    /// that was begun, and no name of `after`, what stands behind this place, hidden. Between two statements whole
    /// statements are added, and within an expression a part of it: between `if (` and `)` a condition.
    /// At file scope there is nothing to keep.
    pub fn hold(&mut self, after: &[u16]) {
        let words = self.grammar.lexemes(after);
        let whole = self.at_statement() && self.joins(after);
        let parser = &self.parser;
        let symbols = parser.scopes.last().map_or(0, |scope| scope.symbols.len());
        let named = |name: &str| words.iter().any(|word| word == name);
        let names = parser.visible().map(|(name, _)| name).filter(|name| named(name));
        let (blocks, scopes) = (parser.blocks(), parser.scopes.len());
        let names = names.cloned().collect();
        let next = words.first().map_or("", String::as_str);
        let goals = self.completed().map_or(0, |read| read.kept_open(next));
        let held = parser::Held { blocks, scopes, symbols, names, whole, goals };
        self.parser.held = (!self.at_file_scope()).then_some(held);
        self.completed = OnceLock::new();
    }

    /// Whether what is added here is a part of an expression, or of a declaration, that goes on behind this place.
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.parser.held.as_ref().is_some_and(|held| held.goals > 0)
    }

    /// Whether no block is open but those that are kept open.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.parser.held.as_ref().is_some_and(|held| held.blocks == self.parser.blocks())
    }

    /// Whether the program may end behind `after`, which closes what was kept open.
    #[must_use]
    pub fn joins(&self, after: &[u16]) -> bool {
        let mut end = self.clone();
        end.completed = OnceLock::new();
        let held = end.parser.held.take();
        let Ok(parser) = end.completed() else { return false };
        if held.is_some_and(|held| held.whole)
            && !matches!(parser.waiting(), Some(Goal::Block { .. }))
        {
            return false;
        }
        after.iter().all(|token| end.push(*token).is_ok()) && end.may_end()
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
                || matches!(self.parser.goals.last(), Some(Goal::Block { .. })))
    }
}

/// Whether a parser takes the beginning of a lexeme.
fn check_pending(parser: &Parser, pending: &str) -> Result<(), Refusal> {
    let lexeme = Lexeme::new(pending, true);
    let begins = "#pragma ".starts_with(pending) || pending.starts_with("#pragma ");
    if lexeme.sort == Sort::Directive && !begins {
        return Err(Refusal::Syntax);
    }
    parser.clone().push(lexeme)
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
