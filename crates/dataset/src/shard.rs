//! Parquet files of rows.

use crate::{Error, Result, Row, alias, file::open_file, flat::Streamed};
use arrow::{
    array::RecordBatch,
    datatypes::{Schema, SchemaRef},
    error::ArrowError,
};
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    basic::{Compression, ZstdLevel},
    file::{metadata::KeyValue, properties::WriterProperties},
};
use std::{fs::File, ops::Range, path::Path, sync::Arc};

/// Key of a file's own metadata: the name of its rows' schema.
const SCHEMA_KEY: &str = "stampmill.schema";
/// Key of a file's own metadata: the version of that schema.
const VERSION_KEY: &str = "stampmill.schema_version";

/// Rows turned into columns at a time, at most: texts of up to 16 MiB stay below the 2 GiB a column
/// may hold.
const BATCH: usize = 64;

/// What a batch should take, so that memory is as large as rows are and not as files are.
const BATCH_BYTES: usize = 2 << 20;

/// What a row group takes once it is encoded; a writer holds one.
const GROUP_BYTES: usize = 16 << 20;

/// How many rows make a batch where so many of them took so many bytes.
fn batch_rows(bytes: usize, rows: usize) -> usize {
    (BATCH_BYTES * rows.max(1) / bytes.max(1)).clamp(1, BATCH)
}

/// Write rows to one Parquet file, compressed with zstd; returns their number.
///
/// # Errors
/// When a row is an error or the file cannot be written; what there is of it then is no Parquet
/// file.
pub fn write<T: Row>(path: &Path, rows: impl Iterator<Item = Result<T>>) -> Result<u64> {
    write_with(path, rows, Vec::new)
}

/// As [`write()`], with metadata in the file, asked for once the rows are written.
pub(crate) fn write_with<T: Row>(
    path: &Path,
    rows: impl Iterator<Item = Result<T>>,
    metadata: impl FnOnce() -> Vec<(&'static str, String)>,
) -> Result<u64> {
    let columns = Arc::new(Schema::new(T::columns()?));
    let mut writer = writer(path, (T::SCHEMA, T::VERSION), columns)?;
    let mut count = 0;
    let mut size = BATCH / 8;
    let mut rows = rows.fuse();
    loop {
        let batch: Vec<T> = rows.by_ref().take(size).collect::<Result<_>>()?;
        if batch.is_empty() {
            break;
        }
        count += batch.len() as u64;
        let columns = T::to_batch(&batch)?;
        size = batch_rows(columns.get_array_memory_size(), batch.len());
        writer.write(&columns).map_err(Error::writing(path))?;
    }
    for (key, value) in metadata() {
        writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
    }
    close(path, writer)?;
    Ok(count)
}

/// Write record batches of the same columns to a Parquet file; returns the number of rows.
pub(crate) fn write_batches<E>(
    path: &Path,
    schema: (&str, u32),
    columns: SchemaRef,
    batches: impl IntoIterator<Item = Result<RecordBatch, E>>,
) -> Result<u64, Streamed<E>> {
    let mut writer = writer(path, schema, columns).map_err(Streamed::Dataset)?;
    let mut rows = 0;
    for batch in batches {
        let batch = batch.map_err(Streamed::Batch)?;
        rows += batch.num_rows() as u64;
        writer.write(&batch).map_err(|error| Streamed::Dataset(Error::writing(path)(error)))?;
    }
    close(path, writer).map_err(Streamed::Dataset)?;
    Ok(rows)
}

fn writer(
    path: &Path,
    (schema, version): (&str, u32),
    columns: SchemaRef,
) -> Result<ArrowWriter<File>> {
    let file = File::create(path).map_err(Error::file("create", path))?;
    let level = ZstdLevel::try_new(3).map_err(|error| Error::shard(path, error))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_bytes(Some(GROUP_BYTES))
        .set_created_by("stampmill".to_owned())
        .set_key_value_metadata(Some(vec![
            KeyValue::new(SCHEMA_KEY.to_owned(), schema.to_owned()),
            KeyValue::new(VERSION_KEY.to_owned(), version.to_string()),
        ]))
        .build();
    ArrowWriter::try_new(file, columns, Some(properties)).map_err(Error::writing(path))
}

fn close(path: &Path, mut writer: ArrowWriter<File>) -> Result<()> {
    writer.finish().map_err(Error::writing(path))?;
    writer.inner().sync_all().map_err(Error::file("write", path))
}

/// The columns of a Parquet file, ours or not.
///
/// # Errors
/// When it cannot be read, or is no Parquet file.
pub fn columns(path: &Path) -> Result<SchemaRef> {
    let file = open_file(path).map_err(Error::file("open", path))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|error| Error::damaged(path, error))?;
    Ok(builder.schema().clone())
}

