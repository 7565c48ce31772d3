//! A query over data sets, answered by all executors.

use crate::{Error, Stop, stopped, token};
use arrow::{error::ArrowError, ipc::writer::StreamWriter};
use ballista_core::extension::SessionStateExt;
use cluster::Address;
use datafusion::{
    execution::{SessionStateBuilder, context::SQLOptions},
    prelude::{ParquetReadOptions, SessionConfig, SessionContext},
};
use futures::StreamExt;
use std::{
    io::{BufWriter, Write},
    path::PathBuf,
};

pub(crate) async fn run(
    address: &Address,
    sql: &str,
    tables: &[(String, Vec<PathBuf>)],
    mut stop: Stop,
) -> Result<(), Error> {
    tokio::select! {
        answered = answer(address, sql, tables) => answered,
        () = stopped(&mut stop) => Ok(()),
    }
}

/// A session on the executors, with these tables.
pub(crate) async fn session(
    address: &Address,
    tables: &[(String, Vec<PathBuf>)],
    config: impl FnOnce(SessionConfig) -> SessionConfig,
) -> Result<SessionContext, Error> {
    // It is there, and takes the token: Ballista would say so in other words.
    let asked = address.clone();
    let status = tokio::task::spawn_blocking(move || cluster::status(&asked)).await;
    let status = status.map_err(|error| Error::Failed(error.to_string()))??;
    if status.active().next().is_none() {
        return Err(cluster::Error::NoExecutors(address.url().to_owned()).into());
    }
    // Views of texts are DataFusion's own; data sets hold plain columns.
    let config = config(token::session(address.token.clone()))
        .set_bool("datafusion.execution.parquet.schema_force_view_types", false);
    let state = SessionStateBuilder::new()
        .with_default_features()
        .with_config(config)
        .build()
        .upgrade_for_ballista(address.url().to_owned())?;
    let context = SessionContext::new_with_state(state);
    for (name, files) in tables {
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let frame = context.read_parquet(files, ParquetReadOptions::default()).await?;
        context.register_table(name.as_str(), frame.into_view())?;
    }
    Ok(context)
}

async fn answer(
    address: &Address,
    sql: &str,
    tables: &[(String, Vec<PathBuf>)],
) -> Result<(), Error> {
    let context = session(address, tables, |config| config).await?;
    let only_reads =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    let frame = context.sql_with_options(sql, only_reads).await?;
    let mut rows = frame.execute_stream().await?;
    let schema = rows.schema();
    let out = BufWriter::new(std::io::stdout().lock());
    let mut writer = StreamWriter::try_new(out, &schema)?;
    while let Some(batch) = rows.next().await {
        writer.write(&batch?)?;
    }
    let mut out = writer.into_inner()?;
    out.flush().map_err(ArrowError::from)?;
    Ok(())
}
