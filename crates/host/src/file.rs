//! Files that are there whole or not at all.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
};

/// Write a file, whole or not at all; what was there is replaced. A file that holds these bytes already
/// stays the file it is: another thread's sandbox may be showing it. Of two writers at a time one wins.
///
/// # Errors
/// When it cannot be written; then what was there is there still.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with_mode(path, bytes, 0o644)
}

/// As [`write_whole`], for a program: everybody may run it.
///
/// # Errors
/// As there.
pub fn write_executable(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with_mode(path, bytes, 0o755)
}

fn write_with_mode(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut new = tempfile::Builder::new()
        .prefix(".")
        .suffix(".new")
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    new.write_all(bytes)?;
    match new.persist_noclobber(path) {
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => {
            match is_same(path, bytes, mode) {
                true => Ok(()),
                false => refused.file.persist(path).map(drop).map_err(|refused| refused.error),
            }
        }
        done => done.map(drop).map_err(|refused| refused.error),
    }
}

fn is_same(path: &Path, bytes: &[u8], mode: u32) -> bool {
    let is_plain = |about: fs::Metadata| {
        let may_run = about.permissions().mode() & mode & 0o111 == mode & 0o111;
        about.is_file() && about.len() == bytes.len() as u64 && may_run
    };
    fs::symlink_metadata(path).is_ok_and(is_plain)
        && fs::read(path).is_ok_and(|there| there == bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    fn inode(path: &Path) -> u64 {
        fs::symlink_metadata(path).unwrap().ino()
    }

    #[test]
    fn a_file_is_replaced_only_where_it_differs() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("object");
        write_whole(&path, b"one").unwrap();
        let first = inode(&path);
        write_whole(&path, b"one").unwrap();
        assert_eq!(inode(&path), first);
        write_whole(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_ne!(inode(&path), first);
        let plain = inode(&path);
        write_executable(&path, b"two").unwrap();
        assert_ne!(inode(&path), plain);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let (path, other) = (home.path().join("object"), home.path().join("thesis"));
        fs::write(&other, "same").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        write_whole(&path, b"same").unwrap();
        assert!(!path.is_symlink());
        write_whole(&path, b"new").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"same");
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        assert!(write_whole(&home.path().join("no/object"), b"").is_err());
        fs::create_dir(home.path().join("folder")).unwrap();
        assert!(write_whole(&home.path().join("folder"), b"").is_err());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
