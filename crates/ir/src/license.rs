//! Which modules may be used: a policy over SPDX expressions.

use crate::{
    Error, Module, ModuleItem,
    input::{Modules, on_each_module},
    module::{LICENSE_TEXT, MODULE},
};
use dataset::{
    Licenses, Progress, Verdict,
    stage::{Facts, Finish, Stage, Units, Worked},
};
use rows::ModuleVerdict;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spdx::{Expression, LicenseItem, ParseMode};
use std::{collections::BTreeMap, path::Path, str::FromStr};

/// `verdict` of modules that a policy rejects.
const NOT_ADMITTED: &str = ModuleVerdict::LicenseNotAdmitted.name();

/// A rule about licenses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// ComPile's: MIT, Apache-2.0, BSD-2-Clause or BSD-3-Clause, and a license file in the package
    /// (Grossman et al., 2023, section 3.3).
    Compile,
    /// A rule that other commands have too.
    Known(Licenses),
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Policy, String> {
        match text {
            "compile" => Ok(Policy::Compile),
            other => other
                .parse()
                .map(Policy::Known)
                .map_err(|_| format!("`{other}` is none of compile, permissive, osi, all")),
        }
    }
}

const COMPILE: [&str; 4] = ["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause"];

impl Policy {
    /// Whether a module under `expression`, from a package with `texts` license files, may be used;
    /// else why not. With `OR` the choice is ours, with `AND` every part must be admitted, and a
    /// license `WITH` an exception permits at least what it does without.
    ///
    /// # Errors
    /// What stands against it.
    pub fn judge(self, expression: &str, texts: usize) -> Result<(), String> {
        match self {
            Policy::Known(policy) if policy.admit(expression) => Ok(()),
            Policy::Compile if texts == 0 => Err(format!("`{expression}`, without a license file")),
            Policy::Compile => {
                let parsed = Expression::parse_mode(expression, ParseMode::LAX);
                let admitted = parsed.is_ok_and(|parsed| {
                    parsed.evaluate(|requirement| {
                        matches!(&requirement.license, LicenseItem::Spdx { id, .. } if COMPILE.contains(&id.name))
                    })
                });
                if admitted { Ok(()) } else { Err(said(expression)) }
            }
            Policy::Known(_) => Err(said(expression)),
        }
    }
}

fn said(expression: &str) -> String {
    if expression.is_empty() { "no license was found".to_owned() } else { expression.to_owned() }
}

/// Judges the modules of a data set; those rejected stay as rows with a verdict.
#[derive(Debug)]
pub struct License {
    modules: Modules,
    policy: Policy,
}

/// What `ir license` found, as `--json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LicenseReport {
    /// Modules judged.
    pub modules: u64,
    /// Bytes of their bitcode.
    pub bitcode_bytes: u64,
    /// Modules admitted.
    pub admitted: u64,
    /// Bytes of their bitcode.
    pub admitted_bytes: u64,
    /// Modules without an expression.
    pub unlicensed: u64,
    /// License texts that come with the data.
    pub texts: u64,
    /// By expression: modules, bytes, and 1 where any of them is admitted.
    pub expressions: BTreeMap<String, [u64; 3]>,
    /// By what the expression was read from: modules.
    pub sources: BTreeMap<String, u64>,
}

impl License {
    /// Of the data set of modules at `dataset`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn new(dataset: &Path, policy: Policy) -> Result<License, Error> {
        Ok(License { modules: Modules::open(dataset)?, policy })
    }

    /// What the rule comes to; no data set is made.
    ///
    /// # Errors
    /// When the data set cannot be read.
    pub fn report(&self, progress: &dyn Progress) -> Result<LicenseReport, Error> {
        progress.begin("modules", self.modules.dataset().manifest().rows);
        let mut report = LicenseReport::default();
        for row in self.modules.rows()? {
            report.count(&row?, self.policy);
            progress.advance(1);
        }
        Ok(report)
    }

    fn judged(&self, row: Module) -> Module {
        if row.kind != MODULE || !row.is_accepted() {
            return row;
        }
        match self.policy.judge(&row.license_expression, row.license_files.len()) {
            Ok(()) => row,
            Err(reason) => row.turned_away(Verdict::new(NOT_ADMITTED, reason)),
        }
    }
}

