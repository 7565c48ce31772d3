//! Kernels made at targets: how near they came, and how near what was mined is.

use crate::{
    Result, Section, Set, Stream,
    chart::{Chart, Scale, Series, Shape},
    facts::{self, brief},
    figures,
    programs::{Program, Programs},
    trajectory,
};
use dataset::Row;
use maud::{Markup, html};
use rows::SteeredRow;
use std::collections::BTreeMap;

pub(super) struct Steered;

/// Targets of which a curve says more than the table.
const CURVE: usize = 4;

/// One source of kernels over the targets of a run.
struct Source {
    name: String,
    proximity: Vec<f64>,
    exact: usize,
}

impl Section for Steered {
    fn title(&self) -> &'static str {
        "Steering"
    }

    fn shows(&self, schema: &str) -> bool {
        schema == SteeredRow::SCHEMA
    }

    fn programs(&self, set: &Set) -> dataset::Result<Option<(bool, Stream)>> {
        let rows = set.dataset.rows::<SteeredRow>()?.map(|row| {
            let row = row?;
            Ok(Program {
                id: dataset::content_hash(row.text.as_bytes()),
                // All of them are `A` to themselves.
                name: row.path.clone(),
                origin: format!("steered, {}", row.proposer),
                path: row.path,
                text: row.text,
                ..Program::default()
            })
        });
        Ok(Some((true, Box::new(rows))))
    }

    fn together(&self, sets: &[&Set]) -> Result<Markup> {
        let sets = sets.iter().map(|set| Ok((*set, nearest(set)?)));
        let sets: Vec<(&Set, Vec<SteeredRow>)> = sets.collect::<dataset::Result<_>>()?;
        let mut sources = Vec::new();
        for (set, rows) in &sets {
            let possible: Vec<&SteeredRow> =
                rows.iter().filter(|row| row.verdict != "impossible").collect();
            sources.push(Source {
                name: set.name.clone(),
                proximity: possible.iter().map(|row| row.proximity).collect(),
                exact: possible.iter().filter(|row| row.exact).count(),
            });
            // Without seeds there is nothing mined to compare with.
            if possible.iter().any(|row| row.mined_proximity > 0.0) {
                sources.push(Source {
                    name: format!("nearest mined kernel ({})", set.name),
                    proximity: possible.iter().map(|row| row.mined_proximity).collect(),
                    exact: possible.iter().filter(|row| row.mined_exact > 0).count(),
                });
            }
        }
        let series = sources.iter().map(|source| {
            let mut sorted = source.proximity.clone();
            sorted.sort_by(f64::total_cmp);
            let count = sorted.len().max(1) as f64;
            let points = sorted.into_iter().enumerate();
            let points = points.map(|(at, proximity)| [(at + 1) as f64 / count, proximity]);
            Series::new(&source.name, Shape::Line, points.collect())
        });
        let chart = Chart {
            title: "How near each source of kernels came",
            x: ("share of the targets, the hardest first", Scale::Linear),
            y: "proximity",
            series: series.collect(),
        };
        let rows = sources.iter().map(|source| {
            let count = source.proximity.len();
            let median = statistics::median(source.proximity.iter().copied());
            vec![
                facts::cell(&source.name),
                facts::cell(figures::count(count as u64)),
                facts::cell(figures::count(source.exact as u64)),
                facts::cell(figures::percent(source.exact as u64, count as u64)),
                facts::cell(median.map_or_else(|| "–".to_owned(), |median| format!("{median:.3}"))),
            ]
        });
        Ok(html! {
            p.note {
                "Proximity: 1 − Euclidean distance / norm of the target; 1 is a hit. Impossible "
                "targets are left out."
            }
            div.columns {
                (facts::table(&["source", "targets", "exact", "share", "median proximity"], rows))
                @if sources.iter().any(|source| source.proximity.len() >= CURVE) { (chart.draw()) }
            }
            (trajectory::together(&sets))
        })
    }

    fn body(&self, set: &Set, programs: &Programs) -> Result<Markup> {
        let all: Vec<SteeredRow> =
            set.dataset.rows::<SteeredRow>()?.collect::<dataset::Result<_>>()?;
        let rows: Vec<SteeredRow> = all.iter().filter(|row| row.rank == 1).cloned().collect();
        let mut by_proposer: BTreeMap<String, u64> = BTreeMap::new();
        for row in rows.iter().filter(|row| !row.proposer.is_empty()) {
            *by_proposer.entry(row.proposer.clone()).or_default() += 1;
        }
        let summary = &set.dataset.manifest().notes.summary;
        let cells = all.iter().map(|row| {
            let found = match row.text.is_empty() {
                true => html! { (row.verdict) @if !row.detail.is_empty() { ": " (row.detail) } },
                false => {
                    programs.link(&dataset::content_hash(row.text.as_bytes()), &row.path)
                }
            };
            vec![
                facts::cell(&row.target),
                found,
                facts::cell(if row.exact { "exact" } else { "" }),
                html! {
                    span.meter title=(row.proximity) {
                        span style={ "width:" (format!("{:.1}", 100.0 * row.proximity.clamp(0.0, 1.0))) "%" } {}
                    }
                    " " (format!("{:.3}", row.proximity))
                },
                facts::cell(match row.seeds {
                    0 => String::new(),
                    _ => format!("{:.3}", row.mined_proximity),
                }),
                facts::cell(&row.proposer),
                facts::cell(figures::count(row.candidates)),
                facts::cell(brief(row.seconds)),
            ]
        });
        let header = [
            "target",
            "kernel",
            "",
            "proximity",
            "nearest mined",
            "proposer",
            "candidates",
            "seconds",
        ];
        Ok(html! {
            div.columns {
                @if !by_proposer.is_empty() {
                    div { h4 { "Whose kernel is the nearest, targets" } (facts::counts(&by_proposer)) }
                }
                @for (title, key) in [("By size", "by_size"), ("By suite", "by_suite")] {
                    @if summary[key].as_object().is_some_and(|groups| !groups.is_empty()) {
                        div { h4 { (title) } (shares(&summary[key])) }
                    }
                }
            }
            (facts::table(&header, cells))
            (trajectory::body(&rows))
        })
    }
}

/// The nearest kernel of each target.
fn nearest(set: &Set) -> dataset::Result<Vec<SteeredRow>> {
    let rows = set.dataset.rows::<SteeredRow>()?;
    rows.filter(|row| row.as_ref().map_or(true, |row| row.rank == 1)).collect()
}

fn shares(groups: &serde_json::Value) -> Markup {
    let rows = groups.as_object().into_iter().flatten().map(|(name, share)| {
        let name = name.split_once(": ").map_or(name.as_str(), |(_, name)| name);
        let count = |key: &str| share[key].as_u64().unwrap_or(0);
        vec![
            facts::cell(name),
            facts::cell(format!("{} of {}", count("exact"), count("targets"))),
            facts::cell(format!("{:.3}", share["proximity_median"].as_f64().unwrap_or(0.0))),
        ]
    });
    facts::table(&["targets", "exact", "median proximity"], rows)
}
