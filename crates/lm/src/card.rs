//! The card of a model: `README.md` in its folder says to people what it learned from.

use crate::{CorpusReport, Kind, Result, checkpoint::put};
use std::{cmp::Reverse, collections::BTreeMap, path::Path};

/// File of the card.
pub(crate) const FILE: &str = "README.md";

/// Packages that are named; the others are counted.
const NAMED: usize = 20;

/// What a corpus is made of, and what is excluded from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Data sets or folders that the kernels are from.
    pub kernels: Vec<String>,
    /// Data sets that the functions are from.
    pub functions: Vec<String>,
    /// What is excluded: files, folders and data sets.
    pub excluded: Vec<String>,
    /// Names of kernels in these.
    pub excluded_names: usize,
    /// Kernels in these.
    pub excluded_kernels: usize,
    /// Kernels and functions that were left out for their sake.
    pub left_out: usize,
}

/// Write the card of a training folder.
///
/// # Errors
/// When it cannot be written.
pub fn write_card(folder: &Path, kind: Kind, report: &CorpusReport, origin: &Origin) -> Result<()> {
    put(&folder.join(FILE), card(kind, report, origin).as_bytes())
}

fn card(kind: Kind, report: &CorpusReport, origin: &Origin) -> String {
    let mut rows = vec![
        ("kernels to train on", report.training.to_string()),
        ("kernels to validate on", report.validation.to_string()),
        ("kernels left out because they are too long", report.too_long.to_string()),
        ("tokens of the kernels to train on", report.training_tokens.to_string()),
        ("families of near-duplicate kernels", report.families.to_string()),
        (
            "families, as many as equally likely ones would be",
            format!("{:.0}", report.effective_families),
        ),
        ("packages of kernels", report.packages.to_string()),
        ("packages that validation holds whole", report.held_back.len().to_string()),
    ];
    if let Some(functions) = &report.pretraining {
        rows.extend([
            ("functions to pre-train on", functions.functions.to_string()),
            ("tokens of the functions", functions.tokens.to_string()),
            (
                "functions left out because another is nearly the same",
                functions.near_duplicates.to_string(),
            ),
            (
                "functions left out because a kernel to validate on is nearly the same",
                functions.near_validation.to_string(),
            ),
            ("functions left out because they are too long", functions.too_long.to_string()),
        ]);
    }
    let rows = rows.into_iter().map(|(what, count)| (what.to_owned(), count));
    let mut parts = vec![
        format!(
            "# A model of kernels\n\n`stampmill train` made this model of kind `{}` and wrote what it learned from. \
             `corpus.json` has the same as JSON, `provenance.json` the identities of what was given.",
            kind.name()
        ),
        table(["corpus", "count"], rows),
        format!("Kernels are from {}.", names(&origin.kernels)),
    ];
    if !origin.functions.is_empty() {
        parts.push(format!("Functions are from {}.", names(&origin.functions)));
    }
    parts.push(match origin.excluded.is_empty() {
        true => "Nothing was excluded.".to_owned(),
        false => format!(
            "Excluded are {} names and {} kernels of {}, and copies of them: {} programs were left out.",
            origin.excluded_names,
            origin.excluded_kernels,
            names(&origin.excluded),
            origin.left_out
        ),
    });
    parts.push("## Kernels".to_owned());
    parts.push(counted("license", "kernels", &report.licenses, usize::MAX));
    parts.push(counted("package", "kernels", &report.package_kernels, NAMED));
    if let Some(functions) = &report.pretraining {
        parts.push("## Functions".to_owned());
        parts.push(counted("license", "functions", &functions.licenses, usize::MAX));
        parts.push(counted("package", "functions", &functions.packages, NAMED));
    }
    parts.join("\n\n") + "\n"
}

/// The largest counts, of equal ones the first by name, and what the others come to.
fn counted(what: &str, of: &str, counts: &BTreeMap<String, usize>, most: usize) -> String {
    let mut all: Vec<(&String, &usize)> = counts.iter().collect();
    all.sort_by_key(|(name, count)| (Reverse(**count), *name));
    let others = all.split_off(all.len().min(most));
    let named = all.into_iter().map(|(name, count)| {
        let name = if name.is_empty() { "not known" } else { name };
        (plain(name), count.to_string())
    });
    let more = (!others.is_empty()).then(|| {
        let sum: usize = others.iter().map(|(_, count)| **count).sum();
        (format!("{} more", others.len()), sum.to_string())
    });
    table([what, of], named.chain(more))
}

fn table(head: [&str; 2], rows: impl Iterator<Item = (String, String)>) -> String {
    let [what, count] = head;
    let rows: String = rows.map(|(what, count)| format!("\n| {what} | {count} |")).collect();
    format!("| {what} | {count} |\n| --- | ---: |{rows}")
}

fn names(all: &[String]) -> String {
    let all: Vec<String> = all.iter().map(|name| format!("*{}*", plain(name))).collect();
    all.join(", ")
}

/// A name of somebody else's in a line of Markdown: it is to be read, whatever it holds.
fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '&' => plain.push_str("&amp;"),
            '<' => plain.push_str("&lt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' => plain.extend(['\\', c]),
            c if c.is_control() => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FunctionReport;

    #[test]
    fn a_card_names_what_was_learned_from_and_counts_the_rest() {
        let package_kernels = (1..=22).map(|at| (format!("p{at:02}"), at)).collect();
        let report = CorpusReport {
            training: 250,
            validation: 3,
            families: 99,
            effective_families: 80.4,
            packages: 22,
            held_back: ["p01".to_owned()].into(),
            package_kernels,
            licenses: [("MIT".to_owned(), 200), (String::new(), 53)].into(),
            pretraining: Some(FunctionReport {
                functions: 7,
                packages: [("zlib".to_owned(), 7)].into(),
                licenses: [("Zlib".to_owned(), 7)].into(),
                ..FunctionReport::default()
            }),
            ..CorpusReport::default()
        };
        let origin = Origin {
            kernels: vec!["kernels".to_owned()],
            functions: vec!["my_functions".to_owned()],
            excluded: vec!["suites".to_owned()],
            excluded_names: 40,
            excluded_kernels: 41,
            left_out: 12,
        };
        let card = card(Kind::Infill, &report, &origin);
        for line in [
            "of kind `infill` and wrote",
            "| kernels to train on | 250 |",
            "| families of near-duplicate kernels | 99 |",
            "| packages that validation holds whole | 1 |",
            "| functions to pre-train on | 7 |",
            "Functions are from *my\\_functions*.",
            "Excluded are 40 names and 41 kernels of *suites*, and copies of them: 12 programs were left out.",
            "| license | kernels |\n| --- | ---: |\n| MIT | 200 |\n| not known | 53 |\n\n| package | kernels |\n| --- | ---: |\n| p22 | 22 |",
            "| p03 | 3 |\n| 2 more | 3 |\n",
            "| zlib | 7 |\n",
        ] {
            assert!(card.contains(line), "{line}\n{card}");
        }
        let plain = super::card(Kind::Lstm, &CorpusReport::default(), &Origin::default());
        assert!(plain.contains("Nothing was excluded.") && !plain.contains("unctions"), "{plain}");
    }

    #[test]
    fn a_name_cannot_leave_its_place() {
        assert_eq!(plain("a|b\n<c> `d`"), "a\\|b &lt;c> \\`d\\`");
    }
}
