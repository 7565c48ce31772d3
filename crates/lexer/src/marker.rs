//! `#line` directives: which line of which file stands behind them.

use std::borrow::Cow;

/// What such a directive begins with; a line's number and a file's name in quotes follow.
pub const MARKER: &str = "#line ";

/// Characters of a line that are quoted.
const QUOTED: usize = 80;

/// A line between backticks, its beginning if it is long: how a message quotes it.
#[must_use]
pub fn quoted(line: &str) -> String {
    match line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("`{}...`", &line[..end]),
        None => format!("`{line}`"),
    }
}

/// The text without the white space and the [`MARKER`]s at its end.
#[must_use]
pub fn trim_markers_end(text: &str) -> &str {
    let mut text = text.trim_end();
    loop {
        let line = text.rfind('\n').map_or(0, |at| at + 1);
        if !text[line..].starts_with(MARKER) {
            return text;
        }
        text = text[..line].trim_end();
    }
}

/// The text without its lines that are [`MARKER`]s.
#[must_use]
pub fn without_markers(text: &str) -> Cow<'_, str> {
    match text.contains(MARKER) {
        true => text.split_inclusive('\n').filter(|line| !line.starts_with(MARKER)).collect(),
        false => Cow::Borrowed(text),
    }
}

/// What the line at index `at` of a text is in the file that it is from, by the markers before it: its number, counted from
/// 1, and the name of the file where a marker names one.
#[must_use]
pub fn line_of(text: &str, at: usize) -> (usize, Option<&str>) {
    let (mut number, mut name) = (1, None);
    for line in text.lines().take(at) {
        match marker(line) {
            Some((next, file)) => (number, name) = (next, file.or(name)),
            None => number += 1,
        }
    }
    (number, name)
}

/// The number of the next line, and the file's name.
fn marker(line: &str) -> Option<(usize, Option<&str>)> {
    let (number, name) = line.strip_prefix(MARKER)?.trim().split_once(' ').unwrap_or_default();
    let name = name.trim().strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    Some((number.parse().ok()?, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\n#line 1 \"b.h\"\nb\n\n#line 3 \"a.cl\"\nc\n";

    #[test]
    fn markers_say_lines_and_files() {
        let of = |at| line_of(TEXT, at);
        assert_eq!(of(0), (1, None));
        assert_eq!(of(2), (1, Some("b.h")));
        assert_eq!(of(3), (2, Some("b.h")));
        assert_eq!(of(5), (3, Some("a.cl")));
        assert_eq!(line_of("#line x\na", 1), (2, None));
    }

    #[test]
    fn markers_are_taken_out() {
        assert_eq!(without_markers(TEXT), "a\nb\n\nc\n");
        assert_eq!(without_markers("a\nb"), "a\nb");
    }

    #[test]
    fn markers_at_the_end_are_no_code() {
        for (text, code) in [
            ("", ""),
            ("a,\n", "a,"),
            ("a,\n#line 1 \"b\"\n", "a,"),
            ("a,\n#line 1 \"b\"\n\n#line 2 \"a\"\n", "a,"),
            ("#line 1 \"b\"\n", ""),
            ("#line 1 \"b\"\nb\n", "#line 1 \"b\"\nb"),
        ] {
            assert_eq!(trim_markers_end(text), code);
        }
    }
}
