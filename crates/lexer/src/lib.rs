//! Tokens of C-family text, cheaply and without judging it.
//!
//! A compiler is asked for everything that needs meaning; what needs spelling alone (cutting text at file scope,
//! counting vocabularies, finding how an unknown name is used) happens here, on texts of megabytes.
//!
//! - [`tokens`] cuts OpenCL C, [`Dialect::tokens`] others; [`coarse()`] cuts text of any kind into words and characters;
//! - [`kernel_signatures`] finds the kernels.
//!
//! ```
//! use stampmill_lexer::{kernel_names, tokens};
//!
//! let text = "kernel void A(global int* a) { a[0] >>= 1; } // B(";
//! assert_eq!(tokens(text).filter(|token| token.is(">>=")).count(), 1);
//! assert_eq!(kernel_names(text), ["A"]);
//! ```

mod coarse;
mod kernel;
mod marker;
mod spelling;

pub use coarse::coarse;
pub use kernel::{Finder, KernelSignature, cuda_kernel_names, kernel_names, kernel_signatures};
pub use marker::{MARKER, line_of, quoted, trim_markers_end, without_markers};
pub use spelling::{respelled, spelling};

use memchr::memmem;

/// What a [`Token`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Identifier or keyword.
    Word,
    /// Number.
    Number,
    /// Character or string literal; one that is not closed ends with its line.
    Literal,
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
        self.text == text && !matches!(self.kind, Kind::Literal | Kind::Directive)
    }
}

/// How text is cut where C's descendants differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// A preprocessor line is one token; else its `#`, words and continuation marks are tokens like all others.
    pub directives: bool,
    /// Encoding prefixes and raw strings, digit separators and `::`, as C++11 has them.
    pub cpp: bool,
    /// A single quote that nothing closes within a character literal's length is punctuation: the text may hold
    /// prose, assembly or another language.
    pub loose_quotes: bool,
}

impl Dialect {
    /// OpenCL C, and C.
    pub const OPENCL: Dialect = Dialect { directives: true, cpp: false, loose_quotes: false };
    /// C++.
    pub const CPP: Dialect = Dialect { cpp: true, ..Dialect::OPENCL };
    /// Files of C, C++ or Objective-C as they are found.
    pub const HOST: Dialect = Dialect { loose_quotes: true, ..Dialect::CPP };
    /// Text that may hold OpenCL C, its preprocessor lines cut like the rest.
    pub const FLAT: Dialect = Dialect { directives: false, cpp: false, loose_quotes: true };

    /// The tokens of a text; comments and white space are skipped.
    #[must_use]
    pub fn tokens(self, text: &str) -> Tokens<'_> {
        Tokens { text, bytes: text.as_bytes(), at: 0, line_start: true, dialect: self }
    }
}

/// The tokens of OpenCL C text; comments and white space are skipped.
#[must_use]
pub fn tokens(text: &str) -> Tokens<'_> {
    Dialect::OPENCL.tokens(text)
}

/// See [`tokens`].
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line_start: bool,
    dialect: Dialect,
}

/// Bytes of the longest character literal: `'\U0010ffff'`.
const CHARACTER_LITERAL: usize = 12;
/// Characters of a raw string's delimiter, at most (C++ standard, [lex.string]).
const DELIMITER: usize = 16;

