//! What held while foreign programs ran, and which of them the sandbox had to end.

use crate::{Set, facts, figures};
use maud::{Markup, html};

/// Verdicts and outcomes of programs that a limit or a protection ended, or that ended what ran them.
const ENDED: [(&str, &str); 9] = [
    ("timeout", "longer than its time"),
    ("cpu-limit", "more processor time than its limit"),
    ("memory-limit", "more memory than its limit"),
    ("output-limit", "more output than its limit"),
    ("process-limit", "more processes than its limit"),
    ("instruction-limit", "more instructions than its limit"),
    ("crash", "brought its tool or driver down"),
    ("crashes", "ended by a signal"),
    ("implausible-report", "changed what measured it"),
];

/// The protections of a whole sandbox, as `_dataset.json` has them.
const PROTECTIONS: [&str; 3] = ["namespaces", "Landlock", "seccomp"];

/// Nothing where none of the data sets ran anything foreign.
pub(super) fn body(sets: &[Set]) -> Option<Markup> {
    let count = |set: &Set, word: &str| set.dataset.manifest().notes.verdicts.get(word).copied();
    let ended = ENDED.map(|(word, meaning)| {
        let sum: u64 = sets.iter().filter_map(|set| count(set, word)).sum();
        (word, meaning, sum)
    });
    let ended: Vec<(&str, &str, u64)> = ended.into_iter().filter(|(.., sum)| *sum > 0).collect();
    let (mut by_set, mut held) = (Vec::new(), Vec::new());
    for set in sets {
        let manifest = set.dataset.manifest();
        let counts: Vec<u64> =
            ended.iter().map(|(word, ..)| count(set, word).unwrap_or(0)).collect();
        let sum: u64 = counts.iter().sum();
        let all: u64 = manifest.notes.verdicts.values().sum();
        let link = || html! { a href={ "#" (set.anchor) } { (set.name) } };
        if !manifest.sandbox.is_empty() || sum > 0 {
            let mut row = vec![link(), facts::cell(figures::count(all))];
            row.extend(counts.iter().map(|count| facts::cell(figures::count(*count))));
            row.push(facts::cell(figures::percent(sum, all)));
            by_set.push(row);
        }
        for (profile, protections) in &manifest.sandbox {
            let cell = |name: &&str| {
                let part = protections.split(", ").find(|part| part.starts_with(*name));
                match part {
                    Some(part) => facts::cell(if part == *name { "held" } else { part }),
                    None => html! { span.problem { "did not hold" } },
                }
            };
            let mut row = vec![link(), facts::cell(profile)];
            row.extend(PROTECTIONS.iter().map(cell));
            held.push(row);
        }
    }
    if by_set.is_empty() {
        return None;
    }
    let mut header = vec!["data set", "all"];
    header.extend(ended.iter().map(|(word, ..)| *word));
    header.push("ended");
    let bars = ended.iter().map(|(word, meaning, sum)| (format!("{word}: {meaning}"), *sum));
    let bars: Vec<(String, u64)> = bars.collect();
    let whole = bars.iter().map(|(_, sum)| sum).sum();
    let protections = ["data set", "profile", "namespaces", "Landlock", "seccomp"];
    Some(html! {
        p.note {
            "Programs under study run in bounded processes. What such a process did that ended it is a verdict about the program, "
            "not an error; what protected the machine meanwhile stands below."
        }
        div.columns {
            div {
                h3 { "Programs that were ended" }
                @if bars.is_empty() { p.note { "None was." } } @else { (facts::bars(&bars, Some(whole))) }
                (facts::table(&header, by_set))
            }
            @if !held.is_empty() {
                div { h3 { "Protections" } (facts::table(&protections, held)) }
            }
        }
    })
}
