use arrow::{
    array::RecordBatch,
    datatypes::{FieldRef, Schema},
};
use dataset::Result;
use rows::{LabelHead, TaskHead};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A row of schema `task` that [`Label`](crate::Label) makes: the columns that every task has, where the
/// program is from, what it costs by each choice, and its vectors. Names of choices and dimensions are
/// in the manifest's configuration (`choices`, `spaces`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelRow {
    /// All columns but the vectors.
    pub head: LabelHead,
    /// The vectors; its texts repeat those of the head and are no columns.
    pub described: features::Row,
}

impl dataset::Row for LabelRow {
    const SCHEMA: &'static str = <TaskHead as dataset::Row>::SCHEMA;
    const VERSION: u32 = <TaskHead as dataset::Row>::VERSION;

    fn columns() -> Result<Vec<FieldRef>> {
        let vectors = features::Row::columns()?.into_iter().filter(|field| is_vector(field.name()));
        Ok(LabelHead::columns()?.into_iter().chain(vectors).collect())
    }

    fn to_batch(rows: &[Self]) -> Result<RecordBatch> {
        let heads: Vec<LabelHead> = rows.iter().map(|row| row.head.clone()).collect();
        let described: Vec<features::Row> = rows.iter().map(|row| row.described.clone()).collect();
        let (heads, vectors) = (LabelHead::to_batch(&heads)?, features::Row::to_batch(&described)?);
        let mut fields: Vec<FieldRef> = heads.schema().fields().iter().cloned().collect();
        let mut columns = heads.columns().to_vec();
        for (field, column) in vectors.schema().fields().iter().zip(vectors.columns()) {
            if is_vector(field.name()) {
                fields.push(Arc::clone(field));
                columns.push(Arc::clone(column));
            }
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|error| {
            let schema = Self::SCHEMA.to_owned();
            dataset::Error::Columns { schema, reason: error.to_string() }
        })
    }

    fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>> {
        let heads = LabelHead::from_batch(batch)?;
        let vectors = features::Row::vectors_of(batch)?;
        let rows = heads.into_iter().zip(vectors).map(|(head, vectors)| LabelRow {
            described: features::Row { vectors, ..features::Row::default() },
            head,
        });
        Ok(rows.collect())
    }
}

fn is_vector(column: &str) -> bool {
    features::space(column).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::Row as _;

    #[test]
    fn rows_read_back_equal_what_was_written() {
        let mut full = LabelRow {
            head: LabelHead {
                program: "p/a.cl".into(),
                group: "p".into(),
                label: Some("oz".into()),
                costs: vec![Some(3.0), None],
                verdict: "accepted".into(),
                ..LabelHead::default()
            },
            ..LabelRow::default()
        };
        let vectors = [("tokens", 5), ("loops", 157)];
        for (space, count) in vectors {
            let values = (0..count).map(f64::from).collect();
            full.described.vectors.insert(space.to_owned(), values);
        }
        let rows = vec![full, LabelRow::default()];
        let batch = LabelRow::to_batch(&rows).expect("the columns fit");
        assert!(batch.column_by_name("costs").is_some() && batch.column_by_name("loops").is_some());
        assert_eq!(LabelRow::from_batch(&batch).expect("the same columns"), rows);
    }
}
