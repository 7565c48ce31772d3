//! Grossman et al.: ComPile, a large IR dataset from production sources (2023).

use crate::{
    Error, Options, Set,
    page::{Page, megabytes, percent},
    plane,
};
use dataset::Row as _;
use rows::{Module, Statistics, module_kind::MODULE};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(crate) const TABLE1: [&str; 6] =
    ["language", "modules", "bitcode", "after deduplication", "bytes left", "functions"];
pub(crate) const TABLE3: [&str; 4] =
    ["language", "all", "permissive by its expression", "and with a license file"];
pub(crate) const SIZES: [&str; 7] = [
    "language",
    "bitcode",
    "text",
    "instructions",
    "after -O3",
    "tokens at 10,000",
    "tokens at 50,000",
];

/// What is asked of a module, without its content.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Licensed {
    kind: String,
    verdict: String,
    package: String,
    language: String,
    license_expression: String,
    license_files: Vec<String>,
    bytes: u64,
    functions: u64,
}

impl dataset::Row for Licensed {
    const SCHEMA: &'static str = Module::SCHEMA;
    const VERSION: u32 = Module::VERSION;
}

#[derive(Default)]
struct Language {
    modules: u64,
    bytes: u64,
    kept_bytes: u64,
    functions: u64,
    permissive_bytes: u64,
    admitted_bytes: u64,
}

pub(crate) fn make(sets: &[Set], _: &Options, page: &mut Page) -> Result<(), Error> {
    let (mut table1, mut table3, mut figure1) = (Vec::new(), Vec::new(), Vec::new());
    for set in sets.iter().filter(|set| set.is(Module::SCHEMA)) {
        modules(set, &mut table1, &mut table3, &mut figure1)?;
    }
    match table1.is_empty() {
        true => page.lacks(
            "Tables 1 and 3, Figure 1",
            "a data set of `ir build`, `ir extract` or `ir dedup`",
        ),
        false => {
            let note = "After deduplication: what the data set keeps; of one that `ir dedup` did not make that is all.";
            page.table("table1", "Table 1: bitcode by language", &TABLE1, table1, note);
            let note = "Permissive: MIT, Apache-2.0, BSD-2-Clause or BSD-3-Clause. ComPile's sizes are as published, and not of one version: its two tables give 482 and 586 GB for all of Rust.";
            page.table("table3", "Table 3: licenses", &TABLE3, table3, note);
            let packages = figure1.len() as u64;
            let bytes: u64 =
                figure1.iter().filter_map(|row: &Vec<String>| row[3].parse::<u64>().ok()).sum();
            let picture = packages_by_size(&figure1);
            page.csv(
                "figure1",
                &["data set", "package", "modules", "bitcode bytes"],
                figure1.iter(),
            );
            let summary = vec![vec![packages.to_string(), megabytes(bytes)]];
            page.table(
                "figure1-summary",
                "Figure 1: sizes by package",
                &["packages", "bitcode"],
                summary,
                "Each package is a line of figure1.csv.",
            );
            page.picture("figure1", "Figure 1: packages, the largest first", picture);
        }
    }
    let mut sizes = Vec::new();
    for set in sets.iter().filter(|set| set.is(Statistics::SCHEMA)) {
        let mut languages: BTreeMap<String, [u64; 6]> = BTreeMap::new();
        for row in set.dataset.rows::<Statistics>()? {
            let row = row?;
            let sums = languages.entry(row.language).or_default();
            let add = [
                row.bitcode_bytes,
                row.text_bytes,
                row.instructions,
                row.instructions_after,
                row.tokens_10k,
                row.tokens_50k,
            ];
            sums.iter_mut().zip(add).for_each(|(sum, one)| *sum += one);
        }
        sizes.extend(languages.into_iter().map(|(language, sums)| {
            let [bitcode, text, others @ ..] = sums;
            let name = format!("{language} of {}", set.name);
            let sizes = vec![name, megabytes(bitcode), megabytes(text)];
            [sizes, others.map(|sum| sum.to_string()).to_vec()].concat()
        }));
    }
    match sizes.is_empty() {
        true => page.lacks("sizes as text, after -O3 and in tokens", "a data set of `ir stats`"),
        false => {
            let note = "ComPile's are of its public release, permissive and without duplicates; its tokens are in billions (B), of a tokenizer of its own.";
            page.table("sizes", "Sizes by language", &SIZES, sizes, note);
        }
    }
    Ok(())
}

