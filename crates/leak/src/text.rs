//! A kernel's text without what a copyist changes.

use crate::shingles::{Shingles, hash, join, short};
use lexer::{Kind, Token, tokens};
use std::{borrow::Cow, collections::HashSet};

/// Lexemes of a shingle.
const RUN: usize = 8;

const KEYWORDS: [&str; 13] = [
    "if", "else", "for", "while", "do", "return", "switch", "case", "default", "break", "continue",
    "goto", "sizeof",
];

/// Words of declarations: what they say goes with the type.
const DECLARING: [&str; 31] = [
    "void",
    "unsigned",
    "signed",
    "bool",
    "size_t",
    "ptrdiff_t",
    "uintptr_t",
    "intptr_t",
    "sampler_t",
    "event_t",
    "local",
    "private",
    "global",
    "constant",
    "const",
    "restrict",
    "volatile",
    "inline",
    "kernel",
    "read_only",
    "write_only",
    "read_write",
    "static",
    "register",
    "attribute__",
    "struct",
    "union",
    "enum",
    "typedef",
    "extern",
    "generic",
];

const SCALARS: [&str; 11] =
    ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half"];

/// The runs of a kernel's lexemes.
pub(crate) fn shingles(text: &str) -> Shingles {
    let lexemes: Vec<u64> = normal(text).iter().map(|lexeme| hash(lexeme.as_bytes())).collect();
    Shingles::of(lexemes.windows(RUN.min(lexemes.len().max(1))).map(|run| short(join(run))))
}

fn is_type(word: &str) -> bool {
    let word = word.strip_prefix("__").unwrap_or(word);
    let scalar = word.trim_end_matches(|c: char| c.is_ascii_digit());
    DECLARING.contains(&word)
        || SCALARS.contains(&scalar)
        || (word.starts_with("image") && word.ends_with("_t"))
}

/// The bodies of all functions as lexemes: names are `V`, members `M`, the program's own functions `F`, others as they
/// are; numbers by value; no types, no braces, no declarations without a value.
fn normal(text: &str) -> Vec<Cow<'_, str>> {
    let all: Vec<Token<'_>> = tokens(text).filter(|token| token.kind != Kind::Directive).collect();
    let is = |at: usize, text: &str| all.get(at).is_some_and(|token| token.is(text));
    let names = Names::of(&all);
    let mut found: Vec<Cow<'_, str>> = Vec::with_capacity(all.len());
    let (mut at, mut depth) = (0, 0_usize);
    while at < all.len() {
        let token = all[at];
        let is_record =
            (token.is("struct") || token.is("union")) && (at + 1..at + 3).any(|next| is(next, "{"));
        if depth == 0 && (token.is("typedef") || is_record) {
            at = end_of_declaration(&all, at) + 1;
            continue;
        }
        match token.text {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ if depth == 0 => {}
            word if token.kind == Kind::Word => {
                if !is_type(word) && !names.types.contains(word) {
                    let is_member = at > 0 && (is(at - 1, ".") || is(at - 1, "->"));
                    found.push(match word {
                        _ if KEYWORDS.contains(&word) => Cow::Borrowed(word),
                        _ if is_member => Cow::Borrowed("M"),
                        _ if !is(at + 1, "(") => Cow::Borrowed("V"),
                        _ if names.functions.contains(word) => Cow::Borrowed("F"),
                        _ => Cow::Owned(format!("f:{word}")),
                    });
                }
            }
            number if token.kind == Kind::Number => found.push(Cow::Owned(value(number))),
            other => found.push(Cow::Borrowed(other)),
        }
        at += 1;
        settle(&mut found);
    }
    found
}

/// Take away what casts and declarations leave behind, at the end of what was found.
fn settle(found: &mut Vec<Cow<'_, str>>) {
    let is_call = |before: Option<&Cow<'_, str>>| {
        before.is_some_and(|before| {
            before.starts_with("f:") || before == "F" || KEYWORDS.contains(&&**before)
        })
    };
    loop {
        let count = found.len();
        let last = |back: usize| count.checked_sub(back).map(|at| &*found[at]);
        let before = |back: usize| count.checked_sub(back).and_then(|at| found.get(at));
        if last(2) == Some("(") && last(1) == Some(")") && !is_call(before(3)) {
            found.truncate(count - 2);
        } else if last(3) == Some("(")
            && matches!(last(2), Some("V" | "#0"))
            && last(1) == Some(")")
            && !is_call(before(4))
        {
            found.truncate(count - 1);
            found.remove(count - 3);
        } else if last(2) == Some(";") && last(1) == Some(";") {
            found.truncate(count - 1);
        } else if last(3) == Some(";") && last(2) == Some("V") && last(1) == Some(";") {
            found.truncate(count - 2);
        } else {
            return;
        }
    }
}

/// A number by its value, whatever its suffix.
fn value(number: &str) -> String {
    let lower = number.to_ascii_lowercase();
    let parsed = match lower.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits.trim_end_matches(['u', 'l']), 16)
            .ok()
            .map(|value| value as f64),
        None => lower.trim_end_matches(['u', 'l', 'f', 'h']).parse::<f64>().ok(),
    };
    parsed.map_or_else(|| "#".to_owned(), |value| format!("#{value}"))
}

/// Names of the program's own types and functions.
struct Names<'a> {
    types: HashSet<&'a str>,
    functions: HashSet<&'a str>,
}

