use crate::{
    Dataset, Error, FolderFile, Input, Provenance, Result, UnknownWord, Verdict, file, folder,
    is_url, notice, path_text, place::part_name, stage::Share, unfinished::MARKER,
};
use arrow::{
    array::{Array, AsArray, RecordBatch},
    datatypes::UInt64Type,
};
use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
    str::FromStr,
};

/// What a program is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// OpenCL C (`.cl`).
    #[default]
    OpenCl,
    /// C (`.c`).
    C,
    /// C++ (`.cpp`, `.cc`, `.cxx`).
    Cxx,
    /// CUDA C++ (`.cu`), and HIP (`.hip`), which is spelled alike.
    Cuda,
    /// Rust (`.rs`).
    Rust,
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
            "cu" | "hip" => Language::Cuda,
            "rs" => Language::Rust,
            "ll" => Language::LlvmIr,
            "bc" => Language::Bitcode,
            _ => return None,
        })
    }

    /// Its name in data sets.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Language::OpenCl => "opencl",
            Language::C => "c",
            Language::Cxx => "c++",
            Language::Cuda => "cuda",
            Language::Rust => "rust",
            Language::LlvmIr => "llvm-ir",
            Language::Bitcode => "bitcode",
        }
    }
}

impl FromStr for Language {
    type Err = UnknownWord;

    /// Accepts every [`Language::name`] and, in either case, what other data sets write.
    fn from_str(word: &str) -> Result<Language, UnknownWord> {
        Ok(match word.to_lowercase().as_str() {
            "opencl" | "cl" => Language::OpenCl,
            "c" => Language::C,
            "c++" | "cpp" | "cxx" => Language::Cxx,
            "cuda" | "cu" | "hip" => Language::Cuda,
            "rust" | "rs" => Language::Rust,
            "llvm-ir" | "llvm" | "ll" => Language::LlvmIr,
            "bitcode" | "bc" => Language::Bitcode,
            _ => return Err(UnknownWord { kind: "language", word: word.to_owned() }),
        })
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

impl Default for Code {
    fn default() -> Code {
        Code::Text(String::new())
    }
}

impl Code {
    /// Bytes of it.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Code::Text(text) => text.len(),
            Code::Bytes(bytes) => bytes.len(),
        }
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Where it is from: a path relative to what was opened, or a data set's `path` column.
    pub path: String,
    /// The data set's `name` column; empty for files.
    pub name: String,
    /// Its name in its own file, where it was renamed: the data set's `original_name` column; empty for files.
    pub original_name: String,
    /// What it is written in.
    pub language: Language,
    /// Its content.
    pub code: Code,
    /// Its package, version and license as far as the data set has the columns; empty for files.
    pub provenance: Provenance,
    /// The data set's `family` column; empty for files.
    pub family: String,
    /// What its file was repaired by: the data set's `inferred` column; empty for files.
    pub inferred: Vec<String>,
}

/// A larger file is no program: its verdict is `too-large`.
pub const LARGEST_PROGRAM: u64 = 64 << 20;

/// What stands in the place of a program.
#[expect(clippy::large_enum_variant, reason = "nearly all are programs")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// One that was read.
    Program(Program),
    /// One that cannot be, and why: for stages that make a row of everything.
    Rejected(Rejected),
}

/// A file that is a program by its name and cannot be read as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Its path relative to what was opened.
    pub path: String,
    /// `unsafe-path`, `not-a-file`, `too-deep`, `unreadable` or `too-large`.
    pub verdict: Verdict,
}

/// Programs from wherever a user points: a data set with a `text` (or `content`) column, a folder,
/// or a file.
#[derive(Debug)]
pub enum Programs {
    /// The accepted rows of a data set.
    Dataset(Box<Dataset>),
    /// Files, and the folder that was opened.
    Files(PathBuf, Vec<FolderFile>),
}

impl Program {
    /// What people call it: its name in its own file where that is known.
    #[must_use]
    pub fn known_as(&self) -> &str {
        if self.original_name.is_empty() { &self.name } else { &self.original_name }
    }
}

