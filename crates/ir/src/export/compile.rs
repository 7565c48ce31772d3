//! Parquet with ComPile's columns first, zstd, a file or more a split, and a data card.

use super::{Export, ExportReport, SPLITS, split_of};
use crate::{Error, Module};
use dataset::{Dataset, Progress, content_hash_of_file, write_shard};
use std::{fmt::Write, fs, path::Path};

/// Modules in one file.
const ROWS: usize = 8192;

pub(super) fn write(
    options: &Export<'_>,
    dataset: &Dataset,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<ExportReport, Error> {
    let mut report = ExportReport::default();
    let data = folder.join("data");
    fs::create_dir(&data).map_err(Error::file("create", &data))?;
    let mut sums = String::new();
    for split in SPLITS {
        let mut rows = dataset
            .rows::<Module>()?
            .inspect(|_| progress.advance(u64::from(split == SPLITS[0])))
            .filter(|row| {
                row.as_ref().map_or(true, |row| {
                    row.is_accepted() && split_of(row, options.held_out, options.seed) == split
                })
            })
            .map(|row| row.map(|row| Module { split: split.to_owned(), ..row }))
            .inspect(|row| row.iter().for_each(|row| report.add(row, split)))
            .peekable();
        let mut number = 0;
        while rows.peek().is_some() || number == 0 {
            let name = format!("{split}-{number:05}.parquet");
            let path = data.join(&name);
            write_shard(&path, rows.by_ref().take(ROWS))?;
            let (_, hash) = content_hash_of_file(&path).map_err(Error::file("read", &path))?;
            let _ = writeln!(sums, "{hash}  data/{name}");
            number += 1;
        }
    }
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(Error::file("write", &path))
    };
    put("checksums.txt", &sums)?;
    put("README.md", &card(options, dataset, &report))?;
    Ok(report)
}

/// The data card: what Hugging Face reads on top, what a person reads below.
fn card(options: &Export<'_>, dataset: &Dataset, report: &ExportReport) -> String {
    let mut text = String::from("---\nconfigs:\n- config_name: default\n  data_files:\n");
    for split in SPLITS {
        let _ = writeln!(text, "  - split: {split}\n    path: data/{split}-*.parquet");
    }
    text.push_str("---\n\n# Modules of LLVM IR\n\n");
    let _ = writeln!(
        text,
        "{} modules, {:.2} MB of bitcode. What `ir build` and `ir wrap` kept is as the compilers first made it,\n\
         before any pass of LLVM's; what was extracted from elsewhere is as it was found.\n\
         Made by stampmill {} from data set `{}`.\n",
        report.modules,
        report.bitcode_bytes as f64 / 1e6,
        dataset.manifest().stampmill,
        dataset.manifest().identity,
    );
    let (validation, test) = options.held_out;
    let _ = writeln!(
        text,
        "Splits are drawn by family of near-duplicates (seed {}, {validation} % validate, {test} % test):\n\
         no family lies in two.\n",
        options.seed
    );
    table(&mut text, "split", &report.splits);
    table(&mut text, "language", &report.languages);
    table(&mut text, "license", &report.licenses);
    text.push_str(
        "## Columns\n\n\
         `content` (bitcode), `license_expression` (SPDX), `license_source`, `license_files` (the texts are\n\
         `licenses/HASH.txt`), `package_source`, `language`: as in ComPile (Grossman et al., 2023). Then `id`\n\
         (BLAKE3 of the bitcode, 128 bits), `command` (exact), `compiler`, `llvm` (major version that wrote it),\n\
         `source_hash`, `structure` (hash that names and metadata do not change), `signature` (MinHash),\n\
         `family`, `duplicates` (dropped for this one), `split`, and where it is from.\n\n\
         ```python\n\
         import pandas; frame = pandas.read_parquet(\"data\")\n\
         import datasets; data = datasets.load_dataset(\"parquet\", data_files={\"train\": \"data/train-*.parquet\"})\n\
         ```\n\n\
         Modules keep the licenses of the packages they come from. `checksums.txt` has BLAKE3 hashes (128 bits).\n",
    );
    text
}

fn table(text: &mut String, what: &str, rows: &std::collections::BTreeMap<String, u64>) {
    let _ = writeln!(text, "| {what} | modules |\n|---|---|");
    for (name, modules) in rows {
        let name = if name.is_empty() { "none found" } else { name };
        let _ = writeln!(text, "| {name} | {modules} |");
    }
    text.push('\n');
}
