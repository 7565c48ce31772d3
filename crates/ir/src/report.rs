use crate::{Error, Module, module::BUILT};
use dataset::{
    Verdict,
    stage::{Finish, Units},
};
use serde::Serialize;
use std::collections::BTreeMap;

/// A module of fewer instructions is a stub: a crate whose code is all generic, a file of tables.
pub const STUB: u64 = 100;

/// What a run made, as `--json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Packages asked for.
    pub packages: u64,
    /// Packages that were built.
    pub built: u64,
    /// Packages that were not.
    pub failed: u64,
    /// Modules.
    pub modules: u64,
    /// Bytes of their bitcode.
    pub bitcode_bytes: u64,
    /// Functions in them.
    pub functions: u64,
    /// Instructions in them.
    pub instructions: u64,
    /// Modules of fewer than 100 instructions, counted in `modules` too.
    pub stubs: u64,
    /// Rows, or packages, per verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Modules and bytes by language.
    pub languages: BTreeMap<String, Share>,
}

/// A part of the modules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Modules.
    pub modules: u64,
    /// Bytes of their bitcode.
    pub bitcode_bytes: u64,
}

impl Report {
    /// All rows stay, and are counted.
    pub(crate) fn finish(units: &Units<Module>) -> Result<Finish<'_, Module, Report>, Error> {
        let mut report = Report::default();
        for row in units.rows() {
            report.add(&row?.1);
        }
        Ok(Finish::all(report.verdicts.clone(), report))
    }

    /// Count a row.
    pub fn add(&mut self, row: &Module) {
        *self.verdicts.entry(row.verdict.clone()).or_default() += 1;
        if row.is_package() {
            self.packages += 1;
            *(if row.verdict == BUILT { &mut self.built } else { &mut self.failed }) += 1;
        }
        if row.verdict == Verdict::ACCEPTED {
            self.modules += 1;
            self.bitcode_bytes += row.bytes;
            self.functions += row.functions;
            self.instructions += row.instructions;
            self.stubs += u64::from(row.instructions < STUB);
            let share = self.languages.entry(row.language.clone()).or_default();
            share.modules += 1;
            share.bitcode_bytes += row.bytes;
        }
    }
}