impl Programs {
    /// Look at `path`; nothing is read yet but names.
    ///
    /// # Errors
    /// When it does not exist or holds no programs.
    pub fn open(path: &Path) -> Result<Programs> {
        if is_url(path) {
            return Ok(Programs::Dataset(Box::new(Dataset::open(path)?)));
        }
        let metadata = std::fs::metadata(path).map_err(Error::file("read", path))?;
        if metadata.is_file() {
            let name = Path::new(path.file_name().unwrap_or_default());
            let file = FolderFile { file: path.to_owned(), path: path_text(name), rejected: None };
            return match Language::of(path) {
                Some(_) => Ok(Programs::Files(path.to_owned(), vec![file])),
                None => Err(Error::NoPrograms(path.to_owned())),
            };
        }
        if !metadata.is_dir() {
            let what = file::kind_text(metadata.file_type());
            return Err(Error::NoFile { path: path.to_owned(), what });
        }
        if Dataset::is_at(path) {
            return Ok(Programs::Dataset(Box::new(Dataset::open(path)?)));
        }
        let files = folder::programs(path).map_err(Error::file("read", path))?;
        if files.is_empty() {
            // Parts without a manifest, and unfinished runs, are no folder of programs that has none.
            let is_data = path.join(MARKER).exists() || path.join(part_name(0)).exists();
            return Err(match is_data {
                true => Error::NotADataset(path.to_owned()),
                false => Error::NoPrograms(path.to_owned()),
            });
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

    /// Whether all are of one package, or of none, as files are.
    ///
    /// # Errors
    /// When the data set cannot be read.
    pub fn is_of_one_package(&self) -> Result<bool> {
        let Programs::Dataset(dataset) = self else { return Ok(true) };
        let mut found: Option<String> = None;
        for batch in dataset.batches(Some(&["package"]))? {
            let batch = batch?;
            let packages = batch.column_by_name("package").and_then(|c| c.as_string_opt::<i32>());
            for package in packages.into_iter().flatten().flatten() {
                if found.get_or_insert_with(|| package.to_owned()).as_str() != package {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// What is left out of them, by verdict: the rows of a data set that are no accepted programs. Files that
    /// cannot be read are [`Found::Rejected`].
    ///
    /// # Errors
    /// When the data set cannot be read.
    pub fn left_out(&self) -> Result<BTreeMap<String, u64>> {
        match self {
            Programs::Dataset(dataset) => dataset.rejected(),
            Programs::Files(..) => Ok(BTreeMap::new()),
        }
    }

    /// What they are made of: the data set, or each file, by content. `name` is what a user calls
    /// a data set.
    ///
    /// # Errors
    /// When this machine cannot read a file.
    pub fn inputs(&self, name: &str) -> Result<Vec<Input>> {
        match self {
            Programs::Dataset(dataset) => {
                Ok(vec![Input { name: name.to_owned(), hash: dataset.manifest().identity.clone() }])
            }
            Programs::Files(_, files) => files
                .iter()
                .map(|file| Ok(Input { name: file.path.clone(), hash: identity_of(file)? }))
                .collect(),
        }
    }

    /// Identity of the programs: a data set's own, or a hash over paths and contents of files.
    ///
    /// # Errors
    /// When this machine cannot read a file.
    pub fn identity(&self) -> Result<String> {
        Ok(self.identity_of(&self.inputs("")?))
    }

    /// As [`Programs::identity`], of [`Programs::inputs`] that are known already.
    #[must_use]
    pub fn identity_of(&self, inputs: &[Input]) -> String {
        match self {
            Programs::Dataset(dataset) => dataset.manifest().identity.clone(),
            Programs::Files(_, files) => {
                let pieces = files.iter().zip(inputs).flat_map(|(file, input)| {
                    [file.file.as_os_str().as_encoded_bytes(), input.hash.as_bytes()]
                });
                crate::content_hash_of(pieces)
            }
        }
    }

    /// The programs, in order, read as they are asked for. What cannot be read is skipped, with
    /// a notice (see [`on_notice`](crate::on_notice)); who makes rows wants [`Programs::found`].
    ///
    /// # Errors
    /// When the data set has no column of programs; items: when this machine fails to read one.
    pub fn iter(&self) -> Result<Box<dyn Iterator<Item = Result<Program>> + '_>> {
        let folder = match self {
            Programs::Dataset(dataset) => dataset.folder(),
            Programs::Files(folder, _) => folder,
        };
        let mut passed = PassedOver { folder: folder.to_owned(), count: 0, first: None };
        Ok(Box::new(self.found()?.filter_map(move |found| match found {
            Ok(Found::Program(program)) => Some(Ok(program)),
            Ok(Found::Rejected(rejected)) => {
                passed.count += 1;
                passed.first.get_or_insert(rejected);
                None
            }
            Err(error) => Some(Err(error)),
        })))
    }

    /// The programs, in order, read as they are asked for, and what stands in the place of one.
    ///
    /// # Errors
    /// As [`Programs::iter`].
    pub fn found(&self) -> Result<Box<dyn Iterator<Item = Result<Found>> + '_>> {
        Ok(match self {
            Programs::Dataset(dataset) => {
                let none = || no_programs(dataset);
                let batches = dataset.batches(Some(COLUMNS))?;
                Box::new(batches.flat_map(move |batch| match batch {
                    Ok(batch) => match programs_of(&batch) {
                        Some(programs) => {
                            programs.into_iter().map(|(_, one)| Ok(Found::Program(one))).collect()
                        }
                        None => vec![Err(none())],
                    },
                    Err(error) => vec![Err(error)],
                }))
            }
            Programs::Files(_, files) => Box::new(files.iter().map(read)),
        })
    }

    /// The programs as [`Programs::found`] has them, for one share of the rows: of others no more than path, name and
    /// language is read. `None`: it must be, since no column says what it comes to.
    ///
    /// # Errors
    /// As there.
    pub fn by_rows(&self, share: Share) -> Result<Option<PlacedPrograms>> {
        let Programs::Dataset(dataset) = self else { return Ok(None) };
        let manifest = dataset.manifest();
        if !HASHED.contains(&manifest.schema.as_str()) {
            return Ok(None);
        }
        let own = share.of_rows(manifest.rows);
        let mut pieces: Vec<Box<dyn Iterator<Item = Result<Placed>>>> = Vec::new();
        for rows in [0..own.start, own.clone(), own.end..manifest.rows] {
            let is_own = rows == own;
            let columns = COLUMNS.iter().copied().filter(|name| is_own || KEYS.contains(name));
            let columns: Vec<&str> = columns.chain([HASH]).collect();
            let (folder, mut first) = (dataset.folder().to_owned(), rows.start);
            let none = no_programs(dataset).to_string();
            pieces.push(Box::new(dataset.batches_in(Some(&columns), rows)?.flat_map(
                move |batch| {
                    let placed = batch.and_then(|batch| {
                        let begin = first;
                        first += batch.num_rows() as u64;
                        placed(&batch, begin, is_own).map_err(|why| {
                            Error::shard(&folder, why.unwrap_or_else(|| none.clone()))
                        })
                    });
                    match placed {
                        Ok(placed) => placed.into_iter().map(Ok).collect(),
                        Err(error) => vec![Err(error)],
                    }
                },
            )));
        }
        Ok(Some(PlacedPrograms { own, all: Box::new(pieces.into_iter().flatten()) }))
    }
}

/// A program of a data set, with what is known of it without its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The number of its row.
    pub row: u64,
    /// [`Code::hash`] of its code.
    pub hash: String,
    /// The program; where its row is another share's it has path, name and language alone.
    pub program: Program,
}

/// The programs of a data set for one share of its rows.
pub struct PlacedPrograms {
    /// The rows whose code is read.
    pub own: Range<u64>,
    /// All programs, in order.
    pub all: Box<dyn Iterator<Item = Result<Placed>>>,
}

/// Schemas whose `id` is the content hash of `text`, in each row that is an accepted program.
const HASHED: [&str; 2] = ["kernel", "content-file"];
const HASH: &str = "id";
const CODE: &str = "text";
/// What is read of the rows of others beside the hash: what tells them apart, and whether they are programs.
const KEYS: [&str; 6] = ["language", "standard", "verdict", "path", "number", "name"];

/// The programs of some rows, the first of which is number `first`; why not, where they are no programs that were
/// expected.
fn placed(batch: &RecordBatch, first: u64, is_own: bool) -> Result<Vec<Placed>, Option<String>> {
    let hashes = batch.column_by_name(HASH).and_then(|column| column.as_string_opt::<i32>());
    let hashes = hashes.ok_or(None)?;
    let programs = match is_own {
        true => programs_of(batch).ok_or(None)?,
        false => outlines_of(batch),
    };
    let place = |(at, program): (usize, Program)| {
        let (row, hash) = (first + at as u64, hashes.value(at).to_owned());
        if is_own && program.code.hash() != hash {
            return Err(Some(format!(
                "`{HASH}` of row {row} is not the content hash of its `{CODE}`: parts of it are not told by it; work on it \
without --part and --cluster"
            )));
        }
        Ok(Placed { row, hash, program })
    };
    programs.into_iter().map(place).collect()
}

/// Says, once no more is asked for, what was skipped.
struct PassedOver {
    folder: PathBuf,
    count: u64,
    first: Option<Rejected>,
}

impl Drop for PassedOver {
    fn drop(&mut self) {
        if let Some(first) = &self.first {
            notice::tell(&format!(
                "{}: {} skipped, first {} ({})",
                self.folder.display(),
                match self.count {
                    1 => "1 file is".to_owned(),
                    count => format!("{count} files are"),
                },
                first.path,
                first.verdict
            ));
        }
    }
}

fn identity_of(file: &FolderFile) -> Result<String> {
    if let Some(verdict) = &file.rejected {
        return Ok(verdict.name.to_string());
    }
    Ok(match content_of(file)? {
        Ok(content) => crate::content_hash(&content),
        Err(verdict) => verdict.name.to_string(),
    })
}

/// The bytes of a file, or why there are none.
fn content_of(file: &FolderFile) -> Result<Result<Vec<u8>, Verdict>> {
    match file::read_file(&file.file, LARGEST_PROGRAM) {
        Ok(Some(content)) => Ok(Ok(content)),
        Ok(None) => {
            let detail = format!("more than {} MiB", LARGEST_PROGRAM >> 20);
            Ok(Err(Verdict::new("too-large", detail)))
        }
        Err(error) => {
            folder::unreadable(&file.file, error).map(Err).map_err(Error::file("read", &file.file))
        }
    }
}

fn read(file: &FolderFile) -> Result<Found> {
    let content = match &file.rejected {
        Some(verdict) => Err(verdict.clone()),
        None => content_of(file)?,
    };
    let path = file.path.clone();
    let content = match content {
        Ok(content) => content,
        Err(verdict) => return Ok(Found::Rejected(Rejected { path, verdict })),
    };
    // By the name where it stands: a link may lead to a file of another.
    let language = Language::of(Path::new(&path)).or_else(|| Language::of(&file.file));
    let language = language.ok_or_else(|| Error::NoPrograms(file.file.clone()))?;
    let code = match language {
        Language::Bitcode => Code::Bytes(content),
        _ => match crate::decode(&content) {
            Some(decoded) => Code::Text(decoded.text),
            None => Code::Bytes(content),
        },
    };
    let provenance = Provenance { path: path.clone(), ..Provenance::default() };
    Ok(Found::Program(Program { path, language, code, provenance, ..Program::default() }))
}

/// The columns of a data set that a [`Program`] is made of.
const COLUMNS: &[&str] = &[
    "text",
    "content",
    "language",
    "standard",
    "verdict",
    "path",
    "number",
    "name",
    "original_name",
    "source",
    "package_source",
    "package",
    "version",
    "license",
    "license_expression",
    "license_source",
    "family",
    "inferred",
];

/// What is wrong with a data set whose rows are no programs.
fn no_programs(dataset: &Dataset) -> Error {
    let inputs: Vec<&str> =
        dataset.manifest().notes.inputs.iter().map(|input| input.name.as_str()).collect();
    Error::OtherRows {
        path: dataset.folder().to_owned(),
        schema: dataset.manifest().schema.clone(),
        inputs: inputs.join(", "),
    }
}

/// The accepted programs among some rows, each with its place; `None`: there is no column with code.
fn programs_of(batch: &RecordBatch) -> Option<Vec<(usize, Program)>> {
    let strings = |name: &str| batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
    let is_there = strings(CODE).is_some()
        || strings("content").is_some()
        || batch.column_by_name("content").is_some_and(|c| c.as_binary_opt::<i32>().is_some());
    is_there.then(|| outlines_of(batch))
}

/// The same; their code is empty where there is no column with it.
fn outlines_of(batch: &RecordBatch) -> Vec<(usize, Program)> {
    let strings = |name: &str| batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
    let bytes = batch.column_by_name("content").and_then(|c| c.as_binary_opt::<i32>());
    let texts = strings(CODE).or_else(|| strings("content"));
    let value = |name: &str, row: usize| {
        strings(name).filter(|c| c.is_valid(row)).map_or("", |column| column.value(row)).to_owned()
    };
    let numbers = batch.column_by_name("number").and_then(|c| c.as_primitive_opt::<UInt64Type>());
    let inferred = batch.column_by_name("inferred").and_then(|c| c.as_list_opt::<i32>());
    let has_verdict = strings("verdict").is_some();
    (0..batch.num_rows())
        .filter(|row| !has_verdict || value("verdict", *row) == Verdict::ACCEPTED)
        .map(|row| {
            let (language, code) = match (texts, bytes) {
                (None, Some(bytes)) => (Language::Bitcode, Code::Bytes(bytes.value(row).to_vec())),
                (texts, _) => {
                    // What is text is no bitcode, whatever the column says.
                    // A kernel says by its standard that it is none of OpenCL.
                    let language = [value("language", row), value("standard", row)]
                        .iter()
                        .find_map(|word| word.parse().ok())
                        .unwrap_or_default();
                    let language = match language {
                        Language::Bitcode => Language::OpenCl,
                        language => language,
                    };
                    let text = texts.map_or("", |texts| texts.value(row));
                    (language, Code::Text(text.to_owned()))
                }
            };
            let first = |names: &[&str]| {
                names.iter().map(|name| value(name, row)).find(|text| !text.is_empty())
            };
            let provenance = Provenance {
                source: first(&["source", "package_source"]).unwrap_or_default(),
                package: value("package", row),
                version: value("version", row),
                path: match (value("path", row), numbers) {
                    // Samples of earlier versions have numbers alone.
                    (path, Some(numbers)) if path.is_empty() => {
                        format!("sample-{}.cl", numbers.value(row))
                    }
                    (path, _) => path,
                },
                license: first(&["license", "license_expression"]).unwrap_or_default(),
                license_source: first(&["license_source"]).unwrap_or_default(),
            };
            let (path, name) = (provenance.path.clone(), value("name", row));
            let original_name = value("original_name", row);
            let family = value("family", row);
            let inferred =
                inferred.filter(|column| column.is_valid(row)).map(|column| column.value(row));
            let inferred = inferred.as_ref().and_then(|list| list.as_string_opt::<i32>());
            let inferred = inferred.into_iter().flatten().flatten().map(str::to_owned).collect();
            let program =
                Program { path, name, original_name, language, code, provenance, family, inferred };
            (row, program)
        })
        .collect()
}
