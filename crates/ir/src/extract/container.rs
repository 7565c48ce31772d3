//! What may hold modules, in what the user named.

use super::{commands, corpus, parquet};
use crate::{Error, Store};
use dataset::{
    Input, Row, content_hash, content_hash_of, content_hash_of_file, is_machine_fault_at,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    ffi::OsStr,
    fs,
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// Larger files of a folder are not read.
const FILE_LIMIT: u64 = 1 << 30;

/// Kinds of [`Container`]: a file of a folder, of which most hold no modules and nobody expects any.
pub(super) const FILE: &str = "file";
/// A file that the user named.
pub(super) const NAMED: &str = "named";
/// A module of a corpus.
pub(super) const MEMBER: &str = "member";
/// A command of a compilation database.
pub(super) const COMMAND: &str = "command";
/// A record of a store.
pub(super) const RECORD: &str = "record";
/// Some rows of a Parquet file.
pub(super) const ROWS: &str = "rows";
/// A file of a store that is named like a record and is none.
pub(super) const STRANGE: &str = "strange";
/// A file or folder in a folder that this machine cannot read.
pub(super) const UNREAD: &str = "unread";
/// A file of a folder that may hold modules and is too large.
pub(super) const LARGE: &str = "large";

/// One thing that may hold modules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// What its rows are called after.
    pub name: String,
    /// `file`, `named`, `member`, `command`, `record`, `rows`, `strange`, `unread` or `large`.
    pub kind: String,
    /// Where it lies, as bytes: names of files need not be text.
    #[serde(with = "serde_bytes")]
    pub path: Vec<u8>,
    /// The record, the command or which rows, as JSON; why there is nothing to read.
    pub text: String,
    /// Identity of its content; empty where it could not be read.
    pub hash: String,
    /// How many of equal name and content come before it.
    pub occurrence: u64,
}

impl Row for Container {
    const SCHEMA: &'static str = "module-container";
    const VERSION: u32 = 1;
}

impl Container {
    fn new(name: String, kind: &str, path: &Path) -> Container {
        let path = path.as_os_str().as_bytes().to_vec();
        Container { name, kind: kind.to_owned(), path, ..Container::default() }
    }

    pub(super) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    fn read(mut self) -> Result<Container, Error> {
        self.hash = hash_of(self.path())?;
        Ok(self)
    }
}

/// Identity of a file's content; empty where it cannot be read.
fn hash_of(path: &Path) -> Result<String, Error> {
    match content_hash_of_file(path) {
        Ok((_, hash)) => Ok(hash),
        Err(error) if is_machine_fault_at(path, &error) => Err(Error::file("read", path)(error)),
        Err(_) => Ok(String::new()),
    }
}

/// All that may hold modules, and the identities of what the user named.
pub(super) fn list(inputs: &[PathBuf]) -> Result<(Vec<Container>, Vec<Input>), Error> {
    let (mut all, mut identities) = (Vec::new(), Vec::new());
    for input in inputs {
        let found = of_input(input)?;
        let pieces = found.iter().flat_map(|one| [&one.kind, &one.name, &one.hash]);
        let hash = content_hash_of(pieces.map(String::as_bytes));
        identities.push(Input { name: input.display().to_string(), hash });
        all.extend(found);
    }
    let mut known: HashMap<(String, String), u64> = HashMap::new();
    for one in &mut all {
        let count = known.entry((one.name.clone(), one.hash.clone())).or_default();
        one.occurrence = *count;
        *count += 1;
    }
    Ok((all, identities))
}

fn of_input(input: &Path) -> Result<Vec<Container>, Error> {
    let metadata = fs::metadata(input).map_err(Error::file("read", input))?;
    let is_called = |name: &str| input.file_name().is_some_and(|found| found == name);
    if is_called(commands::FILE) {
        return commands::read(input)?.into_iter().map(|entry| of_command(input, entry)).collect();
    }
    let folder = match metadata.is_dir() {
        true => input,
        false if is_called(corpus::FILE) => input.parent().unwrap_or(Path::new(".")),
        false => {
            let name = input.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if is_table(input) {
                return Ok(of_table(&name, input, true)?.unwrap_or_default());
            }
            return Ok(vec![Container::new(name, NAMED, input).read()?]);
        }
    };
    if Store::is_at(folder) {
        return of_store(folder);
    }
    if folder.join(corpus::FILE).is_file() {
        return of_corpus(folder);
    }
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                found.push(unread(folder, error)?);
                continue;
            }
        };
        if !entry.file_type().is_file() {
            continue;
        }
        let (name, path) = (name_in(folder, entry.path()), entry.path());
        if is_table(path)
            && let Some(rows) = of_table(&name, path, false)?
        {
            found.extend(rows);
        } else if entry.metadata().is_ok_and(|about| about.len() > FILE_LIMIT) {
            if may_hold(path) {
                let text = format!("more than {} GiB", FILE_LIMIT >> 30);
                found.push(Container { text, ..Container::new(name, LARGE, path) });
            }
        } else {
            found.push(Container::new(name, FILE, path).read()?);
        }
    }
    Ok(found)
}

fn name_in(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}

