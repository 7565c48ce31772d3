//! A query over data sets, answered by all executors.

use crate::{
    Error, Stop,
    codec::Codec,
    losses::{self, Retry, Watch},
    stopped, store, token,
};
use arrow::{error::ArrowError, ipc::writer::StreamWriter, record_batch::RecordBatch};
use ballista_core::{
    execution_plans::execute_physical_plan,
    extension::{SessionConfigExt, SessionStateExt},
    utils::default_session_builder,
};
use cluster::Address;
use datafusion::{
    dataframe::DataFrame,
    error::DataFusionError,
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
/// Rows, and the first batch of them.
type Begun = (SendableRecordBatchStream, Option<RecordBatch>);

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
    let status = losses::status(address).await?;
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

/// Nothing is sent before the executors have done their work, so until then a query in which one died is asked again.
async fn answer(address: &Address, sql: &str, tables: &Tables) -> Result<(), Error> {
    let mut retry = Retry::default();
    let (mut rows, first) = loop {
        match begun(address, sql, tables).await {
            Ok(begun) => break begun,
            Err(error) if may_pass(&error) => retry.after(error).await?,
            Err(error) => return Err(error),
        }
    };
    let out = BufWriter::new(std::io::stdout().lock());
    let mut writer = StreamWriter::try_new(out, &rows.schema())?;
    let mut next = first;
    while let Some(batch) = next {
        writer.write(&batch)?;
        next = rows.next().await.transpose().map_err(cut_off)?;
    }
    let mut out = writer.into_inner()?;
    out.flush().map_err(ArrowError::from)?;
    Ok(())
}

/// The rows of a query once all are made, and the first of them.
async fn begun(address: &Address, sql: &str, tables: &Tables) -> Result<Begun, Error> {
    let watch = Watch::begin(address).await?;
    let mut rows = asked(address, sql, tables).await?;
    let first = rows.next().await.transpose()?;
    match watch.all_stayed(address).await? {
        true => Ok((rows, first)),
        false => Err(Error::ExecutorLost),
    }
}

/// What is wrong with a query stays wrong.
fn may_pass(error: &Error) -> bool {
    match error {
        Error::Sql(error) => is_of_machine(error),
        Error::ExecutorLost => true,
        _ => false,
    }
}

/// Whether a machine is gone that had rows.
fn is_of_machine(error: &DataFusionError) -> bool {
    let text = error.to_string();
    [
        "transport::Error",
        "transport error",
        "GrpcConnection",
        "Error connecting",
        "FetchFailed",
        "has failed",
    ]
    .iter()
    .any(|words| text.contains(words))
}

fn cut_off(error: DataFusionError) -> Error {
    match is_of_machine(&error) {
        true => Error::Failed(format!(
            "an executor was lost with rows of the answer; the same command asks again ({error})"
        )),
        false => error.into(),
    }
}

async fn asked(
    address: &Address,
    sql: &str,
    tables: &Tables,
) -> Result<SendableRecordBatchStream, Error> {
    let only_reads =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    let mut files = tables.iter().flat_map(|(_, files)| files);
    if files.any(|file| dataset::is_url(file)) {
        let config = settings(address).await?;
        let context = planner(config.clone(), tables).await?;
        let frame = context.sql_with_options(sql, only_reads).await?;
        return planned(address, config, &context, frame).await;
    }
    let context = session(address, tables).await?;
    Ok(context.sql_with_options(sql, only_reads).await?.execute_stream().await?)
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
