//! Benchmarks from wherever a user points.

use crate::{
    Error, Result,
    kernel::{Benchmark, Interface},
    schedule,
};
use arrow::{
    array::{Array, AsArray, RecordBatch},
    datatypes::{UInt8Type, UInt32Type},
};
use clang::Argument;
use dataset::{Code, Dataset, Language, Programs, content_hash};
use std::path::Path;

/// The benchmarks of `input` (a data set, a folder or file of programs, or a schedule file), and
/// the identity of it all.
pub(super) fn read(input: &Path) -> Result<(Vec<Benchmark>, String)> {
    if input.extension().is_some_and(|extension| extension == "toml") {
        let (path, text, order) = schedule::read(input)?;
        let id = content_hash(text.as_bytes());
        let identity = content_hash(format!("{id} {order:?}").as_bytes());
        let path = path.to_string_lossy().into_owned();
        let benchmark = Benchmark { id, path, text, order, ..Benchmark::default() };
        return Ok((vec![benchmark], identity));
    }
    let programs = Programs::open(input)?;
    let identity = programs.identity()?;
    if let Programs::Dataset(dataset) = &programs
        && let Some(benchmarks) = kernels(dataset)?
    {
        return Ok((benchmarks, identity));
    }
    let mut benchmarks = Vec::new();
    for program in programs.iter()? {
        let program = program?;
        if program.language != Language::OpenCl {
            continue;
        }
        let text = match program.code {
            Code::Text(text) => text,
            Code::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        };
        benchmarks.push(Benchmark {
            id: content_hash(text.as_bytes()),
            path: program.path,
            name: program.name,
            text,
            ..Benchmark::default()
        });
    }
    Ok((benchmarks, identity))
}

/// The accepted rows of a data set that knows its kernels' arguments; `None`: this one does not.
fn kernels(dataset: &Dataset) -> Result<Option<Vec<Benchmark>>> {
    let mut benchmarks = Vec::new();
    for batch in dataset.batches(None)? {
        let batch = batch?;
        if batch.column_by_name("arguments").is_none() || batch.column_by_name("text").is_none() {
            return Ok(None);
        }
        for row in 0..batch.num_rows() {
            if text(&batch, "verdict", row).is_some_and(|verdict| verdict != "accepted") {
                continue;
            }
            benchmarks.push(kernel(dataset.folder(), &batch, row)?);
        }
    }
    Ok(Some(benchmarks))
}

fn kernel(folder: &Path, batch: &RecordBatch, row: usize) -> Result<Benchmark> {
    let wrong = |column, reason| Error::Column { path: folder.to_owned(), column, reason };
    let column = |name| text(batch, name, row).unwrap_or_default();
    let json = column("arguments");
    let arguments: Vec<Argument> = match json.as_str() {
        "" => Vec::new(),
        json => serde_json::from_str(json)
            .map_err(|error| wrong("arguments", format!("row {row}: {error}")))?,
    };
    let dimensions = batch
        .column_by_name("dimensions")
        .and_then(|column| column.as_primitive_opt::<UInt8Type>())
        .map_or(1, |column| column.value(row));
    let required = batch
        .column_by_name("required_group_size")
        .and_then(|column| column.as_list_opt::<i32>())
        .map(|column| column.value(row));
    let required: Option<Vec<u32>> = required
        .as_ref()
        .and_then(|sides| sides.as_primitive_opt::<UInt32Type>())
        .map(|sides| sides.values().to_vec());
    let name = column("name");
    let source = column("text");
    let interface = Interface {
        name: name.clone(),
        arguments,
        dimensions,
        required_group_size: required.and_then(|sides| sides.try_into().ok()),
    };
    Ok(Benchmark {
        id: content_hash(source.as_bytes()),
        package: column("package"),
        licence: column("licence"),
        family: column("family"),
        path: column("path"),
        name,
        text: source,
        interfaces: vec![interface],
        compiled: true,
        ..Benchmark::default()
    })
}

fn text(batch: &RecordBatch, name: &str, row: usize) -> Option<String> {
    let column = batch.column_by_name(name)?.as_string_opt::<i32>()?;
    column.is_valid(row).then(|| column.value(row).to_owned())
}
