//! Where an error lies in the file as it was found. clang reads a text that the preprocessor and repair have changed, so that
//! its numbers of lines are not the file's, and its lines not always.

use crate::chunks;
use std::{cell::OnceCell, collections::HashMap};

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
    /// Of each line the piece of file scope that its first token is in.
    pieces: OnceCell<Vec<Option<usize>>>,
}

/// An error as it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The message, with the line and its number where they are known.
    pub(crate) said: String,
    /// How many lines are before it.
    line: Option<usize>,
}

impl<'a> File<'a> {
    pub(crate) fn new(path: &'a str, text: &'a str) -> File<'a> {
        let (path, line) = path.rsplit_once('#').unwrap_or((path, ""));
        let is_string = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
        let name = path.rsplit('/').next().unwrap_or(path);
        File { text, name, is_string, pieces: OnceCell::new() }
    }

    /// What is said of an error (`MESSAGE, in `LINE``) with the file's own line and its number, where one line alone fits;
    /// as it is otherwise.
    pub(crate) fn placed(&self, detail: &str) -> Placed {
        let as_it_is = || Placed { said: detail.to_owned(), line: None };
        let Some((message, quoted)) = detail.split_once(", in `") else { return as_it_is() };
        let Some((at, line)) = found(quoted.trim_end_matches('`'), self.text) else {
            return as_it_is();
        };
        let (number, name) = lexer::line_of(self.text, at);
        let file = match name.filter(|name| *name != self.name) {
            Some(header) => format!(" of {header}"),
            None if self.is_string => " of the string".to_owned(),
            None => String::new(),
        };
        let said = format!("{message}{IN_LINE}{number}{file}: {}", lexer::quoted(line));
        Placed { said, line: Some(at) }
    }

    /// What is told of an error that repair left, where `first` is what clang says of the file as it was found: the error
    /// itself where it is the first of its line there, too. Else what repair assumed made it, and the first error of the
    /// same function, or of what else of file scope holds the line, is told.
    pub(crate) fn told(&self, left: Placed, first: &[Placed]) -> String {
        let Some(line) = left.line.filter(|_| !first.is_empty()) else { return left.said };
        let of_line = first.iter().find(|one| one.line == Some(line));
        if of_line.is_some_and(|one| one.said == left.said) {
            return left.said;
        }
        let piece = self.piece_of(line);
        let mut beside =
            first.iter().filter(|one| one.line.and_then(|at| self.piece_of(at)) == piece);
        let earliest = beside.next().filter(|_| piece.is_some()).or(of_line);
        earliest.map_or(left.said, |one| one.said.clone())
    }

    fn piece_of(&self, line: usize) -> Option<usize> {
        let pieces = self.pieces.get_or_init(|| pieces_of(self.text));
        pieces.get(line).copied().flatten()
    }
}

/// Of each line the piece of file scope that its first token is in.
fn pieces_of(text: &str) -> Vec<Option<usize>> {
    let pieces = chunks::cut(text);
    let mut begin = 0;
    let of_line = |line: &str| {
        let at = begin + line.len() - line.trim_start().len();
        begin += line.len();
        let piece = pieces.partition_point(|piece| piece.range.end <= at);
        pieces.get(piece).is_some_and(|one| one.range.start <= at).then_some(piece)
    };
    text.split_inclusive('\n').map(of_line).collect()
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
        let of = |line: &str| file.placed(&format!("expected expression, in `{line}`")).said;
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
        assert_eq!(file.placed("unknown"), Placed { said: "unknown".to_owned(), line: None });
    }

    #[test]
    fn of_what_repair_made_the_first_error_as_found_is_told() {
        let text = "#define N 4\nkernel void a(global int *x) {\n  T q = x[0];\n  x[1] = q;\n  x[2] = ;\n}\n\
                    kernel void b(global int *x) {\n  x[3] = N;\n}\n";
        let file = File::new("k.cl", text);
        let placed = |message: &str, line: &str| file.placed(&format!("{message}, in `{line}`"));
        let first = [
            placed("unknown T", "T q = x[0];"),
            placed("unknown q", "x[1] = q;"),
            placed("expected expression", "x[2] = ;"),
        ];
        let told = |message: &str, line: &str| file.told(placed(message, line), &first);
        let of_type = "unknown T, in line 3: `T q = x[0];`";
        // What stands there as found, and what repair made of a line that was wrong, or right.
        assert_eq!(
            told("expected expression", "x[2] = ;"),
            "expected expression, in line 5: `x[2] = ;`"
        );
        assert_eq!(told("unknown T", "T q = x[0];"), of_type);
        assert_eq!(told("invalid operands", "x[1] = q;"), of_type);
        assert_eq!(told("invalid operands", "kernel void a(global int *x) {"), of_type);
        // Another function, or no line of the file.
        assert_eq!(told("invalid", "x[3] = N;"), "invalid, in line 8: `x[3] = N;`");
        assert_eq!(told("invalid", "int other;"), "invalid, in `int other;`");
        assert_eq!(
            file.told(placed("invalid", "x[1] = q;"), &[]),
            "invalid, in line 4: `x[1] = q;`"
        );
    }

    #[test]
    fn included_lines_are_those_of_their_files() {
        let text = "#line 1 \"k.h\"\nint h;\n#line 2 \"k.cl\"\nint own;\n";
        for (path, line, said) in [
            ("a/k.cl", "int h;", "wrong, in line 1 of k.h: `int h;`"),
            ("a/k.cl", "int own;", "wrong, in line 2: `int own;`"),
            ("a/k.cl#12", "int own;", "wrong, in line 2 of the string: `int own;`"),
        ] {
            assert_eq!(File::new(path, text).placed(&format!("wrong, in `{line}`")).said, said);
        }
    }
}
