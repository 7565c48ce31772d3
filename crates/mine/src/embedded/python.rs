//! Python and Cython.

use super::{
    Lexer,
    cursor::{Cursor, hole_name},
    token::{Kind, Lexed},
};
use std::collections::HashMap;

/// Bytes in which a hole must close.
const HOLE: usize = 256;

pub(super) struct Python;

impl Lexer for Python {
    fn lex<'a>(&self, text: &'a str) -> Lexed<'a> {
        let mut cursor = Cursor::new(text);
        // Brackets that are open: in them a line's end ends nothing.
        let mut depth = 0_usize;
        while let Some(byte) = cursor.byte() {
            match byte {
                b'#' => cursor.skip_line(),
                b'\\' if cursor.starts("\\\n") => cursor.at += 2,
                b'\n' => {
                    let from = cursor.at;
                    cursor.at += 1;
                    if depth == 0 {
                        cursor.push(Kind::Mark(b'\n'), from);
                    }
                }
                b'"' | b'\'' => {
                    let from = cursor.at;
                    string(&mut cursor, "", from);
                }
                _ if byte.is_ascii_alphanumeric() || byte == b'_' => {
                    let from = cursor.at;
                    let word = cursor.word();
                    let quote = matches!(cursor.byte(), Some(b'"' | b'\''));
                    if quote && word.len() <= 2 && word.bytes().all(|b| b"rbufRBUF".contains(&b)) {
                        cursor.tokens.pop();
                        string(&mut cursor, word, from);
                    }
                }
                _ => {
                    match byte {
                        b'(' | b'[' | b'{' => depth += 1,
                        b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    cursor.mark();
                }
            }
        }
        Lexed::new(cursor.tokens, HashMap::new(), true)
    }
}

fn string(cursor: &mut Cursor<'_>, prefix: &str, from: usize) {
    let has =
        |letter: char| prefix.contains(letter) || prefix.contains(letter.to_ascii_uppercase());
    let (raw, format) = (has('r'), has('f'));
    let quote = if cursor.byte() == Some(b'"') { "\"" } else { "'" };
    let triple = quote.repeat(3);
    let end = if cursor.starts(&triple) { triple.as_str() } else { quote };
    cursor.at += end.len();
    let mut value = String::new();
    while let Some(byte) = cursor.byte() {
        if cursor.starts(end) {
            cursor.at += end.len();
            let kind = if format { Kind::Template(value) } else { Kind::Text(value) };
            return cursor.push(kind, from);
        }
        match byte {
            b'\n' if end.len() == 1 => break,
            b'\\' if raw => {
                cursor.take(&mut value);
                cursor.take(&mut value);
            }
            b'\\' => {
                cursor.at += 1;
                match cursor.byte() {
                    Some(b'\n') => cursor.at += 1,
                    Some(b'n' | b't' | b'r' | b'a' | b'b' | b'f' | b'v' | b'x' | b'u' | b'U')
                    | Some(b'0'..=b'7' | b'\\' | b'\'' | b'"') => cursor.escape(&mut value),
                    // Python keeps the backslash of an escape that it does not know.
                    _ => value.push('\\'),
                }
            }
            b'{' | b'}' if format && cursor.peek(1) == Some(byte) => {
                value.push(char::from(byte));
                cursor.at += 2;
            }
            b'{' if format => {
                let rest = cursor.rest();
                let close = rest.bytes().take(HOLE).position(|byte| byte == b'}');
                match close {
                    Some(close) => {
                        let expression = &rest[1..close];
                        let expression = expression.split([':', '!']).next().unwrap_or(expression);
                        value.push_str(hole_name(expression));
                        cursor.at += close + 1;
                    }
                    None => cursor.take(&mut value),
                }
            }
            _ => cursor.take(&mut value),
        }
    }
    cursor.push(Kind::Mark(b'"'), from);
}
