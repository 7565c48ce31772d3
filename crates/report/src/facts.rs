//! What all sections share: how a data set was made, bars, tables.

use crate::{Set, figures};
use maud::{Markup, html};
use serde_json::Value;
use std::collections::BTreeMap;

/// How a data set was made, folded up.
pub(super) fn manifest(set: &Set, sets: &[Set]) -> Markup {
    let manifest = set.dataset.manifest();
    let notes = &manifest.notes;
    html! {
        details.facts {
            summary { "How it was made" }
            dl {
                dt { "schema" } dd { (manifest.schema) ", version " (manifest.version) }
                dt { "rows" } dd { (figures::count(manifest.rows)) }
                dt { "identity" } dd { code { (manifest.identity) } }
                @if !notes.inputs.is_empty() {
                    dt { "inputs" }
                    dd {
                        @for input in &notes.inputs {
                            div { (origin(&input.name, &input.hash, sets)) " " code { (input.hash) } }
                        }
                    }
                }
                dt { "seed" } dd { (notes.seed) }
                dt { "made by" } dd { "stampmill " (manifest.stampmill) }
                @if !notes.tools.is_empty() {
                    dt { "tools" }
                    dd { @for (name, version) in &notes.tools { div { (name) " " (version) } } }
                }
                dt { "on" } dd { (manifest.host) }
                @if !notes.configuration.is_null() {
                    dt { "configuration" }
                    dd {
                        pre tabindex="0" role="region" aria-label="configuration" {
                            (pretty(&notes.configuration))
                        }
                    }
                }
            }
        }
    }
}

/// An input by its name, with a link where it is on the page itself.
pub(super) fn origin(name: &str, hash: &str, sets: &[Set]) -> Markup {
    match sets.iter().find(|set| set.dataset.manifest().identity == hash) {
        Some(set) => html! { a href={ "#" (set.anchor) } { (set.name) } },
        None => html! { (name) },
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(&shortened(value)).unwrap_or_default()
}

/// Most members of a list of numbers or words that are shown; names of dimensions are more.
const MOST_LISTED: usize = 8;

fn shortened(value: &Value) -> Value {
    match value {
        Value::Array(list) if list.len() > MOST_LISTED && !list.iter().any(Value::is_object) => {
            let rest = list.len() - (MOST_LISTED - 2);
            let shown = list[..MOST_LISTED - 2].iter().map(shortened);
            shown.chain([Value::String(format!("… {rest} more"))]).collect()
        }
        Value::Array(list) => list.iter().map(shortened).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), shortened(value))).collect()
        }
        other => other.clone(),
    }
}

/// Counts as bars, in the order given; the whole is the largest of them unless told.
pub(super) fn bars(items: &[(String, u64)], whole: Option<u64>) -> Markup {
    let most = items.iter().map(|(_, count)| *count).max().unwrap_or(0);
    // No bar leaves its track, whatever was counted by another rule.
    let whole = whole.unwrap_or(most).max(most);
    html! {
        div.bars {
            @for (name, count) in items {
                div.bar {
                    span.name title=(name) { (name) }
                    span.track {
                        span.fill style={ "width:" (width(*count, whole)) "%" } {}
                    }
                    span.count { (figures::count(*count)) }
                    span.share { (figures::percent(*count, whole)) }
                }
            }
        }
    }
}

fn width(count: u64, whole: u64) -> String {
    match whole {
        0 => "0".to_owned(),
        _ => format!("{:.2}", 100.0 * count as f64 / whole as f64),
    }
}

/// A name; of what has none that it is not known.
fn named(name: &str) -> String {
    if name.is_empty() { "not known".to_owned() } else { name.to_owned() }
}

/// Counts by name as bars, the largest first.
pub(super) fn counts(map: &BTreeMap<String, u64>) -> Markup {
    let mut items: Vec<(String, u64)> =
        map.iter().map(|(name, count)| (named(name), *count)).collect();
    items.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let whole = items.iter().map(|(_, count)| count).sum();
    bars(&items, Some(whole))
}

/// The counts of an object in a summary.
pub(super) fn counts_of(value: &Value) -> BTreeMap<String, u64> {
    let entries = value.as_object().into_iter().flatten();
    entries.filter_map(|(name, count)| Some((name.clone(), count.as_u64()?))).collect()
}

/// The verdicts that a data set's makers counted; nothing where they counted none.
pub(super) fn verdicts(set: &Set) -> Markup {
    let verdicts = &set.dataset.manifest().notes.verdicts;
    html! {
        @if !verdicts.is_empty() {
            h4 { "Verdicts" }
            (counts(verdicts))
        }
    }
}

