//! Streams as the library has them, set free.

use super::{Rule, Syntax};
use crate::token::Kind;
use std::ops::Range;

pub(super) const STDIO: &[&str] = &[
    "scanf",
    "printf",
    "getchar",
    "putchar",
    "puts",
    "gets",
    "fgets",
    "fputs",
    "fread",
    "fwrite",
    "getc",
    "putc",
    "fprintf",
    "fscanf",
    "getchar_unlocked",
    "putchar_unlocked",
    "freopen",
    "stdin",
    "stdout",
];

/// `sync_with_stdio(false)` and no flush of the output before each input.
pub(super) struct Unsynchronised;

impl Rule for Unsynchronised {
    fn name(&self) -> &'static str {
        "unsynchronised-streams"
    }

    fn io(&self) -> bool {
        true
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        let streams = program.has_word("cin") || program.has_word("cout");
        let mixed = STDIO.iter().any(|word| program.has_word(word));
        if !streams || mixed || program.has_word("sync_with_stdio") {
            return Vec::new();
        }
        let Some(at) = program.main_body() else { return Vec::new() };
        let text = "\n  std::ios_base::sync_with_stdio(false);\n  std::cin.tie(nullptr);";
        vec![vec![(at..at, text.to_owned())]]
    }
}

/// `'\n'` for `endl`, which flushes each line.
pub(super) struct NewLine;

impl Rule for NewLine {
    fn name(&self) -> &'static str {
        "newline-for-endl"
    }

    fn io(&self) -> bool {
        true
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        let pieces = endls(program);
        if pieces.is_empty() { Vec::new() } else { vec![pieces] }
    }
}

/// Every `<< endl` or `<< std::endl`, to become `<< '\n'`.
pub(super) fn endls(program: &Syntax<'_>) -> Vec<(Range<usize>, String)> {
    let tokens = program.tokens();
    let mut pieces = Vec::new();
    for (at, (offset, token)) in tokens.iter().enumerate() {
        if token.kind != Kind::Word || token.text != "endl" {
            continue;
        }
        let before = |n: usize| at.checked_sub(n).map_or("", |at| tokens[at].1.text);
        let begin = match (before(1), before(2), before(3)) {
            ("<<", ..) => *offset,
            ("::", "std", "<<") => tokens[at - 2].0,
            _ => continue,
        };
        pieces.push((begin..offset + token.text.len(), "'\\n'".to_owned()));
    }
    pieces
}
