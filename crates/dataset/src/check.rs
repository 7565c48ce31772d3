//! Whether a data set is what its manifest says: quickly whenever one is opened, and to the last byte
//! by [`check`].

use crate::{
    Error, Manifest, Result, Shard, content_hash_of_file,
    file::{kind_text, open_file},
    place, shard, store,
};
use arrow::{
    array::{AsArray, RecordBatch},
    datatypes::SchemaRef,
};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Component, Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// Of data sets of so many bytes at most.
static VERIFY: AtomicU64 = AtomicU64::new(0);

/// Whether the parts of data sets that are opened from now on are compared with their hashes, which reads all their bytes
/// once more: of data sets of so many bytes at most; 0 for none, as at first; `u64::MAX` for all, and the manifests, too.
pub fn verify_hashes(up_to: u64) {
    VERIFY.store(up_to, Ordering::Relaxed);
}

/// Whether that is done of any.
#[must_use]
pub fn verifies_hashes() -> bool {
    VERIFY.load(Ordering::Relaxed) > 0
}

/// Whether it is done of all, whatever their size.
#[must_use]
pub fn verifies_all_hashes() -> bool {
    VERIFY.load(Ordering::Relaxed) == u64::MAX
}

/// What is compared with hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verify {
    Nothing,
    /// The parts.
    Parts,
    /// The parts and the manifest.
    All,
}

impl Verify {
    /// What was asked for of this data set.
    pub(crate) fn of(manifest: &Manifest) -> Verify {
        let bytes: u64 = manifest.shards.iter().map(|shard| shard.bytes).sum();
        match VERIFY.load(Ordering::Relaxed) {
            u64::MAX => Verify::All,
            most if most > 0 && bytes <= most => Verify::Parts,
            _ => Verify::Nothing,
        }
    }
}

/// Something of a data set that is not as its manifest says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file in the data set's folder.
    pub file: String,
    /// What is wrong with it.
    pub problem: String,
}

/// What [`check`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// The schema in the manifest; empty where that cannot be read.
    pub schema: String,
    /// Its version.
    pub version: u32,
    /// Rows in the manifest.
    pub rows: u64,
    /// Parts in the manifest.
    pub parts: usize,
    /// Bytes of these.
    pub bytes: u64,
    /// What is wrong; nothing of a whole data set.
    pub problems: Vec<Problem>,
}

impl Checked {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }

    fn problem(&mut self, file: &str, problem: impl Into<String>) {
        self.problems.push(Problem { file: file.to_owned(), problem: problem.into() });
    }
}

/// Check the data set in `folder`: its manifest, and of each part presence, size, hash, columns, and
/// every row; the counts of verdicts against the rows; and that nothing else lies there.
///
/// # Errors
/// When no data set is there. What is wrong with one is in the answer.
pub fn check(folder: &Path) -> Result<Checked> {
    let folder = &*store::here(folder)?;
    let mut checked = Checked::default();
    let manifest = match Manifest::read(folder) {
        Ok(manifest) => manifest,
        Err(Error::Manifest { reason, .. }) => {
            checked.problem(Manifest::FILE, format!("damaged: {reason}"));
            return Ok(checked);
        }
        Err(error) => return Err(error),
    };
    checked.schema.clone_from(&manifest.schema);
    checked.version = manifest.version;
    checked.rows = manifest.rows;
    checked.parts = manifest.shards.len();
    checked.bytes = manifest.shards.iter().map(|shard| shard.bytes).sum();
    for problem in whole(&manifest) {
        checked.problem(Manifest::FILE, problem);
    }
    if manifest.identity != Manifest::identity_of(&manifest.shards) {
        checked.problem(Manifest::FILE, "its identity is not that of the parts' hashes");
    }
    let mut content = Content::default();
    // What leads elsewhere is named above, and not looked at.
    for shard in manifest.shards.iter().filter(|shard| is_plain(&shard.file)) {
        let found = part(folder, shard)
            .and_then(|path| hash(&path, shard).map(|()| path))
            .and_then(|path| of_schema(&path, &manifest).map(|()| path))
            .and_then(|path| content.read(&path));
        if let Err(reason) = found {
            checked.problem(&shard.file, reason);
        }
    }
    if checked.is_whole() {
        for problem in content.verdict_problems(&manifest) {
            checked.problem(Manifest::FILE, problem);
        }
    }
    let named: BTreeSet<&Path> = manifest.shards.iter().map(|s| Path::new(&s.file)).collect();
    for name in place::names(folder)? {
        if named.contains(name.as_path()) || name == Path::new(Manifest::FILE) {
            continue;
        }
        if place::is_part_name(name.as_os_str()) {
            checked.problem(&crate::path_text(&name), UNNAMED);
        } else if place::all_foreign(folder)?.contains(&name) {
            checked.problem(&crate::path_text(&name), "no part of a data set");
        }
    }
    // What it says wrongly is named above, where that can be known.
    if let Some(problem) = Manifest::edited(folder)? {
        checked.problem(Manifest::FILE, problem);
    }
    Ok(checked)
}

