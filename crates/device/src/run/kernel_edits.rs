//! Candidates for kernels as a stage: pairs are read, rows are counted.

use super::{
    Options,
    kernel_judge::{KernelJudge, KernelPair},
    operations::OperationCounter,
    worker_set::WorkerSet,
};
use crate::{Error, Result};
use dataset::{
    Input, content_hash, content_hash_of,
    stage::{Cancel, Finish, Items, Stage, Units, Worked},
};
use rows::{KernelEditRow, KernelEditVerdict as Verdict};
use serde::Serialize;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, path::Path};

/// What judging came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KernelEditsReport {
    /// Candidates.
    pub candidates: u64,
    /// Candidates that are accepted on every device at every size.
    pub accepted: u64,
    /// Rows: candidates × devices × sizes.
    pub rows: u64,
    /// Rows per verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Accepted rows whose interval lies above 1, below 1, and around it.
    pub faster: u64,
    /// Below.
    pub slower: u64,
    /// Around: no difference was seen.
    pub equal: u64,
    /// Geometric mean of `slow / fast` over accepted rows that were timed; 1 where there are none.
    pub mean_speedup: f64,
}

/// Judges candidates for kernels, as [`KernelJudge`] does.
pub struct KernelEdits {
    judge: KernelJudge,
    pairs: Vec<KernelPair>,
    input: Input,
}

impl KernelEdits {
    /// Find devices and workers, and read the pairs: JSON lines with `src_id`, `src_code`, `tgt_code` and, if wanted,
    /// `tgt_id`; or a folder, in which each folder has a `slow.cl` and candidates, other `.cl` files.
    ///
    /// # Errors
    /// When there is no OpenCL, no such device, no worker or no pair, or a line is none.
    pub fn new(options: Options, payloads: u32, cancel: &Cancel) -> Result<KernelEdits> {
        let pairs = read(&options.input)?;
        let pieces = pairs.iter().flat_map(|pair| {
            [&pair.src_id, &pair.tgt_id, &pair.src_code, &pair.tgt_code].map(String::as_bytes)
        });
        let hash = content_hash_of(pieces);
        let input = Input { name: options.input.display().to_string(), hash };
        let judge = KernelJudge::new(options, payloads, &cancel.flag())?;
        Ok(KernelEdits { judge, pairs, input })
    }

    /// The same with the operations of candidates counted.
    #[must_use]
    pub fn counting(self, counter: OperationCounter) -> KernelEdits {
        KernelEdits { judge: self.judge.counting(counter), ..self }
    }
}

impl Stage for KernelEdits {
    const NAME: &'static str = "edits judge-kernels";
    const UNITS: &'static str = "candidates";
    type Item = KernelPair;
    type Row = KernelEditRow;
    type Facts = ();
    type Summary = KernelEditsReport;
    type Worker = WorkerSet;
    type Error = Error;

    fn settings(&self) -> Value {
        self.judge.settings()
    }

    fn seed(&self) -> u64 {
        self.judge.seed()
    }

    fn inputs(&self) -> Result<Vec<Input>> {
        Ok(vec![self.input.clone()])
    }

    fn items(&self) -> Result<Items<'_, KernelEdits>> {
        let all = Box::new(self.pairs.iter().cloned().map(Ok));
        Ok(Items { total: Some(self.pairs.len() as u64), all })
    }

    fn key(&self, item: &KernelPair) -> String {
        let pieces = [&item.src_id, &item.tgt_id, &item.src_code, &item.tgt_code];
        content_hash_of(pieces.map(|piece| piece.as_bytes()))
    }

    fn worker(&self) -> Result<WorkerSet> {
        self.judge.workers()
    }

    fn work(
        &self,
        workers: &mut WorkerSet,
        items: &[KernelPair],
    ) -> Result<Vec<Worked<KernelEditRow>>> {
        items.iter().map(|pair| self.judge.rows(workers, pair).map(Worked::Rows)).collect()
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn tools(&self) -> BTreeMap<String, String> {
        self.judge.tools()
    }

    fn finish<'a>(
        _: &'a Value,
        (): (),
        units: &'a Units<KernelEditRow>,
    ) -> Result<Finish<'a, KernelEditRow, KernelEditsReport>> {
        let mut report = KernelEditsReport::default();
        let (mut speedups, mut position, mut right) = (Vec::new(), None, false);
        for row in units.rows() {
            let (unit, row) = row?;
            if position.replace(unit.position) != Some(unit.position) {
                report.candidates += 1;
                report.accepted += u64::from(right);
                right = true;
            }
            right &= row.verdict == Verdict::Accepted.name();
            report.rows += 1;
            *report.verdicts.entry(row.verdict).or_default() += 1;
            speedups.extend(row.speedup);
            match (row.speedup_low, row.speedup_high) {
                (Some(low), _) if low > 1.0 => report.faster += 1,
                (_, Some(high)) if high < 1.0 => report.slower += 1,
                (Some(_), Some(_)) => report.equal += 1,
                _ => {}
            }
        }
        report.accepted += u64::from(right);
        report.mean_speedup = statistics::geometric_mean(speedups);
        Ok(Finish::all(report.verdicts.clone(), report))
    }
}

fn read(path: &Path) -> Result<Vec<KernelPair>> {
    let failed = |reason: String| Error::Pairs { path: path.to_owned(), reason };
    let pairs = match path.is_dir() {
        true => read_folder(path).map_err(|error| failed(error.to_string()))?,
        false => {
            let text = std::fs::read_to_string(path).map_err(|source| dataset::Error::File {
                action: "read",
                path: path.to_owned(),
                source,
            })?;
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            lines
                .map(|(at, line)| {
                    read_line(line).map_err(|reason| failed(format!("line {}: {reason}", at + 1)))
                })
                .collect::<Result<_>>()?
        }
    };
    match pairs.is_empty() {
        true => Err(failed(
            "holds no pair: JSON lines have src_id, src_code and tgt_code; a folder has folders with slow.cl and \
             candidates beside it"
                .to_owned(),
        )),
        false => Ok(pairs),
    }
}

fn read_line(line: &str) -> std::result::Result<KernelPair, String> {
    let fields: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| error.to_string())?;
    let word = |name: &str| match fields.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("`{name}` is no text")),
        None => Err(format!("`{name}` is missing")),
    };
    let tgt_code = word("tgt_code")?;
    let tgt_id = match fields.contains_key("tgt_id") {
        true => word("tgt_id")?,
        false => content_hash(tgt_code.as_bytes()),
    };
    Ok(KernelPair { src_id: word("src_id")?, tgt_id, src_code: word("src_code")?, tgt_code })
}

/// A pair for each `.cl` beside a `slow.cl`, in the order of their names.
fn read_folder(path: &Path) -> std::io::Result<Vec<KernelPair>> {
    let sorted = |folder: &Path| -> std::io::Result<Vec<_>> {
        let mut all = std::fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<Vec<_>>>()?;
        all.sort();
        Ok(all)
    };
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut pairs = Vec::new();
    for folder in sorted(path)?.into_iter().filter(|path| path.join("slow.cl").is_file()) {
        let src_code = std::fs::read_to_string(folder.join("slow.cl"))?;
        for file in sorted(&folder)? {
            if file.extension().is_none_or(|extension| extension != "cl")
                || name(&file) == "slow.cl"
            {
                continue;
            }
            pairs.push(KernelPair {
                src_id: name(&folder),
                tgt_id: name(&file),
                src_code: src_code.clone(),
                tgt_code: std::fs::read_to_string(&file)?,
            });
        }
    }
    Ok(pairs)
}
