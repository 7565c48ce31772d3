//! ComPile's published files: Parquet whose columns are bitcode, its license, where it is from and its language, as the
//! paper (Grossman et al., 2023, section 4) and the data set `llvm-ml/ComPile` on Hugging Face have them.

use crate::{Error, Module};
use arrow::{
    array::{Array, ArrayRef, AsArray, RecordBatch},
    compute::cast,
    datatypes::{DataType, Field, SchemaRef},
};
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ParquetRecordBatchReaderBuilder, RowSelection, RowSelector},
    },
    file::metadata::RowGroupMetaData,
};
use serde::{Deserialize, Serialize};
use std::{fs::File, ops::Range, path::Path, sync::Arc};

/// The columns, and what they hold.
const COLUMNS: [(&str, Kind); 6] = [
    ("content", Kind::Bytes),
    ("license_expression", Kind::Text),
    ("license_source", Kind::Text),
    ("license_files", Kind::Texts),
    ("package_source", Kind::Text),
    ("language", Kind::Text),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bytes,
    Text,
    Texts,
}

/// Bytes of a column's values that are held together, by what the file says of its size.
const TOGETHER: i64 = 32 << 20;
/// Rows that are held together at most.
const ROWS: usize = 256;
/// A group of rows is read in no more pieces: what lies before a piece is read again for it.
const PIECES: usize = 16;

/// Some rows of one group of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Piece {
    /// The group.
    group: usize,
    /// Its rows, counted within the group.
    rows: Range<usize>,
    /// The number of the first of them in the file, from 0.
    pub(super) first: usize,
}

/// The pieces of a file with ComPile's columns; `None` where it is another file, and the user did not name it.
pub(super) fn pieces(path: &Path, is_named: bool) -> Result<Option<Vec<Piece>>, Error> {
    let file = File::open(path).map_err(Error::file("read", path))?;
    let builder = match ParquetRecordBatchReaderBuilder::try_new(file) {
        Ok(builder) => builder,
        Err(_) if !is_named => return Ok(None),
        Err(error) => return Err(Error::format(path, format!("no Parquet file: {error}"))),
    };
    if let Some(reason) = lacks(builder.schema()) {
        return if is_named { Err(Error::format(path, reason)) } else { Ok(None) };
    }
    let mut pieces = Vec::new();
    let mut first = 0;
    for (group, about) in builder.metadata().row_groups().iter().enumerate() {
        let rows = usize::try_from(about.num_rows()).unwrap_or_default();
        let step = step(about, rows);
        for start in (0..rows).step_by(step) {
            let rows = start..rows.min(start.saturating_add(step));
            pieces.push(Piece { group, first: start.saturating_add(first), rows });
        }
        first = rows.saturating_add(first);
    }
    Ok(Some(pieces))
}

/// Rows of a group that are read together.
fn step(about: &RowGroupMetaData, rows: usize) -> usize {
    let by_bytes = TOGETHER.saturating_mul(rows as i64) / about.total_byte_size().max(1);
    let by_bytes = usize::try_from(by_bytes).unwrap_or(ROWS);
    by_bytes.min(ROWS).max(rows.div_ceil(PIECES)).max(1)
}

/// What a file lacks to be one of ComPile's.
fn lacks(schema: &SchemaRef) -> Option<String> {
    let missing: Vec<&str> = COLUMNS
        .iter()
        .filter(|(name, _)| schema.column_with_name(name).is_none())
        .map(|(name, _)| *name)
        .collect();
    if !missing.is_empty() {
        let here: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        return Some(format!(
            "it has no column {}: ComPile's columns are {}; there are {}",
            missing.join(", "),
            COLUMNS.map(|(name, _)| name).join(", "),
            here.join(", ")
        ));
    }
    COLUMNS.iter().find_map(|(name, kind)| {
        let (_, field) = schema.column_with_name(name)?;
        (!holds(*kind, field.data_type()))
            .then(|| format!("its column {name} holds {}", field.data_type()))
    })
}

fn holds(kind: Kind, found: &DataType) -> bool {
    match (kind, found) {
        (kind, DataType::Dictionary(_, value)) => holds(kind, value),
        (Kind::Bytes, DataType::Binary | DataType::LargeBinary | DataType::BinaryView) => true,
        (Kind::Text, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => true,
        (Kind::Text, DataType::Null) => true,
        (Kind::Texts, DataType::List(of) | DataType::LargeList(of)) => {
            holds(Kind::Text, of.data_type())
        }
        _ => false,
    }
}

/// The rows of a piece, `name` before their numbers; of a row without bitcode the content is empty.
pub(super) fn read(path: &Path, name: &str, piece: &Piece) -> Result<Vec<Module>, Error> {
    let unreadable = |error: &dyn std::fmt::Display| Error::format(path, error);
    let file = File::open(path).map_err(Error::file("read", path))?;
    let builder =
        ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| unreadable(&error))?;
    let columns = COLUMNS.map(|(name, _)| name);
    let mask = ProjectionMask::columns(builder.parquet_schema(), columns);
    let selection = RowSelection::from(vec![
        RowSelector::skip(piece.rows.start),
        RowSelector::select(piece.rows.len()),
    ]);
    let batches = builder
        .with_projection(mask)
        .with_row_groups(vec![piece.group])
        .with_row_selection(selection)
        .with_batch_size(piece.rows.len().clamp(1, ROWS))
        .build()
        .map_err(|error| unreadable(&error))?;
    let mut rows = Vec::new();
    for batch in batches {
        let batch = batch.map_err(|error| unreadable(&error))?;
        let mut found = modules(&batch).map_err(|error| unreadable(&error))?;
        for row in &mut found {
            row.path = format!("{name}#{}", piece.first + rows.len());
            row.target.clone_from(&row.path);
            rows.push(std::mem::take(row));
        }
    }
    Ok(rows)
}

