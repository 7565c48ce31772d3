//! Certifying as a stage: an edit comes in, its certificate goes out.

use super::{CertifyOptions, Edit, certify};
use crate::{
    Error, Result,
    bench::Bench,
    candidates::{BySource, Candidates},
    pair::{Language, Pair},
    problems::{Problem, Sample},
};
use dataset::{
    Input, Row, content_hash_of,
    stage::{Finish, Items, Stage, Units, Worked},
};
use rows::{EditCertificate, EditVerdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// What certifying came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertifyReport {
    /// Edits.
    pub edits: u64,
    /// Edits by certificate.
    pub certificates: BTreeMap<String, u64>,
    /// Edits by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Inputs on which an edit was compared with its slow program.
    pub inputs: u64,
    /// Of these, inputs within the bounds.
    pub enumerated: u64,
    /// Basic blocks of both programs of all edits.
    pub blocks: u64,
    /// Of these, blocks that an input reached.
    pub reached: u64,
    /// Candidates for pairs that are not there.
    pub unmatched: u64,
}

/// An edit with the samples of its problem, as columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertifyItem {
    /// The problem.
    pub problem_id: String,
    /// Submission of the slow program.
    pub src_id: String,
    /// Submission of the improved program.
    pub tgt_id: String,
    /// Language of both.
    pub language: String,
    /// The slow program.
    pub src_code: String,
    /// What proposed the edit.
    pub method: String,
    /// 0-based, in the order of drawing.
    pub candidate: u32,
    /// The edit.
    pub code: String,
    /// The problem's samples.
    pub samples: Vec<Sample>,
    /// How many items before it are equal: each has its row.
    pub copy: u32,
}

impl Row for CertifyItem {
    const SCHEMA: &'static str = "certify-item";
    const VERSION: u32 = 1;
}

impl CertifyItem {
    /// Identity of all but the copy.
    fn hash(&self) -> String {
        let candidate = self.candidate.to_string();
        let first = [&self.problem_id, &self.src_id, &self.tgt_id, &self.language, &self.src_code];
        let edit = [&self.method, &candidate, &self.code];
        let samples = self.samples.iter().flat_map(|sample| [&sample.input, &sample.output]);
        content_hash_of(first.into_iter().chain(edit).chain(samples).map(|text| text.as_bytes()))
    }
}

/// Certifies edits.
pub struct Certify<'a> {
    items: Vec<CertifyItem>,
    bench: &'a Bench,
    options: CertifyOptions,
    unmatched: u64,
}

impl<'a> Certify<'a> {
    /// Match candidates and pairs, and give each the samples of its problem.
    #[must_use]
    pub fn new(
        pairs: &[Pair],
        candidates: &[Candidates],
        problems: &[Problem],
        bench: &'a Bench,
        options: CertifyOptions,
    ) -> Certify<'a> {
        let samples: BTreeMap<&str, &Problem> =
            problems.iter().map(|problem| (problem.id.as_str(), problem)).collect();
        let by_source = BySource::new(candidates);
        let mut copies: HashMap<String, u32> = HashMap::new();
        let (mut items, mut matched) = (Vec::new(), 0_u64);
        for pair in pairs {
            let drawn = by_source.of(pair);
            matched += u64::from(!drawn.is_empty());
            let programs =
                drawn.iter().flat_map(|of| of.programs.iter().map(|code| (&of.method, code)));
            for (candidate, (method, code)) in (0..).zip(programs) {
                let problem = samples.get(pair.problem_id.as_str());
                let mut item = CertifyItem {
                    problem_id: pair.problem_id.clone(),
                    src_id: pair.src_id.clone(),
                    tgt_id: pair.tgt_id.clone(),
                    language: pair.language().name().to_owned(),
                    src_code: pair.src_code.clone(),
                    method: method.clone(),
                    candidate,
                    code: code.clone(),
                    samples: problem.map(|problem| problem.samples.clone()).unwrap_or_default(),
                    copy: 0,
                };
                let copies = copies.entry(item.hash()).or_default();
                item.copy = *copies;
                *copies += 1;
                items.push(item);
            }
        }
        let unmatched = (candidates.len() as u64).saturating_sub(matched);
        Certify { items, bench, options, unmatched }
    }

    fn row_of(&self, item: &CertifyItem) -> Result<EditCertificate> {
        let edit = Edit {
            problem_id: &item.problem_id,
            slow: &item.src_code,
            code: &item.code,
            language: Language::parse(&item.language).unwrap_or_default(),
            samples: &item.samples,
        };
        let row = certify(edit, self.bench, &self.options)?;
        Ok(EditCertificate {
            problem_id: item.problem_id.clone(),
            src_id: item.src_id.clone(),
            tgt_id: item.tgt_id.clone(),
            candidate: item.candidate,
            method: item.method.clone(),
            code: item.code.clone(),
            ..row
        })
    }
}

impl Stage for Certify<'_> {
    const NAME: &'static str = "edits certify";
    const UNITS: &'static str = "edits";
    type Item = CertifyItem;
    type Row = EditCertificate;
    type Facts = ();
    type Summary = CertifyReport;
    type Worker = ();
    type Error = Error;

    fn settings(&self) -> Value {
        let mut settings = serde_json::to_value(&self.options).unwrap_or_default();
        settings["bench"] = self.bench.identity().into();
        settings["unmatched"] = self.unmatched.into();
        settings
    }

    fn seed(&self) -> u64 {
        self.options.seed
    }

    fn inputs(&self) -> Result<Vec<Input>> {
        let hashes: Vec<String> = self.items.iter().map(CertifyItem::hash).collect();
        let hash = content_hash_of(hashes.iter().map(String::as_bytes));
        Ok(vec![Input { name: "edits and samples".into(), hash }])
    }

    fn items(&self) -> Result<Items<'_, Self>> {
        let all = Box::new(self.items.iter().cloned().map(Ok));
        Ok(Items { total: Some(self.items.len() as u64), all })
    }

    fn key(&self, item: &CertifyItem) -> String {
        content_hash_of([item.hash().as_bytes(), item.copy.to_string().as_bytes()])
    }

    fn worker(&self) -> Result<()> {
        Ok(())
    }

    fn work(&self, (): &mut (), items: &[CertifyItem]) -> Result<Vec<Worked<EditCertificate>>> {
        items.iter().map(|item| Ok(Worked::Rows(vec![self.row_of(item)?]))).collect()
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn finish<'a>(
        settings: &'a Value,
        (): (),
        units: &'a Units<EditCertificate>,
    ) -> Result<Finish<'a, EditCertificate, CertifyReport>> {
        let unmatched = settings["unmatched"].as_u64().unwrap_or(0);
        let mut report = CertifyReport { unmatched, ..CertifyReport::default() };
        for row in units.rows() {
            let (_, row) = row?;
            report.edits += 1;
            report.inputs += row.inputs;
            report.enumerated += row.enumerated;
            report.blocks += row.blocks;
            report.reached += row.reached;
            *report.certificates.entry(row.certificate).or_default() += 1;
            *report.verdicts.entry(row.verdict).or_default() += 1;
        }
        Ok(Finish::all(report.verdicts.clone(), report))
    }
}

impl CertifyReport {
    /// Edits whose problem has no samples.
    #[must_use]
    pub fn untested(&self) -> u64 {
        self.verdicts.get(EditVerdict::NoTests.name()).copied().unwrap_or(0)
    }
}
