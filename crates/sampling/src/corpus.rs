//! What models of kernels are trained on.

use crate::Result;
use dataset::{Code, Dataset, Language, Program, Programs, Progress, Row};
use features::Extractor;
use kernels::KernelRow;
use lm::Entry;
use std::path::Path;

/// The feature spaces that conditions are made of.
pub const SPACES: &str = "grewe,instcount";

/// Programs described at a time.
const CHUNK: usize = 256;

/// Programs to learn from.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    /// What is learned from.
    pub entries: Vec<Entry>,
}

/// Add the programs at `path` to a corpus: the accepted rows of a data set of kernels, else all texts.
///
/// # Errors
/// When they cannot be read.
pub fn read(corpus: &mut Corpus, path: &Path) -> Result<()> {
    let mut add = |name: String, entry: Entry| corpus.entries.push(Entry { name, ..entry });
    if Dataset::is_at(path) && Dataset::open(path)?.manifest().schema == KernelRow::SCHEMA {
        for row in Dataset::open(path)?.rows::<KernelRow>()? {
            let KernelRow { id, verdict, original_name, text, package, license, .. } = row?;
            if verdict == dataset::Verdict::ACCEPTED {
                add(original_name, Entry { id, text, package, license, ..Entry::default() });
            }
        }
        return Ok(());
    }
    for program in Programs::open(path)?.iter()? {
        let program = program?;
        if let Code::Text(text) = program.code {
            add(program.name, Entry { id: program.path, text, ..Entry::default() });
        }
    }
    Ok(())
}

/// Fill in the features that conditions are made of; the extractor is one of [`SPACES`].
///
/// # Errors
/// When programs cannot be described at all.
pub fn describe(
    entries: &mut [Entry],
    extractor: &Extractor,
    progress: &dyn Progress,
) -> Result<()> {
    progress.begin("describing", entries.len() as u64);
    for chunk in entries.chunks_mut(CHUNK) {
        let programs: Vec<Program> = chunk.iter().map(|entry| program("", &entry.text)).collect();
        let rows = extractor.describe_many(&programs)?;
        for (entry, rows) in chunk.iter_mut().zip(rows) {
            // The last kernel is the one that the program is about.
            let Some(row) = rows.iter().rfind(|row| row.is_accepted()) else { continue };
            for space in extractor.spaces() {
                let Some(vector) = row.vectors.get(space.name()) else { continue };
                for (name, value) in space.dimensions().iter().zip(vector) {
                    if let Some(feature) = lm::condition::feature(name) {
                        entry.features.insert(feature.to_owned(), *value);
                    }
                }
            }
        }
        progress.advance(chunk.len() as u64);
    }
    Ok(())
}

/// An OpenCL program of this text.
pub(crate) fn program(path: &str, text: &str) -> Program {
    Program {
        path: path.to_owned(),
        name: String::new(),
        language: Language::OpenCl,
        code: Code::Text(text.to_owned()),
        ..Program::default()
    }
}
