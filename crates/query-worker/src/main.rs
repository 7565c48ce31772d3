//! `stampmill-query MEMORY FOLDER SQL NAME=DATASET...`: SQL over data sets, the only user of DataFusion.
//!
//! `stampmill query` starts it. Every data set named becomes a table; a `SELECT` sees its columns as they are. The
//! rows go to standard output as a stream of Arrow's IPC format while they are found, what went wrong goes to
//! standard error, with exit status 2. It takes MEMORY bytes at most and spills what is more to FOLDER; it ends with
//! whoever started it.

mod difference;

use arrow::{
    array::{ArrayRef, RecordBatch, StringArray},
    compute::{CastOptions, cast_with_options},
    datatypes::{DataType, SchemaRef},
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
    /// The query is no SQL.
    #[error("the query is no SQL: {0}")]
    Syntax(String),
    /// The query itself.
    #[error("{0}")]
    Sql(DataFusionError),
    #[error(
        "there is no table `{wanted}`; {}there {} (name one by NAME=DATASET, as in v=vectors)",
        near.as_ref().map(|near| format!("did you mean `{near}`? ")).unwrap_or_default(),
        if tables.contains(", ") { format!("are {tables}") } else { format!("is {tables}") }
    )]
    NoTable { wanted: String, near: Option<String>, tables: String },
    #[error(
        "the query needs more than its {} MiB of memory; narrow it, or give it more with --memory: {why}",
        bytes >> 20
    )]
    Memory { bytes: u64, why: String },
    #[error("there is no column `{0}`; a text stands between single quotes: '{0}'")]
    Quoted(String),
    #[error("{0}")]
    ByName(String),
    #[error("a query only reads: write SELECT; `--out FOLDER` keeps its rows as a data set")]
    ReadsOnly,
    #[error("`-` stands before a column of counts, which have no sign: write 0 - COLUMN")]
    Unsigned,
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
    runtime.map_err(Error::Start)?.block_on(select(question)).map_err(|error| match error {
        Error::Sql(error) => match error.find_root() {
            DataFusionError::ResourcesExhausted(why) => {
                Error::Memory { bytes: question.memory, why: why.clone() }
            }
            DataFusionError::SQL(why, _) => Error::Syntax(syntax(&question.sql, &why.to_string())),
            root => {
                let said = root.to_string();
                no_table(&said, question)
                    .or_else(|| quoted(&said, &question.sql))
                    .or_else(|| interval(&said, question))
                    .or_else(|| by_name(&said, question))
                    .or_else(|| no_field(&said, question))
                    .or_else(|| not_ours(&said))
                    .or_else(|| {
                        ["DDL", "DML"]
                            .iter()
                            .any(|one| said.contains(&format!("{one} not supported")))
                            .then_some(Error::ReadsOnly)
                    })
                    .or_else(|| {
                        said.contains("Unary operator '-' only supports signed")
                            .then_some(Error::Unsigned)
                    })
                    .unwrap_or(Error::Sql(error))
            }
        },
        error => error,
    })
}

/// What the parser said of `sql`, with the line that it is about and a mark below the place.
fn syntax(sql: &str, said: &str) -> String {
    let why = said
        .trim_start_matches("sql parser error: ")
        .replace("found: EOF", "found: the end of the query");
    let place = why.rsplit_once(" at Line: ").and_then(|(why, place)| {
        let (line, column) = place.split_once(", Column: ")?;
        let (line, column): (usize, usize) = (line.parse().ok()?, column.parse().ok()?);
        let text = sql.lines().nth(line.checked_sub(1)?)?;
        let before = text
            .chars()
            .take(column.checked_sub(1)?)
            .map(|one| if one == '\t' { one } else { ' ' });
        let mark: String = before.chain(['^']).collect();
        Some(format!("{}\n    {text}\n    {mark}", lower(why)))
    });
    place.unwrap_or_else(|| lower(&why))
}

