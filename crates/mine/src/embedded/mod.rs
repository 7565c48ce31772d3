//! Kernels in the strings of other programs.
//!
//! Many projects ship their kernels inside the host program: as literals that stand side by side,
//! raw strings, the argument of a stringifying macro, or lines sent one after another into a string
//! builder. A lexer per language ([`Lexer`], one member a file) finds the literals and their values;
//! `join` puts together what the program would. Both run in linear time and never fail: text that
//! is no program of the language gives fewer literals.

mod c;
mod curly;
mod cursor;
mod join;
mod julia;
mod macros;
mod python;
mod rust;
mod template;
mod token;

use crate::{kernel, tree::Host};
use dataset::Language;
use token::{Kind, Lexed};

/// Finds the string literals of one language.
trait Lexer {
    /// The tokens of `text`, comments left out.
    fn lex<'a>(&self, text: &'a str) -> Lexed<'a>;
}

fn lexer(host: Host) -> &'static dyn Lexer {
    match host {
        Host::C => &c::C,
        Host::Python => &python::Python,
        Host::Rust => &rust::Rust,
        Host::Julia => &julia::Julia,
        Host::Curly => &curly::Curly,
    }
}

/// A kernel source found in a host program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// Line of the host program it begins on, from 1.
    pub line: u32,
    /// The string's value, as the host program would have it.
    pub text: String,
    /// Whether the host program fills holes in it: each is filled with its own name here.
    pub template: bool,
}

/// What answers to a `#include` of a file whose content is a string literal.
pub(crate) type Includes<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The strings of `text` that hold a kernel in `language`.
pub(crate) fn extract(
    host: Host,
    text: &str,
    language: Language,
    includes: &Includes<'_>,
) -> Vec<Embedded> {
    let lexed = lexer(host).lex(text);
    let mut found = join::runs(host, text, &lexed, includes);
    found.retain(|one| kernel::holds_kernel(&one.text, language));
    found
}

/// The value of an OpenCL file that is itself written as one C++ literal, for the host program to
/// include; `None` for any other.
pub(crate) fn unwrap(text: &str) -> Option<String> {
    if !begins_like_a_literal(text) {
        return None;
    }
    let lexed = c::C.lex(text);
    let first = lexed
        .tokens
        .iter()
        .position(|token| !matches!(token.kind, Kind::If | Kind::Else | Kind::End))?;
    let literal = matches!(lexed.tokens[first].kind, Kind::Text(_));
    let call = matches!(lexed.tokens[first].kind, Kind::Word)
        && lexed.tokens.get(first + 1).is_some_and(|token| token.is(b'('))
        && lexed.closing(first + 1).is_some_and(|close| close + 2 >= lexed.tokens.len());
    if !literal && !call {
        return None;
    }
    let mut values = join::runs(Host::C, text, &lexed, &|_| None).into_iter().map(|run| run.text);
    let first = values.next()?;
    Some(values.fold(first, |all, one| all + &one))
}

/// A look at the first token, so that files of plain OpenCL need not be read to their end: a quote,
/// or a word and a bracket or quote.
fn begins_like_a_literal(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let behind = if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/")
        } else if rest.starts_with("//") {
            rest.split_once('\n')
        } else {
            break;
        };
        let Some((_, behind)) = behind else { return false };
        rest = behind.trim_start();
    }
    // Macros may be defined first.
    if rest.starts_with('#') {
        return rest
            .lines()
            .any(|line| line.trim_start().starts_with(['"', 'R']) || line.contains("STRING"));
    }
    let word = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    word.trim_start().starts_with(['"', '('])
}

#[cfg(test)]
mod tests;
