//! Pairs of OpenCL kernels that people wrote: what commits of a repository change, and what macros of a kernel make of it.
//! Lines are those that `edits judge-kernels` reads; which side is faster, it says.

mod history;
mod variants;

pub use history::pair_history;
pub use variants::{pair_variants, read_variants};

use crate::{Result, each::each};
use ::kernels::{Judge, KernelRow, Source};
use clang::Clang;
use dataset::{Verdict, content_hash_of};
use serde::Serialize;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelPairsReport {
    /// Commits that were looked at.
    pub commits: u64,
    /// Of these, those that change a file with kernels.
    pub changes: u64,
    /// Sets of macros.
    pub variants: u64,
    /// Kernels that are on both sides, each once for every two sides.
    pub kernels: u64,
    /// Of these, those that are pairs.
    pub pairs: u64,
    /// Those whose text in normal form is the same on both sides.
    pub same: u64,
    /// Those that are a pair before already.
    pub repeated: u64,
    /// Those whose name a side has more than once.
    pub ambiguous: u64,
    /// Those that `prepare` rejects on a side, by its verdict.
    pub rejected: BTreeMap<String, u64>,
}

/// Kernels of content files, each file prepared once.
struct Prepared {
    judge: Judge,
    known: HashMap<String, Vec<KernelRow>>,
}

impl Prepared {
    /// With so much time for a question to clang.
    fn start(limit: Duration) -> Result<Prepared> {
        let clang = Clang::start(usize::MAX)?.with_limit(limit);
        Ok(Prepared { judge: Judge::new(clang), known: HashMap::new() })
    }

    /// Prepare what is not known yet.
    fn add<'a>(&mut self, sources: impl IntoIterator<Item = &'a Source>) -> Result<()> {
        let all = sources.into_iter().map(|source| (key(source), source));
        let new: BTreeMap<String, &Source> =
            all.filter(|(key, _)| !self.known.contains_key(key)).collect();
        let new: Vec<(String, &Source)> = new.into_iter().collect();
        let rows = each(&new, |(_, source)| Ok(self.judge.rows(source)))?;
        self.judge.works()?;
        self.known.extend(new.into_iter().map(|(key, _)| key).zip(rows));
        Ok(())
    }

    /// What came of sources that were added.
    fn all<'p>(&'p self, sources: &[Source]) -> Vec<&'p KernelRow> {
        sources.iter().flat_map(|source| self.of(source)).collect()
    }

    /// What came of one.
    fn of(&self, source: &Source) -> &[KernelRow] {
        self.known.get(&key(source)).map_or(&[], Vec::as_slice)
    }
}

/// All that shapes the rows of a source.
fn key(source: &Source) -> String {
    let pieces = [&source.id, &source.path, &source.license].map(|piece| piece.as_bytes());
    content_hash_of(pieces.into_iter().chain(source.defines.iter().map(|one| one.as_bytes())))
}

/// The pairs so far.
#[derive(Default)]
struct Found {
    lines: Vec<Map<String, Value>>,
    texts: BTreeSet<String>,
    report: KernelPairsReport,
}

impl Found {
    /// Take in the kernels that are on both sides under one name of one file; `fields` says what a line has.
    fn compare<'a, const N: usize>(
        &mut self,
        before: impl IntoIterator<Item = &'a KernelRow>,
        after: impl IntoIterator<Item = &'a KernelRow>,
        fields: impl Fn(&Named<'_>, &KernelRow) -> [(&'static str, Value); N],
    ) {
        let (before, after) = (by_name(before), by_name(after));
        for (name, one) in &before {
            let Some(other) = after.get(name) else { continue };
            self.report.kernels += 1;
            let (Some(one), Some(other)) = (one, other) else {
                self.report.ambiguous += 1;
                continue;
            };
            let rejected = [one, other].into_iter().find(|row| row.verdict != Verdict::ACCEPTED);
            if let Some(row) = rejected {
                *self.report.rejected.entry(row.verdict.clone()).or_default() += 1;
                continue;
            }
            if one.text == other.text {
                self.report.same += 1;
                continue;
            }
            if !self.texts.insert(content_hash_of([&one.text, &other.text].map(|t| t.as_bytes()))) {
                self.report.repeated += 1;
                continue;
            }
            self.report.pairs += 1;
            let texts = [("src_code", &one.text), ("tgt_code", &other.text)];
            let texts = texts.map(|(key, text)| (key, Value::from(text.as_str())));
            let all = fields(name, other).into_iter().chain(texts);
            self.lines.push(all.map(|(key, value)| (key.to_owned(), value)).collect());
        }
    }
}

/// A kernel by its file and its name in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Named<'a> {
    file: &'a str,
    kernel: &'a str,
}

/// Kernels by their names; `None` where several have one.
fn by_name<'a>(
    rows: impl IntoIterator<Item = &'a KernelRow>,
) -> BTreeMap<Named<'a>, Option<&'a KernelRow>> {
    let mut found: BTreeMap<Named<'a>, Option<&'a KernelRow>> = BTreeMap::new();
    // What is about a file as a whole has no name.
    for row in rows.into_iter().filter(|row| !row.original_name.is_empty()) {
        let name = Named { file: file_of(&row.path), kernel: &row.original_name };
        found.entry(name).and_modify(|one| *one = None).or_insert(Some(row));
    }
    found
}

/// The file of a content file; behind the path of an embedded one stand `#` and its line, which changes.
fn file_of(path: &str) -> &str {
    match path.rsplit_once('#') {
        Some((file, line)) if !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()) => file,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(path: &str, name: &str, text: &str, verdict: &str) -> KernelRow {
        KernelRow {
            path: path.into(),
            original_name: name.into(),
            text: text.into(),
            verdict: verdict.into(),
            ..KernelRow::default()
        }
    }

    #[test]
    fn kernels_of_one_name_in_one_file_are_a_pair_once() {
        let before = [
            row("a.cl", "k", "one", "accepted"),
            row("a.cl", "same", "one", "accepted"),
            row("a.cl", "gone", "one", "accepted"),
            row("host.c#12", "embedded", "one", "accepted"),
            row("a.cl", "bad", "", "does-not-compile"),
            row("a.cl", "twice", "one", "accepted"),
            row("a.cl", "twice", "two", "accepted"),
            row("a.cl", "", "", "no-kernel"),
        ];
        let after = [
            row("a.cl", "k", "two", "accepted"),
            row("a.cl", "same", "one", "accepted"),
            row("b.cl", "gone", "two", "accepted"),
            row("host.c#34", "embedded", "three", "accepted"),
            row("a.cl", "bad", "two", "accepted"),
            row("a.cl", "twice", "three", "accepted"),
            row("a.cl", "", "", "no-kernel"),
        ];
        let mut found = Found::default();
        for _ in 0..2 {
            found.compare(&before, &after, |name, _| [("kernel", name.kernel.into())]);
        }
        let KernelPairsReport { kernels, pairs, same, repeated, ambiguous, rejected, .. } =
            found.report;
        assert_eq!((kernels, pairs, same, repeated, ambiguous), (10, 2, 2, 2, 2));
        assert_eq!(rejected, BTreeMap::from([("does-not-compile".to_owned(), 2)]));
        let names: Vec<&str> =
            found.lines.iter().filter_map(|line| line.get("kernel")?.as_str()).collect();
        assert_eq!(names, ["k", "embedded"]);
        assert_eq!(found.lines[1].get("tgt_code"), Some(&Value::from("three")));
    }
}
