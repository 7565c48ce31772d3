//! Vectors: how many programs have them, and in which spaces; the maps show them.

use crate::{Result, Section, Set, facts, programs::Programs};
use maud::{Markup, html};

pub(super) struct Vectors;

impl Section for Vectors {
    fn title(&self) -> &'static str {
        "Vectors"
    }

    fn shows(&self, schema: &str) -> bool {
        schema == <features::Row as dataset::Row>::SCHEMA
    }

    fn body(&self, set: &Set, _: &Programs) -> Result<Markup> {
        let notes = &set.dataset.manifest().notes;
        let vectors = facts::counts_of(&notes.summary["vectors"]);
        let vectors: Vec<(String, u64)> = vectors.into_iter().collect();
        Ok(html! {
            div.columns {
                div { (facts::verdicts(set)) }
                @if !vectors.is_empty() {
                    div { h4 { "Vectors by space" } (facts::bars(&vectors, None)) }
                }
            }
            (facts::scalars(&notes.summary))
        })
    }
}
