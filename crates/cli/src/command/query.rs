//! `benchstone query`: SQL over data sets.

use crate::{Global, output};
use anyhow::bail;
use std::{path::Path, process::ExitCode};

/// Ask data sets in SQL
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    benchstone query \"SELECT package, count(*) AS n FROM k GROUP BY package ORDER BY n DESC\" k=kernels\n  \
    benchstone query \"SELECT verdict, count(*) FROM dataset GROUP BY verdict\" raw --format csv\n\n\
A data set without a name is the table `dataset`. A Parquet file does for a data set.")]
pub(crate) struct Query {
    /// One SELECT statement
    sql: String,
    /// Tables: NAME=DATASET, or one DATASET that is called `dataset`
    #[arg(value_name = "NAME=DATASET", required = true)]
    tables: Vec<String>,
    /// How rows are printed
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
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
        let format = if global.json { Format::Jsonl } else { self.format };
        output::line(&query::render(&rows, format.into())?)?;
        Ok(ExitCode::SUCCESS)
    }
}
