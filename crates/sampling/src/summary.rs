use dataset::content_hash;
use rows::{SampleRow, SampleVerdict};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Of accepted rows with one text the first stays accepted; the others become its duplicates. Rows are
/// in the order of their numbers.
pub fn mark_duplicates(rows: &mut [SampleRow]) {
    let mut marker = Marker::default();
    rows.iter_mut().for_each(|row| marker.mark(row));
}

/// Looks at rows in the order of their numbers, of which memory may not hold all.
#[derive(Debug, Default)]
pub(crate) struct Marker {
    /// By the hash of a text: the first accepted sample that has it.
    texts: HashMap<String, Option<u64>>,
    summary: Summary,
}

impl Marker {
    /// Mark a row where it is a duplicate, and count it.
    pub(crate) fn mark(&mut self, row: &mut SampleRow) {
        let first = self.texts.entry(content_hash(row.text.as_bytes())).or_default();
        if is_accepted(row) {
            let number = *first.get_or_insert(row.number);
            if number != row.number {
                row.verdict = SampleVerdict::Duplicate.to_string();
                row.detail = number.to_string();
            }
        }
        let accepted = is_accepted(row);
        let summary = &mut self.summary;
        summary.samples += 1;
        summary.unique = self.texts.len() as u64;
        summary.compiling_unique += u64::from(accepted);
        summary.memorised += u64::from(accepted && row.memorised);
        *summary.verdicts.entry(row.verdict.clone()).or_default() += 1;
    }

    /// What the rows came to.
    pub(crate) fn summary(self) -> Summary {
        self.summary
    }
}

/// What samples came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Samples.
    pub samples: u64,
    /// Different texts.
    pub unique: u64,
    /// Accepted samples: different, compiling, large enough.
    pub compiling_unique: u64,
    /// Of these, those that the training corpus holds.
    pub memorised: u64,
    /// Samples per verdict.
    pub verdicts: BTreeMap<String, u64>,
}

impl Summary {
    /// Of these rows, duplicates marked.
    #[must_use]
    pub fn of(rows: &[SampleRow]) -> Summary {
        let mut marker = Marker::default();
        rows.iter().for_each(|row| marker.mark(&mut row.clone()));
        marker.summary()
    }
}

/// Whether it compiles, is unique and large enough.
pub(crate) fn is_accepted(row: &SampleRow) -> bool {
    row.verdict == SampleVerdict::Accepted.name()
}