/// What stands for a part of a folder that this machine cannot read.
fn unread(folder: &Path, error: walkdir::Error) -> Result<Container, Error> {
    let path = error.path().unwrap_or(folder).to_owned();
    let error = error.into_io_error().unwrap_or_else(|| io::Error::other("a loop of links"));
    if path == folder || is_machine_fault_at(&path, &error) {
        return Err(Error::file("read", &path)(error));
    }
    let name = name_in(folder, &path);
    Ok(Container { text: error.to_string(), ..Container::new(name, UNREAD, &path) })
}

/// Whether a file is bitcode, an object or an archive by its first bytes, or textual IR by its name.
fn may_hold(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(8).read_to_end(&mut head));
    let objects: [&[u8]; 3] = [b"\x7fELF", b"!<arch>\n", b"!<thin>\n"];
    read.is_err()
        || llvm::Identification::is_bitcode(&head)
        || objects.iter().any(|magic| head.starts_with(magic))
        || path.extension().is_some_and(|ending| ending == "ll")
}

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "parquet")
}

/// The rows of a Parquet file, in pieces; `None` where it has other columns, and the user did not name it.
fn of_table(name: &str, path: &Path, is_named: bool) -> Result<Option<Vec<Container>>, Error> {
    let Some(pieces) = parquet::pieces(path, is_named)? else { return Ok(None) };
    let file = hash_of(path)?;
    let of = |piece: parquet::Piece| {
        let text = serde_json::to_string(&piece).map_err(|error| Error::format(path, error))?;
        let hash = content_hash_of([file.as_bytes(), text.as_bytes()]);
        Ok(Container { text, hash, ..Container::new(name.to_owned(), ROWS, path) })
    };
    pieces.into_iter().map(of).collect::<Result<_, _>>().map(Some)
}

/// What it compiles and what it made are a part of its content.
fn of_command(database: &Path, entry: commands::Entry) -> Result<Container, Error> {
    let text = serde_json::to_string(&entry).map_err(|error| Error::format(database, error))?;
    let source = hash_of(&entry.source())?;
    let object = entry.object().map_or(Ok(String::new()), |object| hash_of(&object))?;
    let hash = content_hash_of([text.as_bytes(), source.as_bytes(), object.as_bytes()]);
    Ok(Container { text, hash, ..Container::new(entry.file, COMMAND, database) })
}

fn of_store(folder: &Path) -> Result<Vec<Container>, Error> {
    let found = Store::existing(folder)?.found()?;
    let of = |name, kind, text: String| {
        let hash = content_hash(text.as_bytes());
        Container { text, hash, ..Container::new(name, kind, folder) }
    };
    let records = found.records.into_iter().map(|record| {
        let text = serde_json::to_string(&record).map_err(|error| Error::format(folder, error))?;
        Ok(of(record.source, RECORD, text))
    });
    let strange = found.strange.into_iter().map(|(name, reason)| Ok(of(name, STRANGE, reason)));
    records.chain(strange).collect()
}

fn of_corpus(folder: &Path) -> Result<Vec<Container>, Error> {
    let of = |name: String| {
        if !corpus::is_inside(&name) {
            let text = "leads out of its folder".to_owned();
            return Ok(Container { text, ..Container::new(name, MEMBER, folder) });
        }
        let file = |ending: &str| folder.join(format!("{name}.{ending}"));
        let (bitcode, command) = (hash_of(&file("bc"))?, hash_of(&file("cmd"))?);
        let hash = match bitcode.as_str() {
            "" => String::new(),
            bitcode => content_hash_of([bitcode.as_bytes(), command.as_bytes()]),
        };
        Ok(Container { hash, ..Container::new(name.clone(), MEMBER, &file("bc")) })
    };
    corpus::read(folder)?.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_read_of_a_folder_stands_in_the_list() {
        let folder = tempfile::tempdir().unwrap();
        let files: [(&str, &[u8]); 3] =
            [("large.o", b"\x7fELF"), ("large.tar", b"no magic"), ("small.o", b"")];
        for (name, head) in files {
            let path = folder.path().join(name);
            fs::write(&path, head).unwrap();
            if name.starts_with("large") {
                let file = fs::File::options().write(true).open(&path).unwrap();
                file.set_len(FILE_LIMIT + 1).unwrap();
            }
        }
        let (found, _) = list(&[folder.path().to_owned()]).unwrap();
        let said: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.kind.as_str())).collect();
        assert_eq!(said, [("large.o", LARGE), ("small.o", FILE)]);
    }

    #[test]
    fn a_part_of_a_folder_that_cannot_be_read_is_a_row_and_the_folder_itself_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error_of = |path: &Path| {
            walkdir::WalkDir::new(path).into_iter().find_map(Result::err).expect("it is not there")
        };
        let gone = folder.path().join("gone");
        let found = unread(folder.path(), error_of(&gone)).unwrap();
        assert_eq!((found.name.as_str(), found.kind.as_str()), ("gone", UNREAD));
        assert!(!found.text.is_empty() && !found.text.contains("gone"), "{}", found.text);
        assert!(unread(&gone, error_of(&gone)).is_err());
    }
}
