//! The folder into which wrapped compilers put bitcode: any number of them at once, each module
//! whole or not there.

use crate::Error;
use dataset::content_hash;
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// What a wrapped compiler knows about a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Record {
    /// Package, as the build said (`BENCHSTONE_IR_PACKAGE`, cargo's own variables).
    pub package: String,
    /// Its version.
    pub version: String,
    /// The source file as the command names it.
    pub source: String,
    /// What it is compiled into.
    pub target: String,
    /// `c`, `c++`, `rust`, `fortran`, `d`, `zig`.
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

    /// Put a module in; putting it in twice changes nothing.
    ///
    /// # Errors
    /// When it cannot be written; then no record of it is there.
    pub fn put(&self, mut record: Record, bitcode: &[u8]) -> Result<(), Error> {
        record.bitcode = content_hash(bitcode);
        self.write(&format!("{}.bc", record.bitcode), bitcode)?;
        self.note(&record)
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
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(name);
        if path.is_file() {
            return Ok(());
        }
        let temporary = self.folder.join(format!("{name}.{}.{number}.new", std::process::id()));
        let written = fs::write(&temporary, content).and_then(|()| fs::rename(&temporary, &path));
        if written.is_err() {
            // What is left of it is no part of the store either way.
            let _ = fs::remove_file(&temporary);
        }
        written.map_err(Error::file("write", &path))
    }

    /// All records, sorted.
    ///
    /// # Errors
    /// When the folder or a record cannot be read.
    pub fn records(&self) -> Result<Vec<Record>, Error> {
        let mut records = Vec::new();
        let entries = fs::read_dir(&self.folder).map_err(Error::file("read", &self.folder))?;
        for entry in entries {
            let path = entry.map_err(Error::file("read", &self.folder))?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                let text = fs::read(&path).map_err(Error::file("read", &path))?;
                records.push(
                    serde_json::from_slice(&text).map_err(|error| Error::format(&path, error))?,
                );
            }
        }
        records.sort();
        Ok(records)
    }

    /// The bitcode of a record.
    ///
    /// # Errors
    /// When it is not there.
    pub fn bitcode(&self, record: &Record) -> Result<Vec<u8>, Error> {
        let path = self.folder.join(format!("{}.bc", record.bitcode));
        fs::read(&path).map_err(Error::file("read", &path))
    }
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
}
