//! What can be said of rows only when all are looked at, found by all executors: each has the rows of some keys, and
//! sorts them on its disk where they are more than its memory.

use crate::{
    Error, Stop, families,
    losses::{Retry, Watch},
    query, stopped,
};
use arrow::error::ArrowError;
use cluster::Address;
use datafusion::{
    execution::SendableRecordBatchStream,
    parquet::{arrow::ArrowWriter, errors::ParquetError},
};
use dataset::stage::Question;
use futures::StreamExt;
use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

/// The rows of keys that several rows have. Types are those of the files.
const REPEATS: &str = "
    SELECT k.place, f.first, f.copies
    FROM rows k JOIN (
        SELECT key, min(place) AS first, CAST(count(*) AS BIGINT UNSIGNED) AS copies
        FROM rows GROUP BY key HAVING count(*) > 1
    ) f ON k.key = f.key
    ORDER BY k.place";

/// The same where the first is that of the least rank.
const RANKED: &str = "
    SELECT k.place, f.first, f.copies
    FROM rows k JOIN (
        SELECT key, CAST(right(least, 20) AS BIGINT UNSIGNED) AS first, copies FROM (
            SELECT key, min(concat(rank, ' ', lpad(CAST(place AS VARCHAR), 20, '0'))) AS least,
                CAST(count(*) AS BIGINT UNSIGNED) AS copies
            FROM rows GROUP BY key HAVING count(*) > 1
        )
    ) f ON k.key = f.key
    ORDER BY k.place";

const DISTINCT: &str =
    "SELECT CAST(count(*) AS BIGINT UNSIGNED) AS count FROM (SELECT DISTINCT hash FROM rows)";

pub(crate) async fn run(
    address: &Address,
    question: &Question,
    out: &Path,
    mut stop: Stop,
) -> Result<(), Error> {
    tokio::select! {
        found = find_whatever_dies(address, question, out) => found,
        () = stopped(&mut stop) => Err(Error::Failed("it was stopped".to_owned())),
    }
}

/// Asks again where executors, or the scheduler, died.
async fn find_whatever_dies(
    address: &Address,
    question: &Question,
    out: &Path,
) -> Result<(), Error> {
    let mut retry = Retry::default();
    loop {
        match find(address, question, out).await {
            Ok(()) => return Ok(()),
            Err(error) => retry.after(error).await?,
        }
    }
}

async fn find(address: &Address, question: &Question, out: &Path) -> Result<(), Error> {
    let watch = Watch::begin(address).await?;
    let mut rows = match question {
        Question::Repeats { keys, ranked: false } => asked(address, REPEATS, keys).await?,
        Question::Repeats { keys, ranked: true } => asked(address, RANKED, keys).await?,
        Question::Distinct { hashes } => asked(address, DISTINCT, hashes).await?,
        Question::Near { signatures, roots, bands } => {
            let config = query::settings(address).await?;
            let context = query::planner(config.clone(), &[]).await?;
            let plan = families::plan(&context, signatures, roots, bands.clone()).await?;
            query::carried_out(address, config, &context, plan).await?
        }
    };
    let written = |error: ParquetError| ArrowError::ExternalError(Box::new(error));
    let file = File::create(out).map_err(Error::Machine)?;
    let mut writer = ArrowWriter::try_new(file, rows.schema(), None).map_err(written)?;
    while let Some(batch) = rows.next().await {
        writer.write(&batch?).map_err(written)?;
    }
    if !watch.all_stayed(address).await? {
        return Err(Error::ExecutorLost);
    }
    let file = writer.into_inner().map_err(written)?;
    file.sync_all().map_err(|error: io::Error| Error::Machine(error))
}

async fn asked(
    address: &Address,
    sql: &str,
    files: &[PathBuf],
) -> Result<SendableRecordBatchStream, Error> {
    let config = query::settings(address).await?;
    // Sorted runs are merged: a table of hashes must be in memory whole.
    let config = config.set_bool("datafusion.optimizer.prefer_hash_join", false);
    let context = query::planner(config.clone(), &[("rows".to_owned(), files.to_vec())]).await?;
    let frame = context.sql(sql).await?;
    query::planned(address, config, &context, frame).await
}
