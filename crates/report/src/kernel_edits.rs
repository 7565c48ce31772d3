//! Candidates for kernels beside the kernels that they are to replace.

use crate::{
    Result, Section, Set,
    chart::Series,
    facts::{self, brief},
    figures, judgements,
    programs::Programs,
};
use dataset::{Row, Verdict};
use maud::{Markup, html};
use rows::KernelEditRow;
use std::collections::BTreeMap;

pub(super) struct KernelEdits;

impl Section for KernelEdits {
    fn title(&self) -> &'static str {
        "Edits of kernels"
    }

    fn shows(&self, schema: &str) -> bool {
        schema == KernelEditRow::SCHEMA
    }

    fn body(&self, set: &Set, _: &Programs) -> Result<Markup> {
        let rows = set.dataset.rows::<KernelEditRow>()?;
        let rows: Vec<KernelEditRow> = rows.collect::<dataset::Result<_>>()?;
        let mut speedups: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.verdict == Verdict::ACCEPTED) {
            speedups.entry(&row.device).or_default().extend(row.speedup);
        }
        let series = speedups.into_iter();
        let series = series.map(|(device, speedups)| Series::shares(device.to_owned(), speedups));
        let chart =
            judgements::speedups("time of the slow kernel over the candidate's", series.collect());
        let ratio = |value: Option<f64>| value.map_or_else(String::new, |one| format!("{one:.3}"));
        let time = |time: Option<u64>| time.map_or_else(String::new, figures::count);
        let cells = |row: &KernelEditRow| {
            let interval = row.speedup_low.zip(row.speedup_high);
            let share = |share: Option<f64>| {
                share.map_or_else(String::new, |one| format!("{:.0} %", 100.0 * one))
            };
            [
                row.kernel.clone(),
                row.tgt_id.clone(),
                row.device_type.clone(),
                figures::count(row.global_size),
                row.verdict.clone(),
                row.detail.clone(),
                time(row.slow_ns),
                time(row.fast_ns),
                ratio(row.speedup),
                interval.map_or_else(String::new, |(low, high)| {
                    format!("{} to {}", brief(low), brief(high))
                }),
                share(row.bandwidth_share),
                share(row.operations_share),
            ]
        };
        let header = [
            "kernel",
            "candidate",
            "device",
            "work-items",
            "verdict",
            "detail",
            "slow ns",
            "fast ns",
            "speedup",
            "interval",
            "of a triad's bandwidth",
            "of the device's operations",
        ];
        Ok(html! {
            (facts::verdicts(set))
            (chart.draw())
            (judgements::fastest(rows, |row| row.speedup, &header, cells))
        })
    }
}
