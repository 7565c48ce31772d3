//! The lock: what every file was at the first fetch.

use crate::Error;
use serde::{Deserialize, Serialize};
use std::{fs, io::ErrorKind, path::Path};

/// The checksums of all files of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// The name.
    pub name: String,
    /// The files, by path.
    pub files: Vec<Locked>,
}

/// A file of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locked {
    /// Its path below the folder.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// Whether this build knew the checksum before; else it is what came at the first fetch.
    pub pinned: bool,
    /// Where it came from, without user and password.
    pub from: String,
}

impl Lock {
    /// The lock of a name; an empty one where there is none.
    pub(crate) fn read(path: &Path, name: &str) -> Result<Lock, Error> {
        let wrong = |reason: String| Error::Lock { path: path.to_owned(), reason };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Lock { name: name.to_owned(), files: Vec::new() });
            }
            Err(error) => return Err(Error::file("read", path)(error)),
        };
        let lock: Lock =
            toml::from_str(&text).map_err(|error| wrong(error.message().to_owned()))?;
        match lock.name == name {
            true => Ok(lock),
            false => Err(wrong(format!("it is the lock of {}, not of {name}", lock.name))),
        }
    }

    pub(crate) fn of(&self, path: &str) -> Option<&Locked> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Note a file, and write the lock.
    pub(crate) fn add(&mut self, to: &Path, file: Locked) -> Result<(), Error> {
        self.files.retain(|known| known.path != file.path);
        self.files.push(file);
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        let text = toml::to_string(self).expect("a lock is plain data");
        host::write_whole(to, text.as_bytes()).map_err(Error::file("write", to))
    }
}
