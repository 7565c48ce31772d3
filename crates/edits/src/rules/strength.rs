//! The same result by less work: powers by products, shorter loops over divisors and multiples.

use super::{Rule, Syntax, hoist::condition};
use std::ops::Range;

/// `pow(x, 2)` by a product.
pub(super) struct Power;

impl Rule for Power {
    fn name(&self) -> &'static str {
        "power-by-product"
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        let mut pieces = Vec::new();
        for root in program.all().filter(|at| program.parent(*at).is_none()) {
            for (call, name) in program.calls(root) {
                if name != "pow" {
                    continue;
                }
                let [_, base, exponent] = program.children(call)[..] else { continue };
                let exponent = program.bare(exponent);
                let times = match (program.kind(exponent), program.text(exponent)) {
                    ("IntegerLiteral", "2") | ("FloatingLiteral", "2") => 2,
                    ("IntegerLiteral", "3") | ("FloatingLiteral", "3") => 3,
                    _ => continue,
                };
                let quiet = !program.subtree(base).any(|at| {
                    matches!(program.kind(at), "CallExpr" | "UnaryOperator" | "CXXMemberCallExpr")
                        && program.text(at) != "-"
                });
                let (Some(range), Some(text)) = (program.range(call), program.source_of(base))
                else {
                    continue;
                };
                let inside = program.range(base).is_some_and(|base| base.start > range.start);
                if quiet
                    && inside
                    && !pieces
                        .iter()
                        .any(|(other, _): &(Range<usize>, String)| overlaps(other, &range))
                {
                    let factor = format!("(double)({text})");
                    pieces.push((range, format!("({})", vec![factor; times].join(" * "))));
                }
            }
        }
        if pieces.is_empty() { Vec::new() } else { vec![pieces] }
    }
}

fn overlaps(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Divisors up to the root: a loop over `i < n` that ends at the first divisor of `n`.
pub(super) struct TrialDivision;

impl Rule for TrialDivision {
    fn name(&self) -> &'static str {
        "trial-division"
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        program.of_kind("ForStmt").filter_map(|at| divided(program, at)).collect()
    }
}

fn divided(program: &Syntax<'_>, at: usize) -> Option<Vec<(Range<usize>, String)>> {
    let comparison = condition(program, at)?;
    let [counter, bound] = program.children(comparison)[..] else { return None };
    let counter = program.variable(counter)?;
    let children = program.children(at);
    // The counter must be the loop's own: behind it nobody asks how far it came.
    let init = *children.first()?;
    let own = program.subtree(init).find(|node| {
        program.kind(*node) == "VarDecl" && program.declaration(*node) == Some(counter)
    })?;
    let first = program.bare(*program.children(own).first()?);
    if (program.kind(first), program.text(first)) != ("IntegerLiteral", "2")
        && (program.kind(first), program.text(first)) != ("IntegerLiteral", "3")
    {
        return None;
    }
    let bare_bound = program.bare(bound);
    // `i < n`, or `i <= n / 2`.
    let number = match (program.kind(bare_bound), program.text(comparison)) {
        ("DeclRefExpr", "<") => program.variable(bare_bound)?,
        ("BinaryOperator", "<" | "<=") if program.text(bare_bound) == "/" => {
            let [number, two] = program.children(bare_bound)[..] else { return None };
            (program.text(program.bare(two)) == "2").then_some(())?;
            // `i < n / 2` leaves out 2 for 4: not the same.
            (program.text(comparison) == "<=").then_some(())?;
            program.variable(number)?
        }
        _ => return None,
    };
    let mut body = *children.last()?;
    if program.kind(body) == "CompoundStmt" {
        let [only] = program.children(body)[..] else { return None };
        body = only;
    }
    let branches = program.children(body);
    let (2, "IfStmt") = (branches.len(), program.kind(body)) else { return None };
    let tests = program.subtree(branches[0]).any(|node| {
        if program.kind(node) != "BinaryOperator" || program.text(node) != "%" {
            return false;
        }
        let [left, right] = program.children(node)[..] else { return false };
        program.variable(left) == Some(number) && program.variable(right) == Some(counter)
    });
    let leaves = {
        let last = match program.kind(branches[1]) {
            "CompoundStmt" => *program.children(branches[1]).last()?,
            _ => branches[1],
        };
        matches!(program.kind(last), "ReturnStmt" | "BreakStmt")
    };
    let uses_counter =
        program.subtree(branches[1]).any(|node| program.declaration(node) == Some(counter));
    let alone = !matches!(program.text(program.bare(branches[0])), "&&" | "||");
    if !tests || !leaves || uses_counter || !alone || program.may_change(body, number) {
        return None;
    }
    let (whole, range) = (program.range(at)?, program.range(comparison)?);
    let name = |variable: u32| {
        program
            .subtree(comparison)
            .find(|node| program.declaration(*node) == Some(variable))
            .map(|node| program.text(node))
    };
    let (i, n) = (name(counter)?, name(number)?);
    (range.start > whole.start && program.source[range.clone()].starts_with(i))
        .then(|| vec![(range, format!("{i} <= {n} / {i}"))])
}

/// Multiples from the square on: `j = i * 2; j < n; j += i` that only marks.
pub(super) struct SieveStart;

impl Rule for SieveStart {
    fn name(&self) -> &'static str {
        "sieve-start"
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        program.of_kind("ForStmt").filter_map(|at| sieved(program, at)).collect()
    }
}

fn sieved(program: &Syntax<'_>, at: usize) -> Option<Vec<(Range<usize>, String)>> {
    condition(program, at)?;
    let children = program.children(at);
    let [init, .., increment, body] = children[..] else { return None };
    // What the counter begins with: `i * 2`, `2 * i` or `i + i`.
    let start = program.subtree(init).find(|node| {
        program.kind(*node) == "BinaryOperator" && matches!(program.text(*node), "*" | "+")
    })?;
    let [left, right] = program.children(start)[..] else { return None };
    let two = |at: usize| {
        program.text(program.bare(at)) == "2" && program.kind(program.bare(at)) == "IntegerLiteral"
    };
    let step = match program.text(start) {
        "*" if two(left) => program.bare(right),
        "*" if two(right) => program.bare(left),
        "+" if program.variable(left).is_some()
            && program.variable(left) == program.variable(right) =>
        {
            program.bare(left)
        }
        _ => return None,
    };
    let variable = program.variable(step)?;
    let adds = program.kind(increment) == "CompoundAssignOperator"
        && program.text(increment) == "+="
        && program.variable(*program.children(increment).get(1)?) == Some(variable);
    let mut body = body;
    if program.kind(body) == "CompoundStmt" {
        let [only] = program.children(body)[..] else { return None };
        body = only;
    }
    let marks =
        matches!(program.kind(body), "BinaryOperator" | "CXXOperatorCallExpr" | "ExprWithCleanups")
            && program.subtree(body).any(|node| {
                matches!(
                    program.kind(node),
                    "IntegerLiteral" | "CXXBoolLiteralExpr" | "CharacterLiteral"
                )
            });
    let (whole, range) = (program.range(at)?, program.range(start)?);
    if !adds || !marks || range.start <= whole.start {
        return None;
    }
    let i = program.text(step);
    // Where the square is no int, there are no multiples left to mark.
    Some(vec![(range, format!("({i} <= 46340 ? {i} * {i} : 2147483647)"))])
}
