use std::path::{Path, PathBuf};

/// What can go wrong with a data set.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The output folder is there already.
    #[error("{} exists already; name another folder with --out, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// The output folder holds what no data set holds.
    #[error("{} is no data set, so --force does not replace it; name another folder with --out", .0.display())]
    Foreign(PathBuf),
    /// An unfinished data set was begun with other settings.
    #[error(
        "{} holds an unfinished data set made with other settings; \
         repeat the command that began it, or start over with --force", .0.display()
    )]
    OtherSettings(PathBuf),
    /// Another process is making the same data set.
    #[error("another run is writing {}; wait for it or name another folder with --out", .0.display())]
    Busy(PathBuf),
    /// A folder without `dataset.json`.
    #[error("{}", what_is_there(.0))]
    NotADataset(PathBuf),
    /// A manifest that cannot be read.
    #[error("{}: not a manifest: {reason}", path.display())]
    Manifest {
        /// The `dataset.json`.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A data set of another kind than wanted.
    #[error("{} holds rows of schema `{found}`, wanted `{wanted}`", path.display())]
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
        "{} has version {found} of schema `{schema}`, this benchstone knows up to {known}; \
         update benchstone to read it", path.display()
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
    /// Rows cannot be turned into columns or back.
    #[error("schema `{schema}`: {reason}")]
    Columns {
        /// The schema.
        schema: String,
        /// What is wrong.
        reason: String,
    },
    /// A pipe or a device: what comes out of it may never end.
    #[error("{} is neither a file nor a folder: copy what it holds to a file", .0.display())]
    NoFile(PathBuf),
    /// No program of a known kind below a path.
    #[error("no programs (.cl .c .cpp .ll .bc, or a data set with a `text` column) in {}", .0.display())]
    NoPrograms(PathBuf),
}

impl Error {
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File { action, path, source }
    }

    pub(crate) fn shard(path: &Path, reason: impl std::fmt::Display) -> Error {
        Error::Shard { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// What stands where a data set should be.
fn what_is_there(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unfinished = path.with_file_name(format!("{name}.partial"));
    if path.is_dir() {
        return format!("{} is no data set: it holds no dataset.json", path.display());
    }
    if path.exists() {
        return format!("{} is a file; a data set is a folder with a dataset.json", path.display());
    }
    if unfinished.is_dir() {
        return format!(
            "{} is not finished ({} is there): repeat the command that began it",
            path.display(),
            unfinished.display()
        );
    }
    format!("there is nothing at {}", path.display())
}
