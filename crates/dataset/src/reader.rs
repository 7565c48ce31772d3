use crate::{
    Error, Manifest, Result, Row, Verdict,
    check::{self, Verify},
    is_url, shard,
    stage::Shared,
    store,
};
use arrow::{
    array::{AsArray, RecordBatch},
    datatypes::{FieldRef, Schema, SchemaRef},
};
use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
};

/// A finished data set.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// As it was named.
    folder: PathBuf,
    /// Where its files are on this machine.
    here: PathBuf,
    manifest: Manifest,
}

impl Dataset {
    /// Open the data set in `folder`, which may be the URL of one in an object store ([`Url`](crate::Url)), all of whose parts are there: each of the size and with as many
    /// rows as the manifest says, and no other. [`verify_hashes`](crate::verify_hashes) has them
    /// compared with their hashes, too.
    ///
    /// # Errors
    /// When there is none, or its manifest cannot be read; names a part that is not as it should be.
    pub fn open(folder: &Path) -> Result<Dataset> {
        Dataset::open_and_verify(folder, Verify::of)
    }

    /// As [`Dataset::open`], with the hashes of all parts and of the manifest.
    ///
    /// # Errors
    /// As there; and when a file was changed.
    pub fn open_verified(folder: &Path) -> Result<Dataset> {
        Dataset::open_and_verify(folder, |_| Verify::All)
    }

    fn open_and_verify(folder: &Path, verify: impl Fn(&Manifest) -> Verify) -> Result<Dataset> {
        let here = store::here(folder)?;
        let manifest = Manifest::read(&here)?;
        check::on_opening(&here, &manifest, verify(&manifest))?;
        Ok(Dataset { folder: folder.to_owned(), here: here.into_owned(), manifest })
    }

    /// One that is to stand at `folder`, and whose files are in `here`.
    pub(crate) fn unplaced(folder: &Path, here: &Path, manifest: Manifest) -> Dataset {
        Dataset { folder: folder.to_owned(), here: here.to_owned(), manifest }
    }

    /// Whether `folder` holds a data set. A URL always names one: what is not there is told when it is opened.
    #[must_use]
    pub fn is_at(folder: &Path) -> bool {
        is_url(folder) || folder.join(Manifest::FILE).is_file()
    }

    /// What it is and how it was made.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What joins it with other shares, taken out of its manifest: there may be much of it.
    pub(crate) fn take_share(&mut self) -> Option<Shared> {
        self.manifest.notes.share.take()
    }

    /// Its folder, or its URL.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where its files are on this machine.
    #[must_use]
    pub fn here(&self) -> &Path {
        &self.here
    }

    /// Its Parquet files on this machine, in order.
    #[must_use]
    pub fn shards(&self) -> Vec<PathBuf> {
        self.manifest.shards.iter().map(|shard| self.here.join(&shard.file)).collect()
    }

    /// Its columns, of a data set without rows, too.
    ///
    /// # Errors
    /// When its first shard cannot be read.
    pub fn columns(&self) -> Result<SchemaRef> {
        match self.shards().first() {
            Some(first) => shard::columns(first),
            None => Ok(Schema::empty().into()),
        }
    }