/// Bytes of the longest operator that `rest` begins with.
fn operator_length(rest: &[u8], cpp: bool) -> usize {
    let at = |at: usize| rest.get(at).copied().unwrap_or_default();
    match (rest[0], at(1), at(2)) {
        (b'<', b'<', b'=') | (b'>', b'>', b'=') | (b'.', b'.', b'.') => 3,
        (b':', b':', _) if cpp => 2,
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
    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn starts(&self, at: usize, with: &str) -> bool {
        self.bytes.get(at..).is_some_and(|rest| rest.starts_with(with.as_bytes()))
    }

    /// Bytes of the continuation of a line, a backslash at its end, where there is one.
    fn continuation(&self, at: usize) -> Option<usize> {
        if self.starts(at, "\\\n") { Some(2) } else { self.starts(at, "\\\r\n").then_some(3) }
    }

    fn skip_blank(&mut self) {
        while let Some(byte) = self.byte(self.at) {
            match byte {
                b'\n' => {
                    self.line_start = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'\\' if self.dialect.directives => match self.continuation(self.at) {
                    Some(length) => self.at += length,
                    None => return,
                },
                b'/' if self.starts(self.at, "//") => self.at = self.line_end(self.at),
                b'/' if self.starts(self.at, "/*") => self.at = self.comment_end(self.at),
                _ => return,
            }
        }
    }

    fn comment_end(&self, from: usize) -> usize {
        let rest = self.bytes.get(from + 2..).unwrap_or_default();
        memmem::find(rest, b"*/").map_or(self.bytes.len(), |at| from + 2 + at + 2)
    }

    /// Where the logical line that holds `from` ends: at its line feed or at the text's end.
    fn line_end(&self, mut from: usize) -> usize {
        while let Some(at) = memchr::memchr2(b'\n', b'\\', &self.bytes[from..]) {
            from += at;
            if self.bytes[from] == b'\n' {
                return from;
            }
            from += self.continuation(from).unwrap_or(1);
        }
        self.bytes.len()
    }

    /// The same, but a comment that spans lines carries a directive on.
    fn directive_end(&self, mut from: usize) -> usize {
        while let Some(byte) = self.byte(from).filter(|byte| *byte != b'\n') {
            from = match byte {
                b'/' if self.starts(from, "/*") => self.comment_end(from),
                b'/' if self.starts(from, "//") => return self.line_end(from),
                b'"' => self.literal_end(from, b'"'),
                b'\\' => from + self.continuation(from).unwrap_or(2),
                _ => from + 1,
            };
        }
        from.min(self.bytes.len())
    }

    fn literal_end(&self, from: usize, quote: u8) -> usize {
        let mut at = from + 1;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'\\' => at += self.continuation(at).unwrap_or(2),
                b'\n' => return at,
                _ if byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        self.bytes.len()
    }

    /// Where a literal that begins with this byte ends, if one does.
    fn literal(&self, from: usize) -> Option<usize> {
        match self.byte(from)? {
            b'"' => Some(self.literal_end(from, b'"')),
            b'\'' if self.dialect.loose_quotes => {
                let end = self.literal_end(from, b'\'');
                let closed = end - from > 2 && self.bytes[end - 1] == b'\'';
                (closed && end - from <= CHARACTER_LITERAL).then_some(end)
            }
            b'\'' => Some(self.literal_end(from, b'\'')),
            _ => None,
        }
    }

    /// Where a literal behind an encoding prefix ends, if the word is one.
    fn prefixed(&self, word: &[u8], from: usize) -> Option<usize> {
        match word {
            b"R" | b"LR" | b"uR" | b"UR" | b"u8R" if self.byte(from) == Some(b'"') => {
                Some(self.raw_end(from))
            }
            b"L" | b"u" | b"U" | b"u8" if matches!(self.byte(from), Some(b'"' | b'\'')) => {
                self.literal(from)
            }
            _ => None,
        }
    }

    /// Behind `"delimiter(…)delimiter"`; at the text's end where nothing closes it.
    fn raw_end(&self, from: usize) -> usize {
        let rest = &self.bytes[from + 1..];
        let Some(open) = rest.iter().take(DELIMITER + 1).position(|byte| *byte == b'(') else {
            return self.literal_end(from, b'"');
        };
        let end = [b")", &rest[..open], b"\""].concat();
        let found = memmem::find(&rest[open..], &end);
        found.map_or(self.bytes.len(), |at| from + 1 + open + at + end.len())
    }

    fn number_end(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(byte) = self.byte(at) {
            let exponent = matches!(byte, b'+' | b'-')
                && at > from
                && matches!(self.bytes[at - 1], b'e' | b'E' | b'p' | b'P')
                && !(self.starts(from, "0x") && matches!(self.bytes[at - 1], b'e' | b'E'));
            let separator = byte == b'\''
                && self.dialect.cpp
                && self.byte(at + 1).is_some_and(|next| next.is_ascii_alphanumeric());
            let digit = byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_');
            if !(digit || separator || exponent) {
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
        let (kind, end) = if first == b'#' && self.line_start && self.dialect.directives {
            (Kind::Directive, self.directive_end(begin))
        } else if digit {
            (Kind::Number, self.number_end(begin))
        } else if is_word_byte(first) {
            let length = rest.iter().position(|byte| !is_word_byte(*byte)).unwrap_or(rest.len());
            let literal = self.dialect.cpp.then(|| self.prefixed(&rest[..length], begin + length));
            match literal.flatten() {
                Some(end) => (Kind::Literal, end),
                None => (Kind::Word, begin + length),
            }
        } else if let Some(end) = self.literal(begin) {
            (Kind::Literal, end)
        } else {
            (Kind::Punctuation, begin + operator_length(rest, self.dialect.cpp))
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

/// The index of the parenthesis that closes what opens at `from` or behind it; the number of tokens
/// where none does.
#[must_use]
pub fn closing(all: &[Token<'_>], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in all.iter().enumerate().skip(from) {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at;
            }
        }
    }
    all.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).map(|token| token.text).collect()
    }

    fn texts_in(dialect: Dialect, text: &str) -> Vec<&str> {
        dialect.tokens(text).map(|token| token.text).collect()
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
        assert_eq!(texts("#define A \"/*\"\nb"), ["#define A \"/*\"", "b"]);
        assert_eq!(texts_in(Dialect::FLAT, "#define A \\\n 1"), ["#", "define", "A", "\\", "1"]);
    }

    #[test]
    fn a_hexadecimal_number_ends_before_a_plus() {
        assert_eq!(texts("0xe+1 1e+1"), ["0xe", "+", "1", "1e+1"]);
    }

    #[test]
    fn literals_of_cpp_have_prefixes_and_numbers_separators() {
        let text = "R\"x(a)\" )x\" + L\"b\" + u8R\"(c)\" - 1'000 std::x";
        assert_eq!(
            texts_in(Dialect::CPP, text),
            ["R\"x(a)\" )x\"", "+", "L\"b\"", "+", "u8R\"(c)\"", "-", "1'000", "std", "::", "x"]
        );
        assert_eq!(texts("L\"b\""), ["L", "\"b\""]);
    }

    #[test]
    fn an_apostrophe_is_no_literal_where_quotes_are_loose() {
        let text = "don't stop here at all; 'a' '\\x41'";
        let loose = ["don", "'", "t", "stop", "here", "at", "all", ";", "'a'", "'\\x41'"];
        assert_eq!(texts_in(Dialect::HOST, text), loose);
        assert_eq!(texts(text)[1], "'t stop here at all; '");
    }

    proptest! {
        #[test]
        fn any_text_is_cut_without_overlap(text in "\\PC*|[#\\\\\n\r/*\"'a1. +-R()]{0,40}") {
            for dialect in [Dialect::OPENCL, Dialect::CPP, Dialect::HOST, Dialect::FLAT] {
                let mut last = 0;
                for token in dialect.tokens(&text) {
                    prop_assert!(token.begin >= last && !token.text.is_empty());
                    last = token.end();
                }
            }
            let _ = (coarse(&text).count(), kernel_names(&text));
        }
    }
}
