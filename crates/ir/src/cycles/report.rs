use dataset::{
    Verdict,
    stage::{Finish, Units},
};
use rows::{CyclesCount, CyclesRow, ModuleVerdict};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What `ir run` found, as `--json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CyclesReport {
    /// Programs on inputs that have cycles.
    pub programs: u64,
    /// Rows of their functions.
    pub functions: u64,
    /// Functions among them that were executed.
    pub executed: u64,
    /// Simulated cycles of the programs.
    pub cycles: u64,
    /// Of these, cycles of their functions: the others are of start-up and libraries.
    pub function_cycles: u64,
    /// Instructions simulated.
    pub instructions: u64,
    /// Programs, and modules that are none by themselves, by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Of the modules without a `main`, those with functions in a program that ran.
    pub linked: u64,
    /// Name of the processor.
    pub cpu: String,
}

impl CyclesReport {
    /// All rows stay, and are counted.
    pub(super) fn finish<'a>(
        settings: &Value,
        units: &'a Units<CyclesRow>,
    ) -> dataset::Result<Finish<'a, CyclesRow, CyclesReport>> {
        let cpu = settings["cpu"].as_str().unwrap_or_default().to_owned();
        let mut report = CyclesReport { cpu, ..CyclesReport::default() };
        let mut rows: BTreeMap<String, u64> = BTreeMap::new();
        let (mut in_programs, mut without_main) = (BTreeSet::new(), Vec::new());
        for row in units.views::<CyclesCount>() {
            let (_, row) = row?;
            *rows.entry(row.verdict.clone()).or_default() += 1;
            if !row.function.is_empty() {
                in_programs.insert(row.id.clone());
            } else if row.verdict == ModuleVerdict::NoMain.name() {
                without_main.push(row.id.clone());
            }
            report.add(row);
        }
        report.linked = without_main.iter().filter(|id| in_programs.contains(*id)).count() as u64;
        Ok(Finish::all(rows, report))
    }

    fn add(&mut self, row: CyclesCount) {
        let (cycles, instructions) = (row.cycles.unwrap_or(0), row.instructions.unwrap_or(0));
        if row.function.is_empty() {
            self.programs += u64::from(row.verdict == Verdict::ACCEPTED);
            self.cycles += cycles;
            self.instructions += instructions;
            *self.verdicts.entry(row.verdict).or_default() += 1;
        } else {
            self.functions += 1;
            self.executed += u64::from(instructions > 0);
            self.function_cycles += cycles;
        }
    }
}
