use crate::{
    Dataset, is_url,
    missing::{missing, refusal},
    place::part_name,
    unfinished::MARKER,
};
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// What can go wrong with a data set.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("{}{}", refusal(action, path, source), hint(action, source))]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Keys that are too many for this process were not compared elsewhere.
    #[error("cannot compare the rows' keys: {0}")]
    Compare(String),
    /// What families are found by cannot be kept.
    #[error("cannot keep signatures in a temporary file: {0}; TMPDIR says where it is")]
    Signatures(#[source] std::io::Error),
    /// The output folder is there already.
    #[error("{} exists already; name another folder with --out, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// What is to be exported to is there already.
    #[error("{} exists already; name another place with --to", .0.display())]
    ExistsTo(PathBuf),
    /// The output folder holds what no data set holds.
    #[error("{} is no data set, so --force does not replace it; name another folder with --out", .0.display())]
    Foreign(PathBuf),
    /// The output is a link.
    #[error("{} is a link, which --force does not replace; name the folder that it leads to with --out", .0.display())]
    ForeignLink(PathBuf),
    /// The folder in which the data set would come to be is not ours.
    #[error(
        "{} was not made by stampmill, so it is left alone; move it away or name another folder with --out",
        .0.display()
    )]
    ForeignPartial(PathBuf),
    /// A file of somebody else's lies where we would have to remove one.
    #[error(
        "{} holds {}, which is {} and is not removed; move it away first",
        folder.display(), file.display(),
        if folder.join(file).is_symlink() { "a link" } else { "no part of a data set" }
    )]
    ForeignFile {
        /// The folder.
        folder: PathBuf,
        /// The file, by its name in there.
        file: PathBuf,
    },
    /// The output has no name of its own.
    #[error("{} names no new folder; name one with --out", .0.display())]
    NoName(PathBuf),
    /// A pipe, a socket or a device where a file or folder should be: what comes out may never end.
    #[error("{} is {what}, and no file or folder: copy what it holds to a file", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// An unfinished data set was begun with other inputs.
    #[error(
        "{} holds an unfinished data set made from other inputs ({changes}); \
         put them back as they were and repeat the command, or start over with --force",
        folder.display()
    )]
    OtherInputs {
        /// The unfinished data set.
        folder: PathBuf,
        /// Which are not what they were.
        changes: String,
    },
    /// A stage cannot say what became of all that it read.
    #[error(
        "internal error: {read} {units} were read for {}, and {told} of them accounted for ({fates}); \
         nothing was written there, please report this", path.display()
    )]
    Lost {
        /// The data set that was to be made.
        path: PathBuf,
        /// How many were read.
        read: u64,
        /// Of what.
        units: &'static str,
        /// How many are accounted for.
        told: u64,
        /// By what became of them.
        fates: String,
    },
    /// An unfinished data set was begun with other settings.
    #[error(
        "{} holds an unfinished data set made with other settings ({changes}); \
         repeat the command that began it, or start over with --force", folder.display()
    )]
    OtherSettings {
        /// The unfinished data set.
        folder: PathBuf,
        /// Which settings are not what they were.
        changes: String,
    },
    /// The run was asked to end.
    #[error("stopped {}", stopped(units, *done, kept))]
    Cancelled {
        /// What was worked on.
        units: &'static str,
        /// How many of them are done.
        done: u64,
        /// The unfinished data set.
        kept: PathBuf,
    },
    /// The machine failed for some of the items: they have no rows.
    #[error(
        "{count} of {of} {units} have no rows, because this machine failed{}: {first}{}",
        if count < of { "; the first" } else { "" },
        if count < of {
            format!("; the others are in {}, repeat the command to do the rest", kept.display())
        } else {
            String::new()
        }
    )]
    Faults {
        /// What was worked on.
        units: &'static str,
        /// How many have no rows.
        count: u64,
        /// Of how many.
        of: u64,
        /// What went wrong first.
        first: String,
        /// The unfinished data set.
        kept: PathBuf,
    },
    /// The machine failed again and again, so that the run was ended.
    #[error(
        "gave up after {faults} faults of this machine without one of the {units} between them; the first: {first}; \
         what is done is in {}, repeat the command to resume once that is mended", kept.display()
    )]
    GaveUp {
        /// What was worked on.
        units: &'static str,
        /// Faults in a row.
        faults: usize,
        /// What went wrong first.
        first: String,
        /// The unfinished data set.
        kept: PathBuf,
    },
    /// A part was asked of a stage whose items depend on each other.
    #[error(
        "`{stage}` works on each item with what it learned from those before, so there is no part {share}"
    )]
    NotShared {
        /// The stage.
        stage: &'static str,
        /// The part that was asked for.
        share: crate::stage::Share,
    },
    /// Nothing to merge.
    #[error("name the parts to merge: the data sets that were made with --part")]
    NoShares,
    /// These data sets are not the parts of one job.
    #[error("these are not the parts of one job: {0}")]
    OtherShares(String),
    /// Another run put its data set where this one was to go.
    #[error(
        "{} came to be there, or was replaced, by another run meanwhile; what this one made is kept in {}: the same \
command with --force puts it there", out.display(), kept.display()
    )]
    Overtaken {
        /// Where it was to go.
        out: PathBuf,
        /// What this run made.
        kept: PathBuf,
    },
    /// Another process is making the same data set.
    #[error("another run is writing {}; wait for it or name another folder with --out", .0.display())]
    Busy(PathBuf),
    /// What should be the URL of a data set in an object store is none.
    #[error(
        "a URL of a data set is s3://BUCKET/NAME/..., of letters, digits and -._=+,! alone, which does not go with {0}; \
credentials and settings come from variables: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL and the like"
    )]
    Url(String),
    /// The URL of something that is neither in an object store that is known nor on this machine.
    #[error(
        "`{0}://` is no place that is read or written here: what is in an object store is called s3://BUCKET/NAME, what is on this machine by its path, and what is elsewhere is to be copied first"
    )]
    OtherUrl(String),
    /// This program does not know how to speak to object stores.
    #[error("this program reads and writes no object stores: name a folder")]
    NoStore,
    /// Something is to be made in an object store that can only be made in a folder.
    #[error("{} is in an object store, which takes data sets alone: name a folder or file of this machine", .0.display())]
    NotThere(PathBuf),
    /// An object store did not do what it was asked for.
    #[error("cannot {action} {url}: {reason}")]
    Store {
        /// What was tried.
        action: &'static str,
        /// On what.
        url: String,
        /// Why not.
        reason: String,
    },
    /// What describes a data set to others could not be made.
    #[error("cannot describe {} to other programs: {reason}", path.display())]
    Described {
        /// The data set.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A folder without `_dataset.json`.
    #[error("{}", what_is_there(.0))]
    NotADataset(PathBuf),
    /// A manifest that cannot be read.
    #[error("{} is damaged: {reason}", path.display())]
    Manifest {
        /// The `_dataset.json`.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A part of a data set is not what the manifest says.
    #[error("{}: {reason}; `stampmill fsck` checks all of it", folder.join(part).display())]
    Part {
        /// The data set.
        folder: PathBuf,
        /// The part's name.
        part: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A data set of another kind than wanted.
    #[error(
        "{} holds rows of schema `{found}`, wanted `{wanted}`{}", path.display(), onward(found, wanted)
    )]
    Schema {
        /// The data set.
        path: PathBuf,
        /// Its schema.
        found: String,
        /// The schema asked for.
        wanted: String,
    },
    /// A data set of a later version.
    #[error(
        "{} has version {found} of schema `{schema}`, this stampmill knows up to {known}; \
         update stampmill to read it", path.display()
    )]
    Newer {
        /// The data set.
        path: PathBuf,
        /// Its schema.
        schema: String,
        /// Its version.
        found: u32,
        /// The latest version known here.
        known: u32,
    },
    /// A shard is not what the manifest says, or no Parquet at all.
    #[error("{}: {reason}", path.display())]
    Shard {
        /// The Parquet file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A shard that was one and is none any more.
    #[error(
        "{} cannot be read ({reason}): it was changed or is damaged; `stampmill fsck {}` says what is wrong with the whole, \
         which has to be made again or copied from where it is whole", path.display(),
        path.parent().unwrap_or(path).display()
    )]
    Damaged {
        /// The Parquet file.
        path: PathBuf,
        /// What the reader of Parquet says.
        reason: String,
    },
    /// Rows cannot be turned into columns or back.
    #[error("schema `{schema}`: {reason}")]
    Columns {
        /// The schema.
        schema: String,
        /// What is wrong.
        reason: String,
    },
    /// No program of a known kind below a path.
    #[error(
        "no programs (.cl .c .cpp .rs .ll .bc, or a data set with a `text` column) in {}{}",
        .0.display(), instead(.0)
    )]
    NoPrograms(PathBuf),
    /// A data set of rows that are no programs.
    #[error(
        "{} holds rows of schema `{schema}`, which are no programs{}", path.display(),
        if inputs.is_empty() { String::new() } else { format!("; it was made from {inputs}") }
    )]
    OtherRows {
        /// The data set.
        path: PathBuf,
        /// Its schema.
        schema: String,
        /// What it was made from.
        inputs: String,
    },
}

