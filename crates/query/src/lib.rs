//! SQL over data sets: the only user of DataFusion.
//!
//! Every data set named becomes a table; `SELECT`s see its columns as they are.
//!
//! ```no_run
//! use std::path::Path;
//! let tables = [("kernels", Path::new("kernels"))];
//! let rows = query::run("SELECT package, count(*) AS n FROM kernels GROUP BY package", &tables)?;
//! println!("{}", query::render(&rows, query::Format::Table)?);
//! # Ok::<(), query::Error>(())
//! ```

use arrow::{
    array::{ArrayRef, RecordBatch, StringArray},
    util::{display::array_value_to_string, pretty::pretty_format_batches},
};
use datafusion::{
    execution::context::{SQLOptions, SessionContext},
    prelude::{ParquetReadOptions, SessionConfig},
};
use dataset::{Code, Dataset, Language, Programs};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// What can go wrong with a query.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A table's data set cannot be opened.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// The query itself.
    #[error("{0}")]
    Sql(#[from] datafusion::error::DataFusionError),
    /// Rows that cannot be printed in the wanted format.
    #[error("cannot print rows: {0}")]
    Print(#[from] arrow::error::ArrowError),
    /// A path that is no UTF-8, or a runtime that cannot be started.
    #[error("cannot read {path}: {reason}", path = path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// Answer one SQL `SELECT` over data sets by table name. A Parquet file stands for a data set too, and
/// so does a plain folder or file of programs: its columns are `path`, `language` and `text`.
///
/// # Errors
/// When a data set cannot be opened or the statement is no valid `SELECT` over the tables.
pub fn run(sql: &str, tables: &[(&str, &Path)]) -> Result<Vec<RecordBatch>, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime
        .map_err(|error| Error::Path { path: PathBuf::from("/proc"), reason: error.to_string() })?;
    runtime.block_on(async {
        // Views of texts are DataFusion's own; data sets hold plain columns.
        let config = SessionConfig::new()
            .set_bool("datafusion.sql_parser.enable_ident_normalization", true)
            .set_bool("datafusion.execution.parquet.schema_force_view_types", false);
        let context = SessionContext::new_with_config(config);
        for (name, path) in tables {
            let files = if Dataset::is_at(path) {
                Dataset::open(path)?.shards()
            } else if path.is_file() && Language::of(path).is_none() {
                vec![path.to_path_buf()]
            } else {
                context.register_batch(*name, programs(path)?)?;
                continue;
            };
            let files: Vec<String> = files
                .into_iter()
                .map(|file| match file.into_os_string().into_string() {
                    Ok(file) => Ok(file),
                    Err(file) => {
                        Err(Error::Path { path: file.into(), reason: "name is no UTF-8".into() })
                    }
                })
                .collect::<Result<_, _>>()?;
            let frame = context.read_parquet(files, ParquetReadOptions::default()).await?;
            context.register_table(*name, frame.into_view())?;
        }
        // A query reads; it neither makes tables nor writes files.
        let reading = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false);
        let frame = context.sql_with_options(sql, reading).await?;
        let schema = frame.schema().inner().clone();
        let mut batches = frame.collect().await?;
        if batches.is_empty() {
            batches.push(RecordBatch::new_empty(schema));
        }
        Ok(batches)
    })
}

/// A plain folder or file of programs as a table; bitcode has no `text`.
fn programs(path: &Path) -> Result<RecordBatch, Error> {
    let (mut paths, mut languages, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for program in Programs::open(path)?.iter()? {
        let program = program?;
        paths.push(program.path);
        languages.push(program.language.name());
        texts.push(match program.code {
            Code::Text(text) => Some(text),
            Code::Bytes(_) => None,
        });
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

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Table,
    /// One JSON object a line.
    Jsonl,
    /// Comma-separated values with a header.
    Csv,
}

/// A batch whose nested columns are text.
fn flattened(batch: &RecordBatch) -> Result<RecordBatch, Error> {
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let column = match field.data_type().is_nested() {
            false => Arc::clone(column),
            true => {
                let texts: Result<Vec<String>, _> =
                    (0..column.len()).map(|row| array_value_to_string(column, row)).collect();
                Arc::new(StringArray::from(texts?))
            }
        };
        columns.push((field.name().clone(), column));
    }
    Ok(RecordBatch::try_from_iter(columns)?)
}

/// Rows as text.
///
/// # Errors
/// When a column's type has no form in the format. In CSV, lists and structs are text.
pub fn render(rows: &[RecordBatch], format: Format) -> Result<String, Error> {
    match format {
        Format::Table => Ok(pretty_format_batches(rows)?.to_string()),
        Format::Jsonl => {
            let mut writer = arrow::json::LineDelimitedWriter::new(Vec::new());
            writer.write_batches(&rows.iter().collect::<Vec<_>>())?;
            writer.finish()?;
            Ok(String::from_utf8_lossy(&writer.into_inner()).trim_end().to_owned())
        }
        Format::Csv => {
            let mut text = Vec::new();
            let mut writer = arrow::csv::Writer::new(&mut text);
            for batch in rows {
                writer.write(&flattened(batch)?)?;
            }
            drop(writer);
            Ok(String::from_utf8_lossy(&text).trim_end().to_owned())
        }
    }
}
