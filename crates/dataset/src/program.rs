use crate::{Dataset, Error, Result, Verdict};
use arrow::array::{Array, AsArray, RecordBatch};
use std::path::{Path, PathBuf};

/// What a program is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// OpenCL C (`.cl`).
    OpenCl,
    /// C (`.c`).
    C,
    /// C++ (`.cpp`, `.cc`, `.cxx`).
    Cxx,
    /// LLVM IR as text (`.ll`).
    LlvmIr,
    /// LLVM bitcode (`.bc`).
    Bitcode,
}

impl Language {
    /// The language of a file by its extension.
    #[must_use]
    pub fn of(path: &Path) -> Option<Language> {
        Some(match path.extension()?.to_str()? {
            "cl" | "ocl" | "opencl" | "clc" => Language::OpenCl,
            "c" => Language::C,
            "cpp" | "cc" | "cxx" | "C" => Language::Cxx,
            "ll" => Language::LlvmIr,
            "bc" => Language::Bitcode,
            _ => return None,
        })
    }
}

impl Language {
    /// Its name in data sets.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Language::OpenCl => "opencl",
            Language::C => "c",
            Language::Cxx => "c++",
            Language::LlvmIr => "llvm-ir",
            Language::Bitcode => "bitcode",
        }
    }
}

/// A program's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// Source or textual IR.
    Text(String),
    /// Bitcode, or a file that is no text.
    Bytes(Vec<u8>),
}

impl Code {
    /// Identity of the content: see [`content_hash`](crate::content_hash).
    #[must_use]
    pub fn hash(&self) -> String {
        match self {
            Code::Text(text) => crate::content_hash(text.as_bytes()),
            Code::Bytes(bytes) => crate::content_hash(bytes),
        }
    }
}

/// One program of a data set, folder or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Where it is from: a path relative to what was opened, or a data set's `path` column.
    pub path: String,
    /// The data set's `name` column; empty for files.
    pub name: String,
    /// What it is written in.
    pub language: Language,
    /// Its content.
    pub code: Code,
}

/// Programs from wherever a user points: a data set with a `text` (or `content`) column, a folder,
/// or a file.
#[derive(Debug)]
pub enum Programs {
    /// The accepted rows of a data set.
    Dataset(Box<Dataset>),
    /// Files, with the folder their paths are relative to.
    Files(PathBuf, Vec<PathBuf>),
}

impl Programs {
    /// Look at `path`; nothing is read yet but names.
    ///
    /// # Errors
    /// When it does not exist or holds no programs.
    pub fn open(path: &Path) -> Result<Programs> {
        let metadata = std::fs::metadata(path).map_err(Error::file("read", path))?;
        if metadata.is_file() {
            let folder = path.parent().map(Path::to_owned).unwrap_or_default();
            return match Language::of(path) {
                Some(_) => Ok(Programs::Files(folder, vec![path.to_owned()])),
                None => Err(Error::NoPrograms(path.to_owned())),
            };
        }
        if !metadata.is_dir() {
            return Err(Error::NoFile(path.to_owned()));
        }
        if Dataset::is_at(path) {
            return Ok(Programs::Dataset(Box::new(Dataset::open(path)?)));
        }
        let mut files = Vec::new();
        collect(path, &mut files, 0)?;
        files.sort();
        if files.is_empty() {
            return Err(Error::NoPrograms(path.to_owned()));
        }
        Ok(Programs::Files(path.to_owned(), files))
    }

