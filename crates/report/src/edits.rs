//! Edits of programs: what was judged of candidates, and how much faster they are.

use crate::{
    Result, Section, Set,
    chart::Series,
    facts::{self, brief},
    figures, judgements,
    programs::Programs,
};
use dataset::{Row, Verdict};
use maud::{Markup, html};
use rows::Judgement;
use std::collections::BTreeMap;

pub(super) struct Edits;

/// What one method came to.
#[derive(Default)]
struct Tally {
    judged: u64,
    accepted: u64,
    speedups: Vec<f64>,
}

impl Tally {
    fn cells(&mut self, method: &str) -> [Markup; 6] {
        self.speedups.sort_by(f64::total_cmp);
        let shown = |one: Option<&f64>| one.map_or_else(String::new, |one| brief(*one));
        [
            if method.is_empty() { facts::cell("not named") } else { facts::cell(method) },
            facts::cell(figures::count(self.judged)),
            facts::cell(figures::count(self.accepted)),
            facts::cell(figures::percent(self.accepted, self.judged)),
            facts::cell(shown(self.speedups.get(self.speedups.len() / 2))),
            facts::cell(shown(self.speedups.last())),
        ]
    }
}

impl Section for Edits {
    fn title(&self) -> &'static str {
        "Edits of programs"
    }

    fn shows(&self, schema: &str) -> bool {
        schema == Judgement::SCHEMA
    }

    fn body(&self, set: &Set, _: &Programs) -> Result<Markup> {
        let rows = set.dataset.rows::<Judgement>()?;
        let rows: Vec<Judgement> = rows.collect::<dataset::Result<_>>()?;
        let mut methods: BTreeMap<String, Tally> = BTreeMap::new();
        let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
        for row in &rows {
            *verdicts.entry(row.verdict.clone()).or_default() += 1;
            let tally = methods.entry(row.method.clone()).or_default();
            tally.judged += 1;
            if row.verdict == Verdict::ACCEPTED {
                tally.accepted += 1;
                tally.speedups.extend(row.speedup);
            }
        }
        let series = methods.iter().filter(|(_, tally)| !tally.speedups.is_empty());
        let series =
            series.map(|(method, tally)| Series::shares(method.clone(), tally.speedups.clone()));
        let chart =
            judgements::speedups("time of the slow program over the candidate's", series.collect());
        let has_speedups = !chart.series.is_empty();
        let of_methods: Vec<[Markup; 6]> =
            methods.iter_mut().map(|(method, tally)| tally.cells(method)).collect();
        let number = |value: Option<f64>| value.map_or_else(String::new, brief);
        let cells = |row: &Judgement| {
            [
                row.problem_id.clone(),
                row.src_id.clone(),
                row.method.clone(),
                row.verdict.clone(),
                row.detail.clone(),
                format!("{} of {}", row.passed, row.tests),
                format!("{} of {}", row.hidden_passed, row.hidden_tests),
                number(row.src_seconds),
                number(row.seconds),
                number(row.speedup),
                row.label.clone(),
            ]
        };
        let header = [
            "problem",
            "slow program",
            "proposed by",
            "verdict",
            "detail",
            "tests passed",
            "hidden ones",
            "slow, seconds",
            "candidate, seconds",
            "times faster",
            "what changed",
        ];
        let method_header =
            ["proposed by", "judged", "accepted", "share", "median speedup", "largest"];
        Ok(html! {
            h4 { "Verdicts" }
            (facts::counts(&verdicts))
            (facts::table(&method_header, of_methods))
            @if has_speedups { (chart.draw()) }
            (facts::scalars(&set.dataset.manifest().notes.summary))
            (judgements::fastest(rows, |row| row.speedup, &header, cells))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_has_its_share_its_median_and_its_largest_speedup() {
        let mut tally = Tally { judged: 4, accepted: 3, speedups: vec![8.0, 1.5, 2.0] };
        let cells = tally.cells("rules").map(Markup::into_string);
        assert_eq!(cells, ["rules", "4", "3", "75.0\u{a0}%", "2", "8"]);
    }
}
