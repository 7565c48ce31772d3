use crate::space::{ALL, FeatureSpace, Vector};
use arrow::{
    array::{
        Array, ArrayRef, AsArray, Float64Array, Float64Builder, ListBuilder, RecordBatch,
        StringArray, StructArray,
    },
    buffer::NullBuffer,
    datatypes::{DataType, Field, FieldRef, Fields, Float64Type, Schema},
};
use dataset::{Error, Result, Verdict};
use rows::FeaturesHead;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, sync::Arc};

/// What the spaces say of one kernel, or why they say nothing: a row of schema `features`.
///
/// Its columns are `id, path, name, kernel, verdict, detail` and one per registered space: a struct of
/// named values for spaces of few dimensions, a list in the space's order for the others, null
/// where there is no vector.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Identity of the program: the hash of its content.
    pub id: String,
    /// Path of the program as its data set or folder has it.
    pub path: String,
    /// What the program is called: a kernel's name in the file where it was found, if that is known; empty for files.
    pub name: String,
    /// The kernel or function; empty where the vectors are of a program without one.
    pub kernel: String,
    /// `accepted`, or why there is no vector at all.
    pub verdict: String,
    /// What goes with the verdict; for an accepted row, which spaces have no vector and why.
    pub detail: String,
    /// The vectors by name of their space.
    pub vectors: BTreeMap<String, Vector>,
}

const TEXTS: [&str; 6] = ["id", "path", "name", "kernel", "verdict", "detail"];

impl Row {
    /// Whether it has any vector.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.verdict == Verdict::ACCEPTED
    }

    /// It as one line of `--format jsonl`, with the named spaces (null where there is no vector);
    /// `{path, verdict, detail}` where it was rejected.
    #[must_use]
    pub fn to_json(&self, spaces: &[&dyn FeatureSpace]) -> Value {
        let mut object = Map::new();
        object.insert("path".into(), self.path.clone().into());
        if !self.name.is_empty() {
            object.insert("name".into(), self.name.clone().into());
        }
        if !self.is_accepted() {
            object.insert("verdict".into(), self.verdict.clone().into());
            object.insert("detail".into(), self.detail.clone().into());
            return Value::Object(object);
        }
        object.insert("kernel".into(), self.kernel.clone().into());
        for space in spaces {
            let vector = self.vectors.get(space.name());
            let value = vector.map_or(Value::Null, |vector| vector_to_json(*space, vector));
            object.insert(space.name().into(), value);
        }
        Value::Object(object)
    }
}

/// A vector as JSON: an object with the names of its dimensions.
fn vector_to_json(space: &dyn FeatureSpace, vector: &[f64]) -> Value {
    let names = space.dimensions().into_iter().map(str::to_owned);
    Value::Object(names.zip(vector.iter().copied().map(number)).collect())
}

/// Counts without a fraction.
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}

impl dataset::Row for Row {
    const SCHEMA: &'static str = FeaturesHead::SCHEMA;
    const VERSION: u32 = FeaturesHead::VERSION;

    fn columns() -> Result<Vec<FieldRef>> {
        let texts = TEXTS.iter().map(|name| Arc::new(Field::new(*name, DataType::Utf8, false)));
        let vectors =
            ALL.iter().map(|space| Arc::new(Field::new(space.name(), column_type(*space), true)));
        Ok(texts.chain(vectors).collect())
    }

    fn to_batch(rows: &[Self]) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = Vec::new();
        let texts: [fn(&Row) -> &str; 6] = [
            |row| &row.id,
            |row| &row.path,
            |row| &row.name,
            |row| &row.kernel,
            |row| &row.verdict,
            |row| &row.detail,
        ];
        for text in texts {
            columns.push(Arc::new(StringArray::from_iter_values(rows.iter().map(text))));
        }
        for space in ALL {
            let vectors = rows.iter().map(|row| row.vectors.get(space.name()));
            columns.push(column(space, vectors.collect()));
        }
        let schema = Arc::new(Schema::new(Self::columns()?));
        RecordBatch::try_new(schema, columns).map_err(|error| broken(&error.to_string()))
    }

    fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>> {
        let mut rows = vec![Row::default(); batch.num_rows()];
        for name in TEXTS {
            let column =
                batch.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
            let column = column.ok_or_else(|| broken(&format!("column `{name}` is missing")))?;
            for (row, text) in rows.iter_mut().zip(column) {
                let place = match name {
                    "id" => &mut row.id,
                    "path" => &mut row.path,
                    "name" => &mut row.name,
                    "kernel" => &mut row.kernel,
                    "verdict" => &mut row.verdict,
                    _ => &mut row.detail,
                };
                text.unwrap_or_default().clone_into(place);
            }
        }
        for (row, vectors) in rows.iter_mut().zip(Row::vectors_of(batch)?) {
            row.vectors = vectors;
        }
        Ok(rows)
    }
}

