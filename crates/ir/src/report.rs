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
    /// Modules of C and C++ that were compiled without optimization: their functions are `noinline`.
    pub unoptimized: u64,
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
            self.unoptimized += u64::from(is_unoptimized(row));
            let share = self.languages.entry(row.language.clone()).or_default();
            share.modules += 1;
            share.bitcode_bytes += row.bytes;
        }
    }
}
/// Whether clang compiled it at level 0, which is that of a command without one.
fn is_unoptimized(row: &Module) -> bool {
    let level = row.command.iter().rev().find_map(|word| word.strip_prefix("-O"));
    matches!(row.language.as_str(), "c" | "c++") && matches!(level, None | Some("0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_without_a_level_are_counted() {
        let mut report = Report::default();
        for (language, command) in [
            ("c", "cc -c a.c"),
            ("c++", "c++ -O2 -O0 -c a.cc"),
            ("c", "cc -O -c a.c"),
            ("rust", "rustc a.rs"),
        ] {
            let command = command.split(' ').map(str::to_owned).collect();
            let verdict = Verdict::ACCEPTED.to_owned();
            report.add(&Module {
                language: language.into(),
                command,
                verdict,
                ..Module::default()
            });
        }
        assert_eq!((report.modules, report.unoptimized), (4, 2));
    }
}
