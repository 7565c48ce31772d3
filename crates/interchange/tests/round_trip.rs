//! What is exported comes back with equal rows, whatever the schema.

use arrow::{
    array::{ArrayRef, AsArray, LargeStringArray, RecordBatch},
    compute::concat_batches,
    datatypes::{DataType, FieldRef, Schema},
    json::ReaderBuilder,
};
use dataset::{Dataset, Notes, Row, write_stream};
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;
use rows::Beyond;
use serde_json::{Map, Value, json};
use stampmill_interchange::{Format, Import, Imported, export_rows, import};
use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

static STOP: AtomicBool = AtomicBool::new(false);

/// A value of a column that tells it from the values of other columns and rows.
fn value(kind: &DataType, nullable: bool, row: u64, column: u64) -> Value {
    let seed = row * 31 + column;
    if nullable && row % 3 == 2 {
        return Value::Null;
    }
    match kind {
        DataType::Utf8 => {
            let texts = ["plain", "a, \"b\"\r\n c ", "é∑\u{1f980}", "{\"x\": [1]}", "1e5", "null"];
            json!(texts[seed as usize % texts.len()])
        }
        DataType::Binary => json!(["00ff", "", "0a0d22"][seed as usize % 3]),
        DataType::Boolean => json!(seed.is_multiple_of(2)),
        DataType::UInt8 => json!(seed % 256),
        DataType::UInt32 => json!(u64::from(u32::MAX) - seed),
        DataType::UInt64 => json!(u64::MAX - seed),
        DataType::Int32 | DataType::Int64 => json!(-(seed as i64)),
        DataType::Float32 => json!(seed as f32 / 4.0),
        DataType::Float64 => json!(0.1 + 0.2 * seed as f64),
        DataType::List(item) => (0..seed % 4)
            .map(|at| value(item.data_type(), item.is_nullable(), row + at, column))
            .collect(),
        DataType::Struct(fields) => {
            let member = |field: &FieldRef| {
                (field.name().clone(), value(field.data_type(), field.is_nullable(), row, column))
            };
            Value::Object(fields.iter().map(member).collect())
        }
        other => panic!("no schema has a column of type {other}"),
    }
}

fn batch(fields: &[FieldRef], lines: &[Value]) -> RecordBatch {
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let mut decoder = ReaderBuilder::new(schema).build_decoder().expect("known types");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    decoder.decode(text.as_bytes()).expect("they fit");
    decoder.flush().expect("they fit").expect("there are rows")
}

fn made(
    at: &Path,
    schema: (&str, u32),
    fields: &[FieldRef],
    lines: &[Value],
    configuration: Value,
) -> Dataset {
    let rows = batch(fields, lines);
    let columns = rows.schema();
    let notes = || Notes { configuration, ..Notes::default() };
    write_stream(at, false, schema, columns, [Ok::<_, Infallible>(rows)], notes).expect("is made")
}

fn rows_of(dataset: &Dataset) -> RecordBatch {
    let columns = dataset.columns().expect("it has a part");
    let batches = dataset.batches(None).expect("it has a part");
    let batches: Vec<RecordBatch> = batches.collect::<Result<_, _>>().expect("it is whole");
    concat_batches(&columns, &batches).expect("they are of one schema")
}

/// Export and import; what was read, and the data set made of it.
fn there_and_back(from: &Dataset, format: Format, home: &Path, name: &str) -> (Imported, Dataset) {
    let extension = if format == Format::Csv { "csv" } else { "jsonl" };
    let file = home.join(format!("{name}.{extension}"));
    let written = export_rows(from, format, &file, u64::MAX, &STOP).expect("is written");
    assert_eq!(written, from.manifest().rows);
    let out = home.join(format!("{name}-{extension}"));
    let imported = import(&Import::new(&file, &out), &STOP)
        .unwrap_or_else(|error| panic!("{name} as {extension}: {error}"));
    (imported, Dataset::open(&out).expect("is made"))
}

