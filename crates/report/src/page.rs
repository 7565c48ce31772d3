//! The page around the sections: style, script, data.

use crate::{Result, Set, facts, feature_map::Map, figures, programs::Programs};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::{Value, json};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("script/read.js"),
    include_str!("script/browser.js"),
    include_str!("script/map.js"),
    include_str!("script/address.js"),
    "})();\n"
);

/// The whole page as text.
pub(super) fn page(
    title: &str,
    sets: &[Set],
    parts: &[(String, Markup)],
    problems: &[String],
    maps: &[Map],
    programs: &Programs,
) -> Result<String> {
    let data = embedded(&json!({ "maps": maps, "programs": programs.list() }))?;
    // Scripts run only with this word, which nobody can know before all data are there; nothing is
    // loaded from anywhere.
    let nonce = dataset::content_hash(data.as_bytes());
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; base-uri 'none'"
    );
    let before = html! {
        @if !problems.is_empty() {
            section.problems {
                h2 { "Not read" }
                @for problem in problems { p.problem { (problem) } }
            }
        }
        section { h2 { "Data sets" } (overview(sets)) }
    };
    let behind = html! {
        script #data type="application/json" { (PreEscaped(data)) }
        script nonce=(nonce) { (PreEscaped(SCRIPT)) }
    };
    Ok(around(title, &policy, parts, &before, &behind))
}

/// A page of parts alone, without a script.
pub(super) fn plain(title: &str, parts: &[(String, Markup)]) -> String {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'";
    around(title, policy, parts, &html! {}, &html! {})
}

fn around(
    title: &str,
    policy: &str,
    parts: &[(String, Markup)],
    before: &Markup,
    behind: &Markup,
) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                // By this a page is known for ours, and replaced with the data set that it lies in.
                meta name="generator" content=(dataset::PAGE_GENERATOR);
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – Stampmill" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    nav {
                        @for (at, (title, _)) in parts.iter().enumerate() {
                            a href={ "#part-" (at + 1) } { (title) }
                        }
                    }
                }
                main {
                    (before)
                    @for (at, (title, markup)) in parts.iter().enumerate() {
                        section #{ "part-" (at + 1) } { h2 { (title) } (markup) }
                    }
                }
                footer { "stampmill report, version " (env!("CARGO_PKG_VERSION")) }
                (behind)
            }
        }
    };
    page.into_string()
}

fn overview(sets: &[Set]) -> Markup {
    let rows = sets.iter().map(|set| {
        let manifest = set.dataset.manifest();
        let bytes: u64 = manifest.shards.iter().map(|shard| shard.bytes).sum();
        let inputs = html! {
            @for (at, input) in manifest.notes.inputs.iter().enumerate() {
                @if at > 0 { ", " }
                (facts::origin(&input.name, &input.hash, sets))
            }
        };
        vec![
            html! { a href={ "#" (set.anchor) } { (set.name) } },
            facts::cell(&manifest.schema),
            facts::cell(figures::count(manifest.rows)),
            facts::cell(format!("{} KiB", figures::count(bytes.div_ceil(1024)))),
            inputs,
        ]
    });
    facts::table(&["data set", "schema", "rows", "size", "made from"], rows)
}

/// JSON in which nothing ends the element that holds it, whatever programs have in their texts.
fn embedded(value: &Value) -> Result<String> {
    let text = serde_json::to_string(value)?;
    Ok(text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_data_hold_no_markup_and_read_back_equal() {
        let hostile = json!({ "text": "</script><!-- <script> &lt; \u{2028} \"quoted\" \\u003c" });
        let text = embedded(&hostile).expect("it is JSON");
        assert!(!text.contains(['<', '>', '&']), "{text}");
        let back: Value = serde_json::from_str(&text).expect("it is JSON still");
        assert_eq!(back, hostile);
    }

    #[test]
    fn our_own_script_does_not_end_itself() {
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.contains("</style"));
        for outside in ["http:", "https:", "innerHTML", "eval("] {
            assert!(!SCRIPT.replace("http://www.w3.org/", "").contains(outside), "{outside}");
        }
    }
}
