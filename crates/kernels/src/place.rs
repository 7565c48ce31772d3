//! Where an error lies in the file as it was found. clang reads a text that the preprocessor and repair have changed, so that
//! its numbers of lines are not the file's, and its lines not always.

use crate::solve::NEVER_CLOSED;
use std::collections::HashMap;

/// Stands between a message and the number of its line.
const IN_LINE: &str = ", in line ";

/// Lines of a file in which a changed line is looked for.
const MOST_LINES: usize = 4_000;

/// Tokens that two lines must have in common, as a share of all of both.
const ALIKE: f64 = 0.5;

/// A content file, as errors in it are told.
pub(crate) struct File<'a> {
    text: &'a str,
    /// Its own name, in which it calls its lines.
    name: &'a str,
    /// It is a string in a file, whose lines are counted from its own beginning.
    is_string: bool,
}

impl<'a> File<'a> {
    pub(crate) fn new(path: &'a str, text: &'a str) -> File<'a> {
        let (path, line) = path.rsplit_once('#').unwrap_or((path, ""));
        let is_string = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
        let name = path.rsplit('/').next().unwrap_or(path);
        File { text, name, is_string }
    }

    /// What is said of an error (`MESSAGE, in `LINE``) with the file's own line and its number, where one line alone fits;
    /// as it is otherwise.
    pub(crate) fn placed(&self, detail: &str) -> String {
        let Some((message, quoted)) = detail.split_once(", in `") else { return detail.to_owned() };
        let Some((at, line)) = found(quoted.trim_end_matches('`'), self.text) else {
            return detail.to_owned();
        };
        let (number, name) = lexer::line_of(self.text, at);
        let file = match name.filter(|name| *name != self.name) {
            Some(header) => format!(" of {header}"),
            None if self.is_string => " of the string".to_owned(),
            None => String::new(),
        };
        format!("{message}{IN_LINE}{number}{file}: {}", lexer::quoted(line))
    }

    /// What is told of a kernel: `first`, which clang says first of the file as it was found, and `left`, which it says after
    /// repair, where that is something else.
    pub(crate) fn told(&self, first: Option<&str>, left: &str) -> String {
        let (left, end) = match left.strip_prefix(NEVER_CLOSED) {
            Some(left) => (left.trim_start_matches("; "), format!("; {NEVER_CLOSED}")),
            None => (left, String::new()),
        };
        let left = self.placed(left);
        let said = match first.map(|first| self.placed(first)) {
            Some(first) if left.is_empty() || first == left => first,
            Some(first) => format!("{first}; after repair: {left}"),
            None => left,
        };
        said + &end
    }
}

/// The one line of the text that says this, or most of it, and how many are before it.
fn found<'a>(quoted: &str, file: &'a str) -> Option<(usize, &'a str)> {
    let (whole, cut) = (quoted, quoted.strip_suffix("..."));
    let lines = || file.lines().enumerate().map(|(at, line)| (at, line.trim()));
    let is_it = |line: &str| line == whole || cut.is_some_and(|begin| line.starts_with(begin));
    let mut same = lines().filter(|(_, line)| is_it(line));
    match (same.next(), same.next()) {
        (Some(one), None) => return Some(one),
        (Some(_), Some(_)) => return None,
        (None, _) => {}
    }
    // A macro stood there.
    if file.lines().nth(MOST_LINES).is_some() {
        return None;
    }
    let (wanted, count) = counted(quoted);
    let mut likely: Vec<(f64, usize, &str)> = lines()
        .map(|(at, line)| {
            let (own, of_line) = counted(line);
            let common: usize =
                own.iter().map(|(token, times)| *times.min(wanted.get(token).unwrap_or(&0))).sum();
            (2.0 * common as f64 / (count + of_line).max(1) as f64, at, line)
        })
        .filter(|(alike, ..)| *alike >= ALIKE)
        .collect();
    likely.sort_by(|a, b| b.0.total_cmp(&a.0));
    match likely[..] {
        [(_, at, line)] => Some((at, line)),
        [(best, at, line), (next, ..), ..] if best > next => Some((at, line)),
        _ => None,
    }
}

