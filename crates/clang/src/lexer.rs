//! Tokens of OpenCL C text, cheaply and without judging it.
//!
//! clang is asked for everything that needs meaning; what needs spelling alone (cutting text at
//! file scope, counting vocabularies, finding how an unknown name is used) happens here, on texts
//! of megabytes.

use std::collections::HashSet;

/// Tokens of a kernel's head up to its name, at most.
const LONGEST_HEAD: usize = 4096;

/// What a [`Token`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Identifier or keyword.
    Word,
    /// Number.
    Number,
    /// Character or string literal.
    Text,
    /// Operator or punctuation.
    Punctuation,
    /// A preprocessor directive, its whole logical line.
    Directive,
}

/// A token: its kind, its text and where that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its spelling.
    pub text: &'a str,
    /// Byte offset of its first byte.
    pub begin: usize,
}

impl Token<'_> {
    /// Byte offset behind it.
    #[must_use]
    pub fn end(&self) -> usize {
        self.begin + self.text.len()
    }

    /// Whether it is the word or operator `text`.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.text == text && !matches!(self.kind, Kind::Text | Kind::Directive)
    }
}

/// The tokens of a text; comments and white space are passed over.
#[must_use]
pub fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, bytes: text.as_bytes(), at: 0, line_start: true }
}

/// See [`tokens`].
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line_start: bool,
}

/// Bytes of the longest operator that `rest` begins with.
fn operator_length(rest: &[u8]) -> usize {
    let at = |at: usize| rest.get(at).copied().unwrap_or_default();
    match (rest[0], at(1), at(2)) {
        (b'<', b'<', b'=') | (b'>', b'>', b'=') | (b'.', b'.', b'.') => 3,
        (b'-', b'>', _)
        | (b'+', b'+', _)
        | (b'-', b'-', _)
        | (b'<', b'<', _)
        | (b'>', b'>', _)
        | (b'&', b'&', _)
        | (b'|', b'|', _)
        | (b'#', b'#', _)
        | (
            b'<' | b'>' | b'=' | b'!' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^',
            b'=',
            _,
        ) => 2,
        _ => 1,
    }
}

/// Whether an identifier may hold `byte`.
#[must_use]
pub fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

impl<'a> Tokens<'a> {
    fn skip_blank(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => self.line_start = true,
                b'\\' if matches!(self.bytes.get(self.at + 1), Some(b'\n')) => self.at += 1,
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {}
                b'/' if self.bytes.get(self.at + 1) == Some(&b'/') => {
                    self.at = self.line_end(self.at) - 1;
                }
                b'/' if self.bytes.get(self.at + 1) == Some(&b'*') => {
                    self.at = self.comment_end(self.at) - 1;
                }
                _ => return,
            }
            self.at += 1;
        }
    }

    fn comment_end(&self, from: usize) -> usize {
        let rest = &self.text.as_bytes()[(from + 2).min(self.bytes.len())..];
        match memory_find(rest, b"*/") {
            Some(at) => from + 2 + at + 2,
            None => self.bytes.len(),
        }
    }

    /// Where the logical line that holds `from` ends: at its line feed or at the text's end.
    fn line_end(&self, mut from: usize) -> usize {
        while from < self.bytes.len() && self.bytes[from] != b'\n' {
            let continued = self.bytes[from] == b'\\'
                && (self.bytes.get(from + 1) == Some(&b'\n')
                    || self.bytes[from + 1..].starts_with(b"\r\n"));
            from += if continued && self.bytes.get(from + 1) == Some(&b'\r') {
                3
            } else {
                1 + usize::from(continued)
            };
        }
        from.min(self.bytes.len())
    }

    /// The same, but a comment that spans lines carries a directive on.
    fn directive_end(&self, mut from: usize) -> usize {
        while from < self.bytes.len() && self.bytes[from] != b'\n' {
            if self.bytes[from..].starts_with(b"/*") {
                from = self.comment_end(from);
            } else if self.bytes[from..].starts_with(b"//") {
                return self.line_end(from);
            } else if self.bytes[from] == b'\\' {
                from += if self.bytes[from + 1..].starts_with(b"\r\n") { 3 } else { 2 };
            } else {
                from += 1;
            }
        }
        from.min(self.bytes.len())
    }

    fn literal_end(&self, from: usize, quote: u8) -> usize {
        let mut at = from + 1;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\\' => at += 2,
                b'\n' => return at,
                _ if byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        self.bytes.len()
    }

    fn number_end(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(&byte) = self.bytes.get(at) {
            let exponent = matches!(byte, b'+' | b'-')
                && matches!(self.bytes[at - 1], b'e' | b'E' | b'p' | b'P')
                && !(self.bytes[from..].starts_with(b"0x")
                    && matches!(self.bytes[at - 1], b'e' | b'E'));
            if !(byte.is_ascii_alphanumeric()
                || byte == b'.'
                || byte == b'_'
                || (at > from && exponent))
            {
                break;
            }
            at += 1;
        }
        at
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_blank();
        let begin = self.at;
        let rest = self.bytes.get(begin..).filter(|rest| !rest.is_empty())?;
        let first = rest[0];
        let digit = first.is_ascii_digit()
            || (first == b'.' && rest.get(1).is_some_and(u8::is_ascii_digit));
        let (kind, end) = if first == b'#' && self.line_start {
            (Kind::Directive, self.directive_end(begin))
        } else if digit {
            (Kind::Number, self.number_end(begin))
        } else if is_word_byte(first) {
            let length = rest.iter().position(|byte| !is_word_byte(*byte)).unwrap_or(rest.len());
            (Kind::Word, begin + length)
        } else if first == b'"' || first == b'\'' {
            (Kind::Text, self.literal_end(begin, first))
        } else {
            (Kind::Punctuation, begin + operator_length(rest))
        };
        let mut end = end.min(self.bytes.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        self.line_start = false;
        self.at = end;
        Some(Token { kind, text: &self.text[begin..end], begin })
    }
}

