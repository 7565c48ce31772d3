//! Tables with named columns: CSV (plain or gzip-compressed), Parquet files, data sets.

use crate::{Error, Result};
use arrow::{
    array::RecordBatch,
    error::ArrowError,
    util::display::{ArrayFormatter, FormatOptions},
};
use dataset::Dataset;
use flate2::read::GzDecoder;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::{ffi::OsStr, fmt::Display, fs::File, io::Read, path::Path};

/// A table in memory: cells are text until a column is asked for as numbers.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    name: String,
    columns: Vec<String>,
    cells: Vec<csv::StringRecord>,
}

impl Table {
    /// Read the data set in folder `path`, or a file: `.parquet`, else CSV, compressed if its name
    /// ends in `.gz`.
    ///
    /// A row with more or fewer cells than there are columns is an error with its line.
    pub(crate) fn read(path: &Path) -> Result<Table> {
        let extension = path.extension().and_then(OsStr::to_str);
        if Dataset::is_at(path) {
            let dataset = Dataset::open(path)?;
            let batches = dataset.batches(None)?.collect::<std::result::Result<_, _>>()?;
            return Table::from_batches(path, batches);
        }
        let file = File::open(path).map_err(Error::file("open", path))?;
        match extension {
            Some("parquet") => {
                let reader = ParquetRecordBatchReaderBuilder::try_new(file)
                    .and_then(ParquetRecordBatchReaderBuilder::build)
                    .map_err(|error| malformed(path, &error))?;
                let batches = reader.collect::<std::result::Result<Vec<_>, ArrowError>>();
                Table::from_batches(path, batches.map_err(|error| malformed(path, &error))?)
            }
            Some("gz") => Table::from_csv(path, GzDecoder::new(file)),
            _ => Table::from_csv(path, file),
        }
    }

    fn from_csv(path: &Path, bytes: impl Read) -> Result<Table> {
        let failed = |error: csv::Error| malformed(path, &error);
        let mut reader = csv::Reader::from_reader(bytes);
        let columns = reader.headers().map_err(failed)?.iter().map(str::to_owned).collect();
        let cells = reader.records().collect::<std::result::Result<_, _>>().map_err(failed)?;
        Ok(Table { name: path.display().to_string(), columns, cells })
    }

    fn from_batches(path: &Path, batches: Vec<RecordBatch>) -> Result<Table> {
        let failed = |error: ArrowError| malformed(path, &error);
        let mut table =
            Table { name: path.display().to_string(), columns: Vec::new(), cells: Vec::new() };
        let options = FormatOptions::default();
        for batch in batches {
            table.columns =
                batch.schema().fields().iter().map(|field| field.name().clone()).collect();
            let cells: Vec<ArrayFormatter<'_>> = batch
                .columns()
                .iter()
                .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
                .collect::<std::result::Result<_, _>>()
                .map_err(failed)?;
            for row in 0..batch.num_rows() {
                table.cells.push(cells.iter().map(|cell| cell.value(row).to_string()).collect());
            }
        }
        Ok(table)
    }

    /// The table as messages name it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    pub(crate) fn rows(&self) -> usize {
        self.cells.len()
    }

    /// The place of a column.
    pub(crate) fn column(&self, name: &str) -> Result<usize> {
        self.columns.iter().position(|column| column == name).ok_or_else(|| Error::MissingColumn {
            table: self.name.clone(),
            column: name.to_owned(),
            found: self.columns.clone(),
        })
    }

    /// A cell's text.
    pub(crate) fn text(&self, row: usize, column: usize) -> &str {
        &self.cells[row][column]
    }

    /// A cell as a number; NaN where it is none, for the caller to judge.
    pub(crate) fn number(&self, row: usize, column: usize) -> f64 {
        self.text(row, column).trim().parse().unwrap_or(f64::NAN)
    }
}

fn malformed(path: &Path, reason: &dyn Display) -> Error {
    Error::Table { path: path.to_owned(), reason: reason.to_string() }
}