#[test]
fn rows_of_every_schema_come_back_from_csv_and_json_lines() {
    let home = tempfile::tempdir().expect("a folder");
    for layout in rows::layouts().expect("they are columns") {
        let mut fields = layout.columns.clone();
        let mut configuration = json!({});
        let lines = |fields: &[FieldRef]| -> Vec<Value> {
            let cell = |row: u64, (column, field): (usize, &FieldRef)| {
                let (kind, nullable) = (field.data_type(), field.is_nullable());
                (field.name().clone(), value(kind, nullable, row, column as u64))
            };
            let line = |row| {
                let cells = fields.iter().enumerate().map(|field| cell(row, field));
                Value::Object(cells.collect::<Map<_, _>>())
            };
            (0..7).map(line).collect()
        };
        let mut all = lines(&fields);
        if layout.beyond != Beyond::Nothing {
            for name in ["grewe", "instcount"] {
                let columns = features::Row::columns().expect("they are columns");
                let field = columns.into_iter().find(|f| f.name() == name).expect("a space");
                let dimensions = features::space(name).expect("a space").dimensions();
                configuration["spaces"][name] = json!(dimensions);
                for (row, line) in all.iter_mut().enumerate() {
                    let number = |at: usize| json!(at as f64 / 3.0 + row as f64);
                    line[name] = match field.data_type() {
                        _ if row % 3 == 1 => Value::Null,
                        DataType::Struct(_) => {
                            let named = dimensions.iter().enumerate();
                            let named = named.map(|(at, name)| ((*name).to_owned(), number(at)));
                            Value::Object(named.collect())
                        }
                        _ => (0..dimensions.len()).map(number).collect(),
                    };
                }
                fields.push(field);
            }
        }
        if layout.beyond == Beyond::Numbers {
            let costs = layout.further.iter().find(|field| field.name() == "costs");
            fields.push(costs.expect("a column of tasks").clone());
            configuration["choices"] = json!(["small", "fast, but large"]);
            for (row, line) in all.iter_mut().enumerate() {
                let lists = [json!([1.5, null]), json!([]), json!([3.0, 1.0 / 3.0])];
                line["costs"] = lists[row % 3].clone();
            }
        }
        if layout.name == "ir-statistics" {
            configuration["opcodes"] = json!(["add", "br"]);
            for (row, line) in all.iter_mut().enumerate() {
                line["opcodes"] = json!([row, row * 2]);
                line["opcodes_after"] = if row == 1 { json!([]) } else { json!([1, row]) };
            }
        }
        let (name, schema) = (layout.name, (layout.name, layout.version));
        let set = made(&home.path().join(name), schema, &fields, &all, configuration.clone());
        for format in [Format::Csv, Format::Jsonl] {
            let (imported, back) = there_and_back(&set, format, home.path(), name);
            assert_eq!((imported.schema, imported.rows), (name, 7), "{format:?}");
            assert!(imported.filled.is_empty());
            assert_eq!(rows_of(&back), rows_of(&set), "{name} {format:?}");
            let said = &back.manifest().notes;
            assert_eq!(said.inputs.len(), 1);
            if format == Format::Csv {
                for (key, names) in configuration.as_object().expect("an object") {
                    assert_eq!(&said.configuration[key], names, "{name}");
                }
            }
        }
        // A data set is read as it is, and so are its Parquet files alone.
        let part = home.path().join(format!("{name}-downloaded"));
        std::fs::create_dir(&part).expect("is made");
        std::fs::copy(&set.shards()[0], part.join("train-0000.parquet")).expect("is copied");
        for from in [set.folder().to_owned(), part] {
            let out = home.path().join(format!("{name}-again"));
            let asked = Import { force: true, ..Import::new(&from, &out) };
            let imported = import(&asked, &STOP).expect("is read");
            assert_eq!((imported.schema, imported.rows), (name, 7));
            assert_eq!(rows_of(&Dataset::open(&out).expect("is made")), rows_of(&set));
        }
    }
}

#[test]
fn a_table_is_the_same_each_time_and_ends_at_the_limit() {
    let home = tempfile::tempdir().expect("a folder");
    let fields = rows::WaitingRow::columns().expect("they are columns");
    let lines: Vec<Value> =
        (0..2500).map(|at| json!({"path": format!("{at}"), "text": "x"})).collect();
    let batch = batch(&fields, &lines[..1000]);
    let notes = Notes::default;
    let batches = [Ok::<_, Infallible>(batch.clone()), Ok(batch.clone()), Ok(batch.slice(0, 500))];
    let at = home.path().join("set");
    let set = write_stream(&at, false, ("round", 1), batch.schema(), batches, notes);
    let set = set.expect("is made");
    let write = |name: &str, limit| {
        let file = home.path().join(name);
        let rows = export_rows(&set, Format::Csv, &file, limit, &STOP).expect("is written");
        (rows, std::fs::read_to_string(file).expect("is there"))
    };
    assert_eq!(write("a.csv", u64::MAX), write("b.csv", 2500));
    let (rows, text) = write("c.csv", 1001);
    assert_eq!((rows, text.lines().count()), (1001, 1002));
    assert_eq!(write("d.csv", 0), (0, "path,text\n".to_owned()));
}

