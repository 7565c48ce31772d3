//! How searches went: proximity over time, for each proposer.

use crate::{
    Result, Section, Set,
    chart::{Chart, Scale, Series, Shape},
    facts,
    programs::Programs,
};
use dataset::Row;
use maud::{Markup, html};
use rows::TrajectoryRow;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Trajectory;

/// Moments at which curves are read.
const MOMENTS: usize = 120;

impl Section for Trajectory {
    fn title(&self) -> &'static str {
        "Searches over time"
    }

    fn shows(&self, schema: &str) -> bool {
        schema == TrajectoryRow::SCHEMA
    }

    fn together(&self, sets: &[&Set]) -> Result<Markup> {
        let mut series = Vec::new();
        if sets.len() > 1 {
            for set in sets {
                let rows = rows(set)?;
                series.push(Series::new(&set.name, Shape::Steps, curve(&rows, |_| true)));
            }
        }
        Ok(chart("All searches, mean proximity of the nearest so far", series).draw())
    }

    fn body(&self, set: &Set, _: &Programs) -> Result<Markup> {
        let rows = rows(set)?;
        let proposers: BTreeSet<&str> = rows.iter().map(|row| row.proposer.as_str()).collect();
        let mut series = vec![Series::new("all together", Shape::Steps, curve(&rows, |_| true))];
        for proposer in proposers {
            let own = curve(&rows, |row| row.proposer == proposer);
            series.push(Series::new(proposer, Shape::Steps, own));
        }
        let mut survivors: BTreeMap<String, u64> = BTreeMap::new();
        let mut bests: BTreeMap<String, u64> = BTreeMap::new();
        for row in &rows {
            *survivors.entry(row.proposer.clone()).or_default() += 1;
            *bests.entry(row.proposer.clone()).or_default() += u64::from(row.best);
        }
        let targets = targets(&rows).len();
        Ok(html! {
            p.note {
                "Mean over the " (targets) " searched targets of the nearest survivor so far that a "
                "proposer made; 0 before its first. Seconds are of one target's search, by the clock "
                "or of processors as the budget was; where it counted candidates, so does the chart."
            }
            div.columns {
                (chart("Proximity over time", series).draw())
                div { h4 { "Candidates that survived a generation" } (facts::counts(&survivors)) }
                div { h4 { "Candidates nearer than all before" } (facts::counts(&bests)) }
            }
        })
    }
}

fn rows(set: &Set) -> dataset::Result<Vec<TrajectoryRow>> {
    set.dataset.rows::<TrajectoryRow>()?.collect()
}

fn targets(rows: &[TrajectoryRow]) -> BTreeSet<&str> {
    rows.iter().map(|row| row.target.as_str()).collect()
}

fn chart(title: &str, series: Vec<Series>) -> Chart<'_> {
    Chart { title, x: ("seconds, or candidates", Scale::Logarithmic), y: "proximity", series }
}

/// How far its search was: in time, or in candidates where these are what the budget counts.
fn moment(row: &TrajectoryRow) -> f64 {
    if row.seconds > 0.0 { row.seconds } else { row.candidates as f64 }
}

/// Mean over all targets of the best proximity up to each moment among the rows that count.
fn curve(rows: &[TrajectoryRow], counts: impl Fn(&TrajectoryRow) -> bool) -> Vec<[f64; 2]> {
    let times = || rows.iter().map(moment).filter(|moment| *moment > 0.0);
    let (first, last) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    if first > last {
        return Vec::new();
    }
    let targets = targets(rows);
    let moments = (0..=MOMENTS)
        .map(|at| first * (last / first).powf(at as f64 / MOMENTS as f64) * (1.0 + 1e-9));
    let mut sorted: Vec<&TrajectoryRow> = rows.iter().filter(|row| counts(row)).collect();
    sorted.sort_by(|one, other| moment(one).total_cmp(&moment(other)));
    let mut rest = sorted.into_iter().peekable();
    let mut best: BTreeMap<&str, f64> = BTreeMap::new();
    moments
        .map(|time| {
            while let Some(row) = rest.next_if(|row| moment(row) <= time) {
                let best = best.entry(row.target.as_str()).or_default();
                *best = best.max(row.proximity);
            }
            [time, best.values().sum::<f64>() / targets.len() as f64]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_never_falls_and_ends_at_the_mean_of_the_best() {
        let row = |target: &str, seconds, proposer: &str, proximity| TrajectoryRow {
            target: target.into(),
            seconds,
            proposer: proposer.into(),
            proximity,
            ..TrajectoryRow::default()
        };
        let rows = [
            row("a", 1.0, "mutate", 0.5),
            row("a", 4.0, "mutate", 0.4),
            row("a", 8.0, "guided", 0.9),
            row("b", 2.0, "mutate", 0.7),
        ];
        let all = curve(&rows, |_| true);
        assert!(all.is_sorted_by(|one, next| one[1] <= next[1]), "{all:?}");
        let end = |curve: &[[f64; 2]]| curve.last().map(|point| (point[1] * 100.0).round());
        assert_eq!(end(&all), Some(80.0));
        assert_eq!(end(&curve(&rows, |row| row.proposer == "guided")), Some(45.0));
        assert_eq!(curve(&[], |_| true), Vec::<[f64; 2]>::new());
        let counted = TrajectoryRow { candidates: 48, proximity: 0.5, ..TrajectoryRow::default() };
        assert_eq!(end(&curve(&[counted], |_| true)), Some(50.0));
    }
}
