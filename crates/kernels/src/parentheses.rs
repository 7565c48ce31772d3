//! Parentheses that a program may do without: around a name or a number, inside other ones, around the whole of a value.

use lexer::{Kind, Token, closing, tokens};
use std::ops::Range;

/// Most of them within each other.
const DEPTH: usize = 16;

/// What a value may stand behind as a whole, and before.
const BEFORE: [&str; 10] = ["=", "+=", "-=", "*=", "/=", "&=", "|=", "[", ",", "return"];
const BEHIND: [&str; 4] = [";", ",", "]", ")"];

/// Words that begin the names of types: `(int) - x` is no difference.
const TYPES: [&str; 12] = [
    "bool", "char", "double", "float", "half", "int", "long", "short", "uchar", "uint", "ulong",
    "ushort",
];

/// The program without those within a range of bytes, and how many bytes it is shorter.
pub(crate) fn removed(text: &str, within: &Range<usize>) -> (String, usize) {
    let (mut text, mut within, whole) = (text.to_owned(), within.clone(), text.len());
    for _ in 0..DEPTH {
        let gone = redundant(&text, &within);
        if gone.is_empty() {
            break;
        }
        for at in gone.iter().rev() {
            text.remove(*at);
        }
        within.end -= gone.len();
    }
    let shorter = whole - text.len();
    (text, shorter)
}

/// Where such parentheses stand, in order.
fn redundant(text: &str, within: &Range<usize>) -> Vec<usize> {
    let all: Vec<Token<'_>> = tokens(text).collect();
    let mut places = Vec::new();
    for open in 1..all.len() {
        if !all[open].is("(") || all[open].begin < within.start {
            continue;
        }
        let close = closing(&all, open);
        if close + 1 >= all.len() || all[close].end() > within.end {
            continue;
        }
        let around = [&all[open - 1], &all[close + 1]];
        let is_attribute = open > 1 && all[open - 2].is("__attribute__");
        if !is_attribute && is_redundant(around, &all[open + 1..close]) {
            places.extend([all[open].begin, all[close].begin]);
        }
    }
    places.sort_unstable();
    places
}

fn is_redundant([before, behind]: [&Token<'_>; 2], inside: &[Token<'_>]) -> bool {
    let starts_value = match before.kind {
        Kind::Word => before.is("return"),
        Kind::Punctuation => !before.is(")") && !before.is("]"),
        _ => false,
    };
    // Words would become one.
    let is_apart =
        !before.is("return") || inside.first().is_some_and(|one| one.begin > before.end() + 1);
    if !starts_value || !is_apart || has_comma(inside) {
        return false;
    }
    match inside {
        [] => false,
        [one] if one.kind == Kind::Word => {
            !is_type(one.text) && behind.kind == Kind::Punctuation && !behind.is("(")
        }
        [one] if one.kind == Kind::Number => behind.kind == Kind::Punctuation && !behind.is("."),
        [first, ..] if first.is("{") => false,
        _ => {
            let is_argument = before.is("(") && (behind.is(")") || behind.is(","));
            is_argument || BEFORE.contains(&before.text) && BEHIND.contains(&behind.text)
        }
    }
}

fn is_type(word: &str) -> bool {
    let word = word.trim_end_matches(|one: char| one.is_ascii_digit());
    TYPES.contains(&word) || ["signed", "unsigned", "void"].contains(&word) || word.ends_with("_t")
}

/// Whether a comma stands there that is in no brackets.
fn has_comma(inside: &[Token<'_>]) -> bool {
    let mut depth = 0_usize;
    inside.iter().any(|token| {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is(",")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str) -> String {
        removed(text, &(0..text.len())).0
    }

    #[test]
    fn what_is_not_needed_goes() {
        for (text, without) in [
            ("a = y * ((y) + (((b))) * (3));", "a = y * (y + b * 3);"),
            ("int s = ((e - 1 / c) % h);", "int s = (e - 1 / c) % h;"),
            ("a[(i)] = b[(i + 1)];", "a[i] = b[i + 1];"),
            ("if ((a < b)) f((a), ((b) + 1));", "if (a < b) f(a, b + 1);"),
            ("return (a + b);", "return a + b;"),
            ("(x).y = (v)[2];", "(x).y = v[2];"),
        ] {
            assert_eq!(left(text), without);
        }
    }

    #[test]
    fn what_is_needed_stays() {
        for text in [
            "a = (b + c) * d;",
            "a = (int)b - (float)(c);",
            "a = (uint4)(b) + (size_t) - 1;",
            "f((a, b));",
            "__attribute__((packed)) int a;",
            "g(a)(b);",
            "if (a) b = 1;",
            "sizeof(a);",
            "return(a + b);",
            "a = (T)(b);",
            "a = ({ b; });",
            "x = (y",
        ] {
            assert_eq!(left(text), text);
        }
        let text = "a = (b); c = (d);";
        assert_eq!(removed(text, &(9..text.len())), ("a = (b); c = d;".to_owned(), 2));
    }

    proptest::proptest! {
        #[test]
        fn any_text_ends(text in "[a-c(){}\\[\\];,=+é1 ]{0,60}") {
            let (left, shorter) = removed(&text, &(0..text.len()));
            proptest::prop_assert_eq!(left.len() + shorter, text.len());
        }
    }
}