#[test]
fn doubles_that_are_no_numbers_come_back_from_a_table() {
    let home = tempfile::tempdir().expect("a folder");
    let fields = rows::TimingRow::columns().expect("they are columns");
    let at = fields.iter().position(|field| field.name() == "ipc").expect("a column");
    let mut line = Map::new();
    for (column, field) in fields.iter().enumerate() {
        let cell = value(field.data_type(), field.is_nullable(), 0, column as u64);
        line.insert(field.name().clone(), cell);
    }
    let lines: Vec<Value> = ["NaN", "inf", "-inf"]
        .map(|number| {
            let mut line = line.clone();
            line.insert("ipc".to_owned(), json!(number));
            Value::Object(line)
        })
        .to_vec();
    let set = made(&home.path().join("set"), ("timing", 2), &fields, &lines, json!({}));
    let (_, back) = there_and_back(&set, Format::Csv, home.path(), "set");
    let shown = |set: &Dataset| format!("{:?}", rows_of(set).column(at));
    assert!(shown(&back).contains("-inf"));
    assert_eq!(shown(&back), shown(&set));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_text_comes_back(texts in proptest::collection::vec((any::<String>(), ".*|[\"\r\n,]*"), 1..20)) {
        let home = tempfile::tempdir().expect("a folder");
        let fields = rows::WaitingRow::columns().expect("they are columns");
        let lines: Vec<Value> =
            texts.iter().map(|(path, text)| json!({"path": path, "text": text})).collect();
        let set = made(&home.path().join("set"), ("round", 1), &fields, &lines, json!({}));
        for format in [Format::Csv, Format::Jsonl] {
            let (_, back) = there_and_back(&set, format, home.path(), "set");
            prop_assert_eq!(rows_of(&back), rows_of(&set));
        }
    }
}

#[test]
fn nothing_is_left_of_what_cannot_be_read() {
    let home = tempfile::tempdir().expect("a folder");
    let names = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(home.path()).expect("is there");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("is there").path()).collect();
        names.sort();
        names
    };
    // The fault comes behind rows that were written already.
    let mut text: String =
        (0..3000).map(|at| format!("{{\"path\":\"{at}\",\"text\":\"x\"}}\n")).collect();
    text.push_str("{\"path\":\"last\",\"te");
    let file = home.path().join("cut.jsonl");
    std::fs::write(&file, text).expect("is written");
    let told =
        import(&Import::new(&file, &home.path().join("set")), &STOP).expect_err("is cut off");
    assert!(told.to_string().contains("cut.jsonl, line 3001: is no JSON"), "{told}");
    assert_eq!(names(), [file]);
}

#[test]
fn bytes_that_are_no_text_are_told_with_their_line() {
    let home = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("a.csv", &b"path,text\na,b\na,\xff\n"[..]),
        ("a.jsonl", b"{\"path\":\"a\",\"text\":\"b\"}\n\n{\"path\":\"\xff\",\"text\":\"b\"}\n"),
        ("b.csv", b"path,te\xffxt\n"),
    ] {
        let file = home.path().join(name);
        std::fs::write(&file, text).expect("is written");
        let told = import(&Import::new(&file, &home.path().join("out")), &STOP);
        let told = told.expect_err("it is no text").to_string();
        let line = if name == "b.csv" { 1 } else { 3 };
        assert!(told.contains(&format!("{name}, line {line}: ")), "{told}");
        assert!(told.contains("not UTF-8"), "{told}");
    }
}

#[test]
fn parquet_of_others_is_read_by_its_values_and_refused_by_its_row() {
    let home = tempfile::tempdir().expect("a folder");
    let write = |name: &str, texts: Vec<Option<&str>>| {
        let paths = LargeStringArray::from(vec!["a.cl"; texts.len()]);
        let columns: [(&str, ArrayRef); 2] =
            [("src", Arc::new(LargeStringArray::from(texts))), ("path", Arc::new(paths))];
        let batch = RecordBatch::try_from_iter_with_nullable(columns.map(|(n, c)| (n, c, true)));
        let batch = batch.expect("two columns");
        let file = home.path().join(name);
        let out = std::fs::File::create(&file).expect("is made");
        let mut writer = ArrowWriter::try_new(out, batch.schema(), None).expect("is begun");
        writer.write(&batch).expect("is written");
        writer.close().expect("is written");
        file
    };
    let columns = vec![("text".to_owned(), "src".to_owned())];
    let out = home.path().join("out");
    let whole = write("whole.parquet", vec![Some("x"), Some("y")]);
    let asked = Import { columns, ..Import::new(&whole, &out) };
    let imported = import(&asked, &STOP).expect("it is read");
    assert_eq!((imported.schema, imported.rows, imported.format), ("round", 2, "parquet"));
    let texts = rows_of(&Dataset::open(&out).expect("is made"));
    assert_eq!(texts.column_by_name("text").expect("a column").as_string::<i32>().value(1), "y");
    let holes = write("holes.parquet", vec![Some("x"), None]);
    let asked = Import { from: holes, force: true, ..asked };
    let told = import(&asked, &STOP).expect_err("a text is missing").to_string();
    assert!(told.ends_with("holes.parquet, row 2: column `text` has no value"), "{told}");
    std::fs::write(home.path().join("cut.parquet"), "PAR1").expect("is written");
    let asked = Import { from: home.path().join("cut.parquet"), ..asked };
    assert!(import(&asked, &STOP).is_err());
}
