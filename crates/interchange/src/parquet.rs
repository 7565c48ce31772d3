//! Parquet of anybody: columns of like types become ours.

use crate::{
    Error, Result,
    cell::said,
    shape::{Asked, Shape},
};
use arrow::{
    array::{
        Array, ArrayRef, AsArray, BooleanArray, Float64Array, RecordBatch, StringArray,
        new_null_array,
    },
    compute::{CastOptions, cast_with_options, nullif},
    datatypes::{DataType, Field, Float64Type, Schema},
    json::ReaderBuilder,
    util::display::FormatOptions,
};
use dataset::Streamed;
use std::{path::Path, sync::Arc};

/// The rows of a Parquet file, their columns as the shape of the first file has them.
pub(crate) fn batches<'a>(
    path: &'a Path,
    shape: &'a Shape,
    asked: Asked<'a>,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<'a>> {
    let found = columns(path, asked)?;
    let own = Shape::of(&found, Asked { schema: Some(shape.schema), ..asked })
        .map_err(|reason| Error::whole(path, reason))?;
    let mut before = 0;
    Ok(dataset::shard_batches(path, None)?.map(move |batch| {
        let batch = batch?;
        let made = shaped(&batch, shape, (&own, asked), path, before)?;
        before += batch.num_rows() as u64;
        Ok(made)
    }))
}

/// The names of a file's columns.
pub(crate) fn columns(path: &Path, asked: Asked<'_>) -> Result<Vec<String>> {
    let schema = dataset::shard_columns(path)?;
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    asked.ours(&names).map_err(|reason| Error::whole(path, reason))
}

fn shaped(
    batch: &RecordBatch,
    shape: &Shape,
    (own, asked): (&Shape, Asked<'_>),
    path: &Path,
    before: u64,
) -> Result<RecordBatch> {
    let mut columns = Vec::new();
    for field in &shape.fields {
        let name = field.name();
        let column = match batch.column_by_name(asked.theirs(name)) {
            Some(column) => {
                let column = column_as(column, field)
                    .map_err(|reason| Error::whole(path, format!("column `{name}`: {reason}")))?;
                if let (false, Some(row)) = (field.is_nullable(), first_null(&column)) {
                    let reason = format!("column `{name}` has no value");
                    return Err(Error::row(path, before + row + 1, reason));
                }
                column
            }
            None => {
                let texts = batch.column_by_name(asked.theirs("text"));
                absent(batch.num_rows(), texts, field, own.absent.get(name).copied().flatten())?
            }
        };
        columns.push(column);
    }
    let schema = Arc::new(Schema::new(shape.fields.clone()));
    Ok(RecordBatch::try_new(schema, columns)?)
}

fn first_null(column: &ArrayRef) -> Option<u64> {
    (0..column.len()).find(|row| column.is_null(*row)).map(|row| row as u64)
}

/// A column that the file lacks.
fn absent(
    rows: usize,
    texts: Option<&ArrayRef>,
    field: &Field,
    stands: Option<&str>,
) -> Result<ArrayRef> {
    let text = Field::new("text", DataType::Utf8, true);
    let texts = texts.and_then(|texts| column_as(texts, &text).ok());
    match (stands, texts.as_ref().and_then(|texts| texts.as_string_opt::<i32>())) {
        (None, _) => Ok(new_null_array(field.data_type(), rows)),
        (Some(_), Some(texts)) if field.name() == "id" => {
            let hash =
                |text: Option<&str>| dataset::content_hash(text.unwrap_or_default().as_bytes());
            Ok(Arc::new(StringArray::from_iter_values(texts.iter().map(hash))))
        }
        (Some(value), _) => {
            let schema = Arc::new(Schema::new(vec![field.clone()]));
            let mut decoder =
                ReaderBuilder::new(schema).with_batch_size(rows.max(1)).build_decoder()?;
            let line = format!("{{{}:{value}}}\n", crate::cell::quoted(field.name()));
            decoder.decode(line.repeat(rows).as_bytes())?;
            let made = decoder.flush()?;
            Ok(made.map_or_else(
                || new_null_array(field.data_type(), 0),
                |made| made.column(0).clone(),
            ))
        }
    }
}

/// What types of one kind are converted into each other, as no value changes.
#[derive(PartialEq, Eq, Debug)]
enum Class {
    Text,
    Bytes,
    Bool,
    Whole,
    Double,
    List(Box<Class>),
    Object(Vec<(String, Class)>),
    Nothing,
    Other,
}

fn class(kind: &DataType) -> Class {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Class::Text,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Class::Bytes,
        DataType::Boolean => Class::Bool,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Class::Double,
        DataType::Null => Class::Nothing,
        DataType::Dictionary(_, value) => class(value),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::FixedSizeList(item, _) => Class::List(Box::new(class(item.data_type()))),
        DataType::Struct(fields) => {
            let member = |field: &Arc<Field>| (field.name().clone(), class(field.data_type()));
            Class::Object(fields.iter().map(member).collect())
        }
        kind if kind.is_integer() => Class::Whole,
        _ => Class::Other,
    }
}

