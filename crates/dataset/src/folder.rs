//! The programs of a plain folder, and what stands there in the place of one.

use crate::{
    Language, Verdict,
    file::{is_machine_fault_at, kind_text},
    path_text,
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// Deeper than any real tree.
const DEPTH: usize = 64;

/// A file of a folder that is a program by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderFile {
    /// What to open; a link's target.
    pub file: PathBuf,
    /// Its path in the folder, as text that no other path has.
    pub path: String,
    /// Why it is not opened: `unsafe-path`, `not-a-file`, `too-deep`, `unreadable`.
    pub rejected: Option<Verdict>,
}

/// All programs in `root`, in the order of their paths. Links that lead out of it are not followed,
/// pipes and the like are not opened, and folders that cannot be read are named: none of these goes
/// without a word, and none ends the search.
pub(crate) fn programs(root: &Path) -> io::Result<Vec<FolderFile>> {
    let whole = root.canonicalize()?;
    let mut walk = Walk { root, whole, found: Vec::new() };
    let entries = std::fs::read_dir(root)?;
    walk.entries(root, entries, 0)?;
    walk.found.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(walk.found.into_iter().map(|(_, file)| file).collect())
}

struct Walk<'a> {
    root: &'a Path,
    whole: PathBuf,
    /// By the path where they stand, which decides the order.
    found: Vec<(PathBuf, FolderFile)>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) -> io::Result<()> {
        if depth > DEPTH {
            let verdict = Verdict::new("too-deep", format!("more than {DEPTH} folders deep"));
            self.push(folder, folder, Some(verdict));
            return Ok(());
        }
        match std::fs::read_dir(folder) {
            Ok(entries) => self.entries(folder, entries, depth),
            Err(error) => self.unreadable(folder, error),
        }
    }

    fn entries(
        &mut self,
        folder: &Path,
        entries: std::fs::ReadDir,
        depth: usize,
    ) -> io::Result<()> {
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.unreadable(folder, error)?;
                    break;
                }
            };
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.folder(&path, depth + 1)?,
                Ok(kind) if kind.is_symlink() => self.link(&path)?,
                Ok(_) if Language::of(&path).is_none() => {}
                Ok(kind) if kind.is_file() => self.push(&path, &path, None),
                Ok(kind) => {
                    let verdict = Verdict::new("not-a-file", kind_text(kind));
                    self.push(&path, &path, Some(verdict));
                }
                Err(error) => self.unreadable(&path, error)?,
            }
        }
        Ok(())
    }

    /// A link to a file inside is as good as the file; a folder inside is visited where it stands.
    fn link(&mut self, path: &Path) -> io::Result<()> {
        let is_program = Language::of(path).is_some();
        let target = match path.canonicalize() {
            Ok(target) => target,
            Err(error) if is_program => return self.unreadable(path, error),
            Err(_) => return Ok(()),
        };
        let is_folder = target.is_dir();
        if !target.starts_with(&self.whole) {
            if is_program || is_folder {
                let verdict = Verdict::new("unsafe-path", "a link that leads out of its folder");
                self.push(path, path, Some(verdict));
            }
            return Ok(());
        }
        if is_folder || !is_program {
            return Ok(());
        }
        let verdict = match std::fs::metadata(&target) {
            Ok(found) if found.is_file() => None,
            Ok(found) => Some(Verdict::new("not-a-file", kind_text(found.file_type()))),
            Err(error) => return self.unreadable(path, error),
        };
        self.push(path, &target, verdict);
        Ok(())
    }

    fn unreadable(&mut self, path: &Path, error: io::Error) -> io::Result<()> {
        self.push(path, path, Some(unreadable(path, error)?));
        Ok(())
    }

    fn push(&mut self, at: &Path, file: &Path, rejected: Option<Verdict>) {
        let path = path_text(at.strip_prefix(self.root).unwrap_or(at));
        self.found.push((at.to_owned(), FolderFile { file: file.to_owned(), path, rejected }));
    }
}

/// The verdict of what cannot be read, where that is not this machine's fault.
pub(crate) fn unreadable(path: &Path, error: io::Error) -> io::Result<Verdict> {
    match is_machine_fault_at(path, &error) {
        true => Err(error),
        false => Ok(Verdict::new("unreadable", error.to_string())),
    }
}