    /// Its rows, in order, read as they are asked for. Only the columns of `T` are read, so that a
    /// struct of a few of a schema's columns is a view of it.
    ///
    /// # Errors
    /// When it holds rows of another schema or of a later version; items: when a shard is broken.
    pub fn rows<T: Row + 'static>(&self) -> Result<Box<dyn Iterator<Item = Result<T>>>> {
        self.require(T::SCHEMA, T::VERSION)?;
        Ok(Box::new(rows_of(self.shards())))
    }

    /// As [`Dataset::rows`], of one of its Parquet files alone.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// When it has no file of this number.
    pub fn rows_of_shard<T: Row + 'static>(
        &self,
        number: usize,
    ) -> Result<impl Iterator<Item = Result<T>> + use<T>> {
        self.require(T::SCHEMA, T::VERSION)?;
        Ok(rows_of(vec![self.here.join(&self.manifest.shards[number].file)]))
    }

    /// As [`Dataset::rows`], of the rows with these numbers, from 0: what is in other row groups is not read.
    ///
    /// # Errors
    /// As there.
    pub fn rows_in<T: Row + 'static>(
        &self,
        rows: Range<u64>,
    ) -> Result<impl Iterator<Item = Result<T>> + use<T>> {
        self.require(T::SCHEMA, T::VERSION)?;
        Ok(rows_of_ranges(self.ranges(&rows)))
    }

    /// As [`Dataset::batches`], of the rows with these numbers, from 0.
    ///
    /// # Errors
    /// As there.
    pub fn batches_in(
        &self,
        columns: Option<&[&str]>,
        rows: Range<u64>,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        let files = self.ranges(&rows).into_iter();
        let each: Vec<_> = files
            .map(|(path, rows)| shard::batches_in(&path, columns, rows))
            .collect::<Result<_>>()?;
        Ok(each.into_iter().flatten())
    }

    /// The Parquet files with these rows, and the rows of each.
    fn ranges(&self, rows: &Range<u64>) -> Vec<(PathBuf, Range<u64>)> {
        let mut first = 0;
        let mut found = Vec::new();
        for shard in &self.manifest.shards {
            let of_shard = first.max(rows.start)..(first + shard.rows).min(rows.end);
            if !of_shard.is_empty() {
                let path = self.here.join(&shard.file);
                found.push((path, of_shard.start - first..of_shard.end - first));
            }
            first += shard.rows;
        }
        found
    }

    /// Refuse a data set of another schema than `schema`, or of a later version than `known`.
    ///
    /// # Errors
    /// Names what it is instead.
    pub fn require(&self, schema: &str, known: u32) -> Result<()> {
        let found = &self.manifest;
        if found.schema != schema {
            return Err(Error::Schema {
                path: self.folder.clone(),
                found: found.schema.clone(),
                wanted: schema.to_owned(),
            });
        }
        if found.version > known {
            return Err(Error::Newer {
                path: self.folder.clone(),
                schema: found.schema.clone(),
                found: found.version,
                known,
            });
        }
        Ok(())
    }

    /// Rows of other verdicts than `accepted`, by their verdict; none where it has no such column.
    ///
    /// # Errors
    /// When a shard cannot be read.
    pub fn rejected(&self) -> Result<BTreeMap<String, u64>> {
        let mut counts = BTreeMap::new();
        for batch in self.batches(Some(&["verdict"]))? {
            let batch = batch?;
            let verdicts = batch.column_by_name("verdict").and_then(|c| c.as_string_opt::<i32>());
            let words = verdicts.into_iter().flatten().flatten();
            for word in words.filter(|word| *word != Verdict::ACCEPTED) {
                *counts.entry(word.to_owned()).or_default() += 1;
            }
        }
        Ok(counts)
    }

    /// Its record batches, in order, with the named columns or all of them.
    ///
    /// # Errors
    /// When a shard cannot be opened; items: when it is broken.
    pub fn batches(
        &self,
        columns: Option<&[&str]>,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
        let shards = self.shards();
        let each: Vec<_> =
            shards.iter().map(|path| shard::batches(path, columns)).collect::<Result<_>>()?;
        Ok(each.into_iter().flatten())
    }
}

/// The rows of Parquet files, in order.
pub(crate) fn rows_of<T: Row>(files: Vec<PathBuf>) -> impl Iterator<Item = Result<T>> {
    rows_of_ranges(files.into_iter().map(|path| (path, 0..u64::MAX)).collect())
}

/// Of each of them the rows with these numbers.
fn rows_of_ranges<T: Row>(files: Vec<(PathBuf, Range<u64>)>) -> impl Iterator<Item = Result<T>> {
    let mut columns = None;
    files.into_iter().flat_map(move |(path, rows)| {
        let opened = columns_of::<T>(&mut columns).and_then(|columns| {
            let names: Vec<&str> = columns.iter().map(|column| column.name().as_str()).collect();
            shard::batches_in(&path, Some(&names), rows)
        });
        let (batches, failed) = match opened {
            Ok(batches) => (Some(batches), None),
            Err(error) => (None, Some(Err(error))),
        };
        let rows = batches.into_iter().flatten().flat_map(|batch| {
            match batch.and_then(|batch| T::from_batch(&batch)) {
                Ok(rows) => rows.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            }
        });
        failed.into_iter().chain(rows)
    })
}

/// The columns of `T`, found out once.
fn columns_of<T: Row>(found: &mut Option<Vec<FieldRef>>) -> Result<&[FieldRef]> {
    match found {
        Some(columns) => Ok(columns),
        None => Ok(found.insert(T::columns()?)),
    }
}
