//! Where a program is run from: a folder whose path has the same length on every host, since the
//! path of its executable reaches a program and shifts its stack.

use crate::Error;
use sandbox::Temporary;
use std::path::{Path, PathBuf};

/// Bytes of the path of every program that is timed.
const LENGTH: usize = 120;

/// A folder that goes when this value does.
pub(crate) struct Place {
    folder: Temporary,
}

impl Place {
    pub(crate) fn new() -> Result<Place, Error> {
        let base = std::env::temp_dir();
        let base = if base.as_os_str().len() > LENGTH / 2 { PathBuf::from("/tmp") } else { base };
        let base = std::fs::canonicalize(&base).unwrap_or(base);
        let length = LENGTH - 1 - PROGRAM.len();
        let folder = Temporary::within(&base, "stampmill-time", length)
            .map_err(Error::file("create a folder in", &base))?;
        Ok(Place { folder })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where the program goes.
    pub(crate) fn program(&self) -> PathBuf {
        self.file(PROGRAM)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Write a file of that name.
    pub(crate) fn put(&self, name: &str, content: &[u8]) -> Result<PathBuf, Error> {
        let path = self.file(name);
        std::fs::write(&path, content).map_err(Error::file("write", &path))?;
        Ok(path)
    }
}

/// Name of the program in its folder.
pub(crate) const PROGRAM: &str = "program";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_has_a_path_of_the_same_length() {
        let lengths: Vec<usize> =
            (0..3).map(|_| Place::new().unwrap().program().as_os_str().len()).collect();
        assert_eq!(lengths, [LENGTH; 3]);
    }
}
