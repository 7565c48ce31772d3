//! Candidates for many kernels, as lines of pairs.

use super::{KernelCandidate, KernelRewriter};
use crate::{Result, each::each};
use dataset::{Code, Language, Program, Progress};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// What came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KernelProposals {
    /// OpenCL programs that were read.
    pub kernels: u64,
    /// Of these, those with a candidate.
    pub changed: u64,
    /// Candidates.
    pub candidates: u64,
    /// The same by the rule that made them.
    pub rules: BTreeMap<String, u64>,
}

/// The lines that `edits judge-kernels` reads, with each candidate that is `wanted`: `src_id` (where the kernel is, and its name in
/// its own file), `src_code`, `tgt_id` (the rule), `tgt_code` and `exact`. Programs in other languages are left out.
///
/// # Errors
/// When clang's worker cannot be started.
pub fn propose_kernels(
    programs: &[Program],
    rewriter: &KernelRewriter,
    wanted: impl Fn(&KernelCandidate) -> bool,
    progress: &dyn Progress,
) -> Result<(Vec<Map<String, Value>>, KernelProposals)> {
    let kernels: Vec<(&Program, &String)> = programs
        .iter()
        .filter(|program| program.language == Language::OpenCl)
        .filter_map(|program| match &program.code {
            Code::Text(text) => Some((program, text)),
            Code::Bytes(_) => None,
        })
        .collect();
    progress.begin("propose-kernels", kernels.len() as u64);
    let found = each(&kernels, |(_, text)| {
        let found = rewriter.candidates(text);
        progress.advance(1);
        found
    })?;
    let mut report =
        KernelProposals { kernels: kernels.len() as u64, ..KernelProposals::default() };
    let mut names: HashMap<String, u32> = HashMap::new();
    let mut lines = Vec::new();
    for ((program, text), candidates) in kernels.iter().zip(found) {
        let name = match program.original_name.as_str() {
            "" => program.path.clone(),
            name => format!("{}#{name}", program.path),
        };
        let times = names.entry(name.clone()).or_default();
        *times += 1;
        let name = if *times > 1 { format!("{name}-{times}") } else { name };
        let before = lines.len();
        for one in candidates.into_iter().filter(&wanted) {
            *report.rules.entry(one.rule.to_owned()).or_default() += 1;
            let fields = [
                ("src_id", name.as_str().into()),
                ("src_code", text.as_str().into()),
                ("tgt_id", one.rule.into()),
                ("tgt_code", one.text.into()),
                ("exact", one.exact.into()),
            ];
            lines.push(fields.map(|(key, value)| (key.to_owned(), value)).into_iter().collect());
        }
        report.changed += u64::from(lines.len() > before);
    }
    report.candidates = lines.len() as u64;
    Ok((lines, report))
}
