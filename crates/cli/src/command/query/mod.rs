//! `stampmill query`: SQL over data sets.
//!
//! A program of its own answers (`helper`); here its rows are printed (`render`) or become a data set.

mod helper;
mod render;

use crate::{Global, output, size};
use anyhow::bail;
use arrow::{array::RecordBatch, datatypes::SchemaRef};
use dataset::{Dataset, Input, Notes};
use helper::{Question, Rows};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Ask data sets in SQL
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill query \"SELECT package, count(*) AS n FROM k GROUP BY package ORDER BY n DESC\" k=kernels\n  \
    stampmill query \"SELECT verdict, count(*) FROM dataset GROUP BY verdict\" raw --format csv\n  \
    stampmill query \"SELECT * FROM dataset WHERE licence = 'MIT'\" kernels --out mit\n\n\
A data set without a name is the table `dataset`. A Parquet file does for a data set, and a plain\n\
folder or file of programs (columns path, language and text). Tables, --json and --out hold all rows at once;\n\
jsonl and csv print them as they are found.")]
pub(crate) struct Query {
    /// One SELECT statement
    sql: String,
    /// Tables: NAME=DATASET, or one DATASET that is called `dataset`
    #[arg(value_name = "NAME=DATASET", required = true)]
    tables: Vec<String>,
    /// How rows are printed
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Memory that the query may take, and its rows where they are held at once; sorting, grouping and joining go
    /// on in temporary files beyond it where they can
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size::size)]
    memory: u64,
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
        let question = Question { sql: &self.sql, tables: &tables, memory: self.memory };
        if let Some(out) = &self.out {
            let (schema, rows) = question.ask(|rows| self.held(rows))?;
            return self.write(out, &tables, &schema, rows, global);
        }
        if global.json {
            let (schema, rows) = question.ask(|rows| self.held(rows))?;
            let result = render::values(&rows)?;
            let columns: Vec<&str> =
                schema.fields().iter().map(|field| field.name().as_str()).collect();
            let report =
                serde_json::json!({ "rows": result.len(), "columns": columns, "result": result });
            output::json(&report)?;
            return Ok(ExitCode::SUCCESS);
        }
        match self.format {
            Format::Table => {
                let (schema, mut rows) = question.ask(|rows| self.held(rows))?;
                if rows.is_empty() {
                    rows.push(RecordBatch::new_empty(schema));
                }
                output::line(&render::table(&rows)?)?;
            }
            Format::Jsonl => question.ask(render::jsonl)?,
            Format::Csv => question.ask(render::csv)?,
        }
        Ok(ExitCode::SUCCESS)
    }

    /// All rows at once, where they are not too many.
    fn held(&self, rows: &mut Rows) -> anyhow::Result<(SchemaRef, Vec<RecordBatch>)> {
        let schema = rows.schema();
        let (mut all, mut bytes) = (Vec::new(), 0_u64);
        for batch in rows {
            let batch = batch?;
            bytes = bytes.saturating_add(batch.get_array_memory_size() as u64);
            if bytes > self.memory {
                bail!(
                    "the rows are more than {} MiB; narrow the query, print them as they are found with --format csv \
                     or jsonl, or hold more with --memory",
                    self.memory >> 20
                );
            }
            all.push(batch);
        }
        Ok((schema, all))
    }

    fn write(
        &self,
        out: &Path,
        tables: &[(&str, &Path)],
        columns: &SchemaRef,
        mut rows: Vec<RecordBatch>,
        global: &Global,
    ) -> anyhow::Result<ExitCode> {
        let mut schema = ("query".to_owned(), 1);
        let mut inputs = Vec::new();
        for (at, (name, path)) in tables.iter().enumerate() {
            if !Dataset::is_at(path) {
                continue;
            }
            let dataset = Dataset::open(path)?;
            if let (0, Some(Ok(batch))) = (at, dataset.batches(None)?.next())
                && batch
                    .schema()
                    .fields()
                    .iter()
                    .map(|field| field.name())
                    .eq(columns.fields().iter().map(|field| field.name()))
            {
                schema = (dataset.manifest().schema.clone(), dataset.manifest().version);
            }
            let hash = dataset.manifest().identity.clone();
            inputs.push(Input { name: format!("{name}={}", path.display()), hash });
        }
        if rows.is_empty() {
            rows.push(RecordBatch::new_empty(columns.clone()));
        }
        let configuration = serde_json::json!({ "sql": self.sql });
        let notes = Notes { inputs, configuration, ..Notes::default() };
        let made = dataset::write_flat(out, self.force, (&schema.0, schema.1), &rows, notes)?;
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
