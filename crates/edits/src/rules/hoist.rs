//! A bound that a loop computes anew each time, computed once before it.

use super::{Rule, Syntax};
use std::ops::Range;

pub(super) struct Hoist;

const FUNCTIONS: &[&str] =
    &["strlen", "sqrt", "sqrtl", "sqrtf", "pow", "cbrt", "log", "log2", "floor", "ceil"];

impl Rule for Hoist {
    fn name(&self) -> &'static str {
        "hoist-bound"
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        program
            .all()
            .filter(|at| matches!(program.kind(*at), "ForStmt" | "WhileStmt"))
            .filter_map(|at| hoisted(program, at))
            .collect()
    }
}

fn hoisted(program: &Syntax<'_>, at: usize) -> Option<Vec<(Range<usize>, String)>> {
    let whole = program.range(at)?;
    let comparison = condition(program, at)?;
    let [_, bound] = program.children(comparison)[..] else { return None };
    let calls = program.calls(bound);
    if !calls.iter().any(|(_, name)| FUNCTIONS.contains(name)) {
        return None;
    }
    let range = program.range(bound)?;
    // In a macro the loop and its parts are all where the macro's name stands.
    if range.start <= whole.start
        || range.end > whole.end
        || !program.source[whole.clone()].starts_with(['f', 'w'])
    {
        return None;
    }
    for name in program.subtree(bound).filter(|at| program.kind(*at) == "DeclRefExpr") {
        let Some(variable) = program.declaration(name) else { continue };
        if FUNCTIONS.contains(&program.text(name)) {
            continue;
        }
        // Declared by the loop itself, or changed by it.
        let own = program.subtree(at).any(|node| {
            program.kind(node) == "VarDecl" && program.declaration(node) == Some(variable)
        });
        if own || program.may_change(at, variable) {
            return None;
        }
    }
    let text = &program.source[range.clone()];
    let bound = format!("bound_{}", range.start);
    let kind = if program.cpp { "auto" } else { "__auto_type" };
    let mut pieces = program.wrapped(at, &format!("const {kind} {bound} = {text};"))?;
    pieces.insert(1, (range, bound));
    Some(pieces)
}

/// The comparison `x < bound` that a loop goes on by.
pub(super) fn condition(program: &Syntax<'_>, at: usize) -> Option<usize> {
    let children = program.children(at);
    let condition = match program.kind(at) {
        // init, condition variable, condition, increment, body
        "ForStmt" => *children.get(children.len().checked_sub(3)?)?,
        _ => *children.get(children.len().checked_sub(2)?)?,
    };
    let condition = program.bare(condition);
    let compares = program.kind(condition) == "BinaryOperator"
        && matches!(program.text(condition), "<" | "<=" | "!=");
    compares.then_some(condition)
}
