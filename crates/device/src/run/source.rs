//! Benchmarks from wherever a user points.

use crate::{
    Error, Result,
    kernel::{Benchmark, Interface},
    schedule,
};
use clang::Argument;
use dataset::{Code, Dataset, Found, Language, Programs, Rejected, Row, Verdict, content_hash};
use rows::{ContentText, KernelProgram};
use std::{collections::BTreeMap, path::Path};

/// The benchmarks of `input` (a data set, a folder or file of programs, or a schedule file), the identity
/// of it all, and how much of it is none, by verdict.
pub(crate) fn read(input: &Path) -> Result<(Vec<Benchmark>, String, BTreeMap<String, u64>)> {
    if input.extension().is_some_and(|extension| extension == "toml") {
        let (path, text, order) = schedule::read(input)?;
        let id = content_hash(text.as_bytes());
        let identity = content_hash(format!("{id} {order:?}").as_bytes());
        let path = path.to_string_lossy().into_owned();
        let benchmark = Benchmark { id, path, text, order, ..Benchmark::default() };
        return Ok((vec![benchmark], identity, BTreeMap::new()));
    }
    let programs = Programs::open(input)?;
    let identity = programs.identity()?;
    let mut left_out = programs.left_out()?;
    if let Programs::Dataset(dataset) = &programs
        && let Some(benchmarks) = kernels(dataset)?
    {
        return Ok((benchmarks, identity, left_out));
    }
    let mut benchmarks = Vec::new();
    for found in programs.found()? {
        let program = match found? {
            Found::Program(program) => program,
            Found::Rejected(Rejected { verdict, .. }) => {
                *left_out.entry(verdict.name.into_owned()).or_default() += 1;
                continue;
            }
        };
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
    if let (true, Programs::Dataset(found)) = (benchmarks.is_empty(), &programs) {
        let schema = found.manifest().schema.as_str();
        let may_hold_some = [KernelProgram::SCHEMA, ContentText::SCHEMA].contains(&schema);
        if !may_hold_some && dataset::maker(schema).is_some() {
            // Rows of another stage, none of which is OpenCL C: modules, for example.
            found.require(KernelProgram::SCHEMA, KernelProgram::VERSION)?;
        }
    }
    Ok((benchmarks, identity, left_out))
}

/// The accepted rows of a data set that knows its kernels' arguments; `None`: this one does not.
fn kernels(dataset: &Dataset) -> Result<Option<Vec<Benchmark>>> {
    if dataset.manifest().schema != KernelProgram::SCHEMA {
        return Ok(None);
    }
    let mut benchmarks = Vec::new();
    for (number, row) in dataset.rows::<KernelProgram>()?.enumerate() {
        let row = row?;
        if row.verdict == Verdict::ACCEPTED {
            benchmarks.push(kernel(dataset.folder(), row, number)?);
        }
    }
    Ok(Some(benchmarks))
}

fn kernel(folder: &Path, row: KernelProgram, number: usize) -> Result<Benchmark> {
    let arguments: Vec<Argument> = match row.arguments.as_str() {
        "" => Vec::new(),
        json => serde_json::from_str(json).map_err(|error| Error::Column {
            path: folder.to_owned(),
            column: "arguments",
            reason: format!("row {number}: {error}"),
        })?,
    };
    let interface = Interface {
        name: row.name.clone(),
        arguments,
        dimensions: row.dimensions,
        required_group_size: row.required_group_size.try_into().ok(),
    };
    Ok(Benchmark {
        id: content_hash(row.text.as_bytes()),
        package: row.package,
        license: row.license,
        family: row.family,
        path: row.path,
        name: row.name,
        original_name: row.original_name,
        text: row.text,
        interfaces: vec![interface],
        compiled: true,
        ..Benchmark::default()
    })
}
