//! What goes to standard output.

use anyhow::Context;
use serde::Serialize;
use std::{io::Write, process::ExitCode};

/// Print the summary as one JSON object.
pub(crate) fn json(report: &impl Serialize) -> anyhow::Result<()> {
    line(&serde_json::to_string(report)?)
}

/// Print a line; a reader that has gone away (`| head`) ends the program quietly.
pub(crate) fn line(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        written => written.context("cannot write to standard output"),
    }
}

/// Exit status 1: the command worked, its answer is no.
pub(crate) const NEGATIVE: ExitCode = ExitCode::FAILURE;

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
    table.set_header(header.iter().copied());
    for row in rows {
        table.add_row(row);
    }
    table
}

/// A count with its thousands apart.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share in percent.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "–".to_owned(),
        _ => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
    }
}
