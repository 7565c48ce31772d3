//! Java, C#, Scala, Kotlin, Go, JavaScript and TypeScript, as far as their literals go.

use super::{
    Lexer,
    cursor::{Cursor, hole_name},
    token::{Kind, Lexed},
};
use std::collections::HashMap;

pub(super) struct Curly;

impl Lexer for Curly {
    fn lex<'a>(&self, text: &'a str) -> Lexed<'a> {
        let mut cursor = Cursor::new(text);
        while let Some(byte) = cursor.byte() {
            let from = cursor.at;
            match byte {
                b'/' if cursor.starts("//") => cursor.skip_line(),
                b'/' if cursor.starts("/*") => {
                    cursor.at += 2;
                    cursor.skip_past("*/");
                }
                b'"' if cursor.starts("\"\"\"") => {
                    cursor.at += 3;
                    let start = cursor.at;
                    cursor.skip_past("\"\"\"");
                    let value = text[start..cursor.at].strip_suffix("\"\"\"");
                    if let Some(value) = value.map(str::to_owned) {
                        cursor.push(Kind::Text(value), from);
                    }
                }
                b'@' if cursor.starts("@\"") => verbatim(&mut cursor),
                b'`' => backticks(&mut cursor),
                b'"' | b'\'' => string(&mut cursor, byte),
                _ if byte.is_ascii_alphanumeric() || byte == b'_' => {
                    cursor.word();
                }
                _ => cursor.mark(),
            }
        }
        Lexed::new(cursor.tokens, HashMap::new(), false)
    }
}

fn string(cursor: &mut Cursor<'_>, quote: u8) {
    let from = cursor.at;
    cursor.at += 1;
    let mut value = String::new();
    while let Some(byte) = cursor.byte() {
        match byte {
            b'\n' => break,
            b'\\' => {
                cursor.at += 1;
                if cursor.byte() == Some(b'\n') {
                    cursor.at += 1;
                } else {
                    cursor.escape(&mut value);
                }
            }
            _ if byte == quote => {
                cursor.at += 1;
                return cursor.push(Kind::Text(value), from);
            }
            _ => cursor.take(&mut value),
        }
    }
    cursor.push(Kind::Mark(quote), from);
}

/// C#'s `@"..."`, in which a quote is written twice.
fn verbatim(cursor: &mut Cursor<'_>) {
    let from = cursor.at;
    cursor.at += 2;
    let mut value = String::new();
    while let Some(byte) = cursor.byte() {
        match byte {
            b'"' if cursor.peek(1) == Some(b'"') => {
                value.push('"');
                cursor.at += 2;
            }
            b'"' => {
                cursor.at += 1;
                return cursor.push(Kind::Text(value), from);
            }
            _ => cursor.take(&mut value),
        }
    }
}

/// Go's raw strings and JavaScript's templates; neither escapes anything a kernel holds.
fn backticks(cursor: &mut Cursor<'_>) {
    let from = cursor.at;
    cursor.at += 1;
    let mut value = String::new();
    let mut holes = false;
    while let Some(byte) = cursor.byte() {
        match byte {
            b'`' => {
                cursor.at += 1;
                let kind = if holes { Kind::Template(value) } else { Kind::Text(value) };
                return cursor.push(kind, from);
            }
            b'$' if cursor.peek(1) == Some(b'{') => {
                holes = true;
                let start = cursor.at + 2;
                let line = &cursor.text[start..];
                let close = line.bytes().take(256).position(|byte| byte == b'}');
                value.push_str(hole_name(&line[..close.unwrap_or(0)]));
                cursor.at = start + close.map_or(0, |close| close + 1);
            }
            _ => cursor.take(&mut value),
        }
    }
}
