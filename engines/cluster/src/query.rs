//! A query over data sets, answered by all executors.

use crate::{Error, Stop, codec::Codec, stopped, store, token};
use arrow::{error::ArrowError, ipc::writer::StreamWriter};
use ballista_core::{
    execution_plans::execute_physical_plan,
    extension::{SessionConfigExt, SessionStateExt},
    utils::default_session_builder,
};
use cluster::Address;
use datafusion::{
    dataframe::DataFrame,
    execution::{SendableRecordBatchStream, SessionStateBuilder, context::SQLOptions},
    logical_expr::LogicalPlan,
    physical_plan::ExecutionPlan,
    prelude::{ParquetReadOptions, SessionConfig, SessionContext},
};
use datafusion_proto::protobuf::PhysicalPlanNode;
use futures::StreamExt;
use std::{
    io::{BufWriter, Write},
    path::PathBuf,
    sync::Arc,
};

/// Tables: names, and the Parquet files of each.
type Tables = [(String, Vec<PathBuf>)];

pub(crate) async fn run(
    address: &Address,
    sql: &str,
    tables: &Tables,
    mut stop: Stop,
) -> Result<(), Error> {
    tokio::select! {
        answered = answer(address, sql, tables) => answered,
        () = stopped(&mut stop) => Ok(()),
    }
}

/// A session on the executors, with these tables; the scheduler plans what it is asked, and reads the files for that.
async fn session(address: &Address, tables: &Tables) -> Result<SessionContext, Error> {
    let config = settings(address).await?;
    let state = SessionStateBuilder::new()
        .with_default_features()
        .with_config(config)
        .build()
        .upgrade_for_ballista(address.url().to_owned())?;
    let context = SessionContext::new_with_state(state);
    add(&context, tables).await?;
    Ok(context)
}

/// A session that plans here: neither folders nor credentials for object stores are the scheduler's.
pub(crate) async fn planner(
    config: SessionConfig,
    tables: &Tables,
) -> Result<SessionContext, Error> {
    let state = default_session_builder(config)?;
    let builder = SessionStateBuilder::new_from_existing(state);
    let state = builder.with_runtime_env(store::environment(store::reading())?).build();
    let context = SessionContext::new_with_state(state);
    add(&context, tables).await?;
    Ok(context)
}

/// Settings of a session, once it is known that there is a cluster.
pub(crate) async fn settings(address: &Address) -> Result<SessionConfig, Error> {
    // It is there, and takes the token: Ballista would say so in other words.
    let asked = address.clone();
    let status = tokio::task::spawn_blocking(move || cluster::status(&asked)).await;
    let status = status.map_err(|error| Error::Failed(error.to_string()))??;
    if status.active().next().is_none() {
        return Err(cluster::Error::NoExecutors(address.url().to_owned()).into());
    }
    // Views of texts are DataFusion's own; data sets hold plain columns.
    let config = token::session(address.token.clone());
    Ok(config.set_bool("datafusion.execution.parquet.schema_force_view_types", false))
}

async fn add(context: &SessionContext, tables: &Tables) -> Result<(), Error> {
    for (name, files) in tables {
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let frame = context.read_parquet(files, ParquetReadOptions::default()).await?;
        context.register_table(name.as_str(), frame.into_view())?;
    }
    Ok(())
}

async fn answer(address: &Address, sql: &str, tables: &Tables) -> Result<(), Error> {
    let only_reads =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    let mut files = tables.iter().flat_map(|(_, files)| files);
    let mut rows = match files.any(|file| dataset::is_url(file)) {
        false => {
            let context = session(address, tables).await?;
            context.sql_with_options(sql, only_reads).await?.execute_stream().await?
        }
        true => {
            let config = settings(address).await?;
            let context = planner(config.clone(), tables).await?;
            let frame = context.sql_with_options(sql, only_reads).await?;
            planned(address, config, &context, frame).await?
        }
    };
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

/// Rows of a query that is planned here and carried out by the executors.
pub(crate) async fn planned(
    address: &Address,
    config: SessionConfig,
    context: &SessionContext,
    frame: DataFrame,
) -> Result<SendableRecordBatchStream, Error> {
    if matches!(frame.logical_plan(), LogicalPlan::EmptyRelation(_) | LogicalPlan::Explain(_)) {
        return Ok(frame.execute_stream().await?);
    }
    carried_out(address, config, context, frame.create_physical_plan().await?).await
}

/// Rows of a plan that executors carry out.
pub(crate) async fn carried_out(
    address: &Address,
    config: SessionConfig,
    context: &SessionContext,
    plan: Arc<dyn ExecutionPlan>,
) -> Result<SendableRecordBatchStream, Error> {
    let (ballista, codec) = (config.ballista_config(), Codec::default());
    let (url, id) = (address.url().to_owned(), context.session_id());
    Ok(execute_physical_plan::<PhysicalPlanNode>(url, &ballista, plan, &codec, id, config).await?)
}
