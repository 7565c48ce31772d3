//! Programs drawn from a model.

use crate::{
    Result, Section, Set, Stream, facts,
    programs::{Program, Programs},
};
use dataset::{Row, Verdict};
use maud::{Markup, html};
use rows::SampleRow;

pub(super) struct Samples;

impl Section for Samples {
    fn title(&self) -> &'static str {
        "Samples"
    }

    fn shows(&self, schema: &str) -> bool {
        schema == SampleRow::SCHEMA
    }

    fn programs(&self, set: &Set) -> dataset::Result<Option<(bool, Stream)>> {
        let rows = set.dataset.rows::<SampleRow>()?.map(|row| {
            let row = row?;
            Ok(match row.verdict.as_str() {
                Verdict::ACCEPTED => Program {
                    id: dataset::content_hash(row.text.as_bytes()),
                    name: row.name,
                    origin: if row.memorised { "sampled, memorised" } else { "sampled" }.to_owned(),
                    path: format!("number {}", row.number),
                    text: row.text,
                    ..Program::default()
                },
                _ => Program::default(),
            })
        });
        Ok(Some((true, Box::new(rows))))
    }

    fn body(&self, set: &Set, _: &Programs) -> Result<Markup> {
        Ok(html! {
            (facts::verdicts(set))
            (facts::scalars(&set.dataset.manifest().notes.summary))
        })
    }
}