fn memory_find(within: &[u8], what: &[u8]) -> Option<usize> {
    let first = what[0];
    let mut from = 0;
    while let Some(at) = within[from..].iter().position(|byte| *byte == first) {
        if within[from + at..].starts_with(what) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// The place of the parenthesis that closes what opens at `from` or behind it; the number of tokens
/// where none does.
#[must_use]
pub fn closing(all: &[Token<'_>], from: usize) -> usize {
    let mut depth = 0;
    for (at, token) in all.iter().enumerate().skip(from) {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth -= 1;
            if depth == 0 {
                return at;
            }
        }
    }
    all.len()
}

/// Names of the kernels whose heads stand in a text as found, inactive ones included: words that mean
/// `__kernel` here, followed by `void`, a name and a parameter list.
#[must_use]
pub fn kernel_heads(text: &str) -> Vec<&str> {
    let all: Vec<Token<'_>> = tokens(text).collect();
    let mut aliases = HashSet::from(["__kernel", "kernel"]);
    for token in all.iter().filter(|token| token.kind == Kind::Directive) {
        let words: Vec<&str> = token.text.split_whitespace().collect();
        if let [hash, name, rest @ ..] = words.as_slice()
            && matches!(*hash, "#define")
            && !name.contains('(')
            && rest.first().is_some_and(|word| matches!(*word, "__kernel" | "kernel"))
        {
            aliases.insert(*name);
        }
    }
    let mut names = Vec::new();
    for (at, token) in all.iter().enumerate() {
        if token.kind != Kind::Word || !aliases.contains(token.text) {
            continue;
        }
        // `__kernel __attribute__((...)) void name (`: the head ends at the list after `void NAME`.
        let rest = &all[at + 1..(at + LONGEST_HEAD).min(all.len())];
        let mut void = rest
            .iter()
            .take(64)
            .take_while(|t| !t.is(";") && !t.is("{") && t.kind != Kind::Directive);
        let Some(void) = void.position(|t| t.is("void")) else { continue };
        let mut rest = &rest[void + 1..];
        while rest.first().is_some_and(|token| token.is("__attribute__")) {
            rest = rest.get(closing(rest, 1) + 1..).unwrap_or_default();
        }
        if let [name, paren, ..] = rest
            && name.kind == Kind::Word
            && paren.is("(")
        {
            names.push(name.text);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).map(|token| token.text).collect()
    }

    #[test]
    fn comments_vanish_and_operators_are_longest() {
        assert_eq!(
            texts("a+++b /* x \n */ >>= 1.0e-3f // end"),
            ["a", "++", "+", "b", ">>=", "1.0e-3f"]
        );
    }

    #[test]
    fn a_directive_is_one_token_over_continued_lines() {
        assert_eq!(
            texts("#define A(x) \\\n  x\nint a;"),
            ["#define A(x) \\\n  x", "int", "a", ";"]
        );
        assert_eq!(texts("a # b"), ["a", "#", "b"]);
    }

    #[test]
    fn a_hexadecimal_number_ends_before_a_plus() {
        assert_eq!(texts("0xe+1 1e+1"), ["0xe", "+", "1", "1e+1"]);
    }

    #[test]
    fn heads_behind_a_macro_count() {
        let text = "#define KERNEL_FQ __kernel\nKERNEL_FQ void a (int b) {}\n// kernel void c(\nkernel void d(";
        assert_eq!(kernel_heads(text), ["a", "d"]);
    }

    #[test]
    fn heads_have_attributes_in_front_of_void_or_behind_it() {
        let text = "__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void first(int a) {}\n\
            /* kernel void none() */ int helper(int a) { return a; }\n\
            kernel void __attribute__((vec_type_hint(int))) second(global int* a) {}";
        assert_eq!(kernel_heads(text), ["first", "second"]);
    }

    proptest! {
        #[test]
        fn any_text_is_cut_without_overlap(text in "\\PC*|[#\\\\\n\r/*\"'a1. +-]{0,40}") {
            let mut last = 0;
            for token in tokens(&text) {
                prop_assert!(token.begin >= last && !token.text.is_empty());
                last = token.end();
            }
        }
    }
}
