//! A function that calls itself more than once, and depends on nothing but its whole-number arguments,
//! remembers its results.

use super::{Rule, Syntax};
use std::ops::Range;

pub(super) struct Memoize;

const WHOLE: &[&str] = &[
    "int",
    "long",
    "long long",
    "unsigned int",
    "unsigned long",
    "unsigned long long",
    "short",
    "bool",
    "char",
];

impl Rule for Memoize {
    fn name(&self) -> &'static str {
        "memoize"
    }

    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>> {
        if !program.cpp {
            return Vec::new();
        }
        program.of_kind("FunctionDecl").filter_map(|at| memoized(program, at)).collect()
    }
}

fn memoized(program: &Syntax<'_>, function: usize) -> Option<Vec<(Range<usize>, String)>> {
    let body = program.body(function)?;
    let name = program.text(function);
    let parameters: Vec<usize> = program
        .children(function)
        .into_iter()
        .filter(|at| program.kind(*at) == "ParmVarDecl")
        .collect();
    let result = program.type_of(function).split('(').next()?.trim();
    let whole = |at: &usize| WHOLE.contains(&canonical(program.type_of(*at)).as_str());
    let own = program.declaration(function);
    let calls = program.calls(body).into_iter().filter(|(_, callee)| *callee == name).count();
    if calls < 2
        || parameters.is_empty()
        || parameters.len() > 3
        || !parameters.iter().all(whole)
        || !(WHOLE.contains(&canonical(result).as_str()) || result == "double")
    {
        return None;
    }
    // Nothing but its arguments, its own variables, constants and itself.
    for at in program.subtree(body) {
        let pure = match program.kind(at) {
            "DeclRefExpr" => {
                let declaration = program.declaration(at);
                let constant = program.type_of(at).starts_with("const ");
                match declaration {
                    Some(_) if declaration == own || constant => true,
                    Some(declaration) => !program.is_global(declaration),
                    // From a header: functions are fine, streams are not.
                    None => !matches!(
                        program.text(at),
                        "cin" | "cout" | "cerr" | "stdin" | "stdout" | "rand"
                    ),
                }
            }
            "CallExpr" => {
                let callee = program.calls(at).first().map(|(_, callee)| *callee);
                callee
                    .is_some_and(|callee| callee == name || matches!(callee, "max" | "min" | "abs"))
            }
            "CXXMemberCallExpr" | "LambdaExpr" | "GotoStmt" => false,
            _ => true,
        };
        if !pure {
            return None;
        }
    }
    // Its arguments must still be there at the end.
    for parameter in &parameters {
        if program.may_change(body, program.declaration(*parameter)?) {
            return None;
        }
    }
    let names: Vec<&str> = parameters.iter().map(|at| program.text(*at)).collect();
    let start = program.range(body)?.start;
    if !program.source[start..].starts_with('{') {
        return None;
    }
    let key = "long long, ".repeat(names.len());
    let values =
        names.iter().map(|name| format!("(long long){name}")).collect::<Vec<_>>().join(", ");
    let before = format!(
        "\n  static std::map<std::tuple<{}>, {result}> remembered;\n  \
         const std::tuple<{}> asked({values});\n  \
         const auto known_{name} = remembered.find(asked);\n  \
         if (known_{name} != remembered.end()) return known_{name}->second;\n  \
         struct Keep_{name} {{ std::tuple<{}> asked; std::map<std::tuple<{}>, {result}> &all;\n    \
         {result} operator=({result} value) {{ return all[asked] = value; }} }} kept_{name}{{asked, remembered}};",
        key.trim_end_matches(", "),
        key.trim_end_matches(", "),
        key.trim_end_matches(", "),
        key.trim_end_matches(", "),
    );
    let mut pieces = vec![(start + 1..start + 1, before)];
    for at in program.subtree(body).filter(|at| program.kind(*at) == "ReturnStmt") {
        let value = *program.children(at).first()?;
        let range = program.range(value)?;
        let statement = program.range(at)?;
        if !program.source[statement].starts_with("return") {
            return None;
        }
        pieces.push((range.start..range.start, format!("kept_{name} = (")));
        pieces.push((range.end..range.end, ")".to_owned()));
    }
    pieces.push((
        program.after_includes()..program.after_includes(),
        "#include <map>\n#include <tuple>\n".into(),
    ));
    Some(pieces)
}

/// A type's name as clang prints it without the names that programs give it.
fn canonical(name: &str) -> String {
    match name.trim_start_matches("const ") {
        "ll" | "int64_t" | "i64" | "LL" | "Int" | "lint" => "long long".into(),
        "ull" | "u64" | "uint64_t" | "size_t" => "unsigned long".into(),
        "uint" | "u32" => "unsigned int".into(),
        other => other.to_owned(),
    }
}
