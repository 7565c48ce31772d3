use super::{
    Complaint, Fix, Program, Repair, builtin, is_missing,
    usage::{Usage, Votes, is_float},
};
use lexer::Kind;

/// Gives an unknown function a body: nothing where its result is not asked for, else a combination
/// of its arguments in the type that its result is used as.
pub(super) struct Function;

impl Repair for Function {
    fn fix(&self, complaint: &Complaint<'_>, program: &Program<'_>) -> Option<Vec<Fix>> {
        if !is_missing(complaint) {
            return None;
        }
        let (name, usage) = (complaint.name, &program.usage);
        let calls: Vec<usize> =
            usage.places(name).into_iter().filter(|at| usage.text(at + 1) == "(").collect();
        let first = *calls.first()?;
        if calls.iter().all(|at| is_statement(usage, *at)) {
            return Some(vec![Fix::Definition(format!("#define {name}(...)"))]);
        }
        let arguments = arguments(usage, first + 1);
        let letters: Vec<String> = (0..arguments.len()).map(|at| format!("x{at}")).collect();
        let list = letters.join(", ");
        let body = if letters.is_empty() {
            result(usage, &calls).to_owned()
        } else {
            // Arguments of arithmetic add up, whatever their types; a pointer gives its first
            // element by way of the addition's operand.
            let terms: Vec<String> = letters
                .iter()
                .zip(&arguments)
                .map(
                    |(letter, pointer)| {
                        if *pointer { format!("*({letter})") } else { format!("({letter})") }
                    },
                )
                .collect();
            format!("({})", terms.join(" + "))
        };
        Some(vec![Fix::Definition(format!("#define {name}({list}) {body}"))])
    }
}

/// Whether a call stands alone, its result unused.
fn is_statement(usage: &Usage<'_>, call: usize) -> bool {
    matches!(usage.before(call), ";" | "{" | "}" | "" | ")" | "else" | ":")
        && usage.text(usage.closing(call + 1) + 1) == ";"
        && !(usage.before(call) == ")"
            && usage.enclosing(call).is_some_and(|open| usage.text(open) != "{"))
}

/// For each argument of the list that `open` begins, whether it seems to be a pointer.
fn arguments(usage: &Usage<'_>, open: usize) -> Vec<bool> {
    let close = usage.closing(open);
    let mut arguments = Vec::new();
    let mut begin = open + 1;
    for at in open + 1..=close {
        let ends = at == close || usage.text(at) == "," && usage.enclosing(at) == Some(open);
        if ends && at > begin {
            arguments.push(usage.text(begin) == "&");
            begin = at + 1;
        }
    }
    arguments
}

/// A constant of the type that the calls' results are used as.
fn result(usage: &Usage<'_>, calls: &[usize]) -> &'static str {
    let mut votes = Votes::default();
    for &call in calls {
        let one = usage.votes(call, usage.closing(call + 1) + 1);
        votes.integer += one.integer;
        votes.float += one.float;
        let beside = usage.text(usage.closing(call + 1) + 2);
        if usage.kind(usage.closing(call + 1) + 2) == Some(Kind::Number) && is_float(beside) {
            votes.float += 1;
        }
        if builtin::is_type(usage.before(call)) {
            votes.integer += 1;
        }
    }
    if votes.float > votes.integer { "1.0f" } else { "1" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::definition;

    fn body(statements: &str) -> Option<String> {
        let text = format!("void k(float x, int n) {{ {statements} }}");
        match definition(&Function, "X", &text)?.as_slice() {
            [Fix::Definition(text)] => Some(text.clone()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_call_that_stands_alone_does_nothing() {
        for statements in [
            "X();",
            "X(n, x);",
            "{ } X();",
            "if (n) X();",
            "if (n) n = 1; else X(1);",
            "switch (n) { case 1: X(); }",
            "for (;;) X();",
            "X(1); X(2);",
        ] {
            assert_eq!(body(statements).as_deref(), Some("#define X(...)"), "{statements}");
        }
        for statements in
            ["n = X();", "f(X());", "X() + 1;", "X(); n = X();", "for ((void)X(); n; ) { }"]
        {
            assert_eq!(body(statements).as_deref(), Some("#define X() 1"), "{statements}");
        }
        assert_eq!(body("n = X;"), None);
    }

    #[test]
    fn arguments_add_up_and_addresses_give_what_they_point_to() {
        for (statements, wanted) in [
            ("n = X(n);", "#define X(x0) ((x0))"),
            ("n = X(n, x, 3);", "#define X(x0, x1, x2) ((x0) + (x1) + (x2))"),
            ("n = X(&n, 2);", "#define X(x0, x1) (*(x0) + (x1))"),
            ("n = X(2, &n);", "#define X(x0, x1) ((x0) + *(x1))"),
            ("n = X(f(1, 2), (3));", "#define X(x0, x1) ((x0) + (x1))"),
            ("n = X(a & 1);", "#define X(x0) ((x0))"),
        ] {
            assert_eq!(body(statements).as_deref(), Some(wanted), "{statements}");
        }
    }

    #[test]
    fn without_arguments_it_is_a_constant_of_the_type_it_is_used_as() {
        for (statements, wanted) in [
            ("n = n % X();", "1"),
            ("q = X() * 2.5f;", "1.0f"),
            ("x = X();", "1.0f"),
            ("q = max(X(), 2.5f);", "1.0f"),
            ("q = max(X(), 2);", "1"),
            ("q = max(2.5f, X());", "1"),
            // As much for the one as for the other.
            ("int X(); q = max(X(), 2.5f);", "1"),
            ("int X(); q = X() * 2.5f;", "1.0f"),
            ("q % X(); q; 1.5f * X();", "1"),
            ("q % X(); q * X() * 1.5f;", "1.0f"),
        ] {
            let wanted = Some(format!("#define X() {wanted}"));
            assert_eq!(body(statements), wanted, "{statements}");
        }
    }
}