impl Row {
    /// The vectors in each row of a batch, whatever other columns it has.
    ///
    /// # Errors
    /// When a column that is named like a space holds something else.
    pub fn vectors_of(batch: &RecordBatch) -> Result<Vec<BTreeMap<String, Vector>>> {
        let mut all = vec![BTreeMap::new(); batch.num_rows()];
        for space in ALL {
            let Some(column) = batch.column_by_name(space.name()) else { continue };
            for (index, vectors) in all.iter_mut().enumerate() {
                if let Some(vector) = vector_at(space, column, index)? {
                    vectors.insert(space.name().to_owned(), vector);
                }
            }
        }
        Ok(all)
    }
}

fn broken(reason: &str) -> Error {
    Error::Columns { schema: <Row as dataset::Row>::SCHEMA.to_owned(), reason: reason.to_owned() }
}

fn item() -> FieldRef {
    Arc::new(Field::new("item", DataType::Float64, true))
}

fn column_type(space: &dyn FeatureSpace) -> DataType {
    if space.is_named() { DataType::Struct(members(space)) } else { DataType::List(item()) }
}

fn members(space: &dyn FeatureSpace) -> Fields {
    let names = space.dimensions().into_iter();
    names.map(|name| Arc::new(Field::new(name, DataType::Float64, true))).collect()
}

fn column(space: &dyn FeatureSpace, vectors: Vec<Option<&Vector>>) -> ArrayRef {
    if space.is_named() {
        let values = (0..space.dimensions().len()).map(|dimension| {
            let values =
                vectors.iter().map(|vector| vector.and_then(|v| v.get(dimension).copied()));
            Arc::new(values.collect::<Float64Array>()) as ArrayRef
        });
        let there: NullBuffer = vectors.iter().map(Option::is_some).collect();
        Arc::new(StructArray::new(members(space), values.collect(), Some(there)))
    } else {
        let mut lists = ListBuilder::new(Float64Builder::new()).with_field(item());
        for vector in vectors {
            lists.append_option(vector.map(|vector| vector.iter().copied().map(Some)));
        }
        Arc::new(lists.finish())
    }
}

fn vector_at(space: &dyn FeatureSpace, column: &ArrayRef, row: usize) -> Result<Option<Vector>> {
    if column.is_null(row) {
        return Ok(None);
    }
    let wrong = || broken(&format!("column `{}` holds no vectors", space.name()));
    if let Some(lists) = column.as_list_opt::<i32>() {
        let list = lists.value(row);
        let values = list.as_primitive_opt::<Float64Type>().ok_or_else(wrong)?;
        return Ok(Some(values.values().to_vec()));
    }
    let members = column.as_struct_opt().ok_or_else(wrong)?;
    let value = |name: &str| {
        let member = members.column_by_name(name)?.as_primitive_opt::<Float64Type>()?;
        Some(member.value(row))
    };
    let vector: Option<Vector> = space.dimensions().into_iter().map(value).collect();
    vector.map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::Row as _;

    #[test]
    fn rows_read_back_equal_what_was_written() {
        let vectors = ALL.iter().map(|space| {
            let values = (0..space.dimensions().len()).map(|i| i as f64 / 4.0).collect();
            (space.name().to_owned(), values)
        });
        let full = Row {
            id: "1".into(),
            path: "a.cl".into(),
            name: "named".into(),
            kernel: "A".into(),
            verdict: Verdict::ACCEPTED.into(),
            detail: "as it should be".into(),
            vectors: vectors.collect(),
        };
        let bare = Row { path: "b.cl".into(), verdict: "crash".into(), ..Row::default() };
        let rows = vec![full, bare];
        let batch = Row::to_batch(&rows).expect("the columns fit");
        assert_eq!(Row::from_batch(&batch).expect("the same columns"), rows);
    }

    #[test]
    fn few_dimensions_are_shown_by_name_and_many_as_a_list() {
        let spaces = crate::spaces("grewe,instcount").expect("both are registered");
        let mut row = Row { verdict: Verdict::ACCEPTED.into(), ..Row::default() };
        row.vectors.insert("grewe".into(), vec![1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.5]);
        let json = row.to_json(&spaces);
        assert_eq!(json["grewe"]["comp"], 1);
        assert_eq!(json["grewe"]["F4:comp/mem"], 0.5);
        assert_eq!(json["instcount"], Value::Null);
    }

    #[test]
    fn counts_are_whole_as_long_as_they_are_exact() {
        let exact = 2_f64.powi(53);
        for (value, whole) in
            [(0.0, true), (-3.0, true), (0.5, false), (exact - 1.0, true), (exact, false)]
        {
            assert_eq!(number(value).is_i64(), whole, "{value}");
            assert_eq!(number(value).as_f64(), Some(value));
        }
    }

    #[test]
    fn a_column_of_something_else_is_an_error_with_its_name() {
        let wrong: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
        for name in ["grewe", "instcount"] {
            let batch = RecordBatch::try_from_iter([(name, Arc::clone(&wrong))]).expect("a column");
            let error = Row::vectors_of(&batch).expect_err("no vectors").to_string();
            assert!(error.contains(name), "{error}");
        }
        let other = RecordBatch::try_from_iter([("id", wrong)]).expect("a column");
        assert!(Row::from_batch(&other).expect_err("no text").to_string().contains("id"));
    }
}