fn modules(batch: &RecordBatch) -> Result<Vec<Module>, arrow::error::ArrowError> {
    let column = |name: &str, of: &DataType| -> Result<ArrayRef, arrow::error::ArrowError> {
        let found = batch.column_by_name(name).map(Arc::clone);
        let found = found.ok_or_else(|| {
            arrow::error::ArrowError::SchemaError(format!("there is no column {name}"))
        })?;
        cast(&found, of)
    };
    let content = column("content", &DataType::LargeBinary)?;
    let content = content.as_binary::<i64>();
    let text = |name: &str| column(name, &DataType::Utf8);
    let (expression, source) = (text("license_expression")?, text("license_source")?);
    let (package, language) = (text("package_source")?, text("language")?);
    let list = DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
    let files = column("license_files", &list)?;
    let files = files.as_list::<i32>();
    let row = |at: usize| {
        let text = |column: &ArrayRef| match column.is_null(at) {
            true => String::new(),
            false => column.as_string::<i32>().value(at).to_owned(),
        };
        let license_files = match files.is_null(at) {
            true => Vec::new(),
            false => {
                let all = files.value(at);
                let all: Vec<String> =
                    all.as_string::<i32>().iter().flatten().map(str::to_owned).collect();
                all
            }
        };
        let package_source = text(&package);
        let named = package_source.rsplit_once(':').map_or("", |(_, named)| named);
        let (name, version) = named.split_once('@').unwrap_or((named, ""));
        Module {
            content: match content.is_null(at) {
                true => Vec::new(),
                false => content.value(at).to_vec(),
            },
            license_expression: text(&expression),
            license_source: text(&source),
            license_files,
            language: match text(&language).as_str() {
                "cpp" => "c++".to_owned(),
                other => other.to_owned(),
            },
            package: name.to_owned(),
            version: version.to_owned(),
            package_source,
            ..Module::default()
        }
    };
    Ok((0..batch.num_rows()).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::{
        array::{
            BinaryArray, Int64Array, LargeBinaryArray, ListBuilder, StringArray, StringBuilder,
        },
        datatypes::Schema,
    };
    use parquet::{arrow::ArrowWriter, basic::Compression, file::properties::WriterProperties};

    /// A file of ComPile's layout in groups of three rows; row 4 has no bitcode.
    fn compile(path: &Path, rows: usize) {
        let content: Vec<Option<Vec<u8>>> =
            (0..rows).map(|at| (at != 4).then(|| vec![at as u8; 100])).collect();
        let text = |value: &str| Arc::new(StringArray::from(vec![value; rows])) as ArrayRef;
        let mut files = ListBuilder::new(StringBuilder::new());
        for _ in 0..rows {
            files.values().append_value("./license-1.txt");
            files.append(true);
        }
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("content", Arc::new(LargeBinaryArray::from_iter(content))),
            ("license_expression", text("MIT")),
            ("license_source", text("spack")),
            ("license_files", Arc::new(files.finish())),
            ("package_source", text("spack:zlib@1.3")),
            ("language", text("cpp")),
        ];
        write(path, RecordBatch::try_from_iter(columns).unwrap());
    }

    fn write(path: &Path, batch: RecordBatch) {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(3))
            .build();
        let file = File::create(path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    #[test]
    fn rows_of_all_groups_are_read_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("train.parquet");
        compile(&path, 8);
        let pieces = pieces(&path, true).unwrap().unwrap();
        assert_eq!(pieces.len(), 3);
        let rows: Vec<Module> =
            pieces.iter().flat_map(|piece| read(&path, "train", piece).unwrap()).collect();
        let contents: Vec<usize> = rows.iter().map(|row| row.content.len()).collect();
        assert_eq!(contents, [100, 100, 100, 100, 0, 100, 100, 100]);
        assert_eq!((rows[7].path.as_str(), rows[7].content[0]), ("train#7", 7));
        assert_eq!((rows[1].package.as_str(), rows[1].version.as_str()), ("zlib", "1.3"));
        assert_eq!((rows[1].language.as_str(), rows[1].license_files.len()), ("c++", 1));
    }

    #[test]
    fn a_piece_of_a_group_is_read_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("train.parquet");
        compile(&path, 3);
        let piece = Piece { group: 0, rows: 1..3, first: 1 };
        let rows = read(&path, "t", &piece).unwrap();
        let found: Vec<u8> = rows.iter().map(|row| row.content[0]).collect();
        assert_eq!((found, rows[0].path.as_str()), (vec![1, 2], "t#1"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.parquet");
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("content", Arc::new(BinaryArray::from(vec![b"x".as_slice()]))),
            ("size", Arc::new(Int64Array::from(vec![1]))),
        ];
        write(&path, RecordBatch::try_from_iter(columns).unwrap());
        let error = pieces(&path, true).unwrap_err().to_string();
        let named = "no column license_expression, license_source, license_files, package_source, language:";
        assert!(error.contains(named), "{error}");
        assert!(error.ends_with("there are content, size"), "{error}");
        assert!(pieces(&path, false).unwrap().is_none());
        let text = |name: &str| Field::new(name, DataType::Utf8, true);
        let fields: Vec<Field> = COLUMNS.iter().map(|(name, _)| text(name)).collect();
        let reason = lacks(&Arc::new(Schema::new(fields)));
        assert_eq!(reason.as_deref(), Some("its column content holds Utf8"));
    }
}
