//! Rows as text.

use crate::{Error, Result, Rows};
use arrow::{
    array::{ArrayRef, RecordBatch, StringArray},
    csv::WriterBuilder,
    json::{self, writer::LineDelimited},
    util::{display::array_value_to_string, pretty::pretty_format_batches},
};
use std::{io, sync::Arc};

/// A table for people.
///
/// # Errors
/// When a value cannot be shown.
pub fn table(rows: &[RecordBatch]) -> Result<String> {
    Ok(pretty_format_batches(rows)?.to_string())
}

/// One JSON object for each row.
///
/// # Errors
/// When a value has no JSON.
pub fn values(rows: &[RecordBatch]) -> Result<Vec<serde_json::Value>> {
    let mut values = Vec::new();
    for batch in rows {
        let text = lines(batch)?;
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        values
            .extend(lines.map(serde_json::from_slice).collect::<std::result::Result<Vec<_>, _>>()?);
    }
    Ok(values)
}

/// One JSON object a line; what is missing is `null`, so that all have the same keys.
fn lines(batch: &RecordBatch) -> Result<Vec<u8>> {
    let builder = json::WriterBuilder::new().with_explicit_nulls(true);
    let mut writer: json::LineDelimitedWriter<_> = builder.build::<_, LineDelimited>(Vec::new());
    writer.write(batch).and_then(|()| writer.finish())?;
    Ok(writer.into_inner())
}

/// Hand on one JSON object a line as text, until `print` answers that nobody reads any more.
///
/// # Errors
/// When the rows break off, or cannot be shown or printed.
pub fn jsonl(rows: &mut Rows, mut print: impl FnMut(&[u8]) -> io::Result<bool>) -> Result<()> {
    for batch in rows {
        if !print(&lines(&batch?)?).map_err(Error::Output)? {
            break;
        }
    }
    Ok(())
}

/// Hand on a header and comma-separated values, lists and structs as text, as [`jsonl`] does.
///
/// # Errors
/// As those of [`jsonl`].
pub fn csv(rows: &mut Rows, mut print: impl FnMut(&[u8]) -> io::Result<bool>) -> Result<()> {
    // The header comes with the first batch, which may be none.
    let empty = RecordBatch::new_empty(rows.schema());
    let mut header = true;
    for batch in std::iter::once(Ok(empty)).chain(rows) {
        let mut text = Vec::new();
        let mut writer = WriterBuilder::new().with_header(header).build(&mut text);
        writer.write(&flattened(&batch?)?)?;
        drop(writer);
        header = false;
        if !print(&text).map_err(Error::Output)? {
            break;
        }
    }
    Ok(())
}

/// A batch whose nested columns are text.
fn flattened(batch: &RecordBatch) -> Result<RecordBatch> {
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let column = match field.data_type().is_nested() {
            false => Arc::clone(column),
            true => {
                let texts: std::result::Result<Vec<String>, _> =
                    (0..column.len()).map(|row| array_value_to_string(column, row)).collect();
                Arc::new(StringArray::from(texts?))
            }
        };
        columns.push((field.name().clone(), column));
    }
    Ok(RecordBatch::try_from_iter(columns)?)
}
