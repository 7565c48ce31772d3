//! Folders of programs, with the index that `export` writes beside them.

use crate::{Error, Result};
use arrow::array::RecordBatch;
use dataset::{Code, Found, INDEX, Input, Programs, Row, Signature, Signatures, Verdict};
use rows::{ContentFile, content_kind};
use serde::Deserialize;
use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
};

/// Rows of a batch.
const ROWS: usize = 64;

/// What the index says of a file.
#[derive(Clone, Debug, Default, Deserialize)]
struct Entry {
    file: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    license: String,
}

/// Programs of a folder.
pub(crate) struct Tree {
    programs: Programs,
    index: HashMap<String, Entry>,
    families: Vec<usize>,
    ids: Vec<String>,
}

impl Tree {
    pub(crate) fn open(path: &Path, programs: Programs) -> Result<Tree> {
        let index = index(&path.join(INDEX))?;
        let mut tree = Tree { programs, index, families: Vec::new(), ids: Vec::new() };
        let mut signatures = Signatures::default();
        let mut absent: BTreeSet<String> = tree.index.keys().cloned().collect();
        for found in tree.programs.found()? {
            let found = found?;
            absent.remove(match &found {
                Found::Program(program) => &program.path,
                Found::Rejected(rejected) => &rejected.path,
            });
            let row = tree.row(found, path)?;
            let signature = Signature::of(lexer::coarse(&row.text));
            signatures.push(signature).map_err(Error::file("keep signatures of", path))?;
            tree.ids.push(row.id);
        }
        if let Some(name) = absent.first() {
            let reason = format!("names `{name}`, which is no program in the folder");
            return Err(Error::whole(&path.join(INDEX), reason));
        }
        let families = signatures.families();
        tree.families = families.map_err(Error::file("keep signatures of", path))?;
        Ok(tree)
    }

    pub(crate) fn inputs(&self, name: &str) -> Result<Vec<Input>> {
        let hash = self.programs.identity()?;
        Ok(vec![Input { name: name.to_owned(), hash }])
    }

    /// The row of a program, without its family.
    fn row(&self, found: Found, folder: &Path) -> Result<ContentFile> {
        let (path, code, language, verdict) = match found {
            Found::Program(program) => {
                (program.path, program.code, program.language.name(), Verdict::accepted())
            }
            Found::Rejected(rejected) => (rejected.path, Code::default(), "", rejected.verdict),
        };
        let (text, verdict) = match code {
            Code::Text(text) => (text, verdict),
            Code::Bytes(_) if language == "bitcode" => {
                let reason = "is bitcode: `stampmill ir extract` makes a data set of modules";
                return Err(Error::whole(&folder.join(path), reason));
            }
            Code::Bytes(_) => (String::new(), Verdict::new("not-utf8", "")),
        };
        let said = self.index.get(&path).cloned().unwrap_or_default();
        let kernels = lexer::kernel_names(&text).len() as u64;
        Ok(ContentFile {
            id: dataset::content_hash(if text.is_empty() {
                path.as_bytes()
            } else {
                text.as_bytes()
            }),
            signature: Signature::of(lexer::coarse(&text)).values().to_vec(),
            language: language.to_owned(),
            kind: content_kind::FILE.to_owned(),
            source: folder.display().to_string(),
            package: said.package,
            version: said.version,
            path: if said.path.is_empty() { path } else { said.path },
            license_source: if said.license.is_empty() {
                String::new()
            } else {
                "metadata".to_owned()
            },
            license: said.license,
            kernels,
            verdict: verdict.name.into_owned(),
            detail: verdict.detail,
            text,
            ..ContentFile::default()
        })
    }

    /// The rows.
    pub(crate) fn batches(
        &self,
        folder: &Path,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>>> {
        let folder: PathBuf = folder.to_owned();
        let mut found = self.programs.found()?;
        let mut number = 0;
        Ok(std::iter::from_fn(move || {
            let mut rows = Vec::new();
            for found in found.by_ref().take(ROWS) {
                let row = found.map_err(Error::from).and_then(|found| self.row(found, &folder));
                match row {
                    Ok(row) => {
                        let family = self.families.get(number).and_then(|at| self.ids.get(*at));
                        rows.push(ContentFile {
                            family: family.cloned().unwrap_or_default(),
                            ..row
                        });
                        number += 1;
                    }
                    Err(error) => return Some(Err(error)),
                }
            }
            match rows.is_empty() {
                true => None,
                false => Some(ContentFile::to_batch(&rows).map_err(Error::from)),
            }
        }))
    }
}

fn index(path: &Path) -> Result<HashMap<String, Entry>> {
    if !path.is_file() {
        return Ok(HashMap::new());
    }
    let text = std::fs::read_to_string(path).map_err(Error::file("read", path))?;
    let mut entries = HashMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |reason: String| Error::line(path, at as u64 + 1, reason);
        let entry: Entry = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        let file = entry.file.clone();
        if entries.insert(file.clone(), entry).is_some() {
            return Err(wrong(format!("names `{file}` for the second time")));
        }
    }
    Ok(entries)
}
