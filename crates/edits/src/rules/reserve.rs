//! A vector that a counted loop appends to gets its room before it.

use super::{Rule, Syntax, hoist::condition};
use std::ops::Range;

pub(super) struct Reserve;

impl Rule for Reserve {
    fn name(&self) -> &'static str {
        "reserve"
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        program.of_kind("ForStmt").filter_map(|at| reserved(program, at)).collect()
    }
}

fn reserved(program: &Syntax<'_>, at: usize) -> Option<Vec<(Range<usize>, String)>> {
    let whole = program.range(at)?;
    let comparison = condition(program, at)?;
    let bound = program.bare(*program.children(comparison).get(1)?);
    if !matches!(program.kind(bound), "DeclRefExpr" | "IntegerLiteral") {
        return None;
    }
    let bound_range = program.range(bound)?;
    if bound_range.start <= whole.start || !program.source[whole.clone()].starts_with("for") {
        return None;
    }
    // `v.push_back(x)` with a vector that was there before the loop.
    let vector = program.subtree(at).find_map(|node| {
        if program.kind(node) != "MemberExpr"
            || !matches!(program.text(node), "push_back" | "emplace_back")
        {
            return None;
        }
        let object = program.bare(*program.children(node).first()?);
        let vector =
            program.kind(object) == "DeclRefExpr" && program.type_of(object).contains("vector<");
        let variable = program.declaration(object)?;
        let own = program.subtree(at).any(|node| {
            program.kind(node) == "VarDecl" && program.declaration(node) == Some(variable)
        });
        (vector && !own).then(|| program.text(object))
    })?;
    let bound = &program.source[bound_range];
    program.wrapped(at, &format!("{vector}.reserve({vector}.size() + ({bound}));"))
}
