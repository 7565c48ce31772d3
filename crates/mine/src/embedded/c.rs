//! C, C++, Objective-C.

use super::{
    Lexer,
    cursor::Cursor,
    token::{Kind, Lexed, Macro},
};
use std::collections::HashMap;

pub(super) struct C;

impl Lexer for C {
    fn lex<'a>(&self, text: &'a str) -> Lexed<'a> {
        let mut cursor = Cursor::new(text);
        let mut macros = HashMap::new();
        let mut line_start = true;
        while let Some(byte) = cursor.byte() {
            match byte {
                b'\n' => {
                    cursor.at += 1;
                    line_start = true;
                    continue;
                }
                b'\\' if cursor.starts("\\\n") => cursor.at += 2,
                b' ' | b'\t' | b'\r' => {
                    cursor.at += 1;
                    continue;
                }
                b'/' if cursor.starts("//") => cursor.skip_line(),
                b'/' if cursor.starts("/*") => {
                    cursor.at += 2;
                    cursor.skip_past("*/");
                    continue;
                }
                b'#' if line_start => directive(&mut cursor, &mut macros),
                b'"' => string(&mut cursor),
                b'\'' => character(&mut cursor),
                b'0'..=b'9' => number(&mut cursor),
                _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                    let prefix = cursor.word();
                    let raw = matches!(prefix, "R" | "LR" | "uR" | "UR" | "u8R");
                    if cursor.byte() == Some(b'"') && raw {
                        cursor.tokens.pop();
                        raw_string(&mut cursor);
                    } else if cursor.byte() == Some(b'"')
                        && matches!(prefix, "L" | "u" | "U" | "u8")
                    {
                        cursor.tokens.pop();
                    }
                }
                _ => cursor.mark(),
            }
            line_start = false;
        }
        Lexed::new(cursor.tokens, macros, true)
    }
}

/// A number with its digit separators, so that they open no character literal.
fn number(cursor: &mut Cursor<'_>) {
    let from = cursor.at;
    while let Some(byte) = cursor.byte() {
        let digit_follows = cursor.peek(1).is_some_and(|next| next.is_ascii_alphanumeric());
        if !(byte.is_ascii_alphanumeric()
            || byte == b'_'
            || byte == b'.'
            || byte == b'\'' && digit_follows)
        {
            break;
        }
        cursor.at += 1;
    }
    cursor.push(Kind::Word, from);
}

/// A character literal; what is none is passed over as punctuation.
fn character(cursor: &mut Cursor<'_>) {
    let line = cursor.rest().as_bytes();
    let mut at = 1;
    while at < line.len().min(12) {
        match line[at] {
            b'\\' => at += 2,
            b'\n' => break,
            b'\'' => {
                // A multi-byte character cannot end in the byte of a quote.
                cursor.at += at + 1;
                return;
            }
            _ => at += 1,
        }
    }
    cursor.mark();
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
    // The text up to the line's end is passed over, lest each quote in it be tried again.
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
fn directive<'a>(cursor: &mut Cursor<'a>, macros: &mut HashMap<&'a str, Macro<'a>>) {
    let from = cursor.at;
    loop {
        cursor.skip_line();
        let line = cursor.text[from..cursor.at].trim_end_matches('\r');
        if !line.ends_with('\\') || cursor.at >= cursor.text.len() {
            break;
        }
        cursor.at += 1;
    }
    let line = cursor.text[from + 1..cursor.at].trim_start();
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
