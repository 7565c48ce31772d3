//! What goes to standard output.

use crate::Global;
use anyhow::Context;
pub(crate) use report::{count, percent};
use serde::Serialize;
use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, IsTerminal, Write},
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

/// Print the summary as one JSON object.
pub(crate) fn json(report: &impl Serialize) -> anyhow::Result<()> {
    write(&serde_json::to_string(report)?)
}

/// Print a command's summary: one JSON object with --json, without it what `people` prints.
pub(crate) fn report(
    global: &Global,
    report: &impl Serialize,
    people: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    match global.json {
        true => json(report),
        false if global.is_silent() => Ok(()),
        false => people(),
    }
}

/// Print a line for people. What programs and files say may be part of it: see [`plain`].
pub(crate) fn line(text: &str) -> anyhow::Result<()> {
    write(&plain(text))
}

/// Columns below which a terminal is not believed, and what is taken then.
const NARROW: u16 = 20;
const WIDTH: u16 = 120;

/// Whether hints are printed.
static HINTS: AtomicBool = AtomicBool::new(true);

/// Print no hints any more, for `--quiet`.
pub(crate) fn without_hints() {
    HINTS.store(false, Ordering::Relaxed);
}

/// Print a line for people that says what to do next.
pub(crate) fn hint(text: &str) -> anyhow::Result<()> {
    if HINTS.load(Ordering::Relaxed) { line(text) } else { Ok(()) }
}

/// A name for a data set that is not there yet, for hints: `kernels`, else `kernels-2` and so on.
pub(crate) fn unused(name: &str) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !Path::new(name).exists()).unwrap_or_default()
}

/// Text that only says something: characters that would steer a terminal, or reorder what it shows,
/// are printed by their codes.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let steers = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    // A carriage return before a line feed is how some systems end lines.
    let text = text.replace("\r\n", "\n");
    let mut told = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) { told.extend(c.escape_default()) } else { told.push(c) }
    }
    Cow::Owned(told)
}

/// Print a line as it is; a reader that has gone away (`| head`) ends the program quietly.
fn write(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        written => written.context("cannot write to standard output"),
    }
}

/// Print rows as text; false where the reader has gone away (`| head`). Programs get them as they are; a
/// person's terminal is not to be steered by them.
pub(crate) fn bytes(text: &[u8]) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    let words = out.is_terminal().then(|| String::from_utf8_lossy(text).into_owned());
    let plain = words.as_deref().map(plain);
    let text = plain.as_deref().map_or(text, str::as_bytes);
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

/// Exit status 1: the command worked, its answer is no.
pub(crate) const NEGATIVE: ExitCode = ExitCode::FAILURE;

/// Whether the answer is yes, as an exit status.
pub(crate) fn status(yes: bool) -> ExitCode {
    if yes { ExitCode::SUCCESS } else { NEGATIVE }
}

/// A number of things in words: `1 executor`, `2 executors`, `3 families`.
pub(crate) fn some(n: u64, what: &str) -> String {
    let (stem, ending) = match what.strip_suffix('y') {
        _ if n == 1 => (what, ""),
        Some(stem) => (stem, "ies"),
        None => (what, "s"),
    };
    format!("{} {stem}{ending}", count(n))
}

/// A table for people.
pub(crate) fn table(
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_preset(comfy_table::presets::UTF8_HORIZONTAL_ONLY);
    table.remove_style(comfy_table::TableComponent::HorizontalLines);
    table.remove_style(comfy_table::TableComponent::MiddleIntersections);
    table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    // Some terminals that are none say they have no columns.
    if table.width().is_some_and(|width| width < NARROW) {
        table.set_width(WIDTH);
    }
    table.set_header(header.iter().copied());
    for row in rows {
        table.add_row(row);
    }
    table
}

/// Print a table for people.
pub(crate) fn print_table(
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> anyhow::Result<()> {
    line(&table(header, rows).to_string())
}

/// Print counts with their shares of `total`: of verdicts, say.
pub(crate) fn print_shares<'a>(
    header: [&str; 3],
    counts: impl IntoIterator<Item = (&'a String, &'a u64)>,
    total: u64,
) -> anyhow::Result<()> {
    let row = |(name, n): (&String, &u64)| vec![name.clone(), count(*n), percent(*n, total)];
    print_table(&header, counts.into_iter().map(row))
}

/// Print names and counts: the largest first.
pub(crate) fn print_counts(
    header: [&str; 2],
    counts: &BTreeMap<String, u64>,
) -> anyhow::Result<()> {
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    print_table(&header, counts.into_iter().map(|(name, n)| vec![name.clone(), count(*n)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_no_plural() {
        let said = [0, 1, 2, 1234].map(|n| some(n, "`kernel` function"));
        assert_eq!(
            said,
            [
                "0 `kernel` functions",
                "1 `kernel` function",
                "2 `kernel` functions",
                "1,234 `kernel` functions"
            ]
        );
        assert_eq!([1, 2].map(|n| some(n, "family")), ["1 family", "2 families"]);
    }

    #[test]
    fn what_would_steer_a_terminal_is_told_by_its_code() {
        assert_eq!(plain("a\tb\nü └"), "a\tb\nü └");
        assert_eq!(plain("\u{1b}[31mred\u{7}\r\n"), "\\u{1b}[31mred\\u{7}\n");
        assert_eq!(plain("\u{9b}1m\u{202e}x\r"), "\\u{9b}1m\\u{202e}x\\r");
    }
}
