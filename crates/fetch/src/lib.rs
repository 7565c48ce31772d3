//! Public data sets by name: where their files come from, what they must be, and how a stopped fetch goes on.
//!
//! A name is a file of `sources/`: what the data are, their version and license and, where it is known, the size and SHA-256 of
//! each file. [`fetch`] takes files from a file, a folder or the address of a mirror, and writes beside them a *lock*: the
//! checksum of every file, and whether it was pinned or recorded at this first fetch. With a lock there every later fetch must give
//! the same bytes.
//!
//! ```
//! use stampmill_fetch::{Fetch, fetch, source};
//! use std::sync::atomic::AtomicBool;
//!
//! let home = tempfile::tempdir()?;
//! let archive = home.path().join("jotai.tar.gz");
//! std::fs::write(&archive, b"programs")?;
//! let from = archive.display().to_string();
//! let asked = Fetch::new("jotai", &from, &home.path().join("jotai"));
//! let fetched = fetch(&asked, &AtomicBool::new(false), &|_| {})?;
//! assert!(!fetched.files[0].pinned && source("jotai")?.files.is_empty());
//! assert!(home.path().join("jotai/fetch.lock").is_file());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod lock;
mod remote;
mod take;

pub use lock::{Lock, Locked};
use serde::{Deserialize, Serialize};
use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

/// What a name stands for.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What the data are.
    pub about: String,
    /// Which version is meant.
    pub version: String,
    /// Under which terms they are.
    pub license: String,
    /// The files that are meant, in words.
    pub holds: String,
    /// A command that takes them; `OUT` is their folder.
    pub next: String,
    /// The files, where they are known.
    #[serde(default)]
    pub files: Vec<Pinned>,
}

/// A file that is known.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// Its path below the folder.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, in small letters.
    pub sha256: String,
}

const SOURCES: [(&str, &str); 7] = [
    ("cgo17", include_str!("../sources/cgo17.toml")),
    ("codenet", include_str!("../sources/codenet.toml")),
    ("compile", include_str!("../sources/compile.toml")),
    ("exebench", include_str!("../sources/exebench.toml")),
    ("jotai", include_str!("../sources/jotai.toml")),
    ("pie", include_str!("../sources/pie.toml")),
    ("suites", include_str!("../sources/suites.toml")),
];

/// The names that there are.
#[must_use]
pub fn names() -> [&'static str; 7] {
    SOURCES.map(|(name, _)| name)
}

/// What a name stands for.
///
/// # Errors
/// [`Error::Unknown`].
pub fn source(name: &str) -> Result<Source, Error> {
    let found = SOURCES.into_iter().find(|(known, _)| *known == name);
    let (_, text) =
        found.ok_or_else(|| Error::Unknown { name: name.to_owned(), known: names().join(", ") })?;
    Ok(toml::from_str(text).expect("our own files are whole: a test reads them"))
}

/// What is to be fetched, and whence.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// The name.
    pub name: String,
    /// A file, a folder, or the address of one: `http://`, `https://`.
    pub from: String,
    /// The folder for the files.
    pub out: PathBuf,
    /// The lock; by default `fetch.lock` in the folder.
    pub lock: Option<PathBuf>,
    /// Bytes of a file at most.
    pub most: u64,
    /// How often a connection that breaks off is made anew without a byte between.
    pub tries: u32,
    /// Pause after the first such; doubled after each further one.
    pub pause: std::time::Duration,
}

impl Fetch {
    /// With the usual limits: 1 TiB, 5 tries, a second.
    #[must_use]
    pub fn new(name: &str, from: &str, out: &Path) -> Fetch {
        Fetch {
            name: name.to_owned(),
            from: from.to_owned(),
            out: out.to_owned(),
            lock: None,
            most: 1 << 40,
            tries: 5,
            pause: std::time::Duration::from_secs(1),
        }
    }
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Fetched {
    /// The name.
    pub name: String,
    /// The version that is meant.
    pub version: String,
    /// The license.
    pub license: String,
    /// The files, as the lock has them.
    pub files: Vec<Locked>,
    /// Bytes that were fetched now.
    pub fetched_bytes: u64,
    /// Bytes that were there from a fetch that was stopped.
    pub resumed_bytes: u64,
    /// Files that were there, whole.
    pub present: u64,
    /// The lock's file.
    pub lock: PathBuf,
}

/// Fetch the files of a name, or go on with that. Files that are there, as the lock or the pins have them, are not fetched
/// again. `tell` hears of each file before it is fetched.
///
/// # Errors
/// Where a file is not what it must be (it is removed), cannot be had, or `stop` is raised: the same call goes on then.
pub fn fetch(asked: &Fetch, stop: &AtomicBool, tell: &dyn Fn(&str)) -> Result<Fetched, Error> {
    let source = source(&asked.name)?;
    take::all(asked, &source, stop, tell)
}

/// Why something is not fetched.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that nobody described.
    #[error("nothing is called `{name}`; there are {known}")]
    Unknown {
        /// As it was asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A file is not what it must be.
    #[error(
        "{file} is not what it must be: SHA-256 {found}, wanted {wanted} ({by}); it was removed: fetch it from another place, or, where the data are meant to be others, name another lock with --lock"
    )]
    Checksum {
        /// The file.
        file: String,
        /// Its checksum.
        found: String,
        /// What it must be.
        wanted: String,
        /// Who says so.
        by: &'static str,
    },
    /// A file is larger than allowed.
    #[error("{file} has more than {most} bytes; raise --max-size")]
    Large {
        /// The file.
        file: String,
        /// Bytes allowed.
        most: u64,
    },
    /// A name of a file leads elsewhere.
    #[error("`{path}` is no name of a file below a folder")]
    Path {
        /// The name.
        path: String,
    },
    /// A mirror or place lacks a file.
    #[error("{place} has no {file}; it must hold {holds}")]
    Absent {
        /// The place.
        place: String,
        /// The file.
        file: String,
        /// What the name stands for.
        holds: String,
    },
    /// A server does not give it.
    #[error("{url}: {reason}; what came is kept, and the same command goes on")]
    Remote {
        /// The address, without user and password.
        url: String,
        /// Why not.
        reason: String,
    },
    /// The lock is of something else, or broken.
    #[error("{}: {reason}; remove it, or name another with --lock", path.display())]
    Lock {
        /// The lock.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The file system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The user stopped it.
    #[error("stopped; the same command goes on")]
    Stopped,
}

impl Error {
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File { action, path, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_can_be_read_and_its_pins_are_checksums() {
        for name in names() {
            let source = source(name).expect("it is there");
            assert!(!source.license.is_empty() && source.next.contains("OUT"), "{name}");
            for file in source.files {
                assert_eq!(file.sha256.len(), 64, "{name}");
                assert!(
                    file.sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
                        && file.bytes > 0
                );
            }
        }
        assert!(source("cgo18").unwrap_err().to_string().contains("cgo17, codenet"));
    }
}
