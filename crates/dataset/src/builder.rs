use crate::{
    Dataset, Error, Input, Manifest, Notes, Result, Row, Shard, content_hash, content_hash_of_file,
    place::part_name,
    protections::protections,
    reader::rows_of,
    shard,
    unfinished::{Plan, Unfinished},
};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fs,
    marker::PhantomData,
    path::{Path, PathBuf},
};

/// Makes a data set, whole or not at all.
///
/// Rows are added in *parts*, each whole on disk or not there, in a folder `NAME.partial` beside
/// the data set to be. A run that was killed finds them again: ask [`Builder::has`] before doing a
/// part's work. [`Builder::finish`] writes the shards and moves everything into place, a data set
/// that it replaces out of it in the same moment. Of what lies in these folders only files that
/// were made here are ever removed: `NAME.partial` is known by a marker in it, and a data set that
/// holds anything else is not replaced.
#[derive(Debug)]
pub struct Builder<T> {
    out: PathBuf,
    unfinished: Unfinished,
    row: PhantomData<fn() -> T>,
}

impl<T: Row> Builder<T> {
    /// Begin a data set at `out`, or go on with one begun with equal `settings`; `force` replaces
    /// what is there.
    ///
    /// # Errors
    /// When `out` exists, when an unfinished one has other settings or is not ours, or when another
    /// process is at it.
    pub fn create(out: &Path, force: bool, settings: &impl Serialize) -> Result<Builder<T>> {
        Builder::create_from(out, force, settings, &[])
    }

    /// As [`Builder::create`], of inputs that may change while nobody looks: where a run is gone on
    /// with, each must be what it was.
    ///
    /// # Errors
    /// As there; and names the inputs that are not what they were.
    pub fn create_from(
        out: &Path,
        force: bool,
        settings: &impl Serialize,
        inputs: &[Input],
    ) -> Result<Builder<T>> {
        let settings = serde_json::to_value(settings).map_err(|error| Error::Columns {
            schema: T::SCHEMA.to_owned(),
            reason: error.to_string(),
        })?;
        let plan = Plan::new(T::SCHEMA, T::VERSION, settings, inputs);
        let unfinished = Unfinished::begin(out, force, &plan)?;
        Ok(Builder { out: out.to_owned(), unfinished, row: PhantomData })
    }

    /// The folder that holds the parts until all are there.
    #[must_use]
    pub fn unfinished(&self) -> &Path {
        self.unfinished.folder()
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
        self.add_with(key, rows.into_iter().map(Ok), Vec::new)
    }

    /// As [`Builder::add`], with metadata in the part, asked for once the rows are written.
    pub(crate) fn add_with(
        &self,
        key: &str,
        rows: impl Iterator<Item = Result<T>>,
        metadata: impl FnOnce() -> Vec<(&'static str, String)>,
    ) -> Result<()> {
        let path = self.part(key);
        let temporary = path.with_extension("new");
        let written = shard::write_with(&temporary, rows, metadata)
            .and_then(|_| self.remember(&protections()))
            .and_then(|_| fs::rename(&temporary, &path).map_err(Error::file("write", &path)));
        if written.is_err() {
            // Whatever is left of it would be overwritten by the next try anyway.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// Note which protections held while rows were made.
    pub(crate) fn remember(&self, held: &BTreeMap<String, String>) -> Result<()> {
        self.unfinished.remember(held)
    }

    /// Have a part made again.
    pub(crate) fn remove(&self, key: &str) {
        // One that stays is what stood for its items when it was made.
        let _ = fs::remove_file(self.part(key));
    }

    /// Whether no part is there.
    pub(crate) fn is_empty(&self) -> bool {
        self.unfinished.is_empty()
    }

    /// Leave no unfinished data set behind in which nothing is done: it would only be in the way of the
    /// next command.
    pub fn discard_if_empty(self) {
        self.unfinished.discard_if_empty();
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
        let folder = self.unfinished.folder();
        let parts = crate::place::names(folder)?
            .into_iter()
            .filter(|name| name.extension().is_some_and(|extension| extension == "part"))
            .map(|name| folder.join(name));
        Ok(rows_of(parts.collect()))
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
        self.finish_checked(rows, notes, |_| Ok(()))
    }

    /// As [`Builder::finish_with`]; `check` refuses once all rows are written, before they are a data
    /// set.
    pub(crate) fn finish_checked(
        self,
        rows: impl IntoIterator<Item = Result<T>>,
        notes: Notes,
        check: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<Dataset> {
        let shards = self.write(rows)?;
        check(&self.out)?;
        self.unfinished.finish(&Manifest::of(T::SCHEMA, T::VERSION, shards, notes))
    }

    fn write(&self, rows: impl IntoIterator<Item = Result<T>>) -> Result<Vec<Shard>> {
        let whole = self.unfinished.whole()?;
        let mut shards = Vec::new();
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() || shards.is_empty() {
            let file = part_name(shards.len());
            let path = whole.join(&file);
            let count = shard::write(&path, rows.by_ref().take(T::SHARD_ROWS))?;
            let (bytes, hash) = content_hash_of_file(&path).map_err(Error::file("read", &path))?;
            shards.push(Shard { file, rows: count, bytes, hash });
        }
        Ok(shards)
    }

    pub(crate) fn part(&self, key: &str) -> PathBuf {
        self.unfinished.folder().join(content_hash(key.as_bytes())).with_extension("part")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Tally;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Sample {
        path: String,
    }

    impl Row for Sample {
        const SCHEMA: &'static str = "sample";
        const VERSION: u32 = 1;
    }

    #[test]
    fn what_does_not_add_up_makes_no_data_set() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("set");
        let finish = |read: u64| {
            let builder = Builder::<Sample>::create(&out, false, &"").unwrap();
            let rows = ["a", "b"].map(|path| Ok(Sample { path: path.into() }));
            builder.finish_checked(rows, Notes::default(), |out| {
                let mut tally = Tally::of("rows");
                tally.read(read);
                tally.became("written", 2);
                tally.check(out)
            })
        };
        let lost = finish(3).unwrap_err().to_string();
        assert!(lost.contains("3 rows were read") && lost.contains("2 written"), "{lost}");
        assert!(!out.exists());
        assert_eq!(finish(2).unwrap().manifest().rows, 2);
    }
}
