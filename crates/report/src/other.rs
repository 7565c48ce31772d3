//! Data sets that no other section knows: their figures and first rows.

use crate::{Error, Result, Section, Set, facts, programs::Programs};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use maud::{Markup, html};

pub(super) struct Other;

/// Rows that are shown.
const ROWS: usize = 20;
/// Characters of a cell that are shown.
const WIDTH: usize = 160;

impl Section for Other {
    fn title(&self) -> &'static str {
        "More data sets"
    }

    fn shows(&self, _: &str) -> bool {
        true
    }

    fn body(&self, set: &Set, _: &Programs) -> Result<Markup> {
        let manifest = set.dataset.manifest();
        let mut header = Vec::new();
        let mut rows: Vec<Vec<Markup>> = Vec::new();
        let options = FormatOptions::default().with_null("");
        for batch in set.dataset.batches(None)? {
            let batch = batch?;
            let batch = batch.slice(0, batch.num_rows().min(ROWS - rows.len()));
            let schema = batch.schema();
            header = schema.fields().iter().map(|field| facts::label(field.name())).collect();
            let columns = batch.columns().iter();
            let columns: Vec<ArrayFormatter<'_>> = columns
                .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
                .collect::<std::result::Result<_, _>>()
                .map_err(|source| Error::Shown { set: set.name.clone(), source })?;
            for row in 0..batch.num_rows() {
                let cells = columns.iter().map(|column| shortened(&column.value(row).to_string()));
                rows.push(cells.collect());
            }
            if rows.len() == ROWS {
                break;
            }
        }
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        Ok(html! {
            (facts::verdicts(set))
            (facts::scalars(&manifest.notes.summary))
            details open {
                summary { "the first " (rows.len()) " of " (manifest.rows) " rows" }
                (facts::table(&header, rows))
            }
        })
    }
}

fn shortened(text: &str) -> Markup {
    if text.contains('.')
        && let Ok(number) = text.parse::<f64>()
    {
        return html! { (facts::brief(number)) };
    }
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => html! { (text[..end]) "…" },
        None => html! { (text) },
    }
}
