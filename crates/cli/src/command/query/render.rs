//! Rows as text.

use super::helper::Rows;
use anyhow::Context;
use arrow::{
    array::{ArrayRef, RecordBatch, StringArray},
    csv::WriterBuilder,
    error::ArrowError,
    util::{display::array_value_to_string, pretty::pretty_format_batches},
};
use std::{
    io::{ErrorKind, IsTerminal, Write},
    sync::Arc,
};

/// A table for people.
pub(super) fn table(rows: &[RecordBatch]) -> anyhow::Result<String> {
    Ok(pretty_format_batches(rows).map_err(unprintable)?.to_string())
}

/// One JSON object for each row.
pub(super) fn values(rows: &[RecordBatch]) -> anyhow::Result<Vec<serde_json::Value>> {
    let mut values = Vec::new();
    for batch in rows {
        let mut writer = arrow::json::LineDelimitedWriter::new(Vec::new());
        writer.write(batch).and_then(|()| writer.finish()).map_err(unprintable)?;
        let text = writer.into_inner();
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        values.extend(lines.map(serde_json::from_slice).collect::<Result<Vec<_>, _>>()?);
    }
    Ok(values)
}

/// Print one JSON object a line.
pub(super) fn jsonl(rows: &mut Rows) -> anyhow::Result<()> {
    for batch in rows {
        let mut writer = arrow::json::LineDelimitedWriter::new(Vec::new());
        writer.write(&batch?).and_then(|()| writer.finish()).map_err(unprintable)?;
        if !print(&writer.into_inner())? {
            break;
        }
    }
    Ok(())
}

/// Print a header and comma-separated values; lists and structs are text.
pub(super) fn csv(rows: &mut Rows) -> anyhow::Result<()> {
    // The header comes with the first batch, which may be none.
    let empty = RecordBatch::new_empty(rows.schema());
    let mut header = true;
    for batch in std::iter::once(Ok(empty)).chain(rows) {
        let mut text = Vec::new();
        let mut writer = WriterBuilder::new().with_header(header).build(&mut text);
        writer.write(&flattened(&batch?)?).map_err(unprintable)?;
        drop(writer);
        header = false;
        if !print(&text)? {
            break;
        }
    }
    Ok(())
}

fn unprintable(error: ArrowError) -> anyhow::Error {
    anyhow::anyhow!("cannot print rows: {error}")
}

/// Print; false where the reader has gone away (`| head`).
fn print(text: &[u8]) -> anyhow::Result<bool> {
    let mut out = std::io::stdout().lock();
    // Programs get rows as they are; a person's terminal is not to be steered by them.
    let words = out.is_terminal().then(|| String::from_utf8_lossy(text).into_owned());
    let plain = words.as_deref().map(crate::output::plain);
    let text = plain.as_deref().map_or(text, str::as_bytes);
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true).context("cannot write to standard output"),
    }
}

/// A batch whose nested columns are text.
fn flattened(batch: &RecordBatch) -> anyhow::Result<RecordBatch> {
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let column = match field.data_type().is_nested() {
            false => Arc::clone(column),
            true => {
                let texts: Result<Vec<String>, _> =
                    (0..column.len()).map(|row| array_value_to_string(column, row)).collect();
                Arc::new(StringArray::from(texts.map_err(unprintable)?))
            }
        };
        columns.push((field.name().clone(), column));
    }
    RecordBatch::try_from_iter(columns).map_err(unprintable)
}