impl Error {
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File { action, path, source }
    }

    /// What went wrong while a Parquet file was written: nearly always the file system's refusal.
    pub(crate) fn writing(path: &Path) -> impl FnOnce(parquet::errors::ParquetError) -> Error {
        let path = path.to_owned();
        move |error| match error {
            parquet::errors::ParquetError::External(inner) => match inner.downcast() {
                Ok(source) => Error::File { action: "write", path, source: *source },
                Err(other) => Error::Shard { path, reason: other.to_string() },
            },
            other => Error::Shard { path, reason: other.to_string() },
        }
    }

    pub(crate) fn damaged(path: &Path, reason: impl std::fmt::Display) -> Error {
        Error::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn shard(path: &Path, reason: impl std::fmt::Display) -> Error {
        Error::Shard { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// How far a run had come.
fn stopped(units: &str, done: u64, kept: &Path) -> String {
    match done {
        0 => format!("before any of the {units} was done; repeat the command"),
        done => format!(
            "after {done} {units}; what is done is in {}, repeat the command to resume",
            kept.display()
        ),
    }
}

/// What a user can do where nothing could be written.
fn hint(action: &str, source: &std::io::Error) -> &'static str {
    use std::io::ErrorKind;
    match source.kind() {
        _ if action == "read" || action == "open" => "",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "; make room and repeat the command to resume"
        }
        ErrorKind::FileTooLarge => {
            "; raise the limit on the size of files (`ulimit -f`) and repeat the command to resume"
        }
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
            "; name a folder that can be written to with --out"
        }
        _ => "",
    }
}

