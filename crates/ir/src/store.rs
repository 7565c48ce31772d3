//! The folder into which wrapped compilers put bitcode: any number of them at once, each module
//! whole or not there.

use crate::{Error, reader::MODULE_LIMIT};
use dataset::content_hash;
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// What a wrapped compiler knows about a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Record {
    /// Package, as the build said (`STAMPMILL_IR_PACKAGE`, cargo's own variables).
    pub package: String,
    /// Its version.
    pub version: String,
    /// The source file as the command names it.
    pub source: String,
    /// What it is compiled into.
    pub target: String,
    /// `c`, `c++`, `opencl`, `cuda`, `rust`, `fortran`, `d`, `zig`, `swift`, `julia`.
    pub language: String,
    /// Folder in which the command ran.
    pub directory: String,
    /// The exact command.
    pub command: Vec<String>,
    /// Hash over what the preprocessor read.
    pub source_hash: String,
    /// Content hash of the bitcode, which is beside the record as `HASH.bc`; empty where there is
    /// none.
    pub bitcode: String,
    /// Why there is no bitcode, or why another compiler than the one asked for made the object.
    pub trouble: String,
}

/// A file in every store, by which it is known.
const MARK: &str = "ir-store";

/// Longer than the record of any command.
const RECORD_LIMIT: u64 = 8 << 20;

/// A folder of records and bitcode.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store in `folder`, made if it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(folder: &Path) -> Result<Store, Error> {
        fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
        let store = Store { folder: folder.to_owned() };
        store.write(MARK, b"")?;
        Ok(store)
    }

    /// Whether `folder` is one.
    #[must_use]
    pub fn is_at(folder: &Path) -> bool {
        folder.join(MARK).is_file()
    }

    /// A store that is to be read.
    ///
    /// # Errors
    /// When there is none.
    pub fn existing(folder: &Path) -> Result<Store, Error> {
        let mark = folder.join(MARK);
        fs::metadata(&mark).map_err(Error::file("read", &mark))?;
        Ok(Store { folder: folder.to_owned() })
    }

    /// Put a module in; putting it in twice changes nothing.
    ///
    /// # Errors
    /// When it cannot be written; then no record of it is there.
    pub fn put(&self, mut record: Record, bitcode: &[u8]) -> Result<(), Error> {
        record.bitcode = content_hash(bitcode);
        self.write(&format!("{}.bc", record.bitcode), bitcode)?;
        self.note(&record)
    }

    /// An error where it has gone, with all that was in it.
    pub(crate) fn still(&self) -> Result<(), Error> {
        Store::existing(&self.folder).map(|_| ())
    }

    /// Put in a record without a module.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note(&self, record: &Record) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(record)
            .map_err(|error| Error::format(&self.folder, error))?;
        self.write(&format!("{}.json", content_hash(&text)), &text)
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        let path = self.folder.join(name);
        if path.is_file() {
            return Ok(());
        }
        host::write_whole(&path, content).map_err(Error::file("write", &path))
    }

    /// All records, sorted.
    ///
    /// # Errors
    /// When the folder cannot be read, or what is there as a record is none.
    pub fn records(&self) -> Result<Vec<Record>, Error> {
        let found = self.found()?;
        match found.strange.into_iter().next() {
            Some((name, reason)) => Err(Error::format(&self.folder.join(name), reason)),
            None => Ok(found.records),
        }
    }

    /// What is there, whoever wrote it: a build may put anything into its store.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(crate) fn found(&self) -> Result<Found, Error> {
        let mut found = Found::default();
        let entries = fs::read_dir(&self.folder).map_err(Error::file("read", &self.folder))?;
        for entry in entries {
            let path = entry.map_err(Error::file("read", &self.folder))?.path();
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let record = plain(&path, RECORD_LIMIT)
                .and_then(|text| serde_json::from_slice(&text).map_err(io::Error::other));
            match record {
                Ok(record) => found.records.push(record),
                // It was there when the folder was listed: somebody takes the store away.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(Error::file("read", &path)(error));
                }
                Err(error) => {
                    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    found.strange.push((name, error.to_string()));
                }
            }
        }
        found.records.sort();
        found.strange.sort();
        Ok(found)
    }

    /// The bitcode of a record: what is longer than any module that is read is cut.
    ///
    /// # Errors
    /// When it is not there, or is no file of this store.
    pub fn bitcode(&self, record: &Record) -> io::Result<Vec<u8>> {
        if !record.bitcode.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(io::Error::other("its bitcode is named by no hash"));
        }
        plain(&self.folder.join(format!("{}.bc", record.bitcode)), MODULE_LIMIT as u64 + 1)
    }
}

/// What is in a store.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) records: Vec<Record>,
    /// Files that are named like records and are none, and why.
    pub(crate) strange: Vec<(String, String)>,
}

/// The first `limit` bytes of a file that is no link, no pipe and no device.
fn plain(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    if !path.symlink_metadata()?.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    let mut content = Vec::new();
    fs::File::open(path)?.take(limit).read_to_end(&mut content)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_read_back_and_half_a_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("a/b")).unwrap();
        let record = Record { source: "a.c".into(), ..Record::default() };
        store.put(record.clone(), b"BC").unwrap();
        store.put(record.clone(), b"BC").unwrap();
        store.note(&Record { trouble: "no".into(), ..record }).unwrap();
        fs::write(folder.path().join("a/b/x.json.1.0.new"), "{").unwrap();
        let records = store.records().unwrap();
        assert_eq!(records.len(), 2);
        let with: Vec<&Record> = records.iter().filter(|r| !r.bitcode.is_empty()).collect();
        assert_eq!(store.bitcode(with[0]).unwrap(), b"BC");
    }

    #[test]
    fn what_a_build_forges_is_named_and_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("secret.bc");
        fs::write(&outside, "secret").unwrap();
        let store = Store::open(&folder.path().join("store")).unwrap();
        let at = |name: &str| folder.path().join("store").join(name);
        fs::write(at("garbage.json"), "{").unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("endless.json")).unwrap();
        std::os::unix::fs::symlink(&outside, at("abc.bc")).unwrap();
        let away = ["../secret", "abc", &outside.display().to_string().replace(".bc", "")]
            .map(|name| Record { bitcode: name.to_owned(), ..Record::default() });
        for record in &away {
            store.note(record).unwrap();
            store.bitcode(record).unwrap_err();
        }
        let found = store.found().unwrap();
        assert_eq!(found.records.len(), away.len());
        let names: Vec<&str> = found.strange.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["endless.json", "garbage.json"]);
        assert!(store.records().is_err());
    }
}
