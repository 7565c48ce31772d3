//! `stampmill query`: SQL over data sets.

use crate::{Global, destination, interrupt, output, size};
use anyhow::bail;
use cluster::{Address, Role, Token};
use dataset::Dataset;
use host::Helper;
use std::{io, path::PathBuf, process::ExitCode};

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
    /// Tables: NAME=DATASET, or one DATASET, called `dataset` or by its folder's name [default: the data sets of the current
    /// folder that SQL names]
    #[arg(value_name = "NAME=DATASET")]
    tables: Vec<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "table", conflicts_with = "out")]
    format: Format,
    /// Memory limit of the query, and of rows held in memory; sorts, aggregations and joins spill to temporary files
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size::size)]
    memory: u64,
    #[command(flatten)]
    output: Option<destination::Output>,
    /// Have the executors of a cluster answer; its scheduler's address (`stampmill cluster`)
    #[arg(long, value_name = "URL")]
    cluster: Option<String>,
    /// A file with the token that the scheduler wants
    #[arg(long, value_name = "FILE", requires = "cluster")]
    token_file: Option<PathBuf>,
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
    fn query(&self) -> anyhow::Result<query::Query> {
        let query = query::Query::new(&self.sql, &self.tables, self.memory)?;
        let Some(url) = &self.cluster else { return Ok(query) };
        let token = self.token_file.as_deref().map(Token::read).transpose()?;
        let address = Address::new(url, token)?;
        let files = |(name, path): &(String, PathBuf)| {
            if !Dataset::is_at(path) {
                bail!("{} is no data set: a cluster queries nothing else", path.display());
            }
            let whole = |file: PathBuf| match dataset::is_url(&file) {
                true => Ok(file),
                false => std::path::absolute(file),
            };
            let files: io::Result<Vec<PathBuf>> =
                dataset::files(path)?.into_iter().map(whole).collect();
            Ok((name.clone(), files?))
        };
        let tables = query.tables().iter().map(files).collect::<anyhow::Result<_>>()?;
        let role = Role::Query { address, sql: self.sql.clone(), tables };
        Ok(query.by(Helper::CLUSTER, serde_json::to_string(&role)?))
    }

    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let query = self.query()?;
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
