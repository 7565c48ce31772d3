//! Lexemes, looked at for their signs alone.

use crate::words;

/// Most work-items of a work-group that a kernel may ask for: all devices have so many.
const GROUP: u64 = 256;

pub(super) fn hashed(lexemes: &[&str]) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    lexemes.hash(&mut hasher);
    hasher.finish()
}

/// Whether a lexeme names a type of OpenCL C: `void`, a scalar, a vector, an image.
#[must_use]
pub fn is_builtin_type(lexeme: &str) -> bool {
    lexeme == "void"
        || words::TYPES
            .binary_search(&lexeme.trim_end_matches(|end: char| end.is_ascii_digit()))
            .is_ok()
        || words::TYPES.binary_search(&lexeme).is_ok()
}

/// Whether it is a name or a keyword.
pub(super) fn is_word(lexeme: &str) -> bool {
    lexeme.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

/// Lexemes up to the end of a parenthesis that the first of them opens.
pub(super) fn closes(lexemes: &[&str]) -> usize {
    let mut depth = 0_i32;
    for (at, lexeme) in lexemes.iter().enumerate() {
        match *lexeme {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    lexemes.len()
}

/// What stands before a bracket that ends something, from a place on.
pub(super) fn between<'a>(lexemes: &'a [&'a str], from: usize, end: usize) -> &'a [&'a str] {
    lexemes.get(from..end.saturating_sub(1)).unwrap_or(&[])
}

/// What stands in the parentheses that come first, and what comes after them.
pub(super) fn in_parentheses<'a>(lexemes: &'a [&'a str]) -> (&'a [&'a str], &'a [&'a str]) {
    let end = closes(lexemes);
    (between(lexemes, 1, end), &lexemes[end..])
}

/// Lexemes up to a semicolon outside of parentheses, or to a function's brace.
pub(super) fn ends(lexemes: &[&str]) -> usize {
    let mut at = 0;
    while at < lexemes.len() {
        match lexemes[at] {
            ";" => return at + 1,
            "{" if at > 0 && lexemes[at - 1] == ")" => return at + 1,
            "(" | "[" | "{" => at += closes(&lexemes[at..]),
            _ => at += 1,
        }
    }
    lexemes.len()
}

/// The place of the first of a sign outside of parentheses.
pub(super) fn outside(lexemes: &[&str], sign: &str) -> Option<usize> {
    let mut at = 0;
    while at < lexemes.len() {
        match lexemes[at] {
            found if found == sign => return Some(at),
            "(" | "[" | "{" => at += closes(&lexemes[at..]),
            _ => at += 1,
        }
    }
    None
}

/// The parts between a sign outside of parentheses.
pub(super) fn split<'a>(mut lexemes: &'a [&'a str], sign: &str) -> Vec<&'a [&'a str]> {
    let mut parts = Vec::new();
    while let Some(at) = outside(lexemes, sign) {
        parts.push(&lexemes[..at]);
        lexemes = &lexemes[at + 1..];
    }
    if !lexemes.is_empty() {
        parts.push(lexemes);
    }
    parts
}

/// The number that a lexeme is.
pub(super) fn natural(lexeme: &str) -> Option<u64> {
    lexeme.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()
}

/// The same of numbers of any kind, `0x10` and `1e3f`.
pub(super) fn number(lexeme: &str) -> Option<f64> {
    let digits = lexeme.strip_prefix("0x").or_else(|| lexeme.strip_prefix("0X"));
    if let Some(digits) = digits {
        let digits = digits.trim_end_matches(['u', 'U', 'l', 'L']);
        return u64::from_str_radix(digits, 16).ok().map(|number| number as f64);
    }
    let is_number = lexeme.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let digits = lexeme.trim_end_matches(['u', 'U', 'l', 'L', 'f', 'F', 'h', 'H']);
    digits.parse().ok().filter(|_| is_number)
}

/// Whether the attributes of a kernel ask for what devices have.
pub(super) fn is_modest(head: &[&str]) -> bool {
    let sizes = head.iter().position(|word| *word == "reqd_work_group_size");
    let within = sizes.is_none_or(|at| {
        let numbers =
            head[at..].iter().take_while(|word| **word != ")").filter_map(|word| natural(word));
        (1..=GROUP).contains(&numbers.fold(1, u64::saturating_mul))
    });
    within && !head.iter().any(|word| word.contains("sub_group"))
}
