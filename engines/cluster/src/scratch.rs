//! The folder that an executor works in. One that was killed leaves it behind; the next executor removes it.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

const PREFIX: &str = "stampmill-executor-";
/// Locked as long as the executor lives.
const LOCK: &str = "lock";

/// A folder, and the lock that says that it is in use.
pub(crate) struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Make one in the folder for temporary files, and remove those there that nobody uses any more.
pub(crate) fn new() -> io::Result<Scratch> {
    new_in(&std::env::temp_dir())
}

fn new_in(parent: &Path) -> io::Result<Scratch> {
    for abandoned in abandoned(parent)? {
        // Somebody else's, or being removed by another executor.
        let _ = fs::remove_dir_all(abandoned);
    }
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
    // It has its name once it is locked: until then nobody takes it for abandoned.
    let unnamed = folder.path().join("unlocked");
    let lock = File::create(&unnamed)?;
    lock.lock()?;
    fs::rename(unnamed, folder.path().join(LOCK))?;
    Ok(Scratch { folder, _lock: lock })
}

/// Folders of executors that are gone.
fn abandoned(parent: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{LOCK, PREFIX, new_in};
    use std::fs;

    #[test]
    fn what_a_killed_executor_left_is_removed_by_the_next() {
        let parent = tempfile::tempdir().expect("this machine works");
        let left = parent.path().join(format!("{PREFIX}left"));
        fs::create_dir(&left).expect("this machine works");
        fs::write(left.join(LOCK), "").expect("this machine works");
        let other = parent.path().join("other");
        fs::create_dir(&other).expect("this machine works");
        let first = new_in(parent.path()).expect("this machine works");
        assert!(!left.exists() && other.exists());
        let second = new_in(parent.path()).expect("this machine works");
        assert!(first.path().exists() && second.path().exists());
    }
}