/// A table of cells; a keyboard scrolls it, too. Without rows there is none.
pub(super) fn table(
    header: &[&str],
    rows: impl IntoIterator<Item = impl IntoIterator<Item = Markup>>,
) -> Markup {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() {
        return html! {};
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label=(header.join(", ")) {
            table {
                thead { tr { @for name in header { th { (name) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}

/// A cell of text; a number stays beside its unit.
pub(super) fn cell(value: impl std::fmt::Display) -> Markup {
    html! { (value.to_string().replace(" %", "\u{a0}%")) }
}

/// Numbers and texts of a summary by their names; lists and objects are skipped.
pub(super) fn scalars(summary: &Value) -> Markup {
    let entries: Vec<(&String, String)> = summary
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name, scalar(value)?)))
        .collect();
    html! {
        @if !entries.is_empty() {
            dl.figures { @for (name, value) in entries { div { dt { (label(name)) } dd { (value) } } } }
        }
    }
}

/// Keys of summaries and columns that are no words of a sentence, and what they count.
const LABELS: [(&str, &str); 29] = [
    ("array_shrunk", "an array is shorter"),
    ("compiled_plain", "files that compile as they are"),
    ("compiled_repaired", "files that compile with inferred definitions"),
    ("compiled_shim", "files that compile with the shim"),
    ("compile_rate", "share that compiles"),
    ("compiling_unique", "unique samples that compile"),
    ("families", "families of near-duplicates"),
    ("grown", "problems with grown tests"),
    ("hidden", "hidden tests"),
    ("io_only", "only input and output changed"),
    ("kernels_judged", "kernels that passed or are at fault"),
    ("kernels_left", "kernels that were not begun"),
    ("kernels_passing", "kernels that pass"),
    ("kernels_passing_at_some_sizes", "kernels that pass at some sizes only"),
    ("largest_instructions_median", "instructions of a problem's largest test, median"),
    ("lines_after", "lines of the kernels"),
    ("lines_before", "lines of the files"),
    ("mostly_startup", "problems whose largest test is mostly start-up"),
    ("program_tests", "programs times tests"),
    ("rejected_before", "rows that were rejected before"),
    ("stubs", "modules of under 100 instructions"),
    ("textual_kernels", "kernels counted by text"),
    ("timed", "times measured"),
    ("unmatched", "candidates without a pair"),
    ("unoptimized", "modules compiled without -O"),
    ("vocabulary_after", "different tokens in the kernels"),
    ("vocabulary_before", "different tokens in the files"),
    ("with_grammar", "problems with a grammar"),
    ("with_tests", "problems with tests"),
];

/// The key of a summary as a person reads it.
pub(super) fn label(key: &str) -> String {
    if let Some((_, words)) = LABELS.iter().find(|(known, _)| *known == key) {
        return (*words).to_owned();
    }
    let words = key.replace('_', " ");
    // What is counted in a unit says so behind a comma.
    let unit = ["seconds", "bytes", "percent"]
        .into_iter()
        .find_map(|unit| Some(format!("{}, {unit}", words.strip_suffix(unit)?.strip_suffix(' ')?)));
    unit.unwrap_or(words)
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(match (number.as_u64(), number.as_f64()) {
            (Some(count), _) => figures::count(count),
            (None, Some(number)) => brief(number),
            _ => number.to_string(),
        }),
        Value::String(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// A number in at most four digits behind the point, without trailing zeros.
pub(super) fn brief(number: f64) -> String {
    let text = match number.abs() {
        size if size != 0.0 && !(1e-3..1e7).contains(&size) => return format!("{number:.2e}"),
        size if size >= 100.0 => format!("{number:.1}"),
        _ => format!("{number:.4}"),
    };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_names_are_escaped_in_bars_and_tables() {
        let hostile = "</td><script>alert(1)</script>\"";
        let items = [(hostile.to_owned(), 3)];
        let row = vec![cell(hostile)];
        let html =
            format!("{}{}", bars(&items, None).into_string(), table(&["a"], [row]).into_string());
        assert!(!html.contains("<script>"), "{html}");
        assert!(html.contains("&lt;script&gt;"), "{html}");
    }

    #[test]
    fn a_table_without_rows_is_none_and_no_bar_leaves_its_track() {
        assert_eq!(table(&["a"], Vec::<Vec<Markup>>::new()).into_string(), "");
        let items = [("counted by text".to_owned(), 2), ("accepted".to_owned(), 4)];
        let bars = bars(&items, Some(2)).into_string();
        assert!(bars.contains("width:100.00%") && bars.contains("width:50.00%"), "{bars}");
        assert!(!bars.contains("200"), "{bars}");
    }

    #[test]
    fn long_lists_are_shortened() {
        let given = serde_json::json!({ "names": (0..56).collect::<Vec<_>>(), "few": [1, 2], "sets": vec![serde_json::json!({ "a": 1 }); 9] });
        let shown = shortened(&given);
        assert_eq!(shown["names"], serde_json::json!([0, 1, 2, 3, 4, 5, "… 50 more"]));
        assert_eq!((&shown["few"], &shown["sets"]), (&given["few"], &given["sets"]));
    }

    #[test]
    fn keys_of_summaries_are_words() {
        let read = ["unique_kernels", "search_seconds", "seconds", "bitcode_bytes"].map(label);
        assert_eq!(label("io_only"), "only input and output changed");
        assert_eq!(read, ["unique kernels", "search, seconds", "seconds", "bitcode, bytes"]);
    }

    #[test]
    fn numbers_are_brief() {
        let shown: Vec<String> =
            [0.0, 0.25, 123.456, 1e-5, -3.0, 1.5e9].into_iter().map(brief).collect();
        assert_eq!(shown, ["0", "0.25", "123.5", "1.00e-5", "-3", "1.50e9"]);
    }
}
