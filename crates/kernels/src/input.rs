//! Content files from wherever a user points, and what stands in the place of one.

use crate::{Result, file::Source};
use dataset::{Code, Dataset, Found, Language, Programs, Provenance, Rejected, Row, Verdict};
use rows::ContentText;
use std::path::Path;

/// What stands in an input.
#[derive(Debug)]
pub(crate) enum Met {
    /// A content file.
    File(Source),
    /// One that was rejected before, or news of where it should have been: its row is kept.
    Rejected(Source, Verdict),
    /// What is no content file, by what it is instead.
    Other(&'static str),
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
            if dataset.manifest().schema == ContentText::SCHEMA {
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

    /// How many there are, where everything that is there comes out of [`Input::all`]: of a data set
    /// of programs only the accepted rows do.
    pub(crate) fn count(&self) -> Option<u64> {
        match self {
            Input::Programs(Programs::Dataset(_)) => None,
            Input::Raw(_) | Input::Programs(_) => Some(self.len()),
        }
    }

    /// Its identity, and what it is made of: `name` is what a user calls a data set.
    pub(crate) fn identity(&self, name: &str) -> Result<(String, Vec<dataset::Input>)> {
        Ok(match self {
            Input::Raw(dataset) => {
                let hash = dataset.manifest().identity.clone();
                (hash.clone(), vec![dataset::Input { name: name.to_owned(), hash }])
            }
            Input::Programs(programs) => {
                let inputs = programs.inputs(name)?;
                (programs.identity_of(&inputs), inputs)
            }
        })
    }

    /// All that is there, in order, read as it is asked for.
    pub(crate) fn all(&self) -> Result<Box<dyn Iterator<Item = Result<Met>> + '_>> {
        Ok(match self {
            Input::Raw(dataset) => Box::new(
                dataset.rows::<ContentText>()?.map(|row| row.map(of_content).map_err(Into::into)),
            ),
            Input::Programs(programs) => {
                Box::new(programs.found()?.map(|found| found.map(of_found).map_err(Into::into)))
            }
        })
    }
}

fn of_content(row: ContentText) -> Met {
    if row.kind == rows::content_kind::LICENCE {
        return Met::Other("texts of licenses");
    }
    let verdict = Verdict { name: row.verdict.into(), detail: row.detail };
    let source = Source {
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
    };
    match verdict.is_accepted() {
        true => Met::File(source),
        false => rejected(source, verdict),
    }
}

fn of_found(found: Found) -> Met {
    match found {
        Found::Program(program) if program.language == Language::OpenCl => {
            Met::File(of_program(program))
        }
        Found::Program(_) => Met::Other("in other languages"),
        Found::Rejected(Rejected { path, verdict }) => {
            match Language::of(Path::new(&path)) {
                Some(Language::OpenCl) | None => {}
                Some(_) => return Met::Other("in other languages"),
            }
            let provenance = Provenance { path, ..Provenance::default() };
            rejected(Source { provenance, ..Source::default() }, verdict)
        }
    }
}

/// A source without a text, known by where it is from.
fn rejected(source: Source, verdict: Verdict) -> Met {
    let from = &source.provenance;
    let pieces = [&from.source, &from.package, &from.version, &from.path, &verdict.detail];
    let pieces = pieces.map(|piece| piece.as_bytes()).into_iter();
    let id = dataset::content_hash_of(pieces.chain([verdict.name.as_bytes()]));
    Met::Rejected(Source { id, ..source }, verdict)
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
