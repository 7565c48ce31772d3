//! Content files from wherever a user points, and news of those that were rejected before.

use crate::{Result, file::Source};
use dataset::{
    Code, Dataset, Found, Language, Placed, Programs, Rejected, Row, Verdict,
    stage::{Numbered, Share},
};
use rows::{ContentOrigin, ContentText};
use std::{collections::BTreeMap, ops::Range, path::Path};

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

    /// How many there are at most: what is skipped is counted.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Input::Raw(dataset) => dataset.manifest().rows,
            Input::Programs(programs) => programs.len(),
        }
    }

    /// Rows that are neither accepted programs nor rows of what is made, by verdict.
    pub(crate) fn left_out(&self) -> Result<BTreeMap<String, u64>> {
        match self {
            Input::Raw(_) => Ok(BTreeMap::new()),
            Input::Programs(programs) => Ok(programs.left_out()?),
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

    /// Content files and what was rejected before, in order, read as they are asked for. Texts of
    /// licenses and programs in other languages are neither.
    pub(crate) fn all(&self) -> Result<Box<dyn Iterator<Item = Result<Source>> + '_>> {
        Ok(match self {
            Input::Raw(dataset) => Box::new(
                dataset
                    .rows::<ContentText>()?
                    .filter_map(|row| row.map(of_content).map_err(Into::into).transpose()),
            ),
            Input::Programs(programs) => Box::new(
                programs
                    .found()?
                    .filter_map(|found| found.map(of_found).map_err(Into::into).transpose()),
            ),
        })
    }

    /// The same for one share of a data set's rows: the texts of others are not read. `None`: all must be.
    pub(crate) fn by_rows(&self, share: Share) -> Result<Option<OfRows>> {
        match self {
            Input::Raw(dataset) => {
                let rows = dataset.manifest().rows;
                let own = share.of_rows(rows);
                let origins = |rows: Range<u64>| {
                    let origins = dataset.rows_in::<ContentOrigin>(rows)?;
                    Ok::<_, crate::Error>(origins.map(|row| row.map(of_origin)))
                };
                let all = origins(0..own.start)?
                    .chain(dataset.rows_in::<ContentText>(own.clone())?)
                    .chain(origins(own.end..rows)?);
                let all = all.zip(0..).filter_map(|(row, number)| {
                    let source = row.map(of_content).map_err(Into::into).transpose()?;
                    Some(source.map(|source| (number, source)))
                });
                Ok(Some((own, Box::new(all))))
            }
            Input::Programs(programs) => {
                let Some(placed) = programs.by_rows(share)? else { return Ok(None) };
                let all = placed.all.filter_map(|placed| match placed {
                    Ok(Placed { row, hash, program }) => {
                        is_ours(program.language).then(|| Ok((row, of_program(program, hash))))
                    }
                    Err(error) => Some(Err(error.into())),
                });
                Ok(Some((placed.own, Box::new(all))))
            }
        }
    }
}

/// The rows of a share, and all sources, each with the number of its row.
pub(crate) type OfRows = (Range<u64>, Numbered<'static, Source, crate::Error>);

/// A content file of which no more is known.
fn of_origin(origin: ContentOrigin) -> ContentText {
    let ContentOrigin { id, kind, source, package, version, path, verdict, detail } = origin;
    let known = ContentText { id, kind, source, package, version, ..ContentText::default() };
    ContentText { path, verdict, detail, ..known }
}

fn of_content(row: ContentText) -> Option<Source> {
    if row.kind == rows::content_kind::LICENSE {
        return None;
    }
    let verdict = Verdict { name: row.verdict.into(), detail: row.detail };
    let source = Source {
        id: row.id,
        text: Some(row.text),
        source: row.source,
        package: row.package,
        version: row.version,
        path: row.path,
        license: row.license,
        license_source: row.license_source,
        defines: row.defines,
        heads: Some(row.kernels),
        language: row.language,
        ..Source::default()
    };
    Some(if verdict.is_accepted() { source } else { rejected(source, verdict) })
}

fn of_found(found: Found) -> Option<Source> {
    match found {
        Found::Program(program) if is_ours(program.language) => {
            let hash = program.code.hash();
            Some(of_program(program, hash))
        }
        Found::Program(_) => None,
        Found::Rejected(Rejected { path, verdict }) => {
            let language = Language::of(Path::new(&path));
            language
                .is_none_or(is_ours)
                .then(|| rejected(Source { path, ..Source::default() }, verdict))
        }
    }
}

/// Whether programs in a language hold kernels.
fn is_ours(language: Language) -> bool {
    matches!(language, Language::OpenCl | Language::Cuda)
}

/// A source without a text, known by where it is from.
fn rejected(from: Source, verdict: Verdict) -> Source {
    let pieces = [&from.source, &from.package, &from.version, &from.path, &verdict.detail];
    let pieces = pieces.map(|piece| piece.as_bytes()).into_iter();
    let id = dataset::content_hash_of(pieces.chain([verdict.name.as_bytes()]));
    Source { id, rejected: verdict.name.into_owned(), detail: verdict.detail, ..from }
}

/// `id` is the hash of its code.
fn of_program(program: dataset::Program, id: String) -> Source {
    let text = match program.code {
        Code::Text(text) => Some(text),
        Code::Bytes(_) => None,
    };
    let path = if program.path.is_empty() { program.name.clone() } else { program.path };
    let from = program.provenance;
    Source {
        id,
        text,
        source: from.source,
        package: from.package,
        version: from.version,
        path,
        license: from.license,
        license_source: from.license_source,
        language: program.language.name().to_owned(),
        renamed: [program.name, program.original_name],
        inferred: program.inferred,
        ..Source::default()
    }
}