/// How often each token stands there, and how many there are; parentheses that macros bring do not count.
fn counted(line: &str) -> (HashMap<&str, usize>, usize) {
    let mut counts = HashMap::new();
    let mut all = 0;
    for token in lexer::tokens(line).filter(|token| !matches!(token.text, "(" | ")")) {
        *counts.entry(token.text).or_insert(0) += 1;
        all += 1;
    }
    (counts, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "#define N 4\n\nkernel void bad(global float *x) {\n  int i = get_global_id(0);\n  x[i] = foo(x[i], 3) + ;\n  y = 1;\n  y = 1;\n}\n";

    #[test]
    fn errors_have_the_lines_of_the_file() {
        let file = File::new("k/bad.cl", FILE);
        let of = |line: &str| file.placed(&format!("expected expression, in `{line}`"));
        for (quoted, said) in [
            (
                "int i = get_global_id(0);",
                "expected expression, in line 4: `int i = get_global_id(0);`",
            ),
            (
                "x[i] = ((x[i]) + (3)) + ;",
                "expected expression, in line 5: `x[i] = foo(x[i], 3) + ;`",
            ),
            (
                "kernel void bad(...",
                "expected expression, in line 3: `kernel void bad(global float *x) {`",
            ),
            ("y = 1;", "expected expression, in `y = 1;`"),
            (
                "typedef struct { float w; } Q;",
                "expected expression, in `typedef struct { float w; } Q;`",
            ),
        ] {
            assert_eq!(of(quoted), said);
        }
        assert_eq!(file.placed("unknown"), "unknown");
    }

    #[test]
    fn the_first_error_as_found_is_told_and_what_is_left_after_repair() {
        let text =
            "#define N 4\nkernel void a(global int *x) {\n  T q = x[0];\n  x[1] = N + ;\n}\n";
        let file = File::new("k.cl", text);
        let (first, left) =
            ("unknown T, in `T q = x[0];`", "expected expression, in `x[1] = 4 + ;`");
        let of_type = "unknown T, in line 3: `T q = x[0];`";
        let of_text = "expected expression, in line 4: `x[1] = N + ;`";
        let open = |left: &str| format!("{NEVER_CLOSED}; {left}");
        for (first, left, told) in [
            (Some(first), left, format!("{of_type}; after repair: {of_text}")),
            (Some(first), first, of_type.to_owned()),
            (Some(first), "", of_type.to_owned()),
            (None, left, of_text.to_owned()),
            // One line of the file, however it is spelled.
            (Some("expected expression, in `x[1] = N + ;`"), left, of_text.to_owned()),
            (
                Some(first),
                "wrong, in `int other;`",
                format!("{of_type}; after repair: wrong, in `int other;`"),
            ),
        ] {
            assert_eq!(file.told(first, left), told);
            let ends = file.told(first, &open(left));
            assert_eq!(ends, format!("{told}; a bracket is never closed"));
        }
        assert_eq!(file.told(Some(first), NEVER_CLOSED), format!("{of_type}; {NEVER_CLOSED}"));
    }

    #[test]
    fn included_lines_are_those_of_their_files() {
        let text = "#line 1 \"k.h\"\nint h;\n#line 2 \"k.cl\"\nint own;\n";
        for (path, line, said) in [
            ("a/k.cl", "int h;", "wrong, in line 1 of k.h: `int h;`"),
            ("a/k.cl", "int own;", "wrong, in line 2: `int own;`"),
            ("a/k.cl#12", "int own;", "wrong, in line 2 of the string: `int own;`"),
        ] {
            assert_eq!(File::new(path, text).placed(&format!("wrong, in `{line}`")), said);
        }
    }
}
