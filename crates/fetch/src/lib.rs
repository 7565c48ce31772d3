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
//! let asked = Fetch::new("jotai", Some(&from), &home.path().join("jotai"));
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
    /// The same of the published files, where these are others.
    pub next_published: Option<String>,
    /// The page where they are published.
    pub page: String,
    /// Whether the published files were obtained and looked at by whoever described them; else their addresses are as the
    /// page says, and nobody has tried them.
    pub verified: bool,
    /// The files as they are published; none where the page gives no addresses of files.
    #[serde(default)]
    pub published: Vec<Published>,
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

/// A file at a public address.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Its path below the folder.
    pub path: String,
    /// Its address.
    pub url: String,
    /// Its size, where it is known.
    pub bytes: Option<u64>,
    /// Its SHA-256, where it is known.
    pub sha256: Option<String>,
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
    /// A file, a folder, or the address of one: `http://`, `https://`; without one the files as they are published.
    pub from: Option<String>,
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
    pub fn new(name: &str, from: Option<&str>, out: &Path) -> Fetch {
        Fetch {
            name: name.to_owned(),
            from: from.map(str::to_owned),
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
    fetch_source(asked, &source(&asked.name)?, stop, tell)
}

/// As [`fetch()`], of a source that is described by the caller.
///
/// # Errors
/// As there.
pub fn fetch_source(
    asked: &Fetch,
    source: &Source,
    stop: &AtomicBool,
    tell: &dyn Fn(&str),
) -> Result<Fetched, Error> {
    take::all(asked, source, stop, tell)
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
    /// Its page gives no addresses of files.
    #[error(
        "{page} has {name} and gives no addresses of files; fetch them there by hand and name their folder with --from: {holds}"
    )]
    NotPublished {
        /// The name.
        name: String,
        /// Its page.
        page: String,
        /// What the name stands for.
        holds: String,
    },
    /// The public address does not give it.
    #[error(
        "{reason}; without it: fetch the files elsewhere (they are published at {page}) and name their folder, or the address of a mirror, with --from"
    )]
    Public {
        /// What went wrong.
        reason: Box<Error>,
        /// The page of the source.
        page: String,
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
            assert!(source.page.starts_with("https://"), "{name}");
            let is_sum = |sum: &str| {
                sum.len() == 64 && sum.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            };
            assert!(source.files.iter().all(|file| is_sum(&file.sha256) && file.bytes > 0));
            for file in &source.published {
                assert!(file.url.starts_with("https://"), "{name}: {}", file.url);
                let known = file.sha256.as_deref();
                assert_eq!(known.is_some(), file.bytes.is_some(), "{name}: {}", file.path);
                assert!(known.is_none_or(is_sum), "{name}: {}", file.path);
                // What was obtained has a checksum.
                assert!(!source.verified || known.is_some(), "{name}: {}", file.path);
                let pin = source.files.iter().find(|pinned| pinned.path == file.path);
                assert!(pin.is_none_or(|pin| Some(&*pin.sha256) == known), "{name}: {}", file.path);
            }
        }
        assert!(source("cgo18").unwrap_err().to_string().contains("cgo17, codenet"));
    }
}
