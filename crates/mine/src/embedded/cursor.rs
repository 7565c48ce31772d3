use super::token::{Kind, Token};

/// A place in a text, and the tokens found before it.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) tokens: Vec<Token>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0, tokens: Vec::new() }
    }

    pub(super) fn byte(&self) -> Option<u8> {
        self.peek(0)
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// The rest; `at` always stands on a character's first byte.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn starts(&self, with: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(with.as_bytes())
    }

    /// Move behind the next `what`, or to the end.
    pub(super) fn skip_past(&mut self, what: &str) {
        let found = memchr::memmem::find(&self.text.as_bytes()[self.at..], what.as_bytes());
        self.at = found.map_or(self.text.len(), |offset| self.at + offset + what.len());
    }

    /// Move to the end of the line.
    pub(super) fn skip_line(&mut self) {
        let found = memchr::memchr(b'\n', &self.text.as_bytes()[self.at..]);
        self.at = found.map_or(self.text.len(), |offset| self.at + offset);
    }

    pub(super) fn push(&mut self, kind: Kind, from: usize) {
        self.tokens.push(Token { kind, from, to: self.at });
    }

    /// Take an identifier or number.
    pub(super) fn word(&mut self) -> &'a str {
        let from = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.at += 1;
        }
        self.push(Kind::Word, from);
        &self.text[from..self.at]
    }

    /// Take one character as punctuation, or pass over it where it is none.
    pub(super) fn mark(&mut self) {
        let from = self.at;
        let Some(character) = self.rest().chars().next() else { return };
        self.at += character.len_utf8();
        if character.is_ascii() && !character.is_whitespace() {
            self.push(Kind::Mark(character as u8), from);
        }
    }

    /// Take one character into `value`.
    pub(super) fn take(&mut self, value: &mut String) {
        if let Some(character) = self.rest().chars().next() {
            value.push(character);
            self.at += character.len_utf8();
        }
    }

    /// Take at most `most` hexadecimal digits.
    fn hexadecimal(&mut self, most: usize) -> u32 {
        let mut value = 0_u32;
        for _ in 0..most {
            let Some(digit) = self.byte().and_then(|byte| char::from(byte).to_digit(16)) else {
                break;
            };
            value = value.wrapping_mul(16).wrapping_add(digit);
            self.at += 1;
        }
        value
    }

    /// Take an escape sequence as C, Python and most others have them; `at` is behind the
    /// backslash.
    pub(super) fn escape(&mut self, value: &mut String) {
        let Some(byte) = self.byte() else { return };
        let simple = match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'a' => '\x07',
            b'b' => '\x08',
            b'f' => '\x0c',
            b'v' => '\x0b',
            b'e' => '\x1b',
            b'0'..=b'7' => {
                let mut code = 0_u32;
                for _ in 0..3 {
                    let Some(digit @ b'0'..=b'7') = self.byte() else { break };
                    code = code * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                value.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                return;
            }
            b'x' | b'u' | b'U' => {
                self.at += 1;
                let code = if byte != b'U' && self.byte() == Some(b'{') {
                    self.at += 1;
                    let code = self.hexadecimal(8);
                    if self.byte() == Some(b'}') {
                        self.at += 1;
                    }
                    code
                } else {
                    self.hexadecimal(match byte {
                        b'x' => 2,
                        b'u' => 4,
                        _ => 8,
                    })
                };
                value.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                return;
            }
            _ => return self.take(value),
        };
        value.push(simple);
        self.at += 1;
    }
}

/// The name that stands for a hole: the last identifier of the expression that fills it.
pub(super) fn hole_name(expression: &str) -> &str {
    expression
        .rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .find(|word| !word.is_empty())
        .unwrap_or("hole")
}
