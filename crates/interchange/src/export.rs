//! From a data set to files of others.

use crate::{Error, Result, shape::names_of};
use arrow::{
    array::{
        Array, ArrayRef, AsArray, ListArray, RecordBatch, StringBuilder, StructArray, UInt32Array,
    },
    compute::take,
    csv,
    datatypes::{DataType, Field, Fields, Schema, SchemaRef},
    json::{
        LineDelimitedWriter, WriterBuilder,
        writer::{EncoderOptions, LineDelimited, make_encoder},
    },
};
use dataset::{Dataset, Manifest, new_file};
use std::{
    io::Write,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line with the names of columns, then a record a row.
    Csv,
    /// An object a line.
    Jsonl,
}

/// Write the first `limit` rows of a data set to the new file `to`; returns their number. The file is there whole, or
/// not at all; memory holds a batch of rows.
///
/// # Errors
/// When there is something at `to`, the data set cannot be read, a vector has not as many values as its dimensions have
/// names, or `stop` is raised.
pub fn export_rows(
    dataset: &Dataset,
    format: Format,
    to: &Path,
    limit: u64,
    stop: &AtomicBool,
) -> Result<u64> {
    let columns = dataset.columns()?;
    let mut left = limit;
    let batches = dataset.batches(None)?.map_while(move |batch| match batch {
        _ if left == 0 => None,
        Ok(batch) => {
            let rows = batch.num_rows().min(usize::try_from(left).unwrap_or(usize::MAX));
            left -= rows as u64;
            Some(Ok(batch.slice(0, rows)))
        }
        Err(error) => Some(Err(Error::from(error))),
    });
    let batches = batches.map(|batch| match stop.load(Ordering::Relaxed) {
        true => Err(Error::Stopped),
        false => batch,
    });
    new_file(to, |out| match format {
        Format::Jsonl => write_lines(out, batches),
        Format::Csv => {
            let layout = Layout::of(&columns, dataset.manifest());
            write_table(out, &layout, &columns, batches)
        }
    })
}

fn write_lines(out: impl Write, batches: impl Iterator<Item = Result<RecordBatch>>) -> Result<u64> {
    let mut writer: LineDelimitedWriter<_> =
        WriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(out);
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        rows += batch.num_rows() as u64;
        writer.write(&batch)?;
    }
    writer.finish()?;
    Ok(rows)
}

fn write_table(
    out: impl Write,
    layout: &Layout,
    columns: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<u64> {
    let mut writer = csv::WriterBuilder::new().with_header(true).build(out);
    // The names come with the first batch, which may be none.
    writer.write(&layout.flat(&RecordBatch::new_empty(Arc::clone(columns)), 0)?)?;
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        writer.write(&layout.flat(&batch, rows)?)?;
        rows += batch.num_rows() as u64;
    }
    Ok(rows)
}

/// What becomes of each column of a data set in a table.
struct Layout(Vec<(usize, Way)>);

enum Way {
    /// It stays.
    Same,
    /// A column for each member.
    Members(Fields),
    /// A column for each value of the list.
    Values(Vec<String>),
    /// JSON in a cell.
    Json,
}

impl Layout {
    fn of(columns: &SchemaRef, manifest: &Manifest) -> Layout {
        let configuration = &manifest.notes.configuration;
        let way = |field: &Field| match field.data_type() {
            kind if !kind.is_nested() => Way::Same,
            DataType::Struct(fields) if fields.iter().all(|f| !f.data_type().is_nested()) => {
                Way::Members(fields.clone())
            }
            DataType::List(item) if !item.data_type().is_nested() => {
                names_of(configuration, &manifest.schema, field.name())
                    .map_or(Way::Json, Way::Values)
            }
            _ => Way::Json,
        };
        Layout(columns.fields().iter().map(|field| way(field)).enumerate().collect())
    }

    /// A batch without nested columns; `before` rows came before it.
    fn flat(&self, batch: &RecordBatch, before: u64) -> Result<RecordBatch> {
        let mut fields = Vec::new();
        let mut columns: Vec<ArrayRef> = Vec::new();
        let mut add = |name: String, column: ArrayRef| {
            fields.push(Field::new(name, column.data_type().clone(), true));
            columns.push(column);
        };
        let schema = batch.schema();
        for (at, way) in &self.0 {
            let (field, column) = (&schema.fields()[*at], batch.column(*at));
            let name = field.name();
            match way {
                Way::Same => add(name.clone(), Arc::clone(column)),
                Way::Members(members) => {
                    let all = column.as_struct();
                    for (member, field) in members.iter().enumerate() {
                        add(format!("{name}.{}", field.name()), masked(all, member)?);
                    }
                }
                Way::Values(names) => {
                    let lists = column.as_list::<i32>();
                    if let Some(row) = other_length(lists, names.len()) {
                        let found = lists.value_length(row);
                        let reason = format!(
                            "column `{name}` has {found} values, where _dataset.json names {}",
                            names.len()
                        );
                        let row = before + row as u64 + 1;
                        return Err(Error::row(Path::new("the data set"), row, reason));
                    }
                    for (value, of) in names.iter().enumerate() {
                        add(format!("{name}.{of}"), values_at(lists, value)?);
                    }
                }
                Way::Json => add(name.clone(), as_json(field, column)?),
            }
        }
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
    }
}

/// A member of each object; none where there is no object.
fn masked(all: &StructArray, member: usize) -> Result<ArrayRef> {
    let there = (0..all.len() as u32).map(|row| all.is_valid(row as usize).then_some(row));
    Ok(take(all.column(member), &there.collect::<UInt32Array>(), None)?)
}

/// The first row whose list has neither no value nor as many as there are names.
fn other_length(lists: &ListArray, names: usize) -> Option<usize> {
    (0..lists.len()).find(|row| {
        let length = lists.value_length(*row) as usize;
        lists.is_valid(*row) && length != 0 && length != names
    })
}

/// The value at a place of each list; none where the list has none.
fn values_at(lists: &ListArray, place: usize) -> Result<ArrayRef> {
    let offsets = lists.value_offsets();
    let at = (0..lists.len()).map(|row| {
        let has = lists.is_valid(row) && lists.value_length(row) > 0;
        has.then(|| offsets[row] as u32 + place as u32)
    });
    Ok(take(lists.values(), &at.collect::<UInt32Array>(), None)?)
}

fn as_json(field: &Arc<Field>, column: &ArrayRef) -> Result<ArrayRef> {
    let options = EncoderOptions::default().with_explicit_nulls(true);
    let mut encoder = make_encoder(field, column, &options)?;
    let mut texts = StringBuilder::new();
    let mut text = Vec::new();
    for row in 0..column.len() {
        if encoder.is_null(row) {
            texts.append_null();
            continue;
        }
        text.clear();
        encoder.encode(row, &mut text);
        texts.append_value(String::from_utf8_lossy(&text));
    }
    Ok(Arc::new(texts.finish()))
}