const UNNAMED: &str = "not named in _dataset.json: no part of this data set";

/// What is found out whenever a data set is opened: each part is there, of the size and with the
/// rows that the manifest says, and no other is; to `verify` also their hashes and the manifest's.
pub(crate) fn on_opening(folder: &Path, manifest: &Manifest, verify: Verify) -> Result<()> {
    let of_manifest =
        |reason: String| Error::Manifest { path: folder.join(Manifest::FILE), reason };
    if let Some(problem) = whole(manifest).into_iter().next() {
        return Err(of_manifest(problem));
    }
    let all = verify == Verify::All;
    if all && let Some(problem) = Manifest::edited(folder)? {
        return Err(of_manifest(problem));
    }
    if all && manifest.identity != Manifest::identity_of(&manifest.shards) {
        return Err(of_manifest("its identity is not that of the parts' hashes".to_owned()));
    }
    for shard in &manifest.shards {
        let found = part(folder, shard).and_then(|path| match verify {
            Verify::Nothing => Ok(()),
            Verify::Parts | Verify::All => hash(&path, shard),
        });
        found.map_err(|reason| Error::Part {
            folder: folder.to_owned(),
            part: shard.file.clone(),
            reason,
        })?;
    }
    let named = |name: &Path| manifest.shards.iter().any(|shard| Path::new(&shard.file) == name);
    let extra = place::names(folder)?.into_iter().find(|name| {
        let is_part = place::is_part_name(name.as_os_str());
        is_part && name != Path::new(Manifest::FILE) && !named(name)
    });
    match extra {
        None => Ok(()),
        Some(name) => Err(Error::Part {
            folder: folder.to_owned(),
            part: crate::path_text(&name),
            reason: UNNAMED.to_owned(),
        }),
    }
}

/// What a manifest says that cannot be, whatever the parts hold.
fn whole(manifest: &Manifest) -> Vec<String> {
    let mut problems = Vec::new();
    let mut names = BTreeSet::new();
    for shard in &manifest.shards {
        if !is_plain(&shard.file) {
            problems.push(format!(
                "names {:?} as a part, which is not the name of a file in its folder",
                shard.file
            ));
        } else if !names.insert(&shard.file) {
            problems.push(format!("names the part {} twice", shard.file));
        }
    }
    let rows: u64 = manifest.shards.iter().fold(0, |sum, shard| sum.saturating_add(shard.rows));
    if rows != manifest.rows {
        problems.push(format!("says {} rows, and {rows} in all of its parts", manifest.rows));
    }
    problems
}

/// Whether a name leads nowhere but into the folder.
pub(crate) fn is_plain(name: &str) -> bool {
    let mut components = Path::new(name).components();
    let first = components.next();
    matches!(first, Some(Component::Normal(only)) if only == name) && components.next().is_none()
}

