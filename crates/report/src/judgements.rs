//! What judged edits have in common, of programs and of kernels.

use crate::{
    chart::{Chart, Scale, Series},
    facts, figures,
};
use maud::{Markup, html};

/// Rows that are listed, the fastest first.
const LISTED: usize = 100;

/// How many times faster what was accepted is; `x` says of what.
pub(super) fn speedups(x: &str, series: Vec<Series>) -> Chart<'_> {
    Chart {
        title: "Speedups of what was accepted",
        x: (x, Scale::Logarithmic),
        y: "share of the candidates",
        series,
    }
}

/// The fastest judgements, as a table.
pub(super) fn fastest<T, const N: usize>(
    mut rows: Vec<T>,
    speedup: impl Fn(&T) -> Option<f64>,
    header: &[&str; N],
    cells: impl Fn(&T) -> [String; N],
) -> Markup {
    let all = rows.len();
    rows.sort_by(|a, b| speedup(b).unwrap_or(0.0).total_cmp(&speedup(a).unwrap_or(0.0)));
    rows.truncate(LISTED);
    html! {
        details open {
            summary { (rows.len()) " of " (figures::count(all as u64)) " judgements, the fastest first" }
            (facts::table(header, rows.iter().map(|row| cells(row).map(facts::cell))))
        }
    }
}