/// With a small first letter, as in the middle of a sentence.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

/// What DataFusion says of a table that is none, with the tables that there are, or that it is not finished.
fn no_table(said: &str, question: &Question) -> Option<Error> {
    let (_, named) = said.split_once("table 'datafusion.public.")?;
    let (wanted, _) = named.split_once("' not found")?;
    let mut folders = [wanted.to_owned(), wanted.replace('_', "-")].map(PathBuf::from).into_iter();
    if let Some(begun) = folders.find(|folder| dataset::is_unfinished(folder)) {
        return Some(dataset::Error::NotADataset(begun).into());
    }
    let tables = question.tables.iter().map(|(name, _)| name);
    let tables: Vec<&str> = tables.chain(&question.own).map(String::as_str).collect();
    let near = dataset::near(wanted, tables.iter().copied()).map(str::to_owned);
    Some(Error::NoTable { wanted: wanted.to_owned(), near, tables: tables.join(", ") })
}

/// A text between double quotes, which name columns.
fn quoted(said: &str, sql: &str) -> Option<Error> {
    let (_, named) = said.split_once("No field named ")?;
    let name = named.split(['.', ' ']).next()?.trim_matches('"');
    sql.contains(&format!("\"{name}\"")).then(|| Error::Quoted(name.to_owned()))
}

/// A column that is called as a word of SQL, which takes what stands behind it for its own.
fn interval(said: &str, question: &Question) -> Option<Error> {
    let is_letter = |one: char| one.is_alphanumeric() || one == '_' || one == '"';
    let is_bare = question.sql.split(|one| !is_letter(one)).any(|word| word == INTERVAL);
    let has = question
        .datasets()
        .any(|one| one.columns().is_ok_and(|all| all.index_of(INTERVAL).is_ok()));
    ((said.contains("No field named ") || said.contains("interval argument")) && is_bare && has)
        .then(|| {
            Error::ByName(format!(
                "`{INTERVAL}` is a word of SQL, too: the column is \"{INTERVAL}\""
            ))
        })
}

const INTERVAL: &str = "interval";

/// The query with places for names where a vector is a list: `instcount[35]` for `instcount['Load']`.
fn by_place(question: &Question) -> String {
    let mut sql = question.sql.clone();
    // Opening a data set reads it through: only for a query that may name such a place.
    if !sql.contains("['") {
        return sql;
    }
    for dataset in question.datasets() {
        let Ok(columns) = dataset.columns() else { continue };
        let spaces = &dataset.manifest().notes.configuration["spaces"];
        for (space, names) in spaces.as_object().into_iter().flatten() {
            let is_list =
                columns.field_with_name(space).is_ok_and(|field| field.data_type().is_list());
            for (name, at) in names.as_array().into_iter().flatten().zip(1..) {
                if let (true, Some(name)) = (is_list, name.as_str()) {
                    sql = sql.replace(&format!("{space}['{name}']"), &format!("{space}[{at}]"));
                }
            }
        }
    }
    sql
}

/// Names of a vector's places that are listed.
const NAMED: usize = 12;

