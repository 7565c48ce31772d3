use crate::{
    Dataset, Error, Manifest, Notes, Result, Row, Shard, content_hash, content_hash_of,
    content_hash_of_file, manifest::host, reader::rows_of, shard,
};
use serde::Serialize;
use std::{
    fs::{self, File, TryLockError},
    io,
    marker::PhantomData,
    path::{Path, PathBuf},
};

const SETTINGS: &str = "settings";
const LOCK: &str = "lock";

/// Makes a data set, whole or not at all.
///
/// Rows are added in *parts*, each whole on disk or not there, in a folder `NAME.partial` beside
/// the data set to be. A run that was killed finds them again: ask [`Builder::has`] before doing a
/// part's work. [`Builder::finish`] writes the shards and moves everything into place.
#[derive(Debug)]
pub struct Builder<T> {
    out: PathBuf,
    partial: PathBuf,
    replace: bool,
    _lock: File,
    row: PhantomData<fn() -> T>,
}

impl<T: Row> Builder<T> {
    /// Begin a data set at `out`, or go on with one begun with equal `settings`; `force` replaces
    /// what is there.
    ///
    /// # Errors
    /// When `out` exists, when an unfinished one has other settings, or when another process is at
    /// it.
    pub fn create(out: &Path, force: bool, settings: &impl Serialize) -> Result<Builder<T>> {
        claim(out, force)?;
        let name = out.file_name().unwrap_or_default().to_string_lossy();
        let partial = out.with_file_name(format!("{name}.partial"));
        fs::create_dir_all(&partial).map_err(Error::file("create", &partial))?;
        let lock_path = partial.join(LOCK);
        let lock = File::create(&lock_path).map_err(Error::file("create", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy(out.to_owned())),
            Err(TryLockError::Error(error)) => return Err(Error::file("lock", &lock_path)(error)),
        }
        let settings = serde_json::to_vec(settings).map_err(|error| Error::Columns {
            schema: T::SCHEMA.to_owned(),
            reason: error.to_string(),
        })?;
        let wanted = format!("{} {} {}", T::SCHEMA, T::VERSION, content_hash(&settings));
        let settings_path = partial.join(SETTINGS);
        match fs::read_to_string(&settings_path) {
            Ok(found) if found == wanted => {}
            Ok(_) if !force => return Err(Error::OtherSettings(partial)),
            Ok(_) => {
                for part in files(&partial)? {
                    fs::remove_file(&part).map_err(Error::file("remove", &part))?;
                }
                put(&settings_path, wanted.as_bytes())?;
            }
            Err(_) => put(&settings_path, wanted.as_bytes())?,
        }
        let out = out.to_owned();
        Ok(Builder { out, partial, replace: force, _lock: lock, row: PhantomData })
    }

    /// The folder that holds the parts until all are there.
    #[must_use]
    pub fn unfinished(&self) -> &Path {
        &self.partial
    }

    /// Whether the part named `key` is there already.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.part(key).is_file()
    }

    /// Add a part, from any thread; afterwards it outlives a crash.
    ///
    /// # Errors
    /// When it cannot be written; then it is not there at all.
    pub fn add(&self, key: &str, rows: impl IntoIterator<Item = T>) -> Result<()> {
        let path = self.part(key);
        let temporary = path.with_extension("new");
        let written = shard::write(&temporary, rows.into_iter().map(Ok))
            .and_then(|_| fs::rename(&temporary, &path).map_err(Error::file("write", &path)));
        if written.is_err() {
            // Whatever is left of it would be overwritten by the next try anyway.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// The rows of one part.
    ///
    /// # Errors
    /// Items: when the part is missing or broken.
    pub fn rows_of(&self, key: &str) -> impl Iterator<Item = Result<T>> + use<T> {
        rows_of(vec![self.part(key)])
    }

    /// The rows of all parts, in the order of their keys' hashes.
    ///
    /// # Errors
    /// When the folder cannot be read; items: when a part is broken.
    pub fn rows(&self) -> Result<impl Iterator<Item = Result<T>> + use<T>> {
        let mut parts: Vec<PathBuf> = files(&self.partial)?
            .into_iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "part"))
            .collect();
        parts.sort();
        Ok(rows_of(parts))
    }

    /// Write `rows` as the data set's shards and move it into place.
    ///
    /// # Errors
    /// When anything cannot be written; the parts stay for another try.
    pub fn finish(self, rows: impl IntoIterator<Item = T>, notes: Notes) -> Result<Dataset> {
        self.finish_with(rows.into_iter().map(Ok), notes)
    }

    /// As [`Builder::finish`], of rows that are still being read: memory holds one batch of them.
    ///
    /// # Errors
    /// As there; and the first error among the rows.
    pub fn finish_with(
        self,
        rows: impl IntoIterator<Item = Result<T>>,
        notes: Notes,
    ) -> Result<Dataset> {
        let whole = self.partial.join("whole");
        if whole.exists() {
            fs::remove_dir_all(&whole).map_err(Error::file("remove", &whole))?;
        }
        fs::create_dir(&whole).map_err(Error::file("create", &whole))?;
        let mut shards = Vec::new();
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() || shards.is_empty() {
            let file = format!("part-{:05}.parquet", shards.len());
            let path = whole.join(&file);
            let count = shard::write(&path, rows.by_ref().take(T::SHARD_ROWS))?;
            let (bytes, hash) = content_hash_of_file(&path).map_err(Error::file("read", &path))?;
            shards.push(Shard { file, rows: count, bytes, hash });
        }
        let manifest = Manifest {
            schema: T::SCHEMA.to_owned(),
            version: T::VERSION,
            benchstone: env!("CARGO_PKG_VERSION").to_owned(),
            identity: content_hash_of(shards.iter().map(|shard| shard.hash.as_bytes())),
            rows: shards.iter().map(|shard| shard.rows).sum(),
            shards,
            notes,
            host: host(),
        };
        manifest.write(&whole)?;
        if self.replace && self.out.exists() {
            fs::remove_dir_all(&self.out).map_err(Error::file("remove", &self.out))?;
        }
        fs::rename(&whole, &self.out).map_err(Error::file("write", &self.out))?;
        fs::remove_dir_all(&self.partial).map_err(Error::file("remove", &self.partial))?;
        Dataset::open(&self.out)
    }

    fn part(&self, key: &str) -> PathBuf {
        self.partial.join(content_hash(key.as_bytes())).with_extension("part")
    }
}

/// Whether a data set may be made at `out`: where nothing is, and by `force` in the place of an empty
/// folder or another data set; never of somebody's folder.
pub(crate) fn claim(out: &Path, force: bool) -> Result<()> {
    let empty = || fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_none());
    match out.exists() {
        false => Ok(()),
        true if !force => Err(Error::Exists(out.to_owned())),
        true if Dataset::is_at(out) || empty() => Ok(()),
        true => Err(Error::Foreign(out.to_owned())),
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Error::file("read", folder))?;
    let paths: io::Result<Vec<PathBuf>> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let paths = paths.map_err(Error::file("read", folder))?;
    Ok(paths.into_iter().filter(|path| path.is_file() && !path.ends_with(LOCK)).collect())
}

fn put(path: &Path, content: &[u8]) -> Result<()> {
    fs::write(path, content).map_err(Error::file("write", path))
}
