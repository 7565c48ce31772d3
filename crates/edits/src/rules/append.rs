//! `s = s + x` copies `s` each time; `s += x` does not.

use super::{Rule, Syntax};
use std::ops::Range;

pub(super) struct Append;

impl Rule for Append {
    fn name(&self) -> &'static str {
        "append"
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        let found = program.of_kind("CXXOperatorCallExpr").filter_map(|at| appended(program, at));
        let pieces: Vec<_> = found.flatten().collect();
        if pieces.is_empty() { Vec::new() } else { vec![pieces] }
    }
}

/// `s = s + x`: operator, left side, right side.
fn appended(program: &Syntax<'_>, at: usize) -> Option<Vec<(Range<usize>, String)>> {
    let [_, left, right] = program.children(at)[..] else { return None };
    let variable = program.variable(left)?;
    let kind = program.type_of(left);
    if !(kind.ends_with("string") || kind.contains("basic_string")) {
        return None;
    }
    let sum = program.bare(right);
    let sum = if program.kind(sum) == "CXXOperatorCallExpr" {
        sum
    } else {
        *program.children(sum).first()?
    };
    let sum = program.bare(sum);
    let [_, first, rest] = program.children(sum)[..] else { return None };
    let (whole, left, first, rest) =
        (program.range(at)?, program.range(left)?, program.range(first)?, program.range(rest)?);
    let between =
        |a: &Range<usize>, b: &Range<usize>| program.source.get(a.end..b.start).map(str::trim);
    if program.variable(program.children(sum)[1]) != Some(variable)
        || program.source[rest.clone()].contains(&program.source[left.clone()])
        || between(&left, &first) != Some("=")
        || between(&first, &rest) != Some("+")
        || whole.end != rest.end
    {
        return None;
    }
    Some(vec![(left.end..rest.start, " += ".to_owned())])
}
