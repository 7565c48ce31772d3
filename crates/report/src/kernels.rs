//! Kernels: the funnel from what was counted by text to what is kept.

use crate::{
    Result, Section, Set, Stream, facts, figures,
    programs::{Program, Programs},
};
use dataset::{Row, Verdict};
use maud::{Markup, html};
use rows::{KernelRow, KernelSummary};

pub(super) struct Kernels;

/// The stages of the funnel: keys of `prepare`'s summary.
const STAGES: [(&str, &str); 3] =
    [("textual_kernels", "counted by text"), ("kernels", "accepted"), ("unique_kernels", "unique")];

impl Section for Kernels {
    fn title(&self) -> &'static str {
        "Kernels"
    }

    fn shows(&self, schema: &str) -> bool {
        schema == KernelRow::SCHEMA
    }

    fn programs(&self, set: &Set) -> dataset::Result<Option<(bool, Stream)>> {
        let rows = set.dataset.rows::<KernelSummary>()?.map(|row| {
            let row = row?;
            Ok(match row.verdict.as_str() {
                Verdict::ACCEPTED => Program {
                    id: row.id,
                    name: if row.original_name.is_empty() {
                        row.name
                    } else {
                        row.original_name.clone()
                    },
                    origin: row.package,
                    path: row.path,
                    license: row.license,
                    text: row.text,
                    content: (row.content_id, row.original_name),
                    ..Program::default()
                },
                _ => Program::default(),
            })
        });
        Ok(Some((false, Box::new(rows))))
    }

    fn body(&self, set: &Set, _: &Programs) -> Result<Markup> {
        let summary = &set.dataset.manifest().notes.summary;
        let stages: Vec<(String, u64)> = STAGES
            .iter()
            .filter_map(|(key, name)| Some(((*name).to_owned(), summary[*key].as_u64()?)))
            .collect();
        let whole = stages.first().map(|(_, count)| *count);
        let rejected = facts::counts_of(&summary["rejected"]);
        let licenses = facts::counts_of(&summary["licenses"]);
        let packages = summary["packages"].as_array().into_iter().flatten().map(|package| {
            let count = |key: &str| package[key].as_u64().unwrap_or(0);
            vec![
                facts::cell(package["package"].as_str().unwrap_or_default()),
                facts::cell(figures::count(count("files"))),
                facts::cell(figures::count(count("textual_kernels"))),
                facts::cell(figures::count(count("kernels"))),
                facts::cell(figures::percent(count("kernels"), count("textual_kernels"))),
                facts::cell(figures::count(count("unique"))),
                facts::cell(figures::count(count("families"))),
            ]
        });
        let packages: Vec<Vec<Markup>> = packages.collect();
        let header =
            ["package", "files", "counted by text", "accepted", "share", "unique", "families"];
        Ok(html! {
            div.columns {
                @if !stages.is_empty() {
                    div { h4 { "Funnel, kernels" } (facts::bars(&stages, whole)) }
                } @else {
                    div { (facts::verdicts(set)) }
                }
                @if !rejected.is_empty() {
                    div { h4 { "Rejected" } (facts::counts(&rejected)) }
                }
                @if !licenses.is_empty() {
                    div { h4 { "Licenses, unique kernels" } (facts::counts(&licenses)) }
                }
            }
            (facts::scalars(summary))
            @if !packages.is_empty() {
                details { summary { (packages.len()) " packages" } (facts::table(&header, packages)) }
            }
        })
    }
}
