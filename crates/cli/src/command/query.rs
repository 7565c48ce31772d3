//! `benchstone query`: SQL over data sets.

use crate::{Global, output};
use anyhow::bail;
use arrow::array::RecordBatch;
use dataset::{Dataset, Input, Notes};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Ask data sets in SQL
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    benchstone query \"SELECT package, count(*) AS n FROM k GROUP BY package ORDER BY n DESC\" k=kernels\n  \
    benchstone query \"SELECT verdict, count(*) FROM dataset GROUP BY verdict\" raw --format csv\n  \
    benchstone query \"SELECT * FROM dataset WHERE licence = 'MIT'\" kernels --out mit\n\n\
A data set without a name is the table `dataset`. A Parquet file does for a data set, and a plain\n\
folder or file of programs (columns path, language and text).")]
pub(crate) struct Query {
    /// One SELECT statement
    sql: String,
    /// Tables: NAME=DATASET, or one DATASET that is called `dataset`
    #[arg(value_name = "NAME=DATASET", required = true)]
    tables: Vec<String>,
    /// How rows are printed
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Make a data set of the rows instead of printing them; with all columns of the first table it
    /// is of that one's schema
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace what is at --out
    #[arg(long)]
    force: bool,
}

/// How rows are printed.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people
    Table,
    /// One JSON object a line
    Jsonl,
    /// Comma-separated, with a header
    Csv,
}

impl From<Format> for query::Format {
    fn from(format: Format) -> query::Format {
        match format {
            Format::Table => query::Format::Table,
            Format::Jsonl => query::Format::Jsonl,
            Format::Csv => query::Format::Csv,
        }
    }
}

impl Query {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let mut tables: Vec<(&str, &Path)> = Vec::new();
        for table in &self.tables {
            let (name, path) = match table.split_once('=') {
                Some((name, path)) => (name, path),
                None => ("dataset", table.as_str()),
            };
            if tables.iter().any(|(taken, _)| *taken == name) {
                bail!("two tables are called `{name}`; write NAME=DATASET");
            }
            tables.push((name, Path::new(path)));
        }
        let rows = query::run(&self.sql, &tables)?;
        if let Some(out) = &self.out {
            return self.write(out, &tables, &rows, global);
        }
        if global.json {
            let lines = query::render(&rows, query::Format::Jsonl)?;
            let result: Vec<serde_json::Value> =
                lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
            let schema = rows.first().map(RecordBatch::schema);
            let columns: Vec<&str> = schema
                .iter()
                .flat_map(|schema| schema.fields())
                .map(|field| field.name().as_str())
                .collect();
            let report =
                serde_json::json!({ "rows": result.len(), "columns": columns, "result": result });
            output::json(&report)?;
        } else {
            let text = query::render(&rows, self.format.into())?;
            match self.format {
                Format::Table => output::line(&text)?,
                Format::Jsonl | Format::Csv => output::data(&text)?,
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn write(
        &self,
        out: &Path,
        tables: &[(&str, &Path)],
        rows: &[RecordBatch],
        global: &Global,
    ) -> anyhow::Result<ExitCode> {
        let mut schema = ("query".to_owned(), 1);
        let mut inputs = Vec::new();
        for (at, (name, path)) in tables.iter().enumerate() {
            if !Dataset::is_at(path) {
                continue;
            }
            let dataset = Dataset::open(path)?;
            if let (0, Some(Ok(batch)), Some(found)) =
                (at, dataset.batches(None)?.next(), rows.first())
                && batch.schema().fields().iter().map(|field| field.name()).eq(found
                    .schema()
                    .fields()
                    .iter()
                    .map(|field| field.name()))
            {
                schema = (dataset.manifest().schema.clone(), dataset.manifest().version);
            }
            let hash = dataset.manifest().identity.clone();
            inputs.push(Input { name: format!("{name}={}", path.display()), hash });
        }
        let configuration = serde_json::json!({ "sql": self.sql });
        let notes = Notes { inputs, configuration, ..Notes::default() };
        let made = dataset::write_flat(out, self.force, (&schema.0, schema.1), rows, notes)?;
        let report = serde_json::json!({ "rows": made.manifest().rows, "schema": schema.0 });
        match global.json {
            true => output::json(&report)?,
            false => output::line(&format!(
                "{} rows of schema {} in {}",
                output::count(made.manifest().rows),
                schema.0,
                out.display()
            ))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
