use crate::{Error, Result};
use arrow::{array::RecordBatch, datatypes::FieldRef};
use serde::{Serialize, de::DeserializeOwned};
use serde_arrow::schema::{SchemaLike, TracingOptions};

/// One row of a data set: a plain struct whose fields are the columns.
///
/// A second struct of the same `SCHEMA` and `VERSION` with fewer fields is a view: reading it reads
/// those columns alone.
///
/// Fields may be numbers, `String`, `bool`, `Option`, `Vec`, structs of these, and what serialises as
/// bytes.
pub trait Row: Serialize + DeserializeOwned {
    /// The schema's name, in `_dataset.json`.
    const SCHEMA: &'static str;
    /// Raised whenever a column is added, renamed or changes its meaning.
    const VERSION: u32;
    /// Rows in one shard at most; fewer where rows are large.
    const SHARD_ROWS: usize = 1 << 16;

    /// The columns.
    ///
    /// # Errors
    /// When the struct has a field that is no column type.
    fn columns() -> Result<Vec<FieldRef>> {
        let options = TracingOptions::default()
            .allow_null_fields(true)
            .strings_as_large_utf8(false)
            .sequence_as_large_list(false)
            .bytes_as_large_binary(false);
        Vec::<FieldRef>::from_type::<Self>(options).map_err(|error| columns_error::<Self>(&error))
    }

    /// Turn rows into columns.
    ///
    /// # Errors
    /// When a value does not fit its column.
    fn to_batch(rows: &[Self]) -> Result<RecordBatch> {
        let columns = Self::columns()?;
        serde_arrow::to_record_batch(&columns, &rows).map_err(|error| columns_error::<Self>(&error))
    }

    /// Turn columns into rows; columns this schema does not know are skipped.
    ///
    /// # Errors
    /// When a column is missing or of another type.
    fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>> {
        serde_arrow::from_record_batch(batch).map_err(|error| columns_error::<Self>(&error))
    }
}

fn columns_error<T: Row>(error: &serde_arrow::Error) -> Error {
    Error::Columns { schema: T::SCHEMA.to_owned(), reason: error.message().to_owned() }
}