/// Figure 1 as a picture: the bytes of each package of a data set, from the largest on.
fn packages_by_size(figure1: &[Vec<String>]) -> String {
    let mut sets: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in figure1 {
        sets.entry(&row[0]).or_default().push(row[3].parse().unwrap_or_default());
    }
    let line = |(name, mut sizes): (&str, Vec<f64>)| {
        sizes.sort_by(|first, second| second.total_cmp(first));
        let point = |(at, bytes): (usize, f64)| [(at + 1) as f64, bytes];
        (name.to_owned(), sizes.into_iter().enumerate().map(point).collect())
    };
    let lines: Vec<(String, Vec<[f64; 2]>)> = sets.into_iter().map(line).collect();
    plane::lines("packages", "bytes of bitcode", &lines)
}

type Rows = Vec<Vec<String>>;

fn modules(
    set: &Set,
    table1: &mut Rows,
    table3: &mut Rows,
    figure1: &mut Rows,
) -> dataset::Result<()> {
    let mut languages: BTreeMap<String, Language> = BTreeMap::new();
    let mut packages: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for row in set.dataset.rows::<Licensed>()? {
        let row = row?;
        let is_duplicate = row.verdict == "duplicate";
        if row.kind != MODULE || !(is_duplicate || row.verdict == dataset::Verdict::ACCEPTED) {
            continue;
        }
        let of = languages.entry(row.language).or_default();
        of.modules += 1;
        of.bytes += row.bytes;
        if is_duplicate {
            continue;
        }
        of.kept_bytes += row.bytes;
        of.functions += row.functions;
        let admits = |files| ir::Policy::Compile.judge(&row.license_expression, files).is_ok();
        of.permissive_bytes += if admits(1) { row.bytes } else { 0 };
        of.admitted_bytes += if admits(row.license_files.len()) { row.bytes } else { 0 };
        let package = packages.entry(row.package).or_default();
        *package = (package.0 + 1, package.1 + row.bytes);
    }
    for (language, of) in languages {
        let name =
            format!("{} of {}", if language.is_empty() { "unknown" } else { &language }, set.name);
        table1.push(vec![
            name.clone(),
            of.modules.to_string(),
            megabytes(of.bytes),
            megabytes(of.kept_bytes),
            percent(of.kept_bytes, of.bytes),
            of.functions.to_string(),
        ]);
        table3.push(vec![
            name,
            megabytes(of.kept_bytes),
            megabytes(of.permissive_bytes),
            megabytes(of.admitted_bytes),
        ]);
    }
    let line = |(package, (modules, bytes)): (String, (u64, u64))| {
        vec![set.name.clone(), package, modules.to_string(), bytes.to_string()]
    };
    figure1.extend(packages.into_iter().map(line));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_package_of_a_data_set_is_drawn_first() {
        let row = |set: &str, package: &str, bytes: &str| {
            [set, package, "1", bytes].map(str::to_owned).to_vec()
        };
        let svg =
            packages_by_size(&[row("a", "x", "10"), row("a", "y", "1000"), row("b", "z", "5")]);
        assert_eq!(svg.matches("<polyline").count(), 2, "{svg}");
        // The first of 10 places, at the top; the second lower, where 10 of 1000 bytes are.
        assert!(svg.contains("points=\"56.0,56.0 "), "{svg}");
        assert!(svg.contains(",328.0\""), "{svg}");
    }
}
