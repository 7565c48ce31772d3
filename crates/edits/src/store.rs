//! Results kept by the content they came from: a file per key, whole or not there.
//!
//! Whatever may have happened to a file meanwhile, only what was put there comes out: each begins with a line that
//! names the form and what belongs behind it.

use dataset::content_hash_of;
use std::path::{Path, PathBuf};

/// Version of what is kept: what earlier ones kept may hold a machine's faults as verdicts.
const FORM: &str = "stampmill-store 2";

/// A folder of kept results.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// The store of this user: the folder `edits` of the cache.
    #[must_use]
    pub fn of_user() -> Store {
        Store::at(&host::cache().join("edits"))
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
        self.folder(kind).join(&key[..2.min(key.len())]).join(key)
    }

    /// A kept result; none where the file is not as it was put.
    #[must_use]
    pub fn get(&self, kind: &str, key: &str) -> Option<Vec<u8>> {
        let mut file = std::fs::read(self.path(kind, key)).ok()?;
        let end = file.iter().position(|byte| *byte == b'\n')?;
        let content = file.split_off(end + 1);
        let kept = (file == head(kind, key, &content)).then_some(content);
        tracing::debug!(kind, key, is_whole = kept.is_some(), "found in the cache");
        kept
    }

    /// Keep a result. A store that cannot be written is a slower run, no failure.
    pub fn put(&self, kind: &str, key: &str, content: &[u8]) {
        let path = self.path(kind, key);
        let Some(folder) = path.parent() else { return };
        if std::fs::create_dir_all(folder).is_ok() {
            let file = [&head(kind, key, content), content].concat();
            // Nothing is lost but time.
            let _ = crate::pair::write_whole(&path, &file);
        }
    }

    /// An entry without the line in front, as the first form of the store has it; for answers that cost money, which no fault of a machine
    /// can falsify.
    pub(crate) fn get_plain(&self, kind: &str, key: &str) -> Option<Vec<u8>> {
        let file = std::fs::read(self.path(kind, key)).ok()?;
        (!file.starts_with(FORM.as_bytes())).then_some(file)
    }

    /// Where things of that kind are: apart where a weak sandbox is accepted, but for a model's answers.
    pub(crate) fn folder(&self, kind: &str) -> PathBuf {
        match sandbox::is_weak_allowed() && kind != "answers" {
            true => self.root.join("weak-sandbox").join(kind),
            false => self.root.join(kind),
        }
    }
}

/// The first line of a file.
fn head(kind: &str, key: &str, content: &[u8]) -> Vec<u8> {
    let check = content_hash_of([kind.as_bytes(), key.as_bytes(), content]);
    format!("{FORM} {check}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_put_comes_out() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        store.put("trials", "abcd", b"{\"passed\": 3}\n");
        assert_eq!(store.get("trials", "abcd").unwrap(), b"{\"passed\": 3}\n");
        let path = store.path("trials", "abcd");
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(store.get("trials", "abcd"), None, "{length}");
        }
        for at in 0..whole.len() {
            let mut other = whole.clone();
            other[at] ^= 1;
            std::fs::write(&path, other).unwrap();
            assert_eq!(store.get("trials", "abcd"), None, "{at}");
        }
        // A file that belongs elsewhere, and one of the first form.
        let elsewhere = store.path("trials", "abce");
        std::fs::write(&elsewhere, &whole).unwrap();
        assert_eq!(store.get("trials", "abce"), None);
        std::fs::write(&elsewhere, b"the compiler: no room").unwrap();
        assert_eq!(store.get("trials", "abce"), None);
        assert!(store.get_plain("trials", "abce").is_some());
    }
}
