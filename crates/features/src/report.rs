use crate::Row;
use serde::Serialize;
use std::collections::BTreeMap;

/// What an extraction came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Programs seen.
    pub programs: u64,
    /// Rows made: one per kernel, or one per program without one.
    pub rows: u64,
    /// Rows per verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Vectors per space.
    pub vectors: BTreeMap<String, u64>,
    /// Why accepted rows lack a vector, per space and reason.
    pub missing: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Report {
    /// Count a row; programs are counted by who reads them.
    pub(crate) fn add(&mut self, row: &Row) {
        self.rows += 1;
        *self.verdicts.entry(row.verdict.clone()).or_default() += 1;
        for space in row.vectors.keys() {
            *self.vectors.entry(space.clone()).or_default() += 1;
        }
        if row.is_accepted() {
            for (space, reason) in row.detail.split("; ").filter_map(|one| one.split_once(": ")) {
                let reason = reason.split(" (").next().unwrap_or(reason);
                let reasons = self.missing.entry(space.to_owned()).or_default();
                *reasons.entry(reason.to_owned()).or_default() += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_vectors_and_what_is_missing_are_counted() {
        let row = |verdict: &str, detail: &str, spaces: &[&str]| Row {
            verdict: verdict.into(),
            detail: detail.into(),
            vectors: spaces.iter().map(|space| ((*space).to_owned(), vec![1.0])).collect(),
            ..Row::default()
        };
        let mut report = Report::default();
        for row in [
            row("accepted", "", &["grewe", "tokens"]),
            row("accepted", "grewe: no-vector; tokens: no-extractor", &["instcount"]),
            row("accepted", "grewe: no-vector (of `a`)", &["tokens"]),
            row("crash", "grewe: no-vector", &[]),
        ] {
            report.add(&row);
        }
        let said = serde_json::to_value(&report).expect("plain data");
        let wanted = serde_json::json!({
            "programs": 0,
            "rows": 4,
            "verdicts": {"accepted": 3, "crash": 1},
            "vectors": {"grewe": 1, "instcount": 1, "tokens": 2},
            "missing": {"grewe": {"no-vector": 2}, "tokens": {"no-extractor": 1}},
        });
        assert_eq!(said, wanted);
    }
}
