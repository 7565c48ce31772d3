//! Containers exchanged for faster ones where a program cannot tell them apart.

use super::{Rule, Syntax};
use crate::token::{Kind, Token};
use std::ops::Range;

const DENSE: &str = include_str!("dense_map.txt");
/// Members that show the order of an ordered container.
const ORDERED: &[&str] = &[
    "begin",
    "rbegin",
    "rend",
    "cbegin",
    "lower_bound",
    "upper_bound",
    "equal_range",
    "key_comp",
    "extract",
];

/// Every `name <...>` and what stands before it in the text, `std::` included.
fn uses<'a>(program: &Syntax<'a>, name: &str) -> Vec<(Range<usize>, bool)> {
    let tokens: Vec<(usize, Token<'a>)> = program.tokens();
    let mut found = Vec::new();
    for (at, (offset, token)) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).map_or("", |(_, token)| token.text);
        if token.kind != Kind::Word || token.text != name || next != "<" {
            continue;
        }
        let text = |n: usize| at.checked_sub(n).map_or("", |at| tokens[at].1.text);
        let std = text(1) == "::" && text(2) == "std";
        let begin = if std { tokens[at - 2].0 } else { *offset };
        found.push((begin..offset + name.len(), std));
    }
    found
}

/// Whether any container whose printed type has `kind` is asked for something among `members`, or walked
/// through by a loop over it.
fn asked(program: &Syntax<'_>, kind: &str, members: impl Fn(&str) -> bool, walked: bool) -> bool {
    let of_kind = |at: usize| {
        let name = program.type_of(at);
        name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == kind)
    };
    let member = program.of_kind("MemberExpr").any(|at| {
        members(program.text(at))
            && program.children(at).first().is_some_and(|object| of_kind(*object))
    });
    // The range of such a loop is a declaration of clang's own: of it there is the text.
    let loops = walked
        && program.of_kind("CXXForRangeStmt").any(|at| {
            let range = program.children(at).get(1).and_then(|range| program.source_of(*range));
            let words =
                range.unwrap_or_default().split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            program.all().any(|node| {
                matches!(program.kind(node), "VarDecl" | "ParmVarDecl" | "FieldDecl")
                    && words.contains(&program.text(node))
                    && of_kind(node)
            })
        });
    member || loops
}

fn exchanged(
    program: &Syntax<'_>,
    name: &str,
    replacement: impl Fn(bool) -> String,
    before: &str,
) -> Option<Vec<(Range<usize>, String)>> {
    // A macro that names the container would need to change as well.
    let in_macro = program.tokens().iter().any(|(_, token)| {
        token.kind == Kind::Directive
            && token.text.contains("define")
            && token
                .text
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .any(|word| word == name)
    });
    let found = uses(program, name);
    if in_macro || found.is_empty() {
        return None;
    }
    let mut pieces: Vec<(Range<usize>, String)> =
        found.into_iter().map(|(range, std)| (range, replacement(std))).collect();
    let place = program.after_includes();
    pieces.push((place..place, before.to_owned()));
    Some(pieces)
}

/// Hash tables for ordered trees.
pub(super) struct Unordered;

impl Rule for Unordered {
    fn name(&self) -> &'static str {
        "unordered"
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        let mut edits = Vec::new();
        for name in ["map", "set"] {
            if !program.cpp || asked(program, name, |member| ORDERED.contains(&member), true) {
                continue;
            }
            let full = |std: bool| format!("{}unordered_{name}", if std { "std::" } else { "" });
            edits.extend(exchanged(program, name, full, &format!("#include <unordered_{name}>\n")));
        }
        edits
    }
}

/// An array for a map whose keys are small whole numbers; larger keys still have a place.
pub(super) struct Dense;

impl Rule for Dense {
    fn name(&self) -> &'static str {
        "dense-map"
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        let known = ["operator[]", "count", "at", "clear"];
        if !program.cpp || asked(program, "map", |member| !known.contains(&member), true) {
            return Vec::new();
        }
        exchanged(program, "map", |_| "dense_map".into(), DENSE).into_iter().collect()
    }
}

/// A list that is only appended to and walked through, as a vector.
pub(super) struct ListToVector;

impl Rule for ListToVector {
    fn name(&self) -> &'static str {
        "list-to-vector"
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        let known = [
            "push_back",
            "emplace_back",
            "pop_back",
            "size",
            "empty",
            "begin",
            "end",
            "rbegin",
            "rend",
            "front",
            "back",
            "clear",
            "resize",
        ];
        if !program.cpp || asked(program, "list", |member| !known.contains(&member), false) {
            return Vec::new();
        }
        let full = |std: bool| format!("{}vector", if std { "std::" } else { "" });
        exchanged(program, "list", full, "#include <vector>\n").into_iter().collect()
    }
}

/// Bytes for the bits of `vector<bool>`.
pub(super) struct BytesForBits;

impl Rule for BytesForBits {
    fn name(&self) -> &'static str {
        "bytes-for-bits"
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        let tokens = program.tokens();
        let mut pieces = Vec::new();
        for four in tokens.windows(4) {
            let texts: Vec<&str> = four.iter().map(|(_, token)| token.text).collect();
            if let ["vector", "<", "bool", ">" | ">>"] = texts[..] {
                let at = four[2].0;
                pieces.push((at..at + 4, "char".to_owned()));
            }
        }
        if pieces.is_empty() { Vec::new() } else { vec![pieces] }
    }
}
