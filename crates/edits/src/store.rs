//! Results kept by the content they came from: a file per key, whole or not there.

use std::path::{Path, PathBuf};

/// A folder of kept results.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// The store of this user: `$BENCHSTONE_CACHE/edits`, else `$XDG_CACHE_HOME/benchstone/edits`, else
    /// `~/.cache/benchstone/edits`.
    #[must_use]
    pub fn of_user() -> Store {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        if let Some(cache) = variable("BENCHSTONE_CACHE") {
            return Store::at(&cache.join("edits"));
        }
        let base = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        let base = base.or_else(|| variable("HOME").map(|home| home.join(".cache")));
        Store::at(&base.unwrap_or_else(std::env::temp_dir).join("benchstone").join("edits"))
    }

    /// A store in a folder, which is made when something is kept.
    #[must_use]
    pub fn at(root: &Path) -> Store {
        // Compilers run elsewhere.
        Store { root: std::path::absolute(root).unwrap_or_else(|_| root.to_owned()) }
    }

    /// Where a result of that kind and key is or would be.
    #[must_use]
    pub fn path(&self, kind: &str, key: &str) -> PathBuf {
        self.root.join(kind).join(&key[..2.min(key.len())]).join(key)
    }

    /// A kept result.
    #[must_use]
    pub fn get(&self, kind: &str, key: &str) -> Option<Vec<u8>> {
        std::fs::read(self.path(kind, key)).ok()
    }

    /// Keep a result. A store that cannot be written is a slower run, no failure.
    pub fn put(&self, kind: &str, key: &str, content: &[u8]) {
        let path = self.path(kind, key);
        let Some(folder) = path.parent() else { return };
        if std::fs::create_dir_all(folder).is_ok() {
            // Nothing is lost but time.
            let _ = crate::pair::write_whole(&path, content);
        }
    }

    /// Where things of that kind are.
    pub(crate) fn folder(&self, kind: &str) -> PathBuf {
        self.root.join(kind)
    }
}
