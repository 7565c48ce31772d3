//! From files of others to a data set.

use crate::{
    Error, Result, decode, lines,
    parquet::{self, flat},
    shape::{Asked, Shape, configuration_of},
    table,
    tree::Tree,
};
use arrow::{
    array::{AsArray, RecordBatch},
    datatypes::Schema,
};
use dataset::{Dataset, Input, Language, Notes, Programs, content_hash_of_file};
use rows::ContentFile;
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// What is to be read, and how.
#[derive(Clone, Debug)]
pub struct Import {
    /// A file (`.csv`, `.jsonl`, `.parquet`), or a folder: a data set, Parquet files, or programs.
    pub from: PathBuf,
    /// The data set to make.
    pub out: PathBuf,
    /// Whether a data set there is replaced.
    pub force: bool,
    /// The schema of the rows; else it is told by their columns.
    pub schema: Option<String>,
    /// Whether missing columns are written with what stands for nothing known: empty text, 0, false, an empty list; an
    /// `id` with the hash of `text`, `verdict` with `accepted`.
    pub fill: bool,
    /// Whether unknown columns are left out.
    pub ignore_unknown: bool,
    /// Names of columns, and what the input calls them.
    pub columns: Vec<(String, String)>,
}

impl Import {
    /// Everything by itself.
    #[must_use]
    pub fn new(from: &Path, out: &Path) -> Import {
        Import {
            from: from.to_owned(),
            out: out.to_owned(),
            force: false,
            schema: None,
            fill: false,
            ignore_unknown: false,
            columns: Vec::new(),
        }
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            schema: self.schema.as_deref(),
            fill: self.fill,
            ignore: self.ignore_unknown,
            renamed: &self.columns,
        }
    }
}

/// What was read.
#[derive(Clone, Debug, Serialize)]
pub struct Imported {
    /// Rows of the data set.
    pub rows: u64,
    /// Their schema.
    pub schema: &'static str,
    /// Of what format the input was: `csv`, `jsonl`, `parquet`, `dataset` or `files`.
    pub format: &'static str,
    /// Rows per verdict or outcome.
    pub verdicts: BTreeMap<String, u64>,
    /// Columns that were not in the input.
    pub filled: Vec<String>,
}

/// Read what is asked for into a data set. Its manifest names the input by its content, and counts the rows per verdict.
///
/// # Errors
/// Names file, line and column of what does not fit; then nothing is written.
pub fn import(asked: &Import, stop: &AtomicBool) -> Result<Imported> {
    let from = &asked.from;
    let about = std::fs::metadata(from).map_err(Error::file("read", from))?;
    if about.is_dir() {
        return folder(asked, stop);
    }
    let extension = from.extension().and_then(OsStr::to_str).unwrap_or_default().to_lowercase();
    match extension.as_str() {
        "csv" => {
            let header = table::Header::read(from, asked.asked())?;
            let shape = shape(from, &header.columns(), asked)?;
            let rows = table::Lines::open(from, &header, &shape)?;
            // The line with the names has our names by now.
            let ours = Asked { renamed: &[], ..asked.asked() };
            let batches = decode::Batches::new(from, &shape, ours, rows)?;
            let made =
                Made { inputs: vec![file(asked)?], ..Made::of("csv", &shape, &header.names()) };
            write(asked, &shape, batches, made, stop)
        }
        "jsonl" | "ndjson" => {
            let shape = shape(from, &lines::columns(from, asked.asked())?, asked)?;
            let rows = lines::Lines::open(from, &shape, asked.asked())?;
            let batches = decode::Batches::new(from, &shape, asked.asked(), rows)?;
            let made =
                Made { inputs: vec![file(asked)?], ..Made::of("jsonl", &shape, &spaces(&shape)) };
            write(asked, &shape, batches, made, stop)
        }
        "parquet" => {
            let files = [from.clone()];
            let shape =
                shape(from, &parquet::columns(from, asked.asked())?, &of_parquet(asked, from)?)?;
            let made =
                Made { inputs: vec![file(asked)?], ..Made::of("parquet", &shape, &spaces(&shape)) };
            write(asked, &shape, of_files(&files, &shape, asked), made, stop)
        }
        _ if Language::of(from).is_some() => folder(asked, stop),
        "json" => {
            Err(Error::whole(from, "is one JSON text: write an object a line, in a file .jsonl"))
        }
        _ => Err(Error::whole(
            from,
            "its name says no format that is read: .csv, .jsonl, .parquet, a program, or a folder",
        )),
    }
}

