//! `stampmill query`: SQL over data sets.

use crate::{Global, destination, interrupt, output, size};
use std::process::ExitCode;

/// Run an SQL query on data sets
#[derive(clap::Args, Debug)]
#[command(mut_arg(
    "out",
    destination::optional(
        "Make a data set of the rows instead of printing them; where all columns of the first table are selected, it has that table's schema"
    )
))]
#[command(after_help = help!("query"))]
pub(crate) struct Query {
    /// One SELECT statement
    sql: String,
    /// Tables: NAME=DATASET, or one DATASET, called `dataset`
    #[arg(value_name = "NAME=DATASET", required = true)]
    tables: Vec<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Memory limit of the query, and of rows held in memory; sorts, aggregations and joins spill to temporary files
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size::size)]
    memory: u64,
    #[command(flatten)]
    output: Option<destination::Output>,
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
        let query = query::Query::new(&self.sql, &self.tables, self.memory)?;
        let stop = interrupt::quiet_flag()?;
        if let Some(destination::Output { out, force }) = &self.output {
            let made = query.save(&stop, out, *force)?;
            let (rows, schema) = (made.manifest().rows, &made.manifest().schema);
            let report = serde_json::json!({ "rows": rows, "schema": schema });
            output::report(global, &report, || {
                let rows = output::count(rows);
                output::line(&format!("{rows} rows of schema {schema} in {}", out.display()))
            })?;
        } else if global.json {
            let held = query.hold(&stop)?;
            let result = query::values(&held.rows)?;
            let columns = held.schema.fields().iter().map(|field| field.name());
            let columns: Vec<&String> = columns.collect();
            output::json(&serde_json::json!({
                "rows": result.len(), "columns": columns, "result": result,
            }))?;
        } else {
            match self.format {
                Format::Table => output::line(&query::table(&query.hold(&stop)?.rows)?)?,
                Format::Jsonl => query.ask(&stop, |rows| query::jsonl(rows, output::bytes))?,
                Format::Csv => query.ask(&stop, |rows| query::csv(rows, output::bytes))?,
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
