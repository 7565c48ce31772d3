//! `scanf` and `printf` with formats that are simple, by readers and writers that take no locks and parse
//! no more than they must. They use the same buffers as the library, so that other calls may stay.

use super::{Rule, Syntax};
use std::ops::Range;

pub(super) const READER: &str = include_str!("own_scanf.txt");
pub(super) const WRITER: &str = include_str!("own_printf.txt");

pub(super) struct OwnStdio;

impl Rule for OwnStdio {
    fn name(&self) -> &'static str {
        "own-stdio"
    }

    fn io(&self) -> bool {
        true
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        let mut pieces = Vec::new();
        let (mut reads, mut writes) = (false, false);
        for (call, name) in program.calls(0).into_iter().chain(all_calls(program)) {
            let children = program.children(call);
            let (Some(callee), Some(format)) = (children.first(), children.get(1)) else {
                continue;
            };
            let Some(range) = program.range(*callee) else { continue };
            let Some(literal) = literal(program, *format) else { continue };
            // Inside a macro the range is that of the macro's name.
            if program.source[range.clone()] != *name {
                continue;
            }
            let known: &[&str] = match name {
                "scanf" => &["d", "ld", "lld", "u", "s", "lf", "f", "c", "llu", "lu"],
                "printf" => &["d", "ld", "lld", "s", "c", "u", "lu", "llu", "%"],
                _ => continue,
            };
            if !simple(literal, known) {
                continue;
            }
            reads |= name == "scanf";
            writes |= name == "printf";
            if !pieces.iter().any(|(other, _): &(Range<usize>, String)| *other == range) {
                pieces.push((range, format!("fast_{name}")));
            }
        }
        if pieces.is_empty() {
            return Vec::new();
        }
        let place = program.after_includes();
        let text = format!(
            "#include <stdarg.h>\n#include <stdio.h>\n#include <stdlib.h>\n{}{}",
            if reads { READER } else { "" },
            if writes { WRITER } else { "" }
        );
        pieces.push((place..place, text));
        vec![pieces]
    }
}

/// Calls in all declarations: a tree has one root per declaration.
fn all_calls<'a>(program: &Syntax<'a>) -> Vec<(usize, &'a str)> {
    let roots = program.all().filter(|at| program.parent(*at).is_none() && *at != 0);
    roots.flat_map(|root| program.calls(root)).collect()
}

/// The bytes of a string literal that is an argument.
fn literal<'a>(program: &Syntax<'a>, at: usize) -> Option<&'a str> {
    let at = program.bare(at);
    (program.kind(at) == "StringLiteral").then(|| program.text(at))
}

/// Whether all conversions of a format are among `known`, without widths and flags.
fn simple(format: &str, known: &[&str]) -> bool {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        rest = &rest[at + 1..];
        // The longest first: `lld` before `ld` before `d`.
        let longest =
            known.iter().filter(|name| rest.starts_with(**name)).max_by_key(|name| name.len());
        match longest {
            Some(name) => rest = &rest[name.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::simple;

    #[test]
    fn formats_with_widths_stay_the_librarys() {
        assert!(simple("%d %lld\n", &["d", "ld", "lld"]));
        assert!(!simple("%3d", &["d"]));
        assert!(!simple("%.2f", &["f"]));
        assert!(!simple("%", &["d"]));
    }
}
