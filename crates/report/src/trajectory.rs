//! How searches went: proximity over time, for each proposer.

use crate::{
    Set,
    chart::{Chart, Scale, Series, Shape},
    facts,
};
use maud::{Markup, html};
use rows::{SteeredRow, Survivor};
use std::collections::{BTreeMap, BTreeSet};

/// Moments at which curves are read.
const MOMENTS: usize = 120;

/// A survivor, and the target of its search.
type Step<'a> = (&'a str, &'a Survivor);

/// The searches of several data sets side by side, where two or more say how they went.
pub(super) fn together(sets: &[(&Set, Vec<SteeredRow>)]) -> Markup {
    let steps = sets.iter().map(|(set, rows)| (set, steps(rows)));
    let series: Vec<Series> = steps
        .filter(|(_, steps)| !steps.is_empty())
        .map(|(set, steps)| Series::new(&set.name, Shape::Steps, curve(&steps, |_| true)))
        .collect();
    if series.len() < 2 {
        return html! {};
    }
    chart("All searches, mean proximity of the nearest so far", series).draw()
}

/// The searches of one data set; nothing where it does not say how they went.
pub(super) fn body(rows: &[SteeredRow]) -> Markup {
    let steps = steps(rows);
    if steps.is_empty() {
        return html! {};
    }
    let proposers: BTreeSet<&str> = steps.iter().map(|(_, one)| one.proposer.as_str()).collect();
    let mut series = vec![Series::new("all together", Shape::Steps, curve(&steps, |_| true))];
    for proposer in proposers {
        let own = curve(&steps, |one| one.proposer == proposer);
        series.push(Series::new(proposer, Shape::Steps, own));
    }
    let mut survivors: BTreeMap<String, u64> = BTreeMap::new();
    let mut bests: BTreeMap<String, u64> = BTreeMap::new();
    for (_, one) in &steps {
        *survivors.entry(one.proposer.clone()).or_default() += 1;
        *bests.entry(one.proposer.clone()).or_default() += u64::from(one.best);
    }
    let targets = targets(&steps).len();
    html! {
        h4 { "Searches over time" }
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
    }
}

fn steps(rows: &[SteeredRow]) -> Vec<Step<'_>> {
    let steps = rows
        .iter()
        .flat_map(|row| row.trajectory.iter().map(move |one| (row.target.as_str(), one)));
    steps.collect()
}

fn targets<'a>(steps: &[Step<'a>]) -> BTreeSet<&'a str> {
    steps.iter().map(|(target, _)| *target).collect()
}

fn chart(title: &str, series: Vec<Series>) -> Chart<'_> {
    Chart { title, x: ("seconds, or candidates", Scale::Logarithmic), y: "proximity", series }
}

/// How far its search was: in time, or in candidates where these are what the budget counts.
fn moment((_, one): &Step<'_>) -> f64 {
    if one.seconds > 0.0 { one.seconds } else { one.candidates as f64 }
}

/// Mean over all targets of the best proximity up to each moment among the survivors that count.
fn curve(steps: &[Step<'_>], counts: impl Fn(&Survivor) -> bool) -> Vec<[f64; 2]> {
    let times = || steps.iter().map(moment).filter(|moment| *moment > 0.0);
    let (first, last) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    if first > last {
        return Vec::new();
    }
    let targets = targets(steps);
    let moments = (0..=MOMENTS)
        .map(|at| first * (last / first).powf(at as f64 / MOMENTS as f64) * (1.0 + 1e-9));
    let mut sorted: Vec<&Step<'_>> = steps.iter().filter(|(_, one)| counts(one)).collect();
    sorted.sort_by(|one, other| moment(one).total_cmp(&moment(other)));
    let mut rest = sorted.into_iter().peekable();
    let mut best: BTreeMap<&str, f64> = BTreeMap::new();
    moments
        .map(|time| {
            while let Some((target, one)) = rest.next_if(|step| moment(step) <= time) {
                let best = best.entry(target).or_default();
                *best = best.max(one.proximity);
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
        let one = |seconds, proposer: &str, proximity| Survivor {
            seconds,
            proposer: proposer.into(),
            proximity,
            ..Survivor::default()
        };
        let row = |target: &str, trajectory| SteeredRow {
            target: target.into(),
            trajectory,
            ..SteeredRow::default()
        };
        let of_a = vec![one(1.0, "mutate", 0.5), one(4.0, "mutate", 0.4), one(8.0, "guided", 0.9)];
        let rows = [row("a", of_a), row("b", vec![one(2.0, "mutate", 0.7)])];
        let steps = steps(&rows);
        let all = curve(&steps, |_| true);
        assert!(all.is_sorted_by(|one, next| one[1] <= next[1]), "{all:?}");
        let end = |curve: &[[f64; 2]]| curve.last().map(|point| (point[1] * 100.0).round());
        assert_eq!(end(&all), Some(80.0));
        assert_eq!(end(&curve(&steps, |one| one.proposer == "guided")), Some(45.0));
        assert_eq!(curve(&[], |_| true), Vec::<[f64; 2]>::new());
        let counted = Survivor { candidates: 48, proximity: 0.5, ..Survivor::default() };
        assert_eq!(end(&curve(&[("a", &counted)], |_| true)), Some(50.0));
    }
}
