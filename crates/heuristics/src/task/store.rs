//! Tasks as data sets of schema `task` and as CSV: flat columns, so that any reader can use them.

use crate::{Error, Result, Row, Task, task::cheapest};
use arrow::{
    array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray},
    datatypes::{DataType, Field, Schema},
};
use dataset::{Dataset, Notes, Row as _};
use rows::{COST, TaskHead};
use std::{io::Write, path::Path, sync::Arc};

pub(super) const SCHEMA: &str = TaskHead::SCHEMA;
pub(super) const VERSION: u32 = TaskHead::VERSION;
/// The columns that are neither feature nor cost.
const TEXTS: [&str; 4] = ["program", "variant", "group", "label"];

/// What a row has in a column of text.
type Text<'a> = &'a dyn Fn(&Row) -> Option<String>;

impl Task {
    /// Write the task as a data set: `program`, `variant`, `group` and `label` (the cheapest
    /// choice; null where unmeasured), one column per feature by its name, and `cost_CHOICE` per
    /// choice.
    ///
    /// # Errors
    /// When a feature is named like another column, or the data set cannot be written.
    pub fn save(&self, out: &Path, force: bool, notes: Notes) -> Result<Dataset> {
        let batch = self.batch()?;
        Ok(dataset::write_flat(out, force, (SCHEMA, VERSION), &[batch], notes)?)
    }

    /// Whether `folder` holds a data set of schema `task`.
    #[must_use]
    pub fn is_at(folder: &Path) -> bool {
        Dataset::is_at(folder)
            && Dataset::open(folder).is_ok_and(|found| found.manifest().schema == SCHEMA)
    }

    /// Read a data set of schema `task`. Every double-precision column that is no cost is a
    /// feature; columns of other types are skipped. Of a data set that `label --task` made, the lists
    /// are read ([`Table`](crate::Table)), and rows without vectors are left out.
    ///
    /// # Errors
    /// When it is of another schema, of a later version, lacks a column, or holds values that no
    /// task has (NaN or infinite features, costs that are not positive).
    pub fn load(folder: &Path) -> Result<Task> {
        Ok(crate::Table::load(folder)?.task)
    }

    /// Write the same columns as CSV.
    ///
    /// # Errors
    /// When a feature is named like another column, or `out` cannot be written.
    pub fn write_csv(&self, out: impl Write) -> Result<()> {
        let batch = self.batch()?;
        arrow::csv::Writer::new(out).write(&batch).map_err(|error| dataset_error(&error))
    }

    fn batch(&self) -> Result<RecordBatch> {
        let taken = |name: &&String| {
            TEXTS.contains(&name.as_str())
                || name.starts_with(COST)
                || self.features.iter().filter(|other| other == name).count() > 1
        };
        if let Some(name) = self.features.iter().find(taken) {
            return Err(Error::TakenName(name.clone()));
        }
        let mut fields = Vec::new();
        let mut columns: Vec<ArrayRef> = Vec::new();
        let texts: [Text<'_>; 4] = [
            &|row| Some(row.program.clone()),
            &|row| Some(row.variant.clone()),
            &|row| Some(row.group.clone()),
            &|row| row.measured().then(|| self.choices[row.label].clone()),
        ];
        for (name, text) in TEXTS.into_iter().zip(texts) {
            fields.push(Field::new(name, DataType::Utf8, name == "label"));
            columns.push(Arc::new(self.rows.iter().map(text).collect::<StringArray>()));
        }
        for (place, name) in self.features.iter().enumerate() {
            fields.push(Field::new(name, DataType::Float64, false));
            let values = self.rows.iter().map(|row| row.features[place]);
            columns.push(Arc::new(Float64Array::from_iter_values(values)));
        }
        for (place, name) in self.choices.iter().enumerate() {
            fields.push(Field::new(format!("{COST}{name}"), DataType::Float64, true));
            let values = self.rows.iter().map(|row| row.costs.get(place).copied());
            columns.push(Arc::new(values.collect::<Float64Array>()));
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
            .map_err(|error| dataset_error(&error))
    }
}

/// A batch whose features and costs are columns of their own.
pub(super) fn from_batch(folder: &Path, batch: &RecordBatch) -> Result<Task> {
    let bad = |reason: String| Error::Table { path: folder.to_owned(), reason };
    let schema = batch.schema();
    let text = |name: &str| {
        let column = batch.column_by_name(name).ok_or_else(|| Error::MissingColumn {
            table: folder.display().to_string(),
            column: name.to_owned(),
            found: schema.fields().iter().map(|field| field.name().clone()).collect(),
        })?;
        let column = column.as_any().downcast_ref::<StringArray>();
        column.ok_or_else(|| bad(format!("column `{name}` holds no text")))
    };
    let [program, variant, group, label] =
        [text("program")?, text("variant")?, text("group")?, text("label")?];
    let numbers = schema.fields().iter().zip(batch.columns()).filter_map(|(field, column)| {
        let values = column.as_any().downcast_ref::<Float64Array>()?;
        Some((field.name().as_str(), values))
    });
    let (costs, features): (Vec<_>, Vec<_>) = numbers.partition(|(name, _)| name.starts_with(COST));
    let mut task = Task {
        features: features.iter().map(|(name, _)| (*name).to_owned()).collect(),
        choices: costs.iter().map(|(name, _)| name[COST.len()..].to_owned()).collect(),
        rows: Vec::with_capacity(batch.num_rows()),
    };
    for at in 0..batch.num_rows() {
        let values: Vec<f64> = features.iter().map(|(_, column)| column.value(at)).collect();
        let absent = |place: usize| features[place].1.is_null(at);
        let bad_at = (0..values.len()).find(|&place| absent(place) || !values[place].is_finite());
        if let Some(place) = bad_at {
            let value = if absent(place) { "null".to_owned() } else { values[place].to_string() };
            return Err(bad(format!("row {at}: `{}` is {value}", task.features[place])));
        }
        let measured = costs.iter().all(|(_, column)| column.is_valid(at));
        let paid: Vec<f64> = match measured {
            true => costs.iter().map(|(_, column)| column.value(at)).collect(),
            false => Vec::new(),
        };
        if let Some(place) = paid.iter().position(|cost| !(cost.is_finite() && *cost > 0.0)) {
            return Err(bad(format!(
                "row {at}: cost of `{}` is {}",
                task.choices[place], paid[place]
            )));
        }
        let stated = label.is_valid(at).then(|| label.value(at));
        let stated = stated.and_then(|name| task.choices.iter().position(|choice| choice == name));
        let best = cheapest(&paid);
        task.rows.push(Row {
            program: program.value(at).to_owned(),
            variant: variant.value(at).to_owned(),
            group: group.value(at).to_owned(),
            features: values,
            // Of choices that cost the same the stated one is kept.
            label: stated.filter(|&place| paid.get(place) == paid.get(best)).unwrap_or(best),
            costs: paid,
        });
    }
    Ok(task)
}

fn dataset_error(error: &arrow::error::ArrowError) -> Error {
    Error::Dataset(dataset::Error::Columns { schema: SCHEMA.to_owned(), reason: error.to_string() })
}
