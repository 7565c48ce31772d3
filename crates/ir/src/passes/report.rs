use dataset::{
    Verdict,
    stage::{Finish, Units},
};
use rows::{
    PassEffect, PassRow,
    pass_effect::{ADDED, CHANGED, REMOVED},
};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// What one pass did, all modules together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PassSums {
    /// Runs.
    pub runs: u64,
    /// Functions that it ran on, each once.
    pub functions: u64,
    /// Of these, those that a run changed, added or removed.
    pub changed: u64,
    /// Functions added.
    pub added: u64,
    /// Functions removed.
    pub removed: u64,
    /// Instructions after its runs less those before.
    pub instructions: i64,
}

/// What `ir optimize --after-each` found, as `--json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PassesReport {
    /// Modules on which the pipeline ran.
    pub modules: u64,
    /// Modules on which it failed.
    pub failed: u64,
    /// Functions that a pass ran on.
    pub functions: u64,
    /// Runs of passes.
    pub runs: u64,
    /// By pass.
    pub passes: BTreeMap<String, PassSums>,
    /// Seconds by pass on this machine: a measurement.
    pub seconds_by_pass: BTreeMap<String, f64>,
}

/// Functions of one module: of each pass, whether it changed them.
#[derive(Default)]
struct OfModule {
    step: u64,
    passes: HashMap<String, HashMap<String, bool>>,
}

impl PassesReport {
    /// All rows stay, and are counted.
    pub(crate) fn finish(
        units: &Units<PassRow>,
    ) -> dataset::Result<Finish<'_, PassRow, PassesReport>> {
        let mut report = PassesReport::default();
        let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
        let (mut at, mut module) = (None, OfModule::default());
        for row in units.views::<PassEffect>() {
            let (unit, row) = row?;
            *verdicts.entry(row.verdict.clone()).or_default() += 1;
            if at != Some(unit.position) {
                at = Some(unit.position);
                report.end(std::mem::take(&mut module));
                let counted = if row.verdict == Verdict::ACCEPTED {
                    &mut report.modules
                } else {
                    &mut report.failed
                };
                *counted += 1;
            }
            report.add(row, &mut module);
        }
        report.end(module);
        Ok(Finish::all(verdicts, report))
    }

    fn add(&mut self, row: PassEffect, module: &mut OfModule) {
        if row.step == 0 {
            return;
        }
        let sums = self.passes.entry(row.pass.clone()).or_default();
        if row.step != module.step {
            module.step = row.step;
            self.runs += 1;
            sums.runs += 1;
        }
        sums.added += u64::from(row.effect == ADDED);
        sums.removed += u64::from(row.effect == REMOVED);
        sums.instructions += row.instructions_after - row.instructions_before;
        let seconds = self.seconds_by_pass.entry(row.pass.clone()).or_default();
        *seconds += row.seconds.unwrap_or_default();
        let changed = [CHANGED, ADDED, REMOVED].contains(&row.effect.as_str());
        let known = module.passes.entry(row.pass).or_default().entry(row.function);
        *known.or_default() |= changed;
    }

    fn end(&mut self, module: OfModule) {
        let mut all: Vec<&String> = module.passes.values().flat_map(HashMap::keys).collect();
        all.sort_unstable();
        all.dedup();
        self.functions += all.len() as u64;
        for (pass, functions) in &module.passes {
            let sums = self.passes.entry(pass.clone()).or_default();
            sums.functions += functions.len() as u64;
            sums.changed += functions.values().filter(|changed| **changed).count() as u64;
        }
    }
}
