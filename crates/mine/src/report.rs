use crate::row::{ContentFile, SOURCE, UNAVAILABLE};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a run of `mine` found; `--json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Sources asked for, lists and searches counted by their members.
    pub sources: u64,
    /// Sources that could not be had.
    pub failed_sources: u64,
    /// Content files found, rejected ones and duplicates included.
    pub files: u64,
    /// Content files in the data set.
    pub unique_files: u64,
    /// Kernels in these, counted textually.
    pub kernels: u64,
    /// Families of near-duplicates among these.
    pub families: u64,
    /// Content files and news of sources per verdict; `duplicate` for the removed ones.
    pub verdicts: BTreeMap<String, u64>,
    /// Each package, by name.
    pub packages: Vec<PackageReport>,
    /// Files in the data set per SPDX expression; `unknown` where none was found.
    pub licenses: BTreeMap<String, u64>,
}

/// What was found in one package.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PackageReport {
    /// The source as it was asked for.
    pub source: String,
    /// Package name.
    pub package: String,
    /// Package version.
    pub version: String,
    /// Content files found.
    pub files: u64,
    /// Content files in the data set.
    pub unique: u64,
    /// Kernels in these, counted textually.
    pub kernels: u64,
    /// Families of near-duplicates its files in the data set belong to.
    pub families: u64,
    /// The most frequent license of these.
    pub license: String,
    /// Content files and news per verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// What is worth knowing about the source: why it is unavailable, which file is missing.
    pub notes: Vec<String>,
}

/// Different notes of one package that are reported; all are in rows.
const NOTES: usize = 16;

/// Of a package: what is reported, its licenses and its families.
type Counts = (PackageReport, BTreeMap<String, u64>, BTreeSet<String>);

/// Counts rows as they pass by.
#[derive(Default)]
pub(crate) struct Counter {
    report: Report,
    packages: BTreeMap<(String, String, String), Counts>,
    families: BTreeSet<String>,
}

impl Counter {
    pub(crate) fn new(sources: u64) -> Counter {
        Counter { report: Report { sources, ..Report::default() }, ..Counter::default() }
    }

    /// A file that is another's duplicate.
    pub(crate) fn duplicate(&mut self, row: &ContentFile) {
        self.report.files += 1;
        *self.report.verdicts.entry("duplicate".to_owned()).or_default() += 1;
        let (package, ..) = self.package(row);
        package.files += 1;
        *package.verdicts.entry("duplicate".to_owned()).or_default() += 1;
    }

    /// A row of the data set.
    pub(crate) fn row(&mut self, row: &ContentFile) {
        if row.kind == crate::row::LICENSE {
            return;
        }
        *self.report.verdicts.entry(row.verdict.clone()).or_default() += 1;
        self.report.failed_sources += u64::from(row.verdict == UNAVAILABLE);
        self.report.files += u64::from(row.is_file());
        let accepted = row.is_accepted();
        if accepted {
            let license = if row.license.is_empty() { "unknown" } else { &row.license };
            *self.report.licenses.entry(license.to_owned()).or_default() += 1;
            self.report.unique_files += 1;
            self.report.kernels += row.kernels;
            self.families.insert(row.family.clone());
        }
        let (package, licenses, families) = self.package(row);
        package.files += u64::from(row.is_file());
        *package.verdicts.entry(row.verdict.clone()).or_default() += 1;
        let is_news = row.kind == SOURCE && !package.notes.contains(&row.detail);
        // Each file of a hostile archive may have news; its row says so.
        if is_news && package.notes.len() < NOTES {
            package.notes.push(row.detail.clone());
        }
        if accepted {
            package.unique += 1;
            package.kernels += row.kernels;
            *licenses.entry(row.license.clone()).or_default() += 1;
            families.insert(row.family.clone());
        }
    }

    fn package(
        &mut self,
        row: &ContentFile,
    ) -> &mut (PackageReport, BTreeMap<String, u64>, BTreeSet<String>) {
        let key = (row.package.clone(), row.version.clone(), row.source.clone());
        self.packages.entry(key).or_insert_with(|| {
            let report = PackageReport {
                source: row.source.clone(),
                package: row.package.clone(),
                version: row.version.clone(),
                ..PackageReport::default()
            };
            (report, BTreeMap::new(), BTreeSet::new())
        })
    }

    pub(crate) fn finish(self) -> Report {
        let mut report = self.report;
        report.families = self.families.len() as u64;
        report.packages = self
            .packages
            .into_values()
            .map(|(mut package, licenses, families)| {
                package.families = families.len() as u64;
                // Of equally frequent ones the first by name.
                let most = licenses.into_iter().rev().max_by_key(|(_, count)| *count);
                package.license = most.map(|(license, _)| license).unwrap_or_default();
                package
            })
            .collect();
        report
    }
}