/// A number of a vector that is asked for by its name, where the vector is a list: which place it has.
fn by_name(said: &str, question: &Question) -> Option<Error> {
    if !said.contains("Cannot access field") || !said.contains("List(") {
        return None;
    }
    let datasets: Vec<Dataset> = question.datasets().collect();
    let spaces: Vec<&serde_json::Value> =
        datasets.iter().map(|dataset| &dataset.manifest().notes.configuration["spaces"]).collect();
    let columns: Vec<_> = datasets.iter().filter_map(|dataset| dataset.columns().ok()).collect();
    let is_list = |column: &str| {
        let found = columns.iter().find_map(|columns| columns.field_with_name(column).ok());
        found.is_some_and(|field| field.data_type().is_list())
    };
    let is_letter = |one: char| one.is_alphanumeric() || one == '_';
    // `instcount['Load']` and `instcount.Load`.
    let plain = question.sql.replace("['", ".");
    let place = plain.split('.').collect::<Vec<_>>().windows(2).find_map(|parts| {
        let column = parts[0].rsplit(|one| !is_letter(one)).next()?;
        let name = parts[1].split(|one| !is_letter(one)).next()?;
        if !is_list(column) {
            return None;
        }
        let names = spaces.iter().find_map(|spaces| spaces[column].as_array())?;
        let names: Vec<&str> = names.iter().filter_map(|name| name.as_str()).collect();
        let place = |name: &str| names.iter().position(|one| *one == name);
        let near = place(name).or_else(|| place(dataset::near(name, names.iter().copied())?));
        Some(match near {
            Some(at) => format!("`{column}` is a list: {} is {column}[{}]", names[at], at + 1),
            None => {
                let first: Vec<&str> = names.iter().copied().take(NAMED).collect();
                let more = names.len().saturating_sub(NAMED);
                format!(
                    "`{column}` has no `{name}`; it has {}{}",
                    first.join(", "),
                    if more > 0 {
                        format!(" and {more} more, in _dataset.json")
                    } else {
                        String::new()
                    }
                )
            }
        })
    })?;
    Some(Error::ByName(place))
}

/// A number of a vector that there is not, where the vector is a struct.
fn no_field(said: &str, question: &Question) -> Option<Error> {
    let (_, named) = said.split_once("Field ")?;
    let (wanted, _) = named.split_once(" not found in struct")?;
    let columns: Vec<_> =
        question.datasets().filter_map(|dataset| dataset.columns().ok()).collect();
    let mut vectors = columns.iter().flat_map(|columns| columns.fields()).filter_map(|field| {
        let DataType::Struct(numbers) = field.data_type() else { return None };
        let is_asked =
            [".", "["].iter().any(|mark| question.sql.contains(&format!("{}{mark}", field.name())));
        let names: Vec<&str> = numbers.iter().map(|number| number.name().as_str()).collect();
        (is_asked && !names.contains(&wanted)).then_some((field.name(), names))
    });
    let (column, names) = vectors.next()?;
    let near = dataset::near(wanted, names.iter().copied());
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    Some(Error::ByName(format!("`{column}` has no `{wanted}`; {near}it has {}", names.join(", "))))
}

/// What DataFusion takes for a bug of its own, and is one of the query mostly.
fn not_ours(said: &str) -> Option<Error> {
    let (why, _) = said.split_once("This issue was likely caused by a bug")?;
    let why = why.rsplit("Internal error: ").next()?.trim().trim_end_matches('.');
    // What each signature of a function would have wanted is long, and the same each time.
    let given = why.split_once("but received ").and_then(|(_, given)| given.split(" (").next());
    let given = given.map(|given| format!("; it was given {given}")).unwrap_or_default();
    let why = why.split(", errors:").next()?.to_owned() + &given;
    let why = why.as_str();
    Some(Error::ByName(format!("the query cannot be answered: {}", lower(why))))
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
    // A query reads; it neither makes tables nor writes files.
    let reading = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false);
    let sql = by_place(question);
    let frame = context.sql_with_options(&sql, reading).await.map_err(Error::Sql)?;
    let schema = Arc::clone(frame.schema().inner());
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
    let unread =
        |error: DataFusionError| Error::Path { path: path.into(), reason: error.to_string() };
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
    fn a_text_between_double_quotes_is_told_from_a_column() {
        let said = "Schema error: No field named accepted. Valid fields are k.path.";
        let found = quoted(said, "SELECT path FROM k WHERE verdict = \"accepted\"");
        let found = found.expect("it is between double quotes").to_string();
        assert_eq!(
            found,
            "there is no column `accepted`; a text stands between single quotes: 'accepted'"
        );
        assert!(quoted(said, "SELECT accepted FROM k").is_none());
    }
}
