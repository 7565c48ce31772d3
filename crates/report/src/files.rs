//! Mined content files.

use crate::{Result, Section, Set, facts, figures, programs::Programs};
use maud::{Markup, html};

pub(super) struct Files;

impl Section for Files {
    fn title(&self) -> &'static str {
        "Mined files"
    }

    fn shows(&self, schema: &str) -> bool {
        schema == <mine::ContentFile as dataset::Row>::SCHEMA
    }

    fn body(&self, set: &Set, _: &Programs) -> Result<Markup> {
        let summary = &set.dataset.manifest().notes.summary;
        let packages = summary["packages"].as_array().into_iter().flatten().map(|package| {
            let text = |key: &str| facts::cell(package[key].as_str().unwrap_or_default());
            let count = |key: &str| facts::cell(figures::count(package[key].as_u64().unwrap_or(0)));
            vec![
                text("source"),
                text("version"),
                text("license"),
                count("files"),
                count("unique"),
                count("kernels"),
            ]
        });
        let packages: Vec<Vec<Markup>> = packages.collect();
        let licenses = facts::counts_of(&summary["licenses"]);
        Ok(html! {
            (facts::scalars(summary))
            div.columns {
                div { (facts::verdicts(set)) }
                @if !licenses.is_empty() { div { h4 { "Licenses, unique files" } (facts::counts(&licenses)) } }
            }
            @if !packages.is_empty() {
                (facts::table(&["source", "version", "license", "files", "unique", "kernels"], packages))
            }
        })
    }
}