    /// How many there are at most.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Programs::Dataset(dataset) => dataset.manifest().rows,
            Programs::Files(_, files) => files.len() as u64,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Identity of the programs: a data set's own, or a hash over paths and contents of files.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn identity(&self) -> Result<String> {
        match self {
            Programs::Dataset(dataset) => Ok(dataset.manifest().identity.clone()),
            Programs::Files(_, files) => {
                let mut pieces = Vec::new();
                for file in files {
                    pieces.push(file.as_os_str().as_encoded_bytes().to_vec());
                    let content = std::fs::read(file).map_err(Error::file("read", file))?;
                    pieces.push(crate::content_hash(&content).into_bytes());
                }
                Ok(crate::content_hash_of(pieces.iter().map(Vec::as_slice)))
            }
        }
    }

    /// The programs, in order, read as they are asked for.
    ///
    /// # Errors
    /// When the data set has no column of programs; items: when one cannot be read.
    pub fn iter(&self) -> Result<Box<dyn Iterator<Item = Result<Program>> + '_>> {
        Ok(match self {
            Programs::Dataset(dataset) => {
                let folder = dataset.folder().to_owned();
                let batches = dataset.batches(None)?;
                Box::new(batches.flat_map(move |batch| match batch {
                    Ok(batch) => match programs_of(&batch) {
                        Some(programs) => programs.into_iter().map(Ok).collect(),
                        None => vec![Err(Error::NoPrograms(folder.clone()))],
                    },
                    Err(error) => vec![Err(error)],
                }))
            }
            Programs::Files(folder, files) => {
                Box::new(files.iter().map(move |file| read_program(folder, file)))
            }
        })
    }
}

fn read_program(folder: &Path, file: &Path) -> Result<Program> {
    let content = std::fs::read(file).map_err(Error::file("read", file))?;
    let language = Language::of(file).ok_or_else(|| Error::NoPrograms(file.to_owned()))?;
    let code = match language {
        Language::Bitcode => Code::Bytes(content),
        _ => match crate::decode(&content) {
            Some(decoded) => Code::Text(decoded.text),
            None => Code::Bytes(content),
        },
    };
    let path = file.strip_prefix(folder).unwrap_or(file).to_string_lossy().into_owned();
    Ok(Program { path, name: String::new(), language, code })
}

fn programs_of(batch: &RecordBatch) -> Option<Vec<Program>> {
    let strings = |name: &str| batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
    let bytes = batch.column_by_name("content").and_then(|c| c.as_binary_opt::<i32>());
    let texts = strings("text").or_else(|| strings("content"));
    if texts.is_none() && bytes.is_none() {
        return None;
    }
    let value = |name: &str, row: usize| {
        strings(name).filter(|c| c.is_valid(row)).map_or("", |column| column.value(row)).to_owned()
    };
    let has_verdict = strings("verdict").is_some();
    let programs = (0..batch.num_rows())
        .filter(|row| !has_verdict || value("verdict", *row) == Verdict::ACCEPTED)
        .map(|row| {
            let (language, code) = match (texts, bytes) {
                (Some(texts), _) => {
                    let language = match value("language", row).to_lowercase().as_str() {
                        "c" => Language::C,
                        "c++" | "cpp" | "cxx" => Language::Cxx,
                        "llvm" | "ll" => Language::LlvmIr,
                        _ => Language::OpenCl,
                    };
                    (language, Code::Text(texts.value(row).to_owned()))
                }
                (None, Some(bytes)) => (Language::Bitcode, Code::Bytes(bytes.value(row).to_vec())),
                (None, None) => unreachable!("one of the two was found above"),
            };
            Program { path: value("path", row), name: value("name", row), language, code }
        })
        .collect();
    Some(programs)
}

/// Deeper than any real tree; a loop of links ends here.
const DEPTH: usize = 64;

fn collect(folder: &Path, files: &mut Vec<PathBuf>, depth: usize) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(Error::file("read", folder))?;
    for entry in entries {
        let entry = entry.map_err(Error::file("read", folder))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(Error::file("read", &path))?;
        // Links to files are followed, links to folders are not: they may form loops.
        if kind.is_dir() && depth < DEPTH {
            collect(&path, files, depth + 1)?;
        } else if !kind.is_dir() && Language::of(&path).is_some() && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}
