//! Batches of kernels: slow kernels and candidates in, verdicts and speedups out, as `edits judge-kernels` finds them.

use super::{Judging, Service, digits, one};
use crate::refusal::Refusal;
use dataset::{content_hash, content_hash_of};
use device::{KERNEL_CHEATS, KernelJudge, KernelPair};
use edits::Store;
use rayon::prelude::*;
use rows::{KernelEditRow, KernelEditVerdict as Verdict};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// What judgements of kernels are kept as.
const KIND: &str = "judged-kernels";

/// How kernels are judged.
#[derive(Clone, Debug)]
pub struct KernelSettings {
    /// Devices, sizes, limits, and time for timing.
    pub options: device::Options,
    /// Pairs of payloads on which results are compared, at each size.
    pub payloads: u32,
    /// Where judgements are kept.
    pub store: Store,
}

/// The judge of kernels, found when the first batch comes: a machine without a device judges programs.
pub(super) struct Kernels {
    settings: KernelSettings,
    judge: Mutex<Option<Arc<KernelJudge>>>,
    stop: Arc<AtomicBool>,
}

impl Kernels {
    pub(super) fn new(settings: KernelSettings) -> Kernels {
        Kernels { settings, judge: Mutex::default(), stop: Arc::default() }
    }

    /// End what runs: nobody waits for it any more.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How it judges.
    pub(super) fn about(&self) -> Value {
        let KernelSettings { options, payloads, .. } = &self.settings;
        json!({
            "devices": options.devices, "global_sizes": options.global_sizes, "payloads": payloads,
            "seed": options.seed, "limit_ms": options.limit.as_millis() as u64,
            "budget_ms": options.budget.as_millis() as u64, "cheats": KERNEL_CHEATS,
        })
    }

    fn judge(&self) -> Result<Arc<KernelJudge>, device::Error> {
        let mut judge = self.judge.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(judge) = &*judge {
            return Ok(Arc::clone(judge));
        }
        let KernelSettings { options, payloads, .. } = &self.settings;
        let found = Arc::new(KernelJudge::new(options.clone(), *payloads, &self.stop)?);
        *judge = Some(Arc::clone(&found));
        Ok(found)
    }

    /// What was found out about a candidate before.
    fn kept(&self, key: &str) -> Option<Vec<KernelEditRow>> {
        serde_json::from_slice(&self.settings.store.get(KIND, key)?).ok()
    }

    /// Keep what was found out, unless it may be due to a limit, or costs little to find out again.
    fn keep(&self, key: &str, rows: &[KernelEditRow]) {
        let all_last = rows.iter().all(|row| row.verdict.parse::<Verdict>().is_ok_and(lasts));
        if let (true, Ok(text)) = (all_last, serde_json::to_vec(rows)) {
            self.settings.store.put(KIND, key, &text);
        }
    }
}

/// Whether a verdict does not depend on limits, and took running.
fn lasts(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Accepted
        | Verdict::WrongOutput
        | Verdict::WritesInput
        | Verdict::NonDeterministic
        | Verdict::OutOfBounds
        | Verdict::ChangesLater
        | Verdict::InvalidSize => true,
        Verdict::DoesNotCompile
        | Verdict::InterfaceDiffers
        | Verdict::Refused
        | Verdict::Crashes
        | Verdict::Timeout
        | Verdict::SourceFails
        | Verdict::OutOfResources => false,
    }
}

/// A request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pairs {
    pairs: Vec<Pair>,
}

/// A slow kernel, and a candidate for its place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    before: String,
    after: String,
}

impl Pair {
    /// As the judge takes it. Payloads are drawn by the slow kernel's text.
    fn named(&self) -> KernelPair {
        KernelPair {
            src_id: content_hash(self.before.as_bytes()),
            tgt_id: content_hash(self.after.as_bytes()),
            src_code: self.before.clone(),
            tgt_code: self.after.clone(),
        }
    }
}

impl Judging for Pairs {
    fn read(body: &[u8], most: usize) -> Result<Pairs, Refusal> {
        let asked: Pairs =
            serde_json::from_slice(body).map_err(|error| Refusal::wrong(&error.to_string()))?;
        if asked.pairs.len() > most {
            let count = asked.pairs.len();
            let why = format!("has {count} kernels; a batch has at most {most} (--max-batch)");
            return Err(Refusal::parameter("pairs", &why));
        }
        Ok(asked)
    }

