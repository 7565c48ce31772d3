//! Names that clang does not know since it does not know the type that they are declared with.

use super::{Program, builtin, is_unknown, usage::Usage};

/// Tokens of a declaration that are looked at, before a declarator and behind it.
const MOST: usize = 128;

/// Whether a name is declared with a type that nothing declares. clang complains of both, and knows the name once it knows
/// the type: `UNKNOWN name`, `UNKNOWN *name`, `UNKNOWN other = 1, *name`.
pub(super) fn awaits_its_type(program: &Program<'_>, name: &str) -> bool {
    let usage = &program.usage;
    let mut types = usage.places(name).into_iter().filter_map(|at| declared_with(usage, at));
    types.any(|word| is_unknown(word, program))
}

/// The word that stands where the type does in the declaration that a place may be a declarator of.
fn declared_with<'a>(usage: &Usage<'a>, at: usize) -> Option<&'a str> {
    if !matches!(usage.text(at + 1), ";" | "," | "=" | "[" | ")") {
        return None;
    }
    let mut begin = at;
    while is_between(usage.before(begin)) {
        begin -= 1;
    }
    let head = begin.checked_sub(1)?;
    if begin == at && usage.is_word(head) {
        return Some(usage.text(head));
    }
    // `N * M` and `f(a, N)` are none: a statement begins with the type, and a semicolon ends it.
    if !is_ended(usage, at) {
        return None;
    }
    let mut word = statement_begin(usage, at)?;
    while builtin::is_qualifier(usage.text(word)) {
        word += 1;
    }
    let mut first = word + 1;
    while is_between(usage.text(first)) {
        first += 1;
    }
    let declares = usage.is_word(word)
        && usage.is_word(first)
        && matches!(usage.text(first + 1), ";" | "," | "=" | "[");
    (declares && (first == at || usage.text(head) == ",")).then(|| usage.text(word))
}

/// What may stand between a type and the name of a variable.
fn is_between(token: &str) -> bool {
    token == "*" || builtin::is_qualifier(token)
}

/// Whether what holds a place is a block, the head of a `for` or file scope, and has a semicolon behind it.
fn is_ended(usage: &Usage<'_>, at: usize) -> bool {
    let open = usage.enclosing(at);
    let holds = open.is_none_or(|open| usage.text(open) == "{" || usage.before(open) == "for");
    let end = open.map_or(usage.tokens.len(), |open| usage.closing(open)).min(at + MOST);
    let is_end = |at: usize| usage.text(at) == ";" && usage.enclosing(at) == open;
    holds && (at..end).any(is_end)
}

/// Where the statement that holds a place begins.
fn statement_begin(usage: &Usage<'_>, at: usize) -> Option<usize> {
    let open = usage.enclosing(at);
    let ends = |at: usize| {
        Some(at) == open || usage.enclosing(at) == open && matches!(usage.text(at), ";" | "{" | "}")
    };
    let least = at.saturating_sub(MOST);
    match (least..at).rev().find(|before| ends(*before)) {
        Some(end) => Some(end + 1),
        None => (least == 0).then_some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn awaits(text: &str) -> bool {
        let program = Program { source: text, usage: Usage::of(text) };
        awaits_its_type(&program, "X")
    }

    #[test]
    fn a_name_with_an_unknown_type_awaits_it() {
        for text in [
            "{ T X; }",
            "{ T X = 3; }",
            "{ T X[4]; }",
            "f(T X, int y);",
            "{ T *X = &y; }",
            "{ T **X; }",
            "{ const T *X = y; }",
            "{ T *const X = y; }",
            "{ T const X = y; }",
            "{ T __local *X = y; }",
            "{ int n; T *X; }",
            "{ if (n) { } T *X; }",
            "{ T y = x[1], X = y * 2; }",
            "{ T y[2], X; }",
            "{ T y = f(1, 2), z, *X = &y; }",
            "{ __local T y, X[4]; }",
            "{ for (T y = 0, X = 4; y < X; y++) { } }",
            "{ for (T *X = y; n; n--) { } }",
            "T X;",
            "__constant T y = 1, X = 2;",
            // A use elsewhere changes nothing.
            "{ X = 3; T X; }",
        ] {
            assert!(awaits(text), "{text}");
        }
    }

    #[test]
    fn a_name_of_another_kind_awaits_none() {
        for text in [
            "{ X = 3; }",
            "{ int X; }",
            "{ int y = 1, X = 2; }",
            "{ int *X; }",
            "{ typedef int T; T y, X; }",
            "{ return X; }",
            "{ y = N * X; }",
            "{ y = 1, X = 2; }",
            "{ f(N * X, 2); }",
            "{ f(y, X); }",
            "{ int y[] = { N * X, 3 }; }",
            "{ int y[] = { N, X }; }",
            "{ N y { 2 }, X; }",
            "{ T y = n + X; }",
            "{ for (n = 0; n < N * X; n++) { } }",
            "{ y[X] = 2; }",
            "X",
            "",
        ] {
            assert!(!awaits(text), "{text}");
        }
    }

    #[test]
    fn long_declarations_are_not_looked_through() {
        let of = |terms: usize| awaits(&format!("{{ T y = 1{}, X; }}", " + 1".repeat(terms)));
        assert!(of(10));
        assert!(!of(MOST));
    }
}
