//! A reader and a writer of our own in the place of `cin` and `cout`.
//!
//! They read and write blocks and know whole numbers, characters, words and fractions; anything else that
//! a program does with its streams does not compile, and the edit goes. Without the library's streams a
//! program also starts faster, as nobody sets up their locales.

use super::{
    Rule, Syntax,
    streams::{STDIO, endls},
};
use crate::token::Kind;
use std::ops::Range;

pub(super) const READER_AND_WRITER: &str = include_str!("own_input.txt");

/// Headers of `bits/stdc++.h` that set up no streams.
const QUIET: &[&str] = &[
    "algorithm",
    "array",
    "bitset",
    "cassert",
    "cctype",
    "climits",
    "cmath",
    "complex",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "ctime",
    "deque",
    "functional",
    "iterator",
    "limits",
    "list",
    "map",
    "memory",
    "numeric",
    "queue",
    "random",
    "set",
    "sstream",
    "stack",
    "string",
    "tuple",
    "unordered_map",
    "unordered_set",
    "utility",
    "valarray",
    "vector",
    "iomanip",
    "chrono",
];

/// What shapes output in ways that the writer does not know.
const SHAPES: &[&str] = &[
    "setw",
    "setfill",
    "hex",
    "oct",
    "left",
    "right",
    "boolalpha",
    "scientific",
    "showpoint",
    "showpos",
    "flush",
    "ends",
    "unitbuf",
    "uppercase",
    "internal",
    "resetiosflags",
    "setiosflags",
    "hexfloat",
    "getline",
    "ifstream",
    "ofstream",
    "istream",
    "ostream",
    "cerr",
    "clog",
    "rdbuf",
    "wcin",
    "wcout",
    "istream_iterator",
    "ostream_iterator",
];

pub(super) struct OwnInput {
    pub(super) drop_streams: bool,
}

impl Rule for OwnInput {
    fn name(&self) -> &'static str {
        if self.drop_streams { "own-io-without-streams" } else { "own-io" }
    }

    fn io(&self) -> bool {
        true
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        self.pieces(program).map_or(Vec::new(), |pieces| vec![pieces])
    }
}

impl OwnInput {
    fn pieces(&self, program: &Syntax<'_>) -> Option<Vec<(Range<usize>, String)>> {
        let foreign = STDIO.iter().chain(SHAPES).any(|word| program.has_word(word));
        if !program.cpp || foreign {
            return None;
        }
        let tokens = program.tokens();
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let (offset, token) = tokens[at];
            let text = |n: usize| tokens.get(at + n).map_or("", |(_, token)| token.text);
            match (token.kind, token.text) {
                // A macro may put streams anywhere.
                (Kind::Directive, text) if !text.contains("include") => {
                    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                    if words
                        .into_iter()
                        .any(|word| matches!(word, "cin" | "cout" | "endl" | "ios" | "ios_base"))
                    {
                        return None;
                    }
                }
                (Kind::Directive, text) if self.drop_streams => {
                    let name =
                        text.trim_start_matches('#').trim_start().trim_start_matches("include");
                    let name = name.split("//").next().unwrap_or(name).trim();
                    let replacement = match name {
                        "<iostream>" => Some("#include <string>".to_owned()),
                        "<bits/stdc++.h>" => Some(
                            QUIET.iter().map(|header| format!("#include <{header}>\n")).collect(),
                        ),
                        _ => None,
                    };
                    if let Some(replacement) = replacement {
                        pieces.push((offset..offset + token.text.len(), replacement));
                    }
                }
                (Kind::Word, "cin" | "cout") => {
                    let (wanted, name) = match token.text {
                        "cin" => (">>", "fast_input"),
                        _ => ("<<", "fast_output"),
                    };
                    let tie = text(1) == "."
                        && matches!(text(2), "tie" | "sync_with_stdio" | "precision");
                    if text(1) != wanted && !tie {
                        return None;
                    }
                    let std =
                        at >= 2 && tokens[at - 1].1.text == "::" && tokens[at - 2].1.text == "std";
                    let begin = if std { tokens[at - 2].0 } else { offset };
                    pieces.push((begin..offset + token.text.len(), name.to_owned()));
                }
                // `ios::sync_with_stdio(false);` goes with the streams.
                (Kind::Word, "ios" | "ios_base") if self.drop_streams => {
                    if (text(1), text(2), text(3), text(5)) != ("::", "sync_with_stdio", "(", ")") {
                        return None;
                    }
                    let std =
                        at >= 2 && tokens[at - 1].1.text == "::" && tokens[at - 2].1.text == "std";
                    let begin = if std { tokens[at - 2].0 } else { offset };
                    pieces.push((begin..tokens[at + 5].0 + 1, "(void)0".to_owned()));
                    at += 5;
                }
                _ => {}
            }
            at += 1;
        }
        let used = pieces.iter().any(|(_, text)| text.starts_with("fast_"));
        if !used {
            return None;
        }
        if self.drop_streams {
            pieces.extend(endls(program));
        }
        let place = program.after_includes();
        pieces.push((place..place, READER_AND_WRITER.to_owned()));
        Some(pieces)
    }
}
