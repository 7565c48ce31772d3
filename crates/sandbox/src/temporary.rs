use rustix::fs::{FlockOperation, flock};
use std::{
    collections::BTreeSet,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// In each of our folders; locked while whoever made it lives.
const MARKER: &str = ".stampmill-temporary";
/// What the marker says, so that no other file of that name is taken for one.
const WORDS: &str =
    "a temporary folder of stampmill, removed by the next run when this file is not locked\n";

/// A folder that goes with this value. One that is left behind because its process was killed is removed by the next
/// process that makes one of the same kind in the same place.
#[derive(Debug)]
pub struct Temporary {
    folder: tempfile::TempDir,
    /// Ends with the process, however that ends.
    _lock: File,
}

impl Temporary {
    /// Make a folder in the system's temporary one; its name begins with `kind`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(kind: &str) -> io::Result<Temporary> {
        Temporary::within(&std::env::temp_dir(), kind, 0)
    }

    /// Make a folder in `base`; its path is filled up to `length` bytes where it would have fewer.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn within(base: &Path, kind: &str, length: usize) -> io::Result<Temporary> {
        const RANDOM: usize = 12;
        sweep_once(base, kind);
        let pid = std::process::id();
        let start = format!("{kind}-{pid}-");
        let fill = length.saturating_sub(base.as_os_str().len() + 1 + RANDOM);
        let folder = tempfile::Builder::new()
            .prefix(&format!("{start:-<fill$}"))
            .rand_bytes(RANDOM)
            .tempdir_in(base)?;
        let lock = mark(folder.path())?;
        Ok(Temporary { folder, _lock: lock })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Put the marker into a folder, locked before it has its name: nobody finds it free.
fn mark(folder: &Path) -> io::Result<File> {
    let new = folder.join(format!("{MARKER}.new"));
    std::fs::write(&new, WORDS)?;
    let file = File::open(&new)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    std::fs::rename(&new, folder.join(MARKER))?;
    Ok(file)
}

/// Remove what killed processes left, once in this process for each place and kind.
fn sweep_once(base: &Path, kind: &str) {
    static SWEPT: Mutex<BTreeSet<(PathBuf, String)>> = Mutex::new(BTreeSet::new());
    let first = SWEPT
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert((base.to_owned(), kind.to_owned()));
    if first {
        sweep(base, kind);
    }
}

fn sweep(base: &Path, kind: &str) {
    for entry in std::fs::read_dir(base).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(&format!("{kind}-"));
        // Of the entry itself: a link to a folder is none.
        let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !ours || !folder {
            continue;
        }
        let marker = entry.path().join(MARKER);
        let plain = std::fs::symlink_metadata(&marker).is_ok_and(|found| found.is_file());
        if !plain || std::fs::read(&marker).ok().as_deref() != Some(WORDS.as_bytes()) {
            continue;
        }
        let free = File::open(&marker)
            .is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok());
        if free {
            // What cannot be removed is left to the next run.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        for name in ["kind-1-left", "kind-2-other", "kind-3-words", "other-4"] {
            std::fs::create_dir(at(name)).unwrap();
            std::fs::write(at(name).join("file"), "x").unwrap();
        }
        // Its process ended without removing it: nobody holds the lock.
        drop(mark(&at("kind-1-left")).unwrap());
        drop(mark(&at("other-4")).unwrap());
        std::fs::write(at("kind-3-words").join(MARKER), "a thesis").unwrap();
        std::os::unix::fs::symlink(at("other-4"), at("kind-5-link")).unwrap();
        let lives = Temporary::within(base.path(), "kind", 0).unwrap();
        sweep(base.path(), "kind");
        assert!(!at("kind-1-left").exists());
        for name in ["kind-2-other", "kind-3-words", "other-4", "kind-5-link"] {
            assert!(at(name).join("file").exists(), "{name}");
        }
        assert!(lives.path().exists());
        let path = lives.path().to_owned();
        drop(lives);
        assert!(!path.exists());
    }

    #[test]
    fn paths_are_filled_to_a_length() {
        let base = tempfile::tempdir().unwrap();
        let long = Temporary::within(base.path(), "kind", 120).unwrap();
        assert_eq!(long.path().as_os_str().len(), 120);
    }
}
