//! Data sets in the forms others read: one file a form.

mod compile;
mod mlgo;
mod text;

use crate::{Error, Module, Reader, module::LICENSE_TEXT};
use dataset::{Dataset, Progress, Row, abandon_folder, begin_folder, content_hash, place_folder};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

/// The form of an exported data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// ComPile's Parquet columns and ours, for pandas and Hugging Face `datasets`.
    Compile,
    /// ml-compiler-opt's corpus.
    Mlgo,
    /// Textual IR, a file a module.
    Text,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        match text {
            "compile" => Ok(Format::Compile),
            "mlgo" => Ok(Format::Mlgo),
            "text" => Ok(Format::Text),
            other => Err(format!("`{other}` is none of compile, mlgo, text")),
        }
    }
}

/// What to export, and how.
#[derive(Debug)]
pub struct Export<'a> {
    /// A data set of modules.
    pub dataset: PathBuf,
    /// The folder to make.
    pub out: PathBuf,
    /// Replace what is there.
    pub force: bool,
    /// The form.
    pub format: Format,
    /// Percent of the families that validate and that test; the rest trains.
    pub held_out: (u32, u32),
    /// Families are drawn with it.
    pub seed: u64,
    /// Prints modules; for [`Format::Text`] alone.
    pub reader: &'a Reader,
}

/// What was exported, as `--json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExportReport {
    /// Modules written.
    pub modules: u64,
    /// Bytes of their bitcode.
    pub bitcode_bytes: u64,
    /// Modules by split.
    pub splits: BTreeMap<String, u64>,
    /// Modules by language.
    pub languages: BTreeMap<String, u64>,
    /// Modules by license expression.
    pub licenses: BTreeMap<String, u64>,
    /// License texts written beside them.
    pub texts: u64,
    /// Modules that could not be printed.
    pub failed: u64,
}

/// The splits, in the order in which they are written.
const SPLITS: [&str; 3] = ["train", "validation", "test"];

/// Write a data set in another form, whole or not at all.
///
/// # Errors
/// When it cannot be read or written, or something is at `out` and `force` is not set.
pub fn export(options: &Export<'_>, progress: &dyn Progress) -> Result<ExportReport, Error> {
    let dataset = Dataset::open(&options.dataset)?;
    dataset.require(Module::SCHEMA, Module::VERSION)?;
    claim(&options.out, options.force)?;
    let partial = begin_folder(&options.out)?;
    progress.begin("modules", dataset.manifest().rows);
    let write = match options.format {
        Format::Compile => compile::write,
        Format::Mlgo => mlgo::write,
        Format::Text => text::write,
    };
    let report = write_texts(&dataset, &partial).and_then(|texts| {
        let report = write(options, &dataset, &partial, progress)?;
        let mark = partial.join(MARK);
        fs::write(&mark, "").map_err(Error::file("write", &mark))?;
        Ok(ExportReport { texts, ..report })
    });
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            // A disk that is full is freed of the half that did not fit.
            let _ = abandon_folder(&partial);
            return Err(error);
        }
    };
    // What is marked for an export is one, to its last file.
    place_folder(&partial, &options.out, &|_| true)?;
    Ok(report)
}

/// A file in every export, by which it is known.
const MARK: &str = ".stampmill-export";

/// Refuse a place where something is, but with `force` an earlier export or an empty folder.
fn claim(out: &Path, force: bool) -> Result<(), Error> {
    let empty = || fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_none());
    match out.exists() {
        false => Ok(()),
        true if !force => Err(dataset::Error::Exists(out.to_owned()).into()),
        true if out.join(MARK).is_file() || empty() => Ok(()),
        true => Err(Error::Foreign { path: out.to_owned(), what: "export" }),
    }
}

/// The split of a family: drawn by its name and the seed alone, so that a family is never in two,
/// and a data set that grows keeps its splits.
fn split_of(module: &Module, (validation, test): (u32, u32), seed: u64) -> &'static str {
    let family = if module.family.is_empty() { &module.structure } else { &module.family };
    let hash = content_hash(format!("{seed} {family}").as_bytes());
    let drawn = u32::from_str_radix(&hash[..6], 16).unwrap_or(0) % 100;
    match drawn {
        drawn if drawn < test => SPLITS[2],
        drawn if drawn < test + validation => SPLITS[1],
        _ => SPLITS[0],
    }
}

impl ExportReport {
    fn add(&mut self, module: &Module, split: &str) {
        self.modules += 1;
        self.bitcode_bytes += module.bytes;
        *self.splits.entry(split.to_owned()).or_default() += 1;
        *self.languages.entry(module.language.clone()).or_default() += 1;
        *self.licenses.entry(module.license_expression.clone()).or_default() += 1;
    }
}

/// Write the license texts of a data set as `licenses/HASH.txt`.
fn write_texts(dataset: &Dataset, folder: &Path) -> Result<u64, Error> {
    let folder = folder.join("licenses");
    fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
    let mut written = 0;
    for row in dataset.rows::<Module>()? {
        let row = row?;
        if row.kind == LICENSE_TEXT {
            let path = folder.join(format!("{}.txt", tame(&row.id)));
            if !path.exists() {
                fs::write(&path, &row.content).map_err(Error::file("write", &path))?;
                written += 1;
            }
        }
    }
    Ok(written)
}

/// A name that is one component of a path.
fn tame(text: &str) -> String {
    let tame: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-+".contains(c) { c } else { '-' })
        .collect();
    match tame.trim_start_matches('.') {
        "" => "none".to_owned(),
        name => name.to_owned(),
    }
}

/// Where a module lies in a folder of files, without ending: package, source, identity.
fn place_of(module: &Module) -> String {
    let package = format!("{}-{}", tame(&module.package), tame(&module.version));
    let source = tame(module.path.rsplit('/').next().unwrap_or(&module.path));
    // Data sets of others may have any identities.
    let id: String = tame(&module.id).chars().take(12).collect();
    format!("{package}/{source}-{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_one_split_and_shares_are_kept() {
        let module = |family: &str| Module { family: family.to_owned(), ..Module::default() };
        let mut counts = BTreeMap::new();
        for number in 0..2000 {
            let split = split_of(&module(&format!("{number}")), (10, 20), 1);
            assert_eq!(split, split_of(&module(&format!("{number}")), (10, 20), 1));
            *counts.entry(split).or_insert(0) += 1;
        }
        assert!((140..260).contains(&counts["validation"]), "{counts:?}");
        assert!((320..480).contains(&counts["test"]), "{counts:?}");
    }

    #[test]
    fn force_replaces_exports_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        assert!(claim(&out, false).is_ok());
        fs::create_dir(&out).unwrap();
        assert!(claim(&out, false).is_err() && claim(&out, true).is_ok());
        fs::write(out.join("thesis.txt"), "mine").unwrap();
        assert!(claim(&out, true).is_err());
        fs::write(out.join(MARK), "").unwrap();
        assert!(claim(&out, true).is_ok());
    }

    #[test]
    fn names_stay_in_their_folder() {
        assert_eq!(tame("../../etc/passwd"), "-..-etc-passwd");
        assert_eq!(tame(".."), "none");
        let module = Module {
            package: "a/b".into(),
            path: "/x/../y.c".into(),
            id: "0123".into(),
            ..Module::default()
        };
        assert_eq!(place_of(&module), "a-b-none/y.c-0123");
    }
}
