//! Content files from wherever a user points.

use crate::{Result, file::Source};
use dataset::{Code, Dataset, Language, Programs, Provenance, Row, Verdict};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The columns of a raw data set that matter here; `mine` has the whole row.
#[derive(Debug, Serialize, Deserialize)]
struct ContentFile {
    id: String,
    text: String,
    language: String,
    kind: String,
    source: String,
    package: String,
    version: String,
    path: String,
    licence: String,
    licence_source: String,
    kernels: u64,
    defines: Vec<String>,
    verdict: String,
}

impl Row for ContentFile {
    const SCHEMA: &'static str = "content-file";
    const VERSION: u32 = 1;
}

impl ContentFile {
    /// Whether it is a program, and not news of a source or a licence's text.
    fn is_program(&self) -> bool {
        matches!(self.kind.as_str(), "file" | "embedded") && self.verdict == Verdict::ACCEPTED
    }
}

/// What is to be prepared.
#[derive(Debug)]
pub(crate) enum Input {
    /// A raw data set.
    Raw(Box<Dataset>),
    /// Any other data set, folder or file of programs.
    Programs(Programs),
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Input> {
        if Dataset::is_at(path) {
            let dataset = Dataset::open(path)?;
            if dataset.manifest().schema == ContentFile::SCHEMA {
                return Ok(Input::Raw(Box::new(dataset)));
            }
        }
        Ok(Input::Programs(Programs::open(path)?))
    }

    /// How many there are at most.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Input::Raw(dataset) => dataset.manifest().rows,
            Input::Programs(programs) => programs.len(),
        }
    }

    pub(crate) fn identity(&self) -> Result<String> {
        Ok(match self {
            Input::Raw(dataset) => dataset.manifest().identity.clone(),
            Input::Programs(programs) => programs.identity()?,
        })
    }

    /// The content files, in order, read as they are asked for.
    pub(crate) fn sources(&self) -> Result<Box<dyn Iterator<Item = Result<Source>> + '_>> {
        Ok(match self {
            Input::Raw(dataset) => {
                Box::new(dataset.rows::<ContentFile>()?.filter_map(|row| match row {
                    Ok(row) if row.is_program() => Some(Ok(of_content(row))),
                    Ok(_) => None,
                    Err(error) => Some(Err(error.into())),
                }))
            }
            Input::Programs(programs) => {
                Box::new(programs.iter()?.filter_map(|program| match program {
                    Ok(program) if program.language == Language::OpenCl => {
                        Some(Ok(of_program(program)))
                    }
                    Ok(_) => None,
                    Err(error) => Some(Err(error.into())),
                }))
            }
        })
    }
}

fn of_content(row: ContentFile) -> Source {
    Source {
        id: row.id,
        text: Some(row.text),
        provenance: Provenance {
            source: row.source,
            package: row.package,
            version: row.version,
            path: row.path,
            licence: row.licence,
            licence_source: row.licence_source,
        },
        defines: row.defines,
        heads: Some(row.kernels),
        is_c: row.language == Language::C.name(),
    }
}

fn of_program(program: dataset::Program) -> Source {
    let id = program.code.hash();
    let text = match program.code {
        Code::Text(text) => Some(text),
        Code::Bytes(_) => None,
    };
    let path = if program.path.is_empty() { program.name } else { program.path };
    let provenance = Provenance { path, ..Provenance::default() };
    Source { id, text, provenance, defines: Vec::new(), heads: None, is_c: false }
}
