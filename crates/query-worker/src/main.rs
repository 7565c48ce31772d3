//! `stampmill-query MEMORY FOLDER SQL NAME=DATASET...`: SQL over data sets, the only user of DataFusion.
//!
//! `stampmill query` starts it. Every data set named becomes a table; a `SELECT` sees its columns as they are. The
//! rows go to standard output as a stream of Arrow's IPC format while they are found, what went wrong goes to
//! standard error, with exit status 2. It takes MEMORY bytes at most and spills what is more to FOLDER; it ends with
//! whoever started it.

mod difference;
mod explain;

use arrow::{
    array::{ArrayRef, RecordBatch, StringArray},
    compute::{CastOptions, cast_with_options},
    datatypes::{Field, Schema, SchemaRef},
    error::ArrowError,
    ipc::writer::StreamWriter,
};
use datafusion::{
    error::DataFusionError,
    execution::{
        context::{SQLOptions, SessionContext},
        disk_manager::{DiskManagerBuilder, DiskManagerMode},
        memory_pool::FairSpillPool,
        runtime_env::RuntimeEnvBuilder,
    },
    logical_expr::registry::FunctionRegistry as _,
    prelude::{ParquetReadOptions, SessionConfig},
};
use dataset::{Code, Dataset, Language, Programs};
use difference::SignedDifference;
use explain::Named;
use futures_util::StreamExt;
use rustix::process::{Resource, Rlimit, Signal};
use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

/// Bytes for all that the limit does not count: code, stacks, what is being read and written.
const BESIDE: u64 = 1 << 30;
/// Bytes that may be spilled, as a multiple of the memory.
const SPILLED: u64 = 16;

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("stampmill-query MEMORY FOLDER SQL NAME=DATASET...: `stampmill query` starts it")]
    Usage,
    /// A table's data set cannot be opened.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// What the engine refuses, before it is explained.
    #[error("{0}")]
    Sql(DataFusionError),
    /// What is wrong with the query; behind the separator what the engine says, which is shown to who wants details.
    #[error("{plain}\u{1e}{engine}")]
    Query { plain: String, engine: String },
    #[error(
        "the query needs more than its {} MiB of memory; narrow it, or give it more with --memory: {why}",
        bytes >> 20
    )]
    Memory { bytes: u64, why: String },
    #[error("cannot send rows: {0}")]
    Send(#[from] arrow::error::ArrowError),
    #[error("cannot read {path}: {reason}", path = path.display())]
    Path { path: PathBuf, reason: String },
    #[error("cannot start the query: {0}")]
    Start(std::io::Error),
}

/// What is asked.
struct Question {
    memory: u64,
    spill: PathBuf,
    sql: String,
    tables: Vec<(String, PathBuf)>,
    /// What [`own_name`] calls one of them besides.
    own: Option<String>,
}

impl Question {
    /// What the tables are called.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(|(name, _)| name).chain(&self.own).map(String::as_str)
    }

    /// The tables that are data sets. Opening one reads it through.
    fn datasets(&self) -> impl Iterator<Item = Dataset> {
        self.tables.iter().filter_map(|(_, path)| Dataset::open(path).ok())
    }
}