/// What could be named where there are no programs: the data set of a table, or one of those that a folder holds.
fn instead(path: &Path) -> String {
    let shown = path.display();
    let is_table = |ending: &OsStr| ending == "csv" || ending == "jsonl" || ending == "parquet";
    if path.extension().is_some_and(is_table) {
        return format!("; `stampmill import {shown} --out DIR` makes a data set of a table");
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let inside = entries.map(|entry| entry.path()).filter(|inside| Dataset::is_at(inside)).min();
    let inside = inside.map(|inside| format!("; name a data set in it, as {}", inside.display()));
    inside.unwrap_or_default()
}

/// What stands where a data set should be.
fn what_is_there(path: &Path) -> String {
    let shown = path.display();
    if is_url(path) {
        return format!("there is no data set at {shown}: no _dataset.json stands there");
    }
    if path.join(MARKER).is_file() {
        return format!("{shown} is an unfinished run: repeat the command that began it");
    }
    if path.join("dataset.json").is_file() {
        return format!(
            "{shown} was made by an earlier version: rename its dataset.json to _dataset.json"
        );
    }
    if path.join(part_name(0)).exists() {
        return format!("{shown} has lost its _dataset.json: the parts of a data set are there");
    }
    if path.is_dir() {
        return format!("{shown} is no data set: it holds no _dataset.json");
    }
    if path.exists() {
        return format!(
            "{} is a file; a data set is a folder with a _dataset.json",
            path.display()
        );
    }
    missing(path)
}

/// By schema, the command that makes data sets of it.
const MAKERS: [(&str, &str); 22] = [
    ("content-file", "mine SOURCE"),
    ("kernel", "prepare RAW"),
    ("features", "features DATASET"),
    ("run", "run DATASET"),
    ("task", "label DATASET"),
    ("steered", "steer --target TARGET"),
    ("archive", "steer archive build DATASET"),
    ("learned", "learn --train DATASET"),
    ("round", "learn --export-round DIR"),
    ("sample", "sample CHECKPOINT"),
    ("answer", "serve --quiz KIND=DATASET"),
    ("training-metrics", "train DATASET"),
    ("timing", "time --suite DIR"),
    ("edit-test", "edits tests EDITS"),
    ("edit-pair", "edits pairs SOURCE"),
    ("edit-judgement", "edits judge EDITS"),
    ("edit-certificate", "edits certify PAIRS"),
    ("kernel-edit", "edits judge-kernels PAIRS"),
    ("module", "ir build SOURCE"),
    ("ir-statistics", "ir stats MODULES"),
    ("ir-pass", "ir optimize MODULES --after-each"),
    ("ir-cycles", "ir run MODULES"),
];

/// The command that makes data sets of a schema, as a user writes it behind `stampmill`; `None` for one that is
/// none of ours.
#[must_use]
pub fn maker(schema: &str) -> Option<&'static str> {
    MAKERS.iter().find(|(name, _)| *name == schema).map(|(_, maker)| *maker)
}

/// How to come by what is wanted.
fn onward(found: &str, wanted: &str) -> String {
    match (found, maker(wanted)) {
        ("query", Some(_)) => "; a query keeps the schema of its first table where it selects all of that one's columns (`SELECT *`)".to_owned(),
        (_, Some(maker)) => format!("; `stampmill {maker} --out DIR` makes that"),
        (_, None) => String::new(),
    }
}
