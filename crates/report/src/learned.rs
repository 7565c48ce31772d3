//! Active learning: learning curves, and how far the votes were apart round by round.

use crate::{
    Result, Section, Set, Stream,
    chart::{Chart, Scale, Series, Shape},
    facts::{self, brief},
    programs::{Program, Programs},
};
use dataset::Row;
use maud::{Markup, html};
use rows::LearnedRow;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) struct Learned;

impl Section for Learned {
    fn title(&self) -> &'static str {
        "Learning"
    }

    fn shows(&self, schema: &str) -> bool {
        schema == LearnedRow::SCHEMA
    }

    fn programs(&self, set: &Set) -> dataset::Result<Option<(bool, Stream)>> {
        let rows = set.dataset.rows::<LearnedRow>()?.map(|row| {
            let row = row?;
            // What was there before stands on the page with its own data set, if at all.
            let text = if row.role == "round" { row.text } else { String::new() };
            Ok(Program {
                id: row.path.clone(),
                name: format!("round {}", row.round),
                origin: format!("learned, {:.2} bits", row.entropy),
                path: row.path,
                text,
                ..Program::default()
            })
        });
        Ok(Some((true, Box::new(rows))))
    }

    fn together(&self, sets: &[&Set]) -> Result<Markup> {
        let curves = |title, key: &str, interval: Option<&str>| {
            let series = sets.iter().map(|set| learning_curve(set, key, interval)).collect();
            Chart { title, x: ("labelled kernels", Scale::Linear), y: title, series }.draw()
        };
        Ok(html! {
            p.note {
                "On test kernels that were never trained on nor steered to. Speedup: geometric mean "
                "over test kernels of the better static choice's time / the predicted choice's; "
                "shaded: its 95 % bootstrap interval."
            }
            div.columns {
                (curves("accuracy", "accuracy", None))
                (curves("geometric-mean speedup", "geomean_speedup", Some("geomean_interval")))
                (curves("share of the oracle's", "oracle_share", None))
            }
        })
    }

    fn body(&self, set: &Set, programs: &Programs) -> Result<Markup> {
        let mut rows = Vec::new();
        let mut roles: BTreeMap<String, u64> = BTreeMap::new();
        let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
        for row in set.dataset.rows::<LearnedRow>()? {
            let row = row?;
            let labelled = if row.costs.is_empty() { "not labelled" } else { "labelled" };
            *roles.entry(format!("{}, {labelled}", row.role)).or_default() += 1;
            if row.role == "round" {
                *verdicts.entry(row.verdict.clone()).or_default() += 1;
                rows.push(row);
            }
        }
        let mut means: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for row in &rows {
            let (sum, count) = means.entry(row.round).or_default();
            (*sum, *count) = (*sum + row.entropy, *count + 1.0);
        }
        let means = means.iter().map(|(round, (sum, count))| [f64::from(*round), sum / count]);
        let mut asked = Series::new(
            "one point",
            Shape::Dots,
            rows.iter().map(|row| [f64::from(row.round), row.entropy]).collect(),
        );
        asked.notes = rows
            .iter()
            .map(|row| {
                format!("{:.3} bits; the kernel made came to {:.3}", row.entropy, row.proximity)
            })
            .collect();
        let entropy = Chart {
            title: "Entropy of the votes at the points asked for",
            x: ("round", Scale::Linear),
            y: "bits",
            series: vec![asked, Series::new("mean of the round", Shape::Line, means.collect())],
        };
        let proximity = Chart {
            title: "How near the kernels came to the points",
            x: ("round", Scale::Linear),
            y: "proximity",
            series: vec![Series::new(
                "one kernel",
                Shape::Dots,
                rows.iter().map(|row| [f64::from(row.round), row.proximity]).collect(),
            )],
        };
        let cells = rows.iter().map(|row| {
            let costs: Vec<String> = row.costs.iter().map(|cost| brief(*cost)).collect();
            vec![
                facts::cell(row.round),
                programs.link(&row.path, &row.path),
                facts::cell(format!("{:.3}", row.entropy)),
                facts::cell(format!("{:.3}", row.proximity)),
                facts::cell(&row.verdict),
                facts::cell(costs.join(", ")),
            ]
        });
        let header = ["round", "kernel", "entropy", "proximity", "verdict", "seconds per choice"];
        Ok(html! {
            div.columns {
                @for (title, counts) in [("Kernels", &roles), ("Verdicts on what was made", &verdicts)] {
                    @if !counts.is_empty() { div { h4 { (title) } (facts::counts(counts)) } }
                }
            }
            div.columns { (entropy.draw()) (proximity.draw()) }
            @if !rows.is_empty() {
                details { summary { (rows.len()) " kernels made" } (facts::table(&header, cells)) }
            }
        })
    }
}

/// A figure of the summary's history over the number of labelled kernels.
fn learning_curve(set: &Set, key: &str, interval: Option<&str>) -> Series {
    let summary = &set.dataset.manifest().notes.summary;
    let mut series = Series::new(&set.name, Shape::Line, Vec::new());
    for round in summary["history"].as_array().into_iter().flatten() {
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        let (labelled, value) = (number(&round["labelled"]), number(&round[key]));
        series.points.push([labelled, value]);
        series.notes.push(format!(
            "round {}, {} labelled: {}",
            round["round"],
            brief(labelled),
            brief(value)
        ));
        if let Some(interval) = interval {
            series.band.push([number(&round[interval][0]), number(&round[interval][1])]);
        }
    }
    series
}
