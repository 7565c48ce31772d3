use dataset::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The verdict on a sample whose text an earlier one has.
pub const DUPLICATE: &str = "duplicate";

/// One row of a data set of samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SampleRow {
    /// Number of the sample: with checkpoint and seed, what it was drawn by.
    pub number: u64,
    /// The program, laid out; in normal form where it was accepted.
    pub text: String,
    /// Its kernel.
    pub name: String,
    /// `accepted`, `duplicate` (of an earlier one), or why it was rejected.
    pub verdict: String,
    /// The first diagnostic; for duplicates the number of the first.
    pub detail: String,
    /// IR instructions of the kernel at -O0.
    pub instructions: u32,
    /// Lexemes of the text as drawn.
    pub tokens: u32,
    /// Whether the training corpus holds it.
    pub memorised: bool,
    /// Whether it was force-closed for want of room.
    pub closed: bool,
    /// Draws that the constraint refused.
    pub refused: u64,
}

impl dataset::Row for SampleRow {
    const SCHEMA: &'static str = "sample";
    const VERSION: u32 = 1;
}

impl SampleRow {
    /// Whether it compiles, is unique and large enough.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.verdict == Verdict::ACCEPTED
    }
}

/// Of accepted rows with one text the first stays accepted; the others become its duplicates. Rows are
/// in the order of their numbers.
pub fn mark_duplicates(rows: &mut [SampleRow]) {
    let mut first: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows.iter_mut().filter(|row| row.is_accepted()) {
        let number = *first.entry(row.text.clone()).or_insert(row.number);
        if number != row.number {
            row.verdict = DUPLICATE.to_owned();
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
        let accepted = || rows.iter().filter(|row| row.is_accepted());
        Summary {
            samples: rows.len() as u64,
            unique: rows.iter().map(|row| &row.text).collect::<BTreeSet<_>>().len() as u64,
            compiling_unique: accepted().count() as u64,
            memorised: accepted().filter(|row| row.memorised).count() as u64,
            verdicts,
        }
    }
}