/// The record batches of a Parquet file, of the named columns or all.
///
/// # Errors
/// When it cannot be read, or is no Parquet file; items: when it is broken.
pub fn batches(
    path: &Path,
    columns: Option<&[&str]>,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    batches_in(path, columns, 0..u64::MAX)
}

/// The same of some of its rows: row groups without any of them are not read.
pub(crate) fn batches_in(
    path: &Path,
    columns: Option<&[&str]>,
    rows: Range<u64>,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    let file = open_file(path).map_err(Error::file("open", path))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|error| Error::damaged(path, error))?;
    let groups = builder.metadata().row_groups();
    let bytes: i64 = groups.iter().map(|group| group.total_byte_size()).sum();
    let count: i64 = groups.iter().map(|group| group.num_rows()).sum();
    let size = batch_rows(bytes.max(0) as usize, count.max(0) as usize);
    let chosen = Chosen::of(groups.iter().map(|group| group.num_rows().max(0) as u64), &rows);
    let builder = builder
        .with_batch_size(size)
        .with_row_groups(chosen.groups)
        .with_offset(chosen.skip)
        .with_limit(chosen.take);
    let builder = match columns {
        Some(names) => {
            let is_there = |name: &str| builder.schema().field_with_name(name).is_ok();
            let names: Vec<String> = names
                .iter()
                .map(|name| if is_there(name) { (*name).to_owned() } else { alias::other(name) })
                .collect();
            let names = names.iter().map(String::as_str);
            let mask = parquet::arrow::ProjectionMask::columns(builder.parquet_schema(), names);
            builder.with_projection(mask)
        }
        None => builder,
    };
    let reader = builder.build().map_err(|error| Error::damaged(path, error))?;
    let path = path.to_owned();
    let asked: Vec<String> = columns.unwrap_or_default().iter().map(ToString::to_string).collect();
    let batch = move |batch: Result<_, ArrowError>| match batch {
        Ok(batch) => Ok(alias::respelled(batch, &asked)),
        Err(error) => Err(Error::damaged(&path, error)),
    };
    Ok(reader.map(batch))
}

/// Where rows are in a file.
#[derive(Debug, PartialEq, Eq)]
struct Chosen {
    /// The row groups with some of them.
    groups: Vec<usize>,
    /// Rows of the first that come before them.
    skip: usize,
    /// How many they are.
    take: usize,
}

impl Chosen {
    fn of(groups: impl Iterator<Item = u64>, rows: &Range<u64>) -> Chosen {
        let mut chosen = Chosen { groups: Vec::new(), skip: 0, take: 0 };
        let mut first = 0;
        for (index, count) in groups.enumerate() {
            let of_group = first.max(rows.start)..(first + count).min(rows.end);
            if !of_group.is_empty() {
                if chosen.groups.is_empty() {
                    chosen.skip = (of_group.start - first) as usize;
                }
                chosen.groups.push(index);
                chosen.take += (of_group.end - of_group.start) as usize;
            }
            first += count;
        }
        chosen
    }
}

/// The schema of a file's rows and its version, as its metadata says.
///
/// # Errors
/// When it cannot be read, or is no Parquet file.
pub fn schema_of(path: &Path) -> Result<Option<(String, u32)>> {
    let version = metadata(path, VERSION_KEY)?.and_then(|text| text.parse().ok());
    Ok(metadata(path, SCHEMA_KEY)?.zip(version))
}

/// What the metadata of a Parquet file says under `key`.
pub(crate) fn metadata(path: &Path, key: &str) -> Result<Option<String>> {
    let file = open_file(path).map_err(Error::file("open", path))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|error| Error::damaged(path, error))?;
    let pairs = builder.metadata().file_metadata().key_value_metadata();
    let found = pairs.into_iter().flatten().find(|pair| pair.key == key);
    Ok(found.and_then(|pair| pair.value.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_few_row_groups() {
        let of = |rows: Range<u64>| {
            let Chosen { groups, skip, take } = Chosen::of([3, 0, 4, 2].into_iter(), &rows);
            (groups, skip, take)
        };
        assert_eq!(of(0..u64::MAX), (vec![0, 2, 3], 0, 9));
        assert_eq!(of(4..6), (vec![2], 1, 2));
        assert_eq!(of(2..8), (vec![0, 2, 3], 2, 6));
        assert_eq!(of(7..20), (vec![3], 0, 2));
        assert_eq!(of(3..3), (vec![], 0, 0));
        assert_eq!(of(9..12), (vec![], 0, 0));
    }
}