/// A column as one of the type of `field`, with the same values; or why it cannot be.
fn column_as(column: &ArrayRef, field: &Field) -> Result<ArrayRef, String> {
    let (from, to) = (column.data_type(), field.data_type());
    if from == to {
        return Ok(Arc::clone(column));
    }
    let wrong = || format!("it is of type {from}, where the schema wants {}", said(to));
    let cast = |column: &dyn Array| {
        let options = CastOptions { safe: false, format_options: FormatOptions::default() };
        cast_with_options(column, to, &options).map_err(|error| error.to_string())
    };
    match (class(from), class(to)) {
        (Class::Double, Class::Whole) => {
            // Whole numbers of which some are missing are doubles in pandas.
            let options = CastOptions { safe: false, format_options: FormatOptions::default() };
            let doubles = cast_with_options(column, &DataType::Float64, &options)
                .map_err(|error| error.to_string())?;
            let doubles = doubles.as_primitive::<Float64Type>();
            if let Some(other) = doubles.iter().flatten().find(|v| !v.is_nan() && v.fract() != 0.0)
            {
                return Err(format!("{other} is not {}", said(to)));
            }
            let missing: BooleanArray =
                doubles.iter().map(|value| Some(value.is_none_or(f64::is_nan))).collect();
            let whole: Float64Array = doubles
                .iter()
                .map(|value| Some(value.filter(|v| !v.is_nan()).unwrap_or(0.0)))
                .collect();
            let whole = cast(&whole)?;
            nullif(&whole, &missing).map_err(|error| error.to_string())
        }
        (Class::Whole, Class::Double) | (Class::Nothing, _) => cast(column),
        (Class::Other, _) => Err(wrong()),
        (from, to) if from == to => cast(column),
        // Lists without a value.
        (Class::List(item), Class::List(_)) if *item == Class::Nothing => cast(column),
        (Class::List(from), Class::List(to)) if *from == Class::Whole && *to == Class::Double => {
            cast(column)
        }
        _ => Err(wrong()),
    }
}

/// An error of a data set's making, or of what it is made of.
pub(crate) fn flat(error: Streamed<Error>) -> Error {
    match error {
        Streamed::Dataset(error) => error.into(),
        Streamed::Batch(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int64Array, LargeStringArray, UInt64Array};

    fn as_of(column: ArrayRef, kind: DataType) -> Result<ArrayRef, String> {
        column_as(&column, &Field::new("x", kind, true))
    }

    #[test]
    fn like_types_are_converted_and_others_refused() {
        let texts = as_of(Arc::new(LargeStringArray::from(vec!["a"])), DataType::Utf8);
        assert_eq!(texts.expect("text").as_string::<i32>().value(0), "a");
        let whole = as_of(Arc::new(Float64Array::from(vec![2.0, f64::NAN])), DataType::UInt64);
        let wanted: ArrayRef = Arc::new(UInt64Array::from(vec![Some(2), None]));
        assert_eq!(&whole.expect("whole numbers"), &wanted);
        for (column, kind) in [
            (Arc::new(Float64Array::from(vec![2.5])) as ArrayRef, DataType::UInt64),
            (Arc::new(Int64Array::from(vec![-1])), DataType::UInt64),
            (Arc::new(Int64Array::from(vec![1])), DataType::Utf8),
            (Arc::new(StringArray::from(vec!["1"])), DataType::UInt64),
        ] {
            assert!(as_of(Arc::clone(&column), kind.clone()).is_err(), "{column:?} as {kind}");
        }
    }
}
