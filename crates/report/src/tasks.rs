//! Tables a heuristic learns from: labels, groups, and what there is to win.

use crate::{
    Result, Section, Set,
    facts::{self, brief},
    programs::Programs,
};
use heuristics::Task;
use maud::{Markup, html};
use std::collections::BTreeMap;

pub(super) struct Tasks;

/// Features that are named beside their number.
const NAMED: usize = 8;

impl Section for Tasks {
    fn title(&self) -> &'static str {
        "Tasks"
    }

    fn shows(&self, schema: &str) -> bool {
        schema == <rows::TaskHead as dataset::Row>::SCHEMA
    }

    fn body(&self, set: &Set, _: &Programs) -> Result<Markup> {
        let task = Task::load(set.dataset.folder())?;
        let mut groups: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        let mut labels: BTreeMap<String, u64> = BTreeMap::new();
        for row in &task.rows {
            let label = match row.measured() {
                true => task.choices[row.label].as_str(),
                false => "not measured",
            };
            *groups.entry(&row.group).or_default().entry(label).or_default() += 1;
            *labels.entry(label.to_owned()).or_default() += 1;
        }
        let mut header = vec!["group", "rows"];
        header.extend(labels.keys().map(String::as_str));
        let rows = groups.iter().map(|(group, counts)| {
            let mut cells = vec![facts::cell(group), facts::cell(counts.values().sum::<u64>())];
            let of = labels.keys().map(|label| counts.get(label.as_str()).copied().unwrap_or(0));
            cells.extend(of.map(facts::cell));
            cells
        });
        Ok(html! {
            dl.figures {
                div { dt { "rows" } dd { (task.rows.len()) } }
                div { dt { "features" } dd { (named(&task.features)) } }
                div { dt { "choices" } dd { (task.choices.join(", ")) } }
                @if let Some((choice, speedup)) = to_win(&task) {
                    div {
                        dt { "oracle over always " (choice) ", time / time, geometric mean" }
                        dd { (brief(speedup)) }
                    }
                }
            }
            @if task.features.len() > NAMED {
                details { summary { "names of features" } p { (task.features.join(", ")) } }
            }
            div.columns {
                div { h4 { "The cheaper choice, rows" } (facts::counts(&labels)) }
                div { h4 { "Groups, held out together" } (facts::table(&header, rows)) }
            }
        })
    }
}

/// The first of the features, and how many more there are.
fn named(features: &[String]) -> String {
    let first = features[..features.len().min(NAMED)].join(", ");
    match features.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more, {} in all", features.len()),
    }
}

/// The best static choice by geometric mean, and the oracle's geometric-mean speedup over it.
fn to_win(task: &Task) -> Option<(&str, f64)> {
    let measured = || task.rows.iter().filter(|row| row.measured());
    let speedup = |choice: usize| {
        statistics::geometric_mean(measured().map(|row| row.costs[choice] / row.costs[row.label]))
    };
    let best = (0..task.choices.len()).min_by(|a, b| speedup(*a).total_cmp(&speedup(*b)))?;
    measured().next().is_some().then(|| (task.choices[best].as_str(), speedup(best)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heuristics::Row;

    #[test]
    fn of_many_features_the_first_are_named() {
        let of = |count: usize| (0..count).map(|at| format!("f{at}")).collect::<Vec<_>>();
        assert_eq!(named(&of(2)), "f0, f1");
        assert_eq!(
            named(&of(NAMED + 126)),
            "f0, f1, f2, f3, f4, f5, f6, f7 and 126 more, 134 in all"
        );
    }

    #[test]
    fn an_oracle_wins_where_the_static_choice_is_the_slower_one() {
        let row = |one: f64, other: f64| Row {
            program: "p".into(),
            variant: String::new(),
            group: "g".into(),
            features: vec![],
            costs: vec![one, other],
            label: usize::from(other < one),
        };
        let choices = vec!["CPU".to_owned(), "GPU".to_owned()];
        let rows = vec![row(1.0, 2.0), row(4.0, 1.0)];
        let task = Task { features: vec![], choices, rows };
        let (choice, speedup) = to_win(&task).expect("it is measured");
        assert_eq!(choice, "GPU");
        assert!((speedup - 2_f64.sqrt()).abs() < 1e-12, "{speedup}");
        assert_eq!(to_win(&Task { rows: vec![], ..task }), None);
    }
}
