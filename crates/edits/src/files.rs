//! Files by path: of a folder, or of an archive that was read.

use crate::{Error, Result};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

/// Where files are.
pub(crate) enum Files {
    /// In this folder.
    Folder(PathBuf),
    /// Here, those that were wanted of an archive.
    Archive(BTreeMap<String, Vec<u8>>),
}

/// Whether there is an archive at `path`, and no folder.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn is_archive(path: &Path) -> Result<bool> {
    Ok(path.is_file() && mine::is_archive(path).map_err(Error::file("read", path))?)
}

/// The files of an archive whose paths `wants` takes.
///
/// # Errors
/// When it cannot be read to its end, or holds too much.
pub(crate) fn unpacked(
    path: &Path,
    wants: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, Vec<u8>>> {
    mine::files_of(path, &wants).map_err(Error::file("read", path))
}

impl Files {
    /// Names of what lies in a folder, without those of links that lead nowhere; none where there is no such folder. Folders are
    /// told from files.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn names(&self, folder: &str) -> Result<BTreeSet<(String, bool)>> {
        let mut names = BTreeSet::new();
        match self {
            Files::Folder(root) => {
                let folder = root.join(folder);
                if !folder.is_dir() {
                    return Ok(names);
                }
                for entry in std::fs::read_dir(&folder).map_err(Error::file("read", &folder))? {
                    let path = entry.map_err(Error::file("read", &folder))?.path();
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    names.insert((name.into_owned(), path.is_dir()));
                }
            }
            Files::Archive(files) => {
                let inside = files.keys().filter_map(|path| match folder {
                    "" => Some(path.as_str()),
                    folder => path.strip_prefix(folder)?.strip_prefix('/'),
                });
                names.extend(inside.map(|rest| match rest.split_once('/') {
                    Some((name, _)) => (name.to_owned(), true),
                    None => (rest.to_owned(), false),
                }));
            }
        }
        Ok(names)
    }

    /// The text of a file; `None` where there is no such file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn text(&self, path: &str) -> Result<Option<String>> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match self {
            Files::Archive(files) => Ok(files.get(path).map(|bytes| text(bytes))),
            Files::Folder(root) => {
                let path = root.join(path);
                match path.is_file() {
                    true => {
                        Ok(Some(text(&std::fs::read(&path).map_err(Error::file("read", &path))?)))
                    }
                    false => Ok(None),
                }
            }
        }
    }
}

/// An archive of `files` at `path`.
#[cfg(test)]
pub(crate) fn pack(path: &Path, files: &[(&str, &str)]) {
    let mut builder = tar::Builder::new(std::fs::File::create(path).unwrap());
    for (name, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    builder.finish().unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_reads_as_the_folder_that_it_is_of() {
        let home = tempfile::tempdir().unwrap();
        let (root, packed) = (home.path().join("root"), home.path().join("root.tar"));
        let all = [("a/b/1.txt", "one"), ("a/2.txt", "two"), ("3.txt", "three")];
        for (path, text) in all {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        pack(&packed, &all);
        assert!(is_archive(&packed).unwrap() && !is_archive(&root).unwrap());
        let archive = Files::Archive(unpacked(&packed, |_| true).unwrap());
        for files in [Files::Folder(root), archive] {
            let names: Vec<(String, bool)> = files.names("a").unwrap().into_iter().collect();
            assert_eq!(names, [("2.txt".to_owned(), false), ("b".to_owned(), true)]);
            assert_eq!(files.names("").unwrap().len(), 2);
            assert!(files.names("c").unwrap().is_empty());
            assert_eq!(files.text("a/b/1.txt").unwrap().as_deref(), Some("one"));
            assert_eq!(files.text("a/b").unwrap(), None);
        }
    }
}
