use crate::{Error, Result};
use dataset::content_hash;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

/// Where downloads are kept, so that nothing is fetched twice: one folder per source, named by what
/// was asked for. Removing a folder makes the next run ask again.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

/// A folder in the cache, and the lock on it.
pub(crate) struct Entry {
    pub(crate) folder: PathBuf,
    complete: bool,
    _lock: File,
}

/// Says that a folder holds all that it should.
const COMPLETE: &str = "complete.json";

impl Cache {
    /// The cache in `folder`, or in [`host::cache()`]; in its folder `sources`.
    #[must_use]
    pub fn at(folder: Option<PathBuf>) -> Cache {
        Cache { root: folder.unwrap_or_else(host::cache).join("sources") }
    }

    /// The folder for one source of a kind, locked against other processes and threads.
    pub(crate) fn entry(&self, kind: &str, name: &str) -> Result<Entry> {
        let readable: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "._+-@=~".contains(c) { c } else { '-' })
            .take(80)
            .collect();
        // What does not survive in the name is told apart by a hash.
        let base = if readable == name && !name.starts_with('.') {
            readable
        } else {
            format!("{}-{}", readable.trim_start_matches('.'), &content_hash(name.as_bytes())[..12])
        };
        let folder = self.root.join(kind).join(&base);
        fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
        let lock_path = self.root.join(kind).join(format!("{base}.lock"));
        let lock = File::create(&lock_path).map_err(Error::file("create", &lock_path))?;
        lock.lock().map_err(Error::file("lock", &lock_path))?;
        let complete = folder.join(COMPLETE).is_file();
        tracing::info!(kind, name = %without_user(name), complete, "looked for in the cache");
        Ok(Entry { folder, complete, _lock: lock })
    }
}

impl Entry {
    /// What [`Entry::complete`] left here, if it did.
    pub(crate) fn known<T: serde::de::DeserializeOwned>(&self) -> Option<T> {
        if !self.complete {
            return None;
        }
        let text = fs::read_to_string(self.folder.join(COMPLETE)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Note that all is here, with what is worth knowing about it.
    pub(crate) fn complete(&self, about: &impl serde::Serialize) -> Result<()> {
        let path = self.folder.join(COMPLETE);
        let text = serde_json::to_vec_pretty(about).map_err(std::io::Error::other);
        text.and_then(|text| host::write_whole(&path, &text)).map_err(Error::file("write", &path))
    }
}

/// The name of a source for logs: an address without user and password.
pub(crate) fn without_user(name: &str) -> String {
    let Some((scheme, rest)) = name.split_once("://") else { return name.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    format!("{scheme}://{}{path}", host.rsplit('@').next().unwrap_or(host))
}

/// Files in a folder, sorted by name.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Error::file("read", folder))?;
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::without_user;

    #[test]
    fn logs_hold_no_passwords() {
        assert_eq!(without_user("https://me:4711@host:8/a@b"), "https://host:8/a@b");
        assert_eq!(without_user("git@host:a/b"), "git@host:a/b");
        assert_eq!(without_user("serde@1.0"), "serde@1.0");
    }
}
