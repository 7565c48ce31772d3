//! Data sets made under another spelling of one word are read as if they were written in ours.

use arrow::{
    array::{ArrayRef, AsArray, RecordBatch, RecordBatchOptions, StringArray},
    datatypes::{Field, Schema},
};
use std::{borrow::Cow, sync::Arc};

/// How names of columns and words in columns spell it, and how they do in other data sets.
const NOW: &str = "license";
const OTHER: &str = "licence";

/// Columns that hold such words.
const WORDS: [&str; 2] = ["kind", "verdict"];

/// The other spelling of a column's name.
pub(crate) fn other(column: &str) -> String {
    match column.contains(NOW) {
        true => column.replacen(NOW, OTHER, 1),
        false => column.replacen(OTHER, NOW, 1),
    }
}

/// A word in our spelling.
pub(crate) fn ours(word: &str) -> Cow<'_, str> {
    match word.strip_prefix(OTHER) {
        Some(rest) => Cow::Owned(format!("{NOW}{rest}")),
        None => Cow::Borrowed(word),
    }
}

/// The same rows with words in our spelling, and with the names of columns that were `asked` for.
pub(crate) fn respelled(batch: RecordBatch, asked: &[String]) -> RecordBatch {
    let is_ours = |word: &str| matches!(ours(word), Cow::Borrowed(_));
    let schema = batch.schema();
    let respell = |(field, array): (&Arc<Field>, &ArrayRef)| -> (Arc<Field>, ArrayRef) {
        let name = other(field.name());
        let is_asked = |name: &String| asked.contains(name);
        let field = match is_asked(&name) && !is_asked(field.name()) {
            true => Arc::new(field.as_ref().clone().with_name(name)),
            false => Arc::clone(field),
        };
        let words = array.as_string_opt::<i32>().filter(|_| WORDS.contains(&field.name().as_str()));
        let array = match words {
            Some(words) if !words.iter().flatten().all(is_ours) => {
                Arc::new(words.iter().map(|word| word.map(ours)).collect::<StringArray>())
            }
            _ => Arc::clone(array),
        };
        (field, array)
    };
    let (fields, arrays): (Vec<_>, Vec<_>) =
        schema.fields().iter().zip(batch.columns()).map(respell).unzip();
    let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    // A reader may ask for rows without any of their columns.
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema, arrays, &options)
        .expect("the same columns under other names")
}

#[cfg(test)]
mod tests {
    use super::{NOW, OTHER};
    use crate::{Row, write_shard};
    use serde::{Deserialize, Serialize};

    macro_rules! rows {
        ($($name:ident: $column:ident),*) => {
            $(
                #[derive(Serialize, Deserialize, Debug, PartialEq)]
                struct $name {
                    kind: String,
                    $column: String,
                }

                impl Row for $name {
                    const SCHEMA: &'static str = "spelled";
                    const VERSION: u32 = 1;
                }
            )*
        };
    }
    rows!(British: licence, American: license);

    #[test]
    fn a_column_and_a_word_in_the_other_spelling_are_read_as_ours() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let read = || -> (String, String) {
            let files = vec![file.path().to_owned()];
            let mut rows = crate::reader::rows_of::<American>(files);
            let American { kind, license } = rows.next().expect("a row").expect("is read");
            (kind, license)
        };
        let (mit, text) = (|| "MIT".to_owned(), format!("{NOW}-text"));
        let other = || format!("{OTHER}-text");
        let rows = [Ok(British { kind: other(), licence: mit() })];
        write_shard(file.path(), rows.into_iter()).expect("is written");
        assert_eq!(read(), (text.clone(), mit()));
        let rows = [Ok(American { kind: other(), license: mit() })];
        write_shard(file.path(), rows.into_iter()).expect("is written");
        assert_eq!(read(), (text, mit()));
    }
}
