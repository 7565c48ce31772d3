//! Parameters and loop variables of class type, passed by reference to a constant instead of copied. What
//! changes its copy does not compile any more, and the edit goes.

use super::{Rule, Syntax};
use std::ops::Range;

pub(super) struct Reference;

/// Types whose copies cost.
const COSTLY: &[&str] = &[
    "vector<",
    "string",
    "basic_string<",
    "map<",
    "set<",
    "deque<",
    "list<",
    "queue<",
    "stack<",
    "bitset<",
    "array<",
    "function<",
    "unordered_map<",
    "unordered_set<",
    "multimap<",
    "multiset<",
    "valarray<",
];

impl Rule for Reference {
    fn name(&self) -> &'static str {
        "pass-by-reference"
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        if !program.cpp {
            return Vec::new();
        }
        let parameters = program.of_kind("ParmVarDecl");
        let variables = program.of_kind("CXXForRangeStmt").filter_map(|at| {
            // The only declaration of the source itself; range and iterators are the compiler's.
            program
                .subtree(at)
                .find(|at| program.kind(*at) == "VarDecl" && program.range(*at).is_some())
        });
        parameters.chain(variables).filter_map(|at| by_reference(program, at)).collect()
    }
}

fn by_reference(program: &Syntax<'_>, at: usize) -> Option<Vec<(Range<usize>, String)>> {
    let kind = program.type_of(at);
    if kind.ends_with(['&', '*']) {
        return None;
    }
    let plain = kind.trim_start_matches("const ").trim_start_matches("std::");
    if !COSTLY.iter().any(|costly| plain.starts_with(costly)) {
        return None;
    }
    let begin = program.range(at)?.start;
    let name = program.name_offset(at)?;
    // In a macro both are where its name stands.
    if name <= begin || !program.source[name..].starts_with(program.text(at)) {
        return None;
    }
    let constant = if program.source[begin..].starts_with("const") { "" } else { "const " };
    Some(vec![(begin..begin, constant.to_owned()), (name..name, "&".to_owned())])
}
