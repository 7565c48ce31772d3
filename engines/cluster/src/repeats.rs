//! Rows with one key, found by all executors: each has the keys of some hashes, and sorts them on its disk where they are
//! more than its memory.

use crate::{Error, Stop, query, stopped};
use arrow::error::ArrowError;
use cluster::Address;
use datafusion::parquet::{arrow::ArrowWriter, errors::ParquetError};
use futures::StreamExt;
use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

/// The rows of keys that several rows have. Types are those of the files; sorted runs are merged, since a table of
/// hashes must be in memory whole.
const SQL: &str = "
    SELECT k.place, f.first, f.copies
    FROM keys k JOIN (
        SELECT key, min(place) AS first, CAST(count(*) AS BIGINT UNSIGNED) AS copies
        FROM keys GROUP BY key HAVING count(*) > 1
    ) f ON k.key = f.key
    ORDER BY k.place";

pub(crate) async fn run(
    address: &Address,
    keys: &[PathBuf],
    out: &Path,
    mut stop: Stop,
) -> Result<(), Error> {
    tokio::select! {
        found = find(address, keys, out) => found,
        () = stopped(&mut stop) => Err(Error::Failed("it was stopped".to_owned())),
    }
}

async fn find(address: &Address, keys: &[PathBuf], out: &Path) -> Result<(), Error> {
    let tables = [("keys".to_owned(), keys.to_vec())];
    let merged = |config: datafusion::prelude::SessionConfig| {
        config.set_bool("datafusion.optimizer.prefer_hash_join", false)
    };
    let context = query::session(address, &tables, merged).await?;
    let mut rows = context.sql(SQL).await?.execute_stream().await?;
    let written = |error: ParquetError| ArrowError::ExternalError(Box::new(error));
    let file = File::create(out).map_err(Error::Machine)?;
    let mut writer = ArrowWriter::try_new(file, rows.schema(), None).map_err(written)?;
    while let Some(batch) = rows.next().await {
        writer.write(&batch?).map_err(written)?;
    }
    let file = writer.into_inner().map_err(written)?;
    file.sync_all().map_err(|error: io::Error| Error::Machine(error))
}
