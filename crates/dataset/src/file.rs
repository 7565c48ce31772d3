//! Files of others: only what is a file is opened, and only so much of it is read.

use rustix::{fs::OFlags, io::Errno};
use std::{
    fs::{File, FileType, OpenOptions},
    io::{self, Read},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::Path,
};

/// Open a file for reading; a pipe, a device or a folder is an error, and nothing waits for a
/// writer.
///
/// # Errors
/// When it cannot be opened, and of kind `InvalidInput` when it is no file.
pub fn open_file(path: &Path) -> io::Result<File> {
    // Without this flag the opening of a pipe ends when somebody opens its other end.
    let flags = OFlags::NONBLOCK.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, kind_text(kind))),
    }
}

/// The content of a file of at most `limit` bytes; `None`: it is larger. What a file says of its
/// size is not relied on: files of the kernel say 0, and others grow.
///
/// # Errors
/// As [`open_file`].
pub fn read_file(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = open_file(path)?;
    if file.metadata()?.len() > limit {
        return Ok(None);
    }
    let mut content = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    Ok((content.len() as u64 <= limit).then_some(content))
}

/// What something is that is no file, for a message.
pub(crate) fn kind_text(kind: FileType) -> &'static str {
    if kind.is_file() {
        "a file"
    } else if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_symlink() {
        "a link"
    } else {
        "a device"
    }
}

/// Whether an error is of this machine, or of this process, rather than of the file asked for.
#[must_use]
pub(crate) fn is_machine_fault(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::IO | Errno::INTR))
        || error.kind() == io::ErrorKind::OutOfMemory
}

/// Whether what went wrong with what stood at `path` is this machine's fault: no memory, no descriptors, a broken disk, or its whole
/// folder is gone, as where a disk or a share is, or somebody has moved it.
#[must_use]
pub fn is_machine_fault_at(path: &Path, error: &io::Error) -> bool {
    let is_gone = || !path.parent().is_some_and(Path::exists);
    is_machine_fault(error) || error.kind() == io::ErrorKind::NotFound && is_gone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn what_is_no_file_is_not_opened_and_nothing_waits() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        let socket = folder.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        for (path, said) in [
            (pipe.as_path(), "a pipe"),
            (Path::new("/dev/zero"), "a device"),
            (folder.path(), "a folder"),
        ] {
            assert_eq!(read_file(path, 10).unwrap_err().to_string(), said);
        }
        assert!(read_file(&socket, 10).is_err());
    }

    #[test]
    fn no_more_is_read_than_the_limit_whatever_the_size_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        std::fs::write(&path, b"0123456789").unwrap();
        assert_eq!(read_file(&path, 10).unwrap().as_deref(), Some(&b"0123456789"[..]));
        assert_eq!(read_file(&path, 9).unwrap(), None);
        File::options().write(true).open(&path).unwrap().set_len(3 << 40).unwrap();
        assert_eq!(read_file(&path, 10).unwrap(), None);
        // Its size is 0 until it is read.
        assert_eq!(read_file(Path::new("/proc/self/status"), 10).unwrap(), None);
    }
}
