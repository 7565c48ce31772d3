//! Which modules may be used: a policy over SPDX expressions.

use crate::{Error, Module, dedup::name_of, module::MODULE};
use dataset::{Builder, Dataset, Input, Licences, Notes, Progress, Verdict};
use rows::ModuleVerdict;
use serde::Serialize;
use spdx::{Expression, LicenseItem, ParseMode};
use std::{collections::BTreeMap, path::PathBuf, str::FromStr};

/// `verdict` of modules that a policy turns away.
const NOT_ADMITTED: &str = ModuleVerdict::LicenceNotAdmitted.name();

/// A rule about licences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// ComPile's: MIT, Apache-2.0, BSD-2-Clause or BSD-3-Clause, and a licence file in the package
    /// (Grossman et al., 2023, section 3.3).
    Compile,
    /// A rule that other commands have too.
    Known(Licences),
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
    /// Whether a module under `expression`, from a package with `texts` licence files, may be used;
    /// else why not. With `OR` the choice is ours, with `AND` every part must be admitted, and a
    /// licence `WITH` an exception permits at least what it does without.
    ///
    /// # Errors
    /// What stands against it.
    pub fn judge(self, expression: &str, texts: usize) -> Result<(), String> {
        match self {
            Policy::Known(policy) if policy.admit(expression) => Ok(()),
            Policy::Compile if texts == 0 => Err(format!("`{expression}`, without a licence file")),
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
    if expression.is_empty() { "no licence was found".to_owned() } else { expression.to_owned() }
}

/// What to judge, and how.
#[derive(Clone, Debug)]
pub struct License {
    /// A data set of modules.
    pub dataset: PathBuf,
    /// The data set to make; without, only the report is.
    pub out: Option<PathBuf>,
    /// Replace what is there.
    pub force: bool,
    /// The rule.
    pub policy: Policy,
}

/// What `ir license` found, as `--json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    /// Licence texts that come with the data.
    pub texts: u64,
    /// By expression: modules, bytes, and 1 where admitted.
    pub expressions: BTreeMap<String, [u64; 3]>,
    /// By what the expression was read from: modules.
    pub sources: BTreeMap<String, u64>,
}

/// Judge the modules of a data set; those turned away stay as rows with a verdict.
///
/// # Errors
/// When the data set cannot be read or written.
pub fn license(options: &License, progress: &dyn Progress) -> Result<LicenseReport, Error> {
    let dataset = Dataset::open(&options.dataset)?;
    progress.begin("modules", dataset.manifest().rows);
    let mut report = LicenseReport::default();
    // One reading to count, and where a data set is wanted another one to write.
    for row in dataset.rows::<Module>()? {
        let row = row?;
        progress.advance(1);
        report.texts += u64::from(row.kind == crate::module::LICENCE_TEXT);
        if row.is_accepted() {
            count(&mut report, &row, options.policy);
        }
    }
    let Some(out) = &options.out else { return Ok(report) };
    let identity = dataset.manifest().identity.clone();
    let settings = (&identity, format!("{:?}", options.policy));
    let builder = Builder::<Module>::create(out, options.force, &settings)?;
    let rows = dataset.rows::<Module>()?.map(|row| {
        row.map(|row| match row.kind == MODULE && row.is_accepted() {
            true => match options.policy.judge(&row.license_expression, row.license_files.len()) {
                Ok(()) => row,
                Err(reason) => row.turned_away(Verdict::new(NOT_ADMITTED, reason)),
            },
            false => row,
        })
    });
    let mut verdicts = dataset.manifest().notes.verdicts.clone();
    verdicts.insert(Verdict::ACCEPTED.to_owned(), report.admitted);
    *verdicts.entry(NOT_ADMITTED.to_owned()).or_default() += report.modules - report.admitted;
    let notes = Notes {
        inputs: vec![Input { name: name_of(&options.dataset), hash: identity }],
        configuration: serde_json::json!({ "policy": format!("{:?}", options.policy) }),
        tools: dataset.manifest().notes.tools.clone(),
        verdicts,
        summary: serde_json::to_value(&report).unwrap_or_default(),
        ..Notes::default()
    };
    builder.finish_with(rows, notes)?;
    Ok(report)
}

fn count(report: &mut LicenseReport, row: &Module, policy: Policy) {
    let admitted = policy.judge(&row.license_expression, row.license_files.len()).is_ok();
    report.modules += 1;
    report.bitcode_bytes += row.bytes;
    report.unlicensed += u64::from(row.license_expression.is_empty());
    if admitted {
        report.admitted += 1;
        report.admitted_bytes += row.bytes;
    }
    let expression = report.expressions.entry(said(&row.license_expression)).or_default();
    expression[0] += 1;
    expression[1] += row.bytes;
    expression[2] = u64::from(admitted);
    *report.sources.entry(row.license_source.clone()).or_default() += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiles_rule_wants_a_known_licence_and_its_file() {
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
        assert_eq!("osi".parse(), Ok(Policy::Known(Licences::Osi)));
        assert!("own".parse::<Policy>().is_err());
    }
}
