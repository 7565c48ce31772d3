//! Executions: outcomes and times per device.

use crate::{
    Result, Section, Set,
    chart::{Chart, Scale, Series},
    facts::{self, brief},
    figures,
    programs::Programs,
};
use dataset::Row;
use maud::{Markup, html};
use rows::RunRow;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Runs;

/// Rows that are listed.
const LISTED: usize = 100;

/// What is known of one device.
#[derive(Default)]
struct Device {
    outcomes: BTreeMap<String, u64>,
    kernels: BTreeSet<(String, String)>,
    passing: BTreeSet<(String, String)>,
    kernel_ns: Vec<f64>,
}

impl Section for Runs {
    fn title(&self) -> &'static str {
        "Runs"
    }

    fn shows(&self, schema: &str) -> bool {
        schema == RunRow::SCHEMA
    }

    fn body(&self, set: &Set, programs: &Programs) -> Result<Markup> {
        let mut devices: BTreeMap<String, Device> = BTreeMap::new();
        let mut listed = Vec::new();
        for row in set.dataset.rows::<RunRow>()? {
            let row = row?;
            let device = devices.entry(row.device.clone()).or_default();
            let kernel = (row.id.clone(), row.kernel.clone());
            *device.outcomes.entry(row.outcome.clone()).or_default() += 1;
            if row.outcome == rows::Outcome::Pass.name() {
                device.passing.insert(kernel.clone());
                device.kernel_ns.extend(row.kernel_time_ns.map(|time| time as f64));
            }
            device.kernels.insert(kernel);
            if listed.len() < LISTED {
                listed.push(row);
            }
        }
        let series = devices.iter().map(|(name, device)| {
            let microseconds = device.kernel_ns.iter().map(|time| time * 1e-3).collect();
            Series::shares(name.clone(), microseconds)
        });
        let times = Chart {
            title: "Kernel times of what passes",
            x: ("microseconds, median of the repeats", Scale::Logarithmic),
            y: "share of the runs",
            series: series.collect(),
        };
        let rows = listed.iter().map(|row| {
            let time =
                |time: Option<u64>| facts::cell(time.map_or_else(String::new, figures::count));
            vec![
                programs.link_by_name(
                    &row.id,
                    if row.kernel.is_empty() { &row.path } else { row.known_as() },
                ),
                facts::cell(&row.path),
                facts::cell(&row.device_type),
                facts::cell(&row.global_shape),
                facts::cell(&row.local_shape),
                facts::cell(&row.outcome),
                facts::cell(&row.detail),
                time(row.transferred_bytes),
                time(row.transfer_time_ns),
                time(row.kernel_time_ns),
                facts::cell(row.interval.map_or_else(String::new, brief)),
            ]
        });
        let header = [
            "kernel",
            "path",
            "device",
            "global",
            "local",
            "outcome",
            "detail",
            "bytes moved",
            "transfer ns",
            "kernel ns",
            "interval",
        ];
        Ok(html! {
            div.columns {
                @for (name, device) in &devices {
                    div {
                        h4 { (name) }
                        p.note {
                            (figures::count(device.passing.len() as u64)) " of "
                            (figures::count(device.kernels.len() as u64))
                            " kernels pass at some size; outcomes of all runs:"
                        }
                        (facts::counts(&device.outcomes))
                    }
                }
                (times.draw())
            }
            details {
                summary {
                    "the first " (listed.len()) " of "
                    (figures::count(set.dataset.manifest().rows)) " runs"
                }
                (facts::table(&header, rows))
            }
        })
    }
}
