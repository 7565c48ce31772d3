//! Julia.

use super::{
    Lexer,
    cursor::Cursor,
    token::{Kind, Lexed},
};
use std::collections::HashMap;

pub(super) struct Julia;

impl Lexer for Julia {
    fn lex<'a>(&self, text: &'a str) -> Lexed<'a> {
        let mut cursor = Cursor::new(text);
        while let Some(byte) = cursor.byte() {
            match byte {
                b'#' if cursor.starts("#=") => cursor.skip_past("=#"),
                b'#' => cursor.skip_line(),
                b'"' => string(&mut cursor),
                _ if byte.is_ascii_alphanumeric() || byte == b'_' => {
                    cursor.word();
                }
                _ => cursor.mark(),
            }
        }
        Lexed::new(cursor.tokens, HashMap::new(), false)
    }
}

fn string(cursor: &mut Cursor<'_>) {
    let from = cursor.at;
    let end = if cursor.starts("\"\"\"") { "\"\"\"" } else { "\"" };
    cursor.at += end.len();
    let mut value = String::new();
    let mut holes = false;
    while let Some(byte) = cursor.byte() {
        if cursor.starts(end) {
            cursor.at += end.len();
            let kind = if holes { Kind::Template(value) } else { Kind::Text(value) };
            return cursor.push(kind, from);
        }
        match byte {
            b'\\' => {
                cursor.at += 1;
                if cursor.byte() == Some(b'\n') {
                    cursor.at += 1;
                } else {
                    cursor.escape(&mut value);
                }
            }
            // `$name` and `$(expression)`: the name alone is left.
            b'$' => {
                holes = true;
                cursor.at += 1;
                if cursor.byte() == Some(b'(') {
                    cursor.at += 1;
                    while let Some(byte) = cursor.byte().filter(|byte| !b")\n".contains(byte)) {
                        if byte.is_ascii_alphanumeric() || byte == b'_' {
                            value.push(char::from(byte));
                        }
                        cursor.take(&mut String::new());
                    }
                    if cursor.byte() == Some(b')') {
                        cursor.at += 1;
                    }
                }
            }
            _ => cursor.take(&mut value),
        }
    }
}
