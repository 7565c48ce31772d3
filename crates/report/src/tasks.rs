//! Tables a heuristic learns from: labels or costs, groups, and what there is to win.

use crate::{
    Result, Section, Set,
    chart::{Chart, Scale, Series},
    facts::{self, brief},
    figures,
    programs::Programs,
};
use heuristics::{Table, Task};
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
        let table = Table::load(set.dataset.folder())?;
        Ok(body(&table))
    }
}

fn body(table: &Table) -> Markup {
    let task = &table.task;
    html! {
        dl.figures {
            @if !table.about.is_empty() { div { dt { "task" } dd { (table.about) } } }
            div { dt { "rows" } dd { (figures::count(task.rows.len() as u64)) } }
            @if !task.features.is_empty() {
                div { dt { "features" } dd { (named(&task.features)) } }
            }
            @if task.choices.len() > 1 {
                div { dt { "choices" } dd { (task.choices.join(", ")) } }
                @if let Some((choice, speedup)) = to_win(task) {
                    div {
                        dt { "oracle over always " (choice) ", time / time, geometric mean" }
                        dd { (brief(speedup)) }
                    }
                }
            }
        }
        @if task.features.len() > NAMED {
            details { summary { "names of features" } p { (task.features.join(", ")) } }
        }
        @if task.choices.len() == 1 { (costs(task)) } @else { (choices(task)) }
        @if !table.left_out.is_empty() {
            h4 { "Rows left out" }
            (facts::counts(&table.left_out))
            @if task.rows.is_empty() {
                p.note {
                    "Nothing can be learned from rows without vectors: "
                    code { "stampmill label --features VECTORS" } " puts them in."
                }
            }
        }
    }
}

/// Of a task that asks for a cost: how the costs are spread.
fn costs(task: &Task) -> Markup {
    let mut groups: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in task.rows.iter().filter(|row| row.measured()) {
        groups.entry(&row.group).or_default().push(row.costs[0]);
    }
    let name = task.choices.first().map_or("cost", String::as_str);
    let spread = Chart {
        title: "Costs",
        x: (name, Scale::Logarithmic),
        y: "share of the rows",
        series: vec![Series::shares(name, groups.values().flatten().copied().collect())],
    };
    let rows = groups.iter().map(|(group, costs)| {
        let median = statistics::median(costs.iter().copied()).map(brief);
        vec![
            facts::cell(group),
            facts::cell(figures::count(costs.len() as u64)),
            facts::cell(median.unwrap_or_default()),
        ]
    });
    html! {
        div.columns {
            (spread.draw())
            (held_out(&["group", "rows", "cost, median"], rows))
        }
    }
}

/// Of a task that asks for a choice: how often each is the cheaper one.
fn choices(task: &Task) -> Markup {
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
    html! {
        @if !labels.is_empty() {
            div.columns {
                div { h4 { "The cheaper choice, rows" } (facts::counts(&labels)) }
                (held_out(&header, rows))
            }
        }
    }
}

/// The groups, where there are any.
fn held_out(header: &[&str], rows: impl ExactSizeIterator<Item = Vec<Markup>>) -> Markup {
    html! {
        @if rows.len() > 0 {
            div { h4 { "Groups, held out together" } (facts::table(header, rows)) }
        }
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
    fn a_task_of_one_choice_shows_how_its_costs_are_spread() {
        let row = |group: &str, cost: f64| Row {
            program: "p".into(),
            variant: String::new(),
            group: group.into(),
            features: vec![],
            costs: vec![cost],
            label: 0,
        };
        let rows = vec![row("g", 8.0), row("g", 40.0), row("h", 500.0)];
        let task = Task { features: vec![], choices: vec!["size".to_owned()], rows };
        let mut table = Table { task, ..Table::default() };
        let shown = body(&table).into_string();
        assert!(shown.contains("<svg") && shown.contains("<td>24</td>"), "{shown}");
        assert!(!shown.contains("cheaper") && !shown.contains("oracle"), "{shown}");
        table.task.rows.clear();
        table.left_out.insert("undescribed".to_owned(), 3);
        let shown = body(&table).into_string();
        assert!(!shown.contains("<svg") && shown.contains("label --features"), "{shown}");
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