fn main() -> ExitCode {
    match question(std::env::args().skip(1)).and_then(|question| answer(&question)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn question(mut arguments: impl Iterator<Item = String>) -> Result<Question, Error> {
    let memory = arguments.next().and_then(|bytes| bytes.parse().ok()).ok_or(Error::Usage)?;
    let spill = arguments.next().ok_or(Error::Usage)?.into();
    let sql = arguments.next().ok_or(Error::Usage)?;
    let table = |table: String| {
        let (name, path) = table.split_once('=')?;
        Some((name.to_owned(), PathBuf::from(path)))
    };
    let tables = arguments.map(table).collect::<Option<Vec<_>>>().ok_or(Error::Usage)?;
    let own = own_name(&tables);
    Ok(Question { memory, spill, sql, tables, own })
}

/// A table without a name.
const UNNAMED: &str = "dataset";

/// A data set without a name is also called as its folder is, where that is a word.
fn own_name(tables: &[(String, PathBuf)]) -> Option<String> {
    let (_, path) = tables.iter().find(|(name, _)| name == UNNAMED)?;
    let name = path.file_name()?.to_str()?.to_lowercase();
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_word && tables.iter().all(|(other, _)| *other != name)).then_some(name)
}

fn answer(question: &Question) -> Result<(), Error> {
    // Nobody reads the rows of a program that was killed.
    let bound = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    bound.map_err(|error| Error::Start(error.into()))?;
    // What DataFusion does not count is bounded too: this program ends then, not the machine's others.
    let most = question.memory.saturating_mul(2).saturating_add(BESIDE);
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    rustix::process::setrlimit(Resource::Data, limit)
        .map_err(|error| Error::Start(error.into()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(Error::Start)?.block_on(select(question))
}

/// A number of a vector that is a list, as the query writes it.
struct Place {
    /// `instcount['Load']`.
    written: String,
    /// `instcount[Int64(35)]`, as the engine heads its column.
    headed: String,
}

/// The query with places for names where a vector is a list: `instcount[35]` for `instcount['Load']`; and these.
fn by_place(question: &Question) -> (String, Vec<Place>) {
    let (mut sql, mut places) = (question.sql.clone(), Vec::new());
    // Opening a data set reads it through: only for a query that may name such a place.
    if !sql.contains("['") {
        return (sql, places);
    }
    for dataset in question.datasets() {
        let Ok(columns) = dataset.columns() else { continue };
        let spaces = &dataset.manifest().notes.configuration["spaces"];
        for (space, names) in spaces.as_object().into_iter().flatten() {
            let is_list =
                columns.field_with_name(space).is_ok_and(|field| field.data_type().is_list());
            for (name, at) in names.as_array().into_iter().flatten().zip(1..) {
                let (true, Some(name)) = (is_list, name.as_str()) else { continue };
                let written = format!("{space}['{name}']");
                if sql.contains(&written) {
                    sql = sql.replace(&written, &format!("{space}[{at}]"));
                    let headed = format!("{space}[Int64({at})]");
                    places.push(Place { written, headed });
                }
            }
        }
    }
    (sql, places)
}

/// The schema with columns headed as the query writes them.
fn as_written(schema: &SchemaRef, sql: &str, places: &[Place]) -> SchemaRef {
    if places.is_empty() {
        return Arc::clone(schema);
    }
    let head = |name: &str| {
        places.iter().fold(name.to_owned(), |name, place| {
            place.head(&name, sql.contains(&format!(".{}", place.written)))
        })
    };
    let fields = schema.fields().iter();
    let fields: Vec<Field> =
        fields.map(|field| field.as_ref().clone().with_name(head(field.name()))).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

impl Place {
    /// A column's name with this as it is written; the engine puts a table before it, which stays where the query has one.
    fn head(&self, name: &str, has_table: bool) -> String {
        let is_letter = |one: char| one.is_alphanumeric() || one == '_';
        let (mut told, mut rest) = (String::new(), name);
        while let Some((before, after)) = rest.split_once(&self.headed) {
            let bare = before.strip_suffix('.').filter(|_| !has_table);
            told += bare.map_or(before, |bare| bare.trim_end_matches(is_letter));
            told += &self.written;
            rest = after;
        }
        told + rest
    }
}

async fn select(question: &Question) -> Result<(), Error> {
    // Views of texts are DataFusion's own; data sets hold plain columns.
    let config = SessionConfig::new()
        .set_bool("datafusion.sql_parser.enable_ident_normalization", true)
        .set_bool("datafusion.execution.parquet.schema_force_view_types", false);
    let spill = DiskManagerBuilder::default()
        .with_mode(DiskManagerMode::Directories(vec![question.spill.clone()]))
        .with_max_temp_directory_size(question.memory.saturating_mul(SPILLED));
    let memory = usize::try_from(question.memory).unwrap_or(usize::MAX);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(memory)))
        .with_disk_manager_builder(spill)
        .build_arc()
        .map_err(Error::Sql)?;
    let mut context = SessionContext::new_with_config_rt(config, runtime);
    context.register_expr_planner(Arc::new(SignedDifference)).map_err(Error::Sql)?;
    for (name, path) in &question.tables {
        register(&context, name, path, question.memory).await?;
    }
    if let Some(own) = &question.own {
        let table = context.table_provider(UNNAMED).await.map_err(Error::Sql)?;
        context.register_table(own, table).map_err(Error::Sql)?;
    }
    match send(&context, question).await {
        Err(Error::Sql(error)) => Err(Named::of(&context, question).await.explained(&error)),
        answered => answered,
    }
}

/// Answer, and send the rows as they are found.
async fn send(context: &SessionContext, question: &Question) -> Result<(), Error> {
    // A query reads; it neither makes tables nor writes files.
    let reading = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false);
    let (sql, places) = by_place(question);
    let frame = context.sql_with_options(&sql, reading).await.map_err(Error::Sql)?;
    let schema = as_written(frame.schema().inner(), &question.sql, &places);
    let mut rows = frame.execute_stream().await.map_err(Error::Sql)?;
    let mut writer = StreamWriter::try_new(BufWriter::new(std::io::stdout()), &schema)?;
    while let Some(batch) = rows.next().await {
        writer.write(&as_told(batch.map_err(Error::Sql)?, &schema)?)?;
    }
    writer.finish()?;
    writer.get_mut().flush().map_err(ArrowError::from)?;
    Ok(())
}

/// The batch in the types of the schema that went before it. DataFusion joins columns of signed and unsigned
/// numbers as decimals whatever the plan's schema says, and the bytes of one are not those of the other.
///
/// # Errors
/// When a value does not fit its type.
fn as_told(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let pairs = || batch.columns().iter().zip(schema.fields());
    if pairs().all(|(column, field)| column.data_type() == field.data_type()) {
        return Ok(batch);
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let columns =
        pairs().map(|(column, field)| cast_with_options(column, field.data_type(), &options));
    RecordBatch::try_new(Arc::clone(schema), columns.collect::<Result<_, _>>()?)
}

/// Make a table of a data set, of a Parquet file, or of a plain folder or file of programs, whose columns are
/// `path`, `language` and `text`.
async fn register(
    context: &SessionContext,
    name: &str,
    path: &Path,
    memory: u64,
) -> Result<(), Error> {
    let files = if Dataset::is_at(path) {
        Dataset::open(path)?.shards()
    } else if path.is_file() && Language::of(path).is_none() {
        vec![path.to_path_buf()]
    } else {
        context.register_batch(name, programs(path, memory)?).map_err(Error::Sql)?;
        return Ok(());
    };
    let name_of = |file: PathBuf| match file.into_os_string().into_string() {
        Ok(file) => Ok(file),
        Err(file) => Err(Error::Path { path: file.into(), reason: "name is no UTF-8".into() }),
    };
    let files: Vec<String> = files.into_iter().map(name_of).collect::<Result<_, _>>()?;
    let frame = context.read_parquet(files, ParquetReadOptions::default()).await;
    let unread = |error: DataFusionError| {
        let is_named_so = path.is_dir() || path.extension().is_some_and(|name| name == "parquet");
        let reason = match is_named_so {
            true => error.to_string(),
            false => format!(
                "it is no Parquet file (NAME.parquet); `stampmill import {} --out DIR` makes a data set of CSV or JSON Lines",
                path.display()
            ),
        };
        Error::Path { path: path.into(), reason }
    };
    let table = frame.map_err(unread)?.into_view();
    context.register_table(name, table).map_err(Error::Sql)?;
    Ok(())
}

/// A plain folder or file of programs as a table; bitcode has no `text`.
fn programs(path: &Path, memory: u64) -> Result<RecordBatch, Error> {
    let (mut paths, mut languages, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    let mut bytes = 0;
    for program in Programs::open(path)?.iter()? {
        let program = program?;
        bytes += program.path.len() as u64;
        paths.push(program.path);
        languages.push(program.language.name());
        texts.push(match program.code {
            Code::Text(text) => {
                bytes += text.len() as u64;
                Some(text)
            }
            Code::Bytes(_) => None,
        });
        // A column of texts holds no more than its offsets can name.
        if bytes > memory.min(i32::MAX as u64) {
            let why = format!("the programs in {} are more than that", path.display());
            return Err(Error::Memory { bytes: memory, why });
        }
    }
    let columns: [(&str, ArrayRef); 3] = [
        ("path", Arc::new(StringArray::from(paths))),
        ("language", Arc::new(StringArray::from(languages))),
        ("text", Arc::new(StringArray::from(texts))),
    ];
    Ok(RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, name == "text")),
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_set_is_called_as_its_folder_is_where_that_is_a_word() {
        let table = |name: &str, path: &str| (name.to_owned(), PathBuf::from(path));
        assert_eq!(own_name(&[table("dataset", "/d/Kernels")]), Some("kernels".to_owned()));
        assert_eq!(own_name(&[table("dataset", "/d/my-kernels")]), None);
        assert_eq!(own_name(&[table("k", "/d/kernels")]), None);
        assert_eq!(own_name(&[table("dataset", "k"), table("k", "v")]), None);
    }

    #[test]
    fn a_number_of_a_vector_is_headed_as_it_is_written() {
        let place = Place { written: "i['Load']".to_owned(), headed: "i[Int64(35)]".to_owned() };
        assert_eq!(place.head("avg(v.i[Int64(35)])", false), "avg(i['Load'])");
        assert_eq!(place.head("v.i[Int64(35)]", true), "v.i['Load']");
        assert_eq!(place.head("path", false), "path");
    }
}
