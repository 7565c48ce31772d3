//! Rust.

use super::{
    Lexer,
    cursor::Cursor,
    token::{Kind, Lexed},
};
use std::collections::HashMap;

pub(super) struct Rust;

impl Lexer for Rust {
    fn lex<'a>(&self, text: &'a str) -> Lexed<'a> {
        let mut cursor = Cursor::new(text);
        while let Some(byte) = cursor.byte() {
            match byte {
                b'/' if cursor.starts("//") => cursor.skip_line(),
                b'/' if cursor.starts("/*") => comment(&mut cursor),
                b'"' => string(&mut cursor),
                b'\'' => character_or_lifetime(&mut cursor),
                _ if byte.is_ascii_alphanumeric() || byte == b'_' => {
                    let word = cursor.word();
                    let raw = matches!(word, "r" | "br" | "cr");
                    let next = cursor.byte();
                    if raw && matches!(next, Some(b'"' | b'#')) {
                        raw_string(&mut cursor);
                    } else if matches!(word, "b" | "c") && next == Some(b'"') {
                        cursor.tokens.pop();
                    }
                }
                _ => cursor.mark(),
            }
        }
        Lexed::new(cursor.tokens, HashMap::new(), false)
    }
}

fn comment(cursor: &mut Cursor<'_>) {
    let mut depth = 0_usize;
    while cursor.byte().is_some() {
        if cursor.starts("/*") {
            depth += 1;
            cursor.at += 2;
        } else if cursor.starts("*/") {
            depth -= 1;
            cursor.at += 2;
            if depth == 0 {
                return;
            }
        } else {
            cursor.at += 1;
            while !cursor.text.is_char_boundary(cursor.at) {
                cursor.at += 1;
            }
        }
    }
}

/// `'x'` and `'\n'` are characters, `'a` is a lifetime.
fn character_or_lifetime(cursor: &mut Cursor<'_>) {
    let mut characters = cursor.rest().char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => {
            // The longest is '\u{10ffff}'.
            let close = characters.skip(1).take(10).find(|(_, character)| *character == '\'');
            cursor.at += close.map_or(1, |(at, _)| at + 1);
        }
        Some(_) => {
            cursor.at += match characters.next() {
                Some((at, '\'')) => at + 1,
                _ => 1,
            };
        }
        None => cursor.at += 1,
    }
}

/// `"..."` or `#"..."#` behind the `r`, whose token stands last.
fn raw_string(cursor: &mut Cursor<'_>) {
    let hashes = cursor.rest().bytes().take_while(|byte| *byte == b'#').count();
    if cursor.peek(hashes) != Some(b'"') {
        return;
    }
    cursor.tokens.pop();
    let from = cursor.at;
    let start = from + hashes + 1;
    let end = format!("\"{}", "#".repeat(hashes));
    let Some(length) = memchr::memmem::find(&cursor.text.as_bytes()[start..], end.as_bytes())
    else {
        cursor.at = cursor.text.len();
        return;
    };
    let value = cursor.text[start..start + length].to_owned();
    cursor.at = start + length + end.len();
    cursor.push(Kind::Text(value), from);
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
            b'\\' => {
                cursor.at += 1;
                if matches!(cursor.byte(), Some(b'\n' | b'\r')) {
                    // A line's end and the white space after it are left out.
                    while cursor.byte().is_some_and(|byte| byte.is_ascii_whitespace()) {
                        cursor.at += 1;
                    }
                } else {
                    cursor.escape(&mut value);
                }
            }
            _ => cursor.take(&mut value),
        }
    }
}
