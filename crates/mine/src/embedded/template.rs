//! Holes in format strings, filled with the names of what fills them.

use super::cursor::hole_name;

/// How a format string writes its holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `%s`, `%d`, `%(name)s`; `%%` is a percent sign.
    Percent,
    /// `{}`, `{0}`, `{name}`; `{{` is a brace.
    Braces,
}

/// The longest hole that is looked for.
const HOLE: usize = 128;

pub(super) fn fill(style: Style, text: &str, arguments: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut next = arguments.iter();
    let (open, close) = match style {
        Style::Percent => ('%', '%'),
        Style::Braces => ('{', '}'),
    };
    while let Some(at) = rest.find([open, close]) {
        out.push_str(&rest[..at]);
        let found = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        if rest.as_bytes().first() == Some(&found) {
            out.push(char::from(found));
            rest = &rest[1..];
            continue;
        }
        let hole = match style {
            Style::Percent => percent(rest),
            Style::Braces if found == b'{' => braces(rest),
            Style::Braces => None,
        };
        match hole {
            Some((name, length)) => {
                let positional = name.is_empty() || name.bytes().all(|byte| byte.is_ascii_digit());
                let at = name.parse::<usize>().ok();
                let filled = match (positional, at) {
                    (true, Some(at)) => arguments.get(at),
                    (true, None) => next.next(),
                    (false, _) => None,
                };
                let unnamed = if positional { "hole" } else { name };
                out.push_str(filled.map_or(unnamed, |argument| argument));
                rest = &rest[length..];
            }
            None => out.push(char::from(found)),
        }
    }
    out.push_str(rest);
    out
}

/// A conversion behind its `%`: the name in it and its length.
fn percent(rest: &str) -> Option<(&str, usize)> {
    let bytes = rest.as_bytes();
    let mut at = 0;
    let mut name = "";
    if bytes.first() == Some(&b'(') {
        let close = bytes.iter().take(HOLE).position(|byte| *byte == b')')?;
        name = &rest[1..close];
        at = close + 1;
    }
    while bytes.get(at).is_some_and(|byte| b"0123456789.-+#lhzjt*".contains(byte)) {
        at += 1;
    }
    let conversion = bytes.get(at)?;
    b"sdiufgexXcrGEp".contains(conversion).then_some((name, at + 1))
}

/// A hole behind its `{`.
fn braces(rest: &str) -> Option<(&str, usize)> {
    let close = rest.bytes().take(HOLE).position(|byte| byte == b'}')?;
    let inside = &rest[..close];
    let name = inside.split([':', '!', '[', '.']).next().unwrap_or(inside).trim();
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    plain.then_some((name, close + 1))
}

/// `${expression}` becomes the expression's name; lines of template code (`% for`, `<% ... %>`) go.
pub(super) fn fill_dollars(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        out.push_str(&rest[..at]);
        rest = &rest[at + 2..];
        match rest.bytes().take(HOLE).position(|byte| byte == b'}') {
            Some(close) => {
                out.push_str(hole_name(&rest[..close]));
                rest = &rest[close + 1..];
            }
            None => out.push_str("${"),
        }
    }
    out.push_str(rest);
    while let Some(open) = out.find("<%") {
        let Some(close) = out[open..].find("%>") else { break };
        out.replace_range(open..open + close + 2, "");
    }
    out
}