    fn judged(
        &self,
        service: &Service,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(Vec<Value>, usize), Refusal> {
        if self.pairs.is_empty() {
            return Ok((Vec::new(), 0));
        }
        let kernels = &service.kernels;
        let judge = kernels.judge()?;
        let identity = judge.identity();
        let key = |pair: &Pair| {
            content_hash_of([&identity, &pair.before, &pair.after].map(|piece| piece.as_bytes()))
        };
        let keys: Vec<String> = self.pairs.iter().map(key).collect();
        let mut found: BTreeMap<&str, Vec<KernelEditRow>> = BTreeMap::new();
        let mut open: BTreeMap<&str, &Pair> = BTreeMap::new();
        for (key, pair) in keys.iter().zip(&self.pairs) {
            if found.contains_key(key.as_str()) {
                continue;
            }
            match kernels.kept(key) {
                Some(rows) => drop(found.insert(key, rows)),
                None => drop(open.insert(key, pair)),
            }
        }
        let known = keys.iter().filter(|key| found.contains_key(key.as_str())).count();
        let mut open: Vec<(&str, &Pair)> = open.into_iter().collect();
        // A worker keeps what it has built: candidates for one kernel come one after the other.
        open.sort_by_key(|&(key, pair)| (pair.before.as_str(), key));
        let rows: Vec<Result<Vec<KernelEditRow>, device::Error>> = open
            .par_iter()
            .map(|(key, pair)| {
                if stop() {
                    return Err(device::Error::Stopped);
                }
                let rows = judge.judge(&pair.named())?;
                kernels.keep(key, &rows);
                Ok(rows)
            })
            .collect();
        for ((key, _), rows) in open.into_iter().zip(rows) {
            found.insert(key, rows?);
        }
        Ok((keys.iter().map(|key| told_of(&found[key.as_str()])).collect(), known))
    }
}

/// What is answered about a kernel of these rows. Sizes at which the slow kernel itself fails say nothing of a candidate,
/// unless there are no others; the speedup is the geometric mean over the rest, on all devices.
fn told_of(rows: &[KernelEditRow]) -> Value {
    let fails = |row: &&KernelEditRow| row.verdict == Verdict::SourceFails.name();
    let told: Vec<&KernelEditRow> = match rows.iter().all(|row| fails(&row)) {
        true => rows.iter().collect(),
        false => rows.iter().filter(|row| !fails(row)).collect(),
    };
    let wrong = told.iter().find(|row| row.verdict != Verdict::Accepted.name());
    let times: Option<Vec<f64>> =
        told.iter().map(|row| row.speedup.filter(|ratio| *ratio > 0.0)).collect();
    let (verdict, detail) = wrong
        .map_or((Verdict::Accepted.name(), ""), |row| (row.verdict.as_str(), row.detail.as_str()));
    let is_cheat = KERNEL_CHEATS.iter().any(|cheat| cheat.name() == verdict);
    let speedup = times.filter(|_| wrong.is_none()).map(statistics::geometric_mean);
    let row = |row: &KernelEditRow| {
        json!({
            "device": row.device, "global_size": row.global_size, "verdict": row.verdict,
            "speedup": row.speedup.map(digits), "speedup_low": row.speedup_low.map(digits),
            "speedup_high": row.speedup_high.map(digits),
        })
    };
    let mut told = one(verdict, is_cheat, speedup, detail);
    told["rows"] = rows.iter().map(row).collect();
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(global_size: u64, verdict: Verdict, speedup: Option<f64>) -> KernelEditRow {
        let verdict = verdict.name().to_owned();
        KernelEditRow { global_size, verdict, speedup, ..KernelEditRow::default() }
    }

    #[test]
    fn a_kernel_is_told_by_all_of_its_rows() {
        let fast = row(1024, Verdict::Accepted, Some(2.0));
        let faster = row(4096, Verdict::Accepted, Some(8.0));
        let told = told_of(&[fast.clone(), faster]);
        assert_eq!((&told["verdict"], &told["reward"]), (&json!("accepted"), &json!(4.0)));
        assert_eq!(told["rows"][1]["global_size"], 4096);
        // Not timed: right, and no speedup to be rewarded.
        let told = told_of(&[fast.clone(), row(4096, Verdict::Accepted, None)]);
        assert_eq!((&told["speedup"], &told["reward"]), (&Value::Null, &json!(0.0)));
        // The slow kernel fails at a size, and at all of them.
        let told = told_of(&[fast.clone(), row(4096, Verdict::SourceFails, None)]);
        assert_eq!((&told["verdict"], &told["reward"]), (&json!("accepted"), &json!(2.0)));
        let told = told_of(&[row(4096, Verdict::SourceFails, None)]);
        assert_eq!((&told["verdict"], &told["reward"]), (&json!("source-fails"), &json!(0.0)));
        let told = told_of(&[fast.clone(), row(4096, Verdict::WrongOutput, None)]);
        assert_eq!((&told["speedup"], &told["is_cheat"]), (&Value::Null, &json!(false)));
        let told = told_of(&[fast, row(4096, Verdict::ChangesLater, None)]);
        assert_eq!((&told["reward"], &told["is_cheat"]), (&json!(-1.0), &json!(true)));
    }

    /// The Python module joins the rows of a data set, without a server, and is held to the same table.
    #[test]
    fn rows_are_joined_as_the_python_module_joins_them() {
        let table: Vec<Value> =
            serde_json::from_str(include_str!("../../cases/kernel_judgements.json"))
                .expect("a table");
        let word = |value: &Value| value.as_str().expect("a text").to_owned();
        let row = |row: &Value| KernelEditRow {
            verdict: word(&row["verdict"]),
            detail: word(&row["detail"]),
            speedup: row["speedup"].as_f64(),
            ..KernelEditRow::default()
        };
        assert!(!table.is_empty());
        for case in table {
            let rows: Vec<KernelEditRow> =
                case["rows"].as_array().expect("rows").iter().map(row).collect();
            let told = told_of(&rows);
            for key in ["verdict", "is_cheat", "speedup", "detail"] {
                assert_eq!(told[key], case["told"][key], "{key} of {case}");
            }
        }
    }

    #[test]
    fn a_batch_of_kernels_that_makes_no_sense_is_refused_by_name() {
        let read = |body: Value| Pairs::read(body.to_string().as_bytes(), 1).map(|_| ());
        let refused = |body: Value| {
            let refusal = read(body).expect_err("it is refused");
            refusal.body()["error"]["message"].as_str().unwrap_or_default().to_owned()
        };
        let pair = json!({"before": "kernel void A() {}", "after": ""});
        assert!(read(json!({"pairs": [pair]})).is_ok());
        assert!(refused(json!({"pairs": [pair, pair]})).contains("--max-batch"));
        assert!(refused(json!({"pairs": [{"before": ""}]})).contains("`after`"));
        assert!(refused(json!({"pairs": [], "problems": {}})).contains("`problems`"));
    }
}
