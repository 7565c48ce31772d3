use rows::{SampleRow, SampleVerdict};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Of accepted rows with one text the first stays accepted; the others become its duplicates. Rows are
/// in the order of their numbers.
pub fn mark_duplicates(rows: &mut [SampleRow]) {
    let mut first: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows.iter_mut().filter(|row| is_accepted(row)) {
        let number = *first.entry(row.text.clone()).or_insert(row.number);
        if number != row.number {
            row.verdict = SampleVerdict::Duplicate.to_string();
            row.detail = number.to_string();
        }
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
    /// Of these rows.
    #[must_use]
    pub fn of(rows: &[SampleRow]) -> Summary {
        let mut verdicts = BTreeMap::new();
        for row in rows {
            *verdicts.entry(row.verdict.clone()).or_insert(0) += 1;
        }
        let accepted = || rows.iter().filter(|row| is_accepted(row));
        Summary {
            samples: rows.len() as u64,
            unique: rows.iter().map(|row| &row.text).collect::<BTreeSet<_>>().len() as u64,
            compiling_unique: accepted().count() as u64,
            memorised: accepted().filter(|row| row.memorised).count() as u64,
            verdicts,
        }
    }
}

/// Whether it compiles, is unique and large enough.
pub(crate) fn is_accepted(row: &SampleRow) -> bool {
    row.verdict == SampleVerdict::Accepted.name()
}
