//! C, C++, Objective-C.

use super::{
    Lexer,
    cursor::Cursor,
    token::{Kind, Lexed, Macro},
};
use lexer::{Dialect, Token};
use std::collections::HashMap;

pub(super) struct C;

impl Lexer for C {
    fn lex<'a>(&self, text: &'a str) -> Lexed<'a> {
        let mut cursor = Cursor::new(text);
        let mut macros = HashMap::new();
        for token in Dialect::HOST.tokens(text) {
            cursor.at = token.begin;
            match token.kind {
                lexer::Kind::Directive => directive(&mut cursor, &token, &mut macros),
                lexer::Kind::Literal => literal(&mut cursor, &token),
                lexer::Kind::Word | lexer::Kind::Number => {
                    cursor.at = token.end();
                    cursor.push(Kind::Word, token.begin);
                }
                lexer::Kind::Punctuation => {
                    while cursor.at < token.end() {
                        cursor.mark();
                    }
                }
            }
        }
        Lexed::new(cursor.tokens, macros, true)
    }
}

/// The value of a string literal; those of characters are skipped.
fn literal(cursor: &mut Cursor<'_>, token: &Token<'_>) {
    let Some(quote) = token.text.find(['"', '\'']) else { return };
    let raw = token.text[..quote].ends_with('R');
    cursor.at += quote;
    match token.text.as_bytes()[quote] {
        b'"' if raw => raw_string(cursor),
        b'"' => string(cursor),
        _ => {}
    }
}

fn string(cursor: &mut Cursor<'_>) {
    let from = cursor.at;
    cursor.at += 1;
    let mut value = String::new();
    while let Some(byte) = cursor.byte() {
        match byte {
            b'"' => {
                cursor.at += 1;
                return cursor.push(Kind::Text(value), from);
            }
            // A literal ends on its line: this quote opened none.
            b'\n' => break,
            b'\\' => {
                cursor.at += 1;
                if cursor.starts("\r\n") {
                    cursor.at += 2;
                } else if cursor.byte() == Some(b'\n') {
                    cursor.at += 1;
                } else {
                    cursor.escape(&mut value);
                }
            }
            _ => cursor.take(&mut value),
        }
    }
    // The text up to the line's end is skipped, lest each quote in it be tried again.
    cursor.push(Kind::Mark(b'"'), from);
}

/// `"delimiter(` to `)delimiter"`; `at` is on the quote.
fn raw_string(cursor: &mut Cursor<'_>) {
    let from = cursor.at;
    let rest = cursor.rest();
    // The standard allows 16 characters of delimiter.
    let Some(open) = rest.bytes().take(18).position(|byte| byte == b'(') else {
        return string(cursor);
    };
    let end = format!("){}\"", &rest[1..open]);
    let Some(length) = memchr::memmem::find(&rest.as_bytes()[open + 1..], end.as_bytes()) else {
        cursor.at = cursor.text.len();
        return;
    };
    let value = rest[open + 1..open + 1 + length].to_owned();
    cursor.at += open + 1 + length + end.len();
    cursor.push(Kind::Text(value), from);
}

/// A preprocessor line with its continuations.
fn directive<'a>(
    cursor: &mut Cursor<'a>,
    token: &Token<'a>,
    macros: &mut HashMap<&'a str, Macro<'a>>,
) {
    let from = token.begin;
    cursor.at = token.end();
    let line = token.text[1..].trim_start();
    let split = line.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(line.len());
    let (name, rest) = line.split_at(split);
    let rest = rest.trim_start();
    match name {
        "include" => {
            let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
            if let Some((path, _)) = quoted {
                cursor.push(Kind::Include(path.to_owned()), from);
            }
        }
        "if" | "ifdef" | "ifndef" => cursor.push(Kind::If, from),
        "else" | "elif" | "elifdef" | "elifndef" => cursor.push(Kind::Else, from),
        "endif" => cursor.push(Kind::End, from),
        "define" => {
            let split = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (name, rest) = rest.split_at(split.unwrap_or(rest.len()));
            let (parameters, body) = match rest.strip_prefix('(').and_then(|r| r.split_once(')')) {
                Some((list, body)) => (Some(list.split(',').map(str::trim).collect()), body),
                None => (None, rest),
            };
            macros.insert(name, Macro { parameters, body });
        }
        _ => {}
    }
}