fn folder(asked: &Import, stop: &AtomicBool) -> Result<Imported> {
    let from = &asked.from;
    if Dataset::is_at(from) {
        let dataset = Dataset::open_verified(from)?;
        let manifest = dataset.manifest();
        let known = rows::layouts()?.into_iter().find(|layout| layout.name == manifest.schema);
        if let Some(known) = &known {
            dataset.require(known.name, known.version)?;
        }
        let own = Import {
            schema: asked.schema.clone().or_else(|| Some(manifest.schema.clone())),
            ..asked.clone()
        };
        let shards = dataset.shards();
        let first = shards.first().ok_or_else(|| Error::whole(from, "has no part"))?;
        let shape = shape(from, &parquet::columns(first, own.asked())?, &own)?;
        let made = Made {
            inputs: vec![Input {
                name: from.display().to_string(),
                hash: manifest.identity.clone(),
            }],
            format: "dataset",
            configuration: manifest.notes.configuration.clone(),
            seed: manifest.notes.seed,
            tools: manifest.notes.tools.clone(),
            hosts: manifest.hosts().collect(),
        };
        return write(asked, &shape, of_files(&shards, &shape, &own), made, stop);
    }
    let files = parquet_files(from)?;
    if let Some(first) = files.first() {
        let shape =
            shape(first, &parquet::columns(first, asked.asked())?, &of_parquet(asked, first)?)?;
        let mut inputs = Vec::new();
        for path in &files {
            let (_, hash) = content_hash_of_file(path).map_err(Error::file("read", path))?;
            inputs.push(Input { name: path.display().to_string(), hash });
        }
        let made = Made { inputs, ..Made::of("parquet", &shape, &spaces(&shape)) };
        return write(asked, &shape, of_files(&files, &shape, asked), made, stop);
    }
    let programs = match Programs::open(from) {
        Err(dataset::Error::NoPrograms(_)) => {
            return Err(Error::whole(
                from,
                "holds no _dataset.json, no Parquet file and no program (.cl .c .cpp .rs .ll)",
            ));
        }
        programs => programs?,
    };
    let wanted = <ContentFile as dataset::Row>::SCHEMA;
    if let Some(other) = asked.schema.as_deref().filter(|schema| *schema != wanted) {
        let reason = format!("programs in files are rows of schema `{wanted}`, not of `{other}`");
        return Err(Error::whole(from, reason));
    }
    let tree = Tree::open(from, programs)?;
    let columns = <ContentFile as dataset::Row>::columns()?;
    let names: Vec<String> = columns.iter().map(|field| field.name().clone()).collect();
    if let Some((name, _)) = asked.columns.first() {
        return Err(Error::whole(from, format!("holds programs, and no column for `{name}`")));
    }
    let shape = shape(from, &names, &Import { schema: Some(wanted.into()), ..asked.clone() })?;
    let inputs = tree.inputs(&from.display().to_string())?;
    let made = Made { inputs, ..Made::of("files", &shape, &BTreeMap::new()) };
    write(asked, &shape, tree.batches(from)?, made, stop)
}

/// How the data set was made.
struct Made {
    inputs: Vec<Input>,
    format: &'static str,
    configuration: Value,
    seed: u64,
    tools: BTreeMap<String, String>,
    hosts: Vec<String>,
}