/// Where a part is, if it is there, as large and with as many rows as it should be.
fn part(folder: &Path, shard: &Shard) -> Result<PathBuf, String> {
    let path = folder.join(&shard.file);
    if !is_plain(&shard.file) {
        return Err("not the name of a file in the folder".to_owned());
    }
    let said = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => "missing".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    let mut found = fs::symlink_metadata(&path).map_err(said)?;
    if found.is_symlink() {
        let target = path.canonicalize().map_err(said)?;
        if !folder.canonicalize().is_ok_and(|folder| target.starts_with(folder)) {
            return Err("a link that leads out of the data set; copy the file itself".to_owned());
        }
        found = fs::metadata(&path).map_err(said)?;
    }
    if !found.is_file() {
        return Err(format!("{}, and no file", kind_text(found.file_type())));
    }
    if found.len() != shard.bytes {
        return Err(format!(
            "{} bytes, where _dataset.json says {}: it was cut off or changed",
            found.len(),
            shard.bytes
        ));
    }
    let file = open_file(&path).map_err(said)?;
    let footer = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default())
        .map_err(|error| format!("cannot be read: {error}"))?;
    let rows = footer.metadata().file_metadata().num_rows();
    match u64::try_from(rows) {
        Ok(rows) if rows == shard.rows => Ok(path),
        _ => Err(format!("{rows} rows, where _dataset.json says {}", shard.rows)),
    }
}

fn hash(path: &Path, shard: &Shard) -> Result<(), String> {
    let (_, found) =
        content_hash_of_file(path).map_err(|error| format!("cannot be read: {error}"))?;
    match found == shard.hash {
        true => Ok(()),
        false => Err(format!(
            "its hash is {found}, where _dataset.json says {}: it was changed",
            shard.hash
        )),
    }
}

/// A part says itself what its rows are.
fn of_schema(path: &Path, manifest: &Manifest) -> Result<(), String> {
    let said = shard::schema_of(path).map_err(|error| error.to_string())?;
    match said {
        Some((schema, version)) if (&schema, version) != (&manifest.schema, manifest.version) => {
            Err(format!(
                "holds rows of schema {schema} (version {version}), where _dataset.json says {} (version {})",
                manifest.schema, manifest.version
            ))
        }
        _ => Ok(()),
    }
}

/// The words of the column that judges rows, if there is one.
pub(crate) fn words(batch: &RecordBatch) -> Option<impl Iterator<Item = &str>> {
    let column = ["verdict", "outcome"].iter().find_map(|name| batch.column_by_name(name));
    Some(column?.as_string_opt::<i32>()?.iter().flatten())
}

/// What all parts hold together.
#[derive(Default)]
struct Content {
    columns: Option<SchemaRef>,
    rows: u64,
    /// By the word in the column that judges rows, if there is one.
    verdicts: Option<BTreeMap<String, u64>>,
}

impl Content {
    fn read(&mut self, path: &Path) -> Result<(), String> {
        let unread = |error: Error| match error {
            Error::Shard { reason, .. } | Error::Damaged { reason, .. } => {
                format!("cannot be read: {reason}")
            }
            other => other.to_string(),
        };
        for batch in shard::batches(path, None).map_err(unread)? {
            let batch = batch.map_err(unread)?;
            self.rows += batch.num_rows() as u64;
            let columns = self.columns.get_or_insert_with(|| batch.schema());
            if columns.fields() != batch.schema().fields() {
                return Err("other columns than the parts before it".to_owned());
            }
            self.count(&batch);
        }
        Ok(())
    }

    fn count(&mut self, batch: &RecordBatch) {
        if let Some(found) = words(batch) {
            let counts = self.verdicts.get_or_insert_with(BTreeMap::new);
            found.for_each(|word| *counts.entry(word.to_owned()).or_default() += 1);
        }
    }

    /// A manifest counts rows, and may count what gave none beside them: it never has fewer than
    /// there are.
    fn verdict_problems(&self, manifest: &Manifest) -> Vec<String> {
        let said = &manifest.notes.verdicts;
        let Some(found) = self.verdicts.as_ref().filter(|_| !said.is_empty()) else {
            return Vec::new();
        };
        let only_rows = said.values().sum::<u64>() == self.rows;
        let names: BTreeSet<&String> = said.keys().chain(found.keys()).collect();
        let count = |counts: &BTreeMap<String, u64>, name| counts.get(name).copied().unwrap_or(0);
        names
            .into_iter()
            // Texts of licenses are no programs, and are not counted with them.
            .filter(|name| *name != "license-text")
            .map(|name| (name, count(said, name), count(found, name)))
            .filter(|(_, said, found)| said < found || only_rows && said != found)
            .map(|(name, said, found)| {
                format!("says {said} of verdict {name}, and there are {found}")
            })
            .collect()
    }
}