/// The report, and rows per verdict.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct LicenseFacts {
    report: LicenseReport,
    verdicts: BTreeMap<String, u64>,
}

impl Facts for LicenseFacts {
    fn absorb(&mut self, other: LicenseFacts) {
        self.report.absorb(other.report);
        for (verdict, count) in other.verdicts {
            *self.verdicts.entry(verdict).or_default() += count;
        }
    }
}

impl LicenseReport {
    fn count(&mut self, row: &Module, policy: Policy) {
        self.texts += u64::from(row.kind == LICENSE_TEXT);
        if !row.is_accepted() {
            return;
        }
        let admitted = policy.judge(&row.license_expression, row.license_files.len()).is_ok();
        self.modules += 1;
        self.bitcode_bytes += row.bytes;
        self.unlicensed += u64::from(row.license_expression.is_empty());
        if admitted {
            self.admitted += 1;
            self.admitted_bytes += row.bytes;
        }
        let expression = self.expressions.entry(said(&row.license_expression)).or_default();
        expression[0] += 1;
        expression[1] += row.bytes;
        expression[2] |= u64::from(admitted);
        *self.sources.entry(row.license_source.clone()).or_default() += 1;
    }

    fn absorb(&mut self, other: LicenseReport) {
        self.modules += other.modules;
        self.bitcode_bytes += other.bitcode_bytes;
        self.admitted += other.admitted;
        self.admitted_bytes += other.admitted_bytes;
        self.unlicensed += other.unlicensed;
        self.texts += other.texts;
        for (name, [modules, bytes, admitted]) in other.expressions {
            let expression = self.expressions.entry(name).or_default();
            expression[0] += modules;
            expression[1] += bytes;
            expression[2] |= admitted;
        }
        for (name, count) in other.sources {
            *self.sources.entry(name).or_default() += count;
        }
    }
}

impl Stage for License {
    const NAME: &'static str = "ir license";
    on_each_module!();
    type Facts = LicenseFacts;
    type Summary = LicenseReport;

    fn settings(&self) -> Value {
        serde_json::json!({ "policy": format!("{:?}", self.policy) })
    }

    fn work(&self, (): &mut (), items: &[ModuleItem]) -> Result<Vec<Worked<Module>>, Error> {
        let judged = |item: &ModuleItem| Worked::Rows(vec![self.judged(item.module.clone())]);
        Ok(items.iter().map(judged).collect())
    }

    fn observe(&self, item: &ModuleItem, rows: Option<&[Module]>, facts: &mut LicenseFacts) {
        facts.report.count(&item.module, self.policy);
        for row in rows.unwrap_or_default() {
            *facts.verdicts.entry(row.verdict.clone()).or_default() += 1;
        }
    }

    fn finish<'a>(
        _: &'a Value,
        LicenseFacts { report, mut verdicts }: LicenseFacts,
        _: &'a Units<Module>,
    ) -> Result<Finish<'a, Module, LicenseReport>, Error> {
        for verdict in [Verdict::ACCEPTED, NOT_ADMITTED] {
            verdicts.entry(verdict.to_owned()).or_default();
        }
        Ok(Finish::all(verdicts, report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiles_rule_wants_a_known_license_and_its_file() {
        let judge = |text: &str, files| Policy::Compile.judge(text, files).is_ok();
        assert!(judge("MIT OR GPL-3.0-only", 1));
        assert!(judge("Apache-2.0 WITH LLVM-exception", 1));
        assert!(judge("MIT AND BSD-3-Clause", 2));
        assert!(!judge("MIT AND GPL-3.0-only", 1));
        assert!(!judge("MIT", 0));
        assert!(!judge("", 1) && !judge("ISC", 1) && !judge("nonsense (", 1));
    }

    #[test]
    fn policies_have_names() {
        assert_eq!("compile".parse(), Ok(Policy::Compile));
        assert_eq!("osi".parse(), Ok(Policy::Known(Licenses::Osi)));
        assert!("own".parse::<Policy>().is_err());
    }
}