impl Made {
    fn of(format: &'static str, shape: &Shape, names: &BTreeMap<String, Vec<String>>) -> Made {
        Made {
            inputs: Vec::new(),
            format,
            configuration: configuration_of(shape.schema, names),
            seed: 0,
            tools: BTreeMap::new(),
            hosts: Vec::new(),
        }
    }
}

fn shape(path: &Path, columns: &[String], asked: &Import) -> Result<Shape> {
    Shape::of(columns, asked.asked()).map_err(|reason| Error::whole(path, reason))
}

/// As asked, with the schema that a file of ours names itself.
fn of_parquet(asked: &Import, path: &Path) -> Result<Import> {
    let named = dataset::shard_schema(path)?.map(|(schema, _)| schema);
    let known = rows::layouts()?;
    let named = named.filter(|name| known.iter().any(|layout| layout.name == name));
    Ok(Import { schema: asked.schema.clone().or(named), ..asked.clone() })
}

/// The spaces among the columns, with their dimensions.
fn spaces(shape: &Shape) -> BTreeMap<String, Vec<String>> {
    let names = shape.fields.iter().map(|field| field.name());
    names
        .filter(|name| shape.is_space(name))
        .filter_map(|name| {
            let dimensions = features::space(name).ok()?.dimensions();
            Some((name.clone(), dimensions.into_iter().map(str::to_owned).collect()))
        })
        .collect()
}

fn file(asked: &Import) -> Result<Input> {
    let (_, hash) = content_hash_of_file(&asked.from).map_err(Error::file("read", &asked.from))?;
    Ok(Input { name: asked.from.display().to_string(), hash })
}

/// All Parquet files below a folder, by path.
fn parquet_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(folder).max_depth(8).sort_by_file_name() {
        let entry = entry.map_err(|error| Error::file("read", folder)(error.into()))?;
        let is_parquet = entry.path().extension().is_some_and(|extension| extension == "parquet");
        if entry.file_type().is_file() && is_parquet {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

fn of_files<'a>(
    files: &'a [PathBuf],
    shape: &'a Shape,
    asked: &'a Import,
) -> impl Iterator<Item = Result<RecordBatch>> + use<'a> {
    files.iter().flat_map(move |path| {
        let (batches, failed) = match parquet::batches(path, shape, asked.asked()) {
            Ok(batches) => (Some(batches), None),
            Err(error) => (None, Some(Err(error))),
        };
        failed.into_iter().chain(batches.into_iter().flatten())
    })
}

fn write(
    asked: &Import,
    shape: &Shape,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    made: Made,
    stop: &AtomicBool,
) -> Result<Imported> {
    let mut imported = Imported {
        rows: 0,
        schema: shape.schema,
        format: made.format,
        verdicts: BTreeMap::new(),
        filled: shape.absent.keys().cloned().collect(),
    };
    let counted = std::cell::RefCell::new(&mut imported);
    let batches = batches.map(|batch| {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let batch = batch?;
        let mut counted = counted.borrow_mut();
        counted.rows += batch.num_rows() as u64;
        let words = ["verdict", "outcome"].into_iter().find_map(|name| batch.column_by_name(name));
        for word in words.and_then(|words| words.as_string_opt::<i32>()).into_iter().flatten() {
            *counted.verdicts.entry(word.unwrap_or_default().to_owned()).or_default() += 1;
        }
        Ok(batch)
    });
    let notes = || {
        let counted = counted.borrow();
        let mut configuration = made.configuration;
        if !configuration.is_object() {
            configuration = json!({});
        }
        configuration["import"] = json!({ "format": counted.format, "filled": counted.filled });
        Notes {
            inputs: made.inputs,
            configuration,
            seed: made.seed,
            tools: made.tools,
            verdicts: counted.verdicts.clone(),
            summary: json!(&**counted),
            hosts: made.hosts,
            ..Notes::default()
        }
    };
    let columns = Arc::new(Schema::new(shape.fields.clone()));
    let schema = (shape.schema, shape.version);
    dataset::write_stream(&asked.out, asked.force, schema, columns, batches, notes)
        .map_err(flat)?;
    Ok(imported)
}