impl<'a> Names<'a> {
    fn of(all: &[Token<'a>]) -> Names<'a> {
        let (mut types, mut functions) = (HashSet::new(), HashSet::new());
        let mut depth = 0_usize;
        for (at, token) in all.iter().enumerate() {
            let next = all.get(at + 1);
            match token.text {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                "typedef" => {
                    let name = all.get(end_of_declaration(all, at).wrapping_sub(1));
                    types.extend(name.filter(|name| name.kind == Kind::Word).map(|name| name.text));
                }
                "struct" | "union" | "enum" => {
                    types.extend(next.filter(|name| name.kind == Kind::Word).map(|name| name.text));
                }
                word if depth == 0
                    && token.kind == Kind::Word
                    && !is_type(word)
                    && next.is_some_and(|next| next.is("(")) =>
                {
                    functions.insert(word);
                }
                _ => {}
            }
        }
        Names { types, functions }
    }
}

/// Place of the semicolon that ends what begins at `at`, or of the end.
fn end_of_declaration(all: &[Token<'_>], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < all.len() {
        match all[at].text {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            ";" if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        normal(text).join(" ")
    }

    #[test]
    fn names_types_and_declarations_are_gone() {
        let one = "kernel void scale(global float* out, const int n) {\n\
            int at = get_global_id(0); if (at < n) { out[at] = (float)(at) * 2.0f; } }";
        let two = "typedef double real; struct S { int x; };\n\
            __kernel void k(int m, __global real *p, int spare) { uint i; long j;\n\
            i = get_global_id(0); if (i < m) p[i] = (real)i * 2.0; }";
        let wanted = "V = f:get_global_id ( #0 ) ; if ( V < V ) V [ V ] = V * #2 ;";
        assert_eq!(line(one), wanted);
        assert!(line(two).ends_with(wanted), "{}", line(two));
    }

    #[test]
    fn helpers_are_told_from_builtins() {
        let text = "float f(float x) { return x; } kernel void k(global float* a) { a[0].x = f(sin(a[1])); }";
        assert_eq!(line(text), "return V ; V [ #0 ] . M = F ( f:sin ( V [ #1 ] ) ) ;");
    }

    #[test]
    fn broken_text_has_shingles_too() {
        for text in ["", "}}} typedef", "kernel void k( { ((( ", "struct", "a ) ( ; ;"] {
            shingles(text);
        }
    }

    #[test]
    fn types_of_the_program_are_gone_wherever_they_are_declared() {
        for declared in [
            "typedef struct { int a; float b; } pair;",
            "typedef float4 pair;",
            "struct pair { int a; float b; };",
            "union pair { int a; float b; };",
            "struct { int a; } spare; typedef int pair;",
            "enum pair { one };",
            "float f(float x) { enum pair { one }; }",
        ] {
            let text =
                format!("{declared} kernel void k(global pair* p) {{ q.a = (pair)p[0].b; }}");
            let found = line(&text);
            assert!(found.ends_with("V . M = V [ #0 ] . M ;"), "{text}: {found}");
            // Of what is declared outside of functions nothing is left but the values of an enumeration.
            assert_eq!(found.starts_with("V ."), !text.contains("enum"), "{text}: {found}");
        }
    }

    #[test]
    fn a_function_that_answers_a_record_is_no_record() {
        let text = "struct pair { int a; }; struct pair f(int a) { b = c; } union u { int a; };";
        assert_eq!(line(text), "V = V ;");
    }

    #[test]
    fn only_a_bracket_behind_a_name_makes_a_call() {
        let text = "kernel void k(global int* a, int b) { x = sizeof(int) + y; g(1); if (b) (z) = (3); a->n(2); }";
        let wanted = "V = sizeof ( ) + V ; f:g ( #1 ) ; if ( V ) V = ( #3 ) ; V -> M ( #2 ) ;";
        assert_eq!(line(text), wanted);
    }

    #[test]
    fn a_member_needs_its_point() {
        assert_eq!(line("kernel void k() { a.b = c; d->e = f; }"), "V . M = V ; V -> M = V ;");
        assert_eq!(line("kernel void k() { b = c; }"), "V = V ;");
        assert_eq!(line("b { b = c; }"), "V = V ;");
    }

    #[test]
    fn numbers_are_told_by_value() {
        let values = ["16", "0x10", "0X10u", "16UL", "1.6e1", "16.0f", "1.6e1h", "16."].map(value);
        assert!(values.iter().all(|value| value == "#16"), "{values:?}");
        assert_eq!(value("0b12x"), "#");
        assert_eq!(value("0xff"), "#255");
    }

    #[test]
    fn images_vectors_and_words_with_underscores_are_types() {
        assert!(
            ["image2d_t", "float4", "uint16", "__global", "__attribute__"]
                .map(is_type)
                .iter()
                .all(|is| *is)
        );
        assert!(["image", "imaged", "size", "t_t", "floats"].map(is_type).iter().all(|is| !*is));
    }

    #[test]
    fn runs_are_of_eight_lexemes_and_fewer_are_one_run() {
        let size = |text: &str| shingles(text).size();
        assert_eq!(size("kernel void k() { a = b; }"), 1);
        assert_eq!(size("kernel void k() { a = b; c = d; }"), 1);
        assert_eq!(size("kernel void k() { a = b; c = d; e = f; }"), 5);
        assert_eq!(size("kernel void k() { }"), 0);
    }
}
