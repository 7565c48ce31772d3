//! Packages written to disk, for those who build them: repositories and archives.

use crate::{
    Cache, Error, Result, Silent, Spec,
    sink::{About, Link, Sink},
    source::Context,
    tree::{join, normal},
};
use dataset::{Verdict, is_machine_fault_at};
use rows::ContentVerdict;
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{OpenOptionsExt, symlink},
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

/// What is told of one package; the rest is counted.
const TOLD: usize = 1000;

/// A package whose files lie in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// The repository's name, or the archive's without its ending.
    pub name: String,
    /// The commit; empty for an archive.
    pub version: String,
    /// The source with its commit (`git+URL@COMMIT`) or its content hash (`FILE#HASH`).
    pub pinned: String,
    /// The folder of the package's own files: the one that was asked for, or the only one in it.
    pub root: PathBuf,
    /// What was left out, by path, and why: links and paths that lead out, submodules.
    pub left_out: Vec<(String, Verdict)>,
    /// Why not all of it is there: it breaks off, or is larger than it may be.
    pub broken: Option<Verdict>,
}

/// Write the files of a git repository (`git+URL-OR-PATH[@REV]`) or of an archive into `folder`, which is empty, at
/// most `bytes` of them.
///
/// Nothing is written outside of `folder`, whatever paths and links the package has: links are made last, and a path
/// that leads out is left out.
///
/// # Errors
/// [`Error::Unavailable`] when it cannot be had; when the file system refuses; when `cancelled`.
pub fn check_out(
    source: &str,
    folder: &Path,
    bytes: u64,
    cache: &Cache,
    offline: bool,
    cancelled: &AtomicBool,
) -> Result<Checkout> {
    let spec = Spec::parse(source)?;
    let context = Context { cache, offline, cancelled, progress: &Silent };
    let mut written = Written::new(folder, bytes);
    let given = spec.source.give(&context, &mut written)?;
    written.finish()?;
    let root = match given.is_wrapped {
        true => only_folder(folder)?.unwrap_or_else(|| folder.to_owned()),
        false => folder.to_owned(),
    };
    let Written { left_out, broken, .. } = written;
    let (name, version, pinned) = (given.name, given.version, given.pinned);
    Ok(Checkout { name, version, pinned, root, left_out, broken })
}

/// The folder that is all that lies in another.
fn only_folder(folder: &Path) -> Result<Option<PathBuf>> {
    let read = Error::file("read", folder);
    let found: io::Result<Vec<fs::DirEntry>> = match fs::read_dir(folder) {
        Ok(entries) => entries.take(2).collect(),
        Err(error) => Err(error),
    };
    let found = found.map_err(read)?;
    let [only] = found.as_slice() else { return Ok(None) };
    Ok(only.file_type().is_ok_and(|kind| kind.is_dir()).then(|| only.path()))
}

/// Files as they are written to a folder.
struct Written {
    folder: PathBuf,
    left: u64,
    links: Vec<(String, String, Link)>,
    left_out: Vec<(String, Verdict)>,
    broken: Option<Verdict>,
    /// What the machine refused, and where.
    fault: Option<(PathBuf, io::Error)>,
}

impl Written {
    fn new(folder: &Path, bytes: u64) -> Written {
        Written {
            folder: folder.to_owned(),
            left: bytes,
            links: Vec::new(),
            left_out: Vec::new(),
            broken: None,
            fault: None,
        }
    }

    /// Note what the file system says to a path: the machine's fault, or the path's.
    fn refused(&mut self, path: &str, to: PathBuf, error: io::Error) -> bool {
        if is_machine_fault_at(&to, &error) {
            self.fault = Some((to, error));
            return false;
        }
        self.tell(path, Verdict::new(ContentVerdict::Unreadable, error.to_string()));
        true
    }

    fn folder_of(path: &Path) -> io::Result<()> {
        path.parent().map_or(Ok(()), fs::create_dir_all)
    }

    /// Make the links, now that no file can be written through one.
    fn finish(&mut self) -> Result<()> {
        let mut links = std::mem::take(&mut self.links);
        links.retain(|(path, target, kind)| {
            let stays = match kind {
                // The top itself is inside, too.
                Link::Symbolic => {
                    join(crate::tree::folder(path), &format!("{target}/.x")).is_some()
                }
                Link::Hard => normal(target).is_some(),
            };
            if !stays {
                let verdict =
                    Verdict::new(ContentVerdict::UnsafePath, "a link that leads out of its folder");
                self.tell(path, verdict);
            }
            stays
        });
        // All folders are there before the first link is: none is made through another.
        for (path, ..) in &links {
            let to = self.folder.join(path);
            if let Err(error) = Written::folder_of(&to) {
                self.refused(path, to, error);
            }
        }
        let (hard, symbolic): (Vec<_>, Vec<_>) =
            links.into_iter().partition(|(.., kind)| *kind == Link::Hard);
        for (path, target, kind) in hard.into_iter().chain(symbolic) {
            let to = self.folder.join(&path);
            let made = match kind {
                Link::Symbolic => symlink(&target, &to),
                Link::Hard => {
                    fs::hard_link(self.folder.join(normal(&target).unwrap_or_default()), &to)
                }
            };
            if let Err(error) = made {
                self.refused(&path, to, error);
            }
        }
        match self.fault.take() {
            Some((path, error)) => Err(Error::file("write", &path)(error)),
            None => Ok(()),
        }
    }
}

impl Sink for Written {
    fn wants(&self, _: &str) -> bool {
        true
    }

    fn file(&mut self, path: &str, about: About, content: &mut dyn Read) -> io::Result<bool> {
        let Some(clean) = normal(path) else {
            self.tell(path, Verdict::new(ContentVerdict::UnsafePath, "leads out of its folder"));
            return Ok(true);
        };
        let to = self.folder.join(&clean);
        let mode = if about.executable { 0o755 } else { 0o644 };
        let opened = Written::folder_of(&to).and_then(|()| {
            OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&to)
        });
        let mut file: File = match opened {
            Ok(file) => file,
            Err(error) => return Ok(self.refused(&clean, to, error)),
        };
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = match content.read(&mut buffer)? {
                0 => return Ok(true),
                count => count,
            };
            let Some(left) = self.left.checked_sub(count as u64) else {
                let detail = "it has more bytes than a build may have";
                self.tell("", Verdict::new(ContentVerdict::PackageTooLarge, detail));
                return Ok(false);
            };
            self.left = left;
            if let Err(error) = file.write_all(&buffer[..count]) {
                return Ok(self.refused(&clean, to, error));
            }
        }
    }

    fn link(&mut self, path: &str, target: &str, kind: Link) {
        match normal(path) {
            Some(clean) => self.links.push((clean, target.to_owned(), kind)),
            None => {
                self.tell(path, Verdict::new(ContentVerdict::UnsafePath, "leads out of its folder"))
            }
        }
    }

    fn tell(&mut self, path: &str, verdict: Verdict) {
        let whole = [ContentVerdict::BrokenArchive, ContentVerdict::PackageTooLarge];
        if whole.iter().any(|one| verdict.name == one.name()) {
            self.broken.get_or_insert(verdict);
        } else if self.left_out.len() < TOLD {
            self.left_out.push((path.to_owned(), verdict));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A tar of paths, with their kinds, contents and targets, and what `check_out` makes of it in a folder of its own.
    fn checked_out(
        entries: &[(&str, tar::EntryType, &str)],
        bytes: u64,
    ) -> (tempfile::TempDir, Checkout) {
        let home = tempfile::tempdir().unwrap();
        let mut tar = tar::Builder::new(Vec::new());
        for (name, kind, text) in entries {
            let mut header = tar::Header::new_gnu();
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_mode(0o755);
            let content = if kind.is_file() { text.as_bytes() } else { b"" };
            if !kind.is_file() {
                header.as_old_mut().linkname[..text.len()].copy_from_slice(text.as_bytes());
            }
            header.set_size(content.len() as u64);
            header.set_cksum();
            tar.append(&header, content).unwrap();
        }
        let file = home.path().join("p-1.tar");
        fs::write(&file, tar.into_inner().unwrap()).unwrap();
        let folder = home.path().join("tree");
        fs::create_dir(&folder).unwrap();
        let cache = Cache::at(Some(home.path().join("cache")));
        let text = file.display().to_string();
        let found =
            check_out(&text, &folder, bytes, &cache, true, &AtomicBool::new(false)).unwrap();
        (home, found)
    }

    #[test]
    fn files_and_links_lie_as_the_archive_has_them_without_its_one_folder() {
        let (regular, link) = (tar::EntryType::Regular, tar::EntryType::Symlink);
        let (home, found) = checked_out(
            &[
                ("p-1/src/a.c", regular, "int a;"),
                ("p-1/b.c", link, "src/a.c"),
                ("p-1/up", link, "src/.."),
                ("p-1/c.c", tar::EntryType::Link, "p-1/src/a.c"),
            ],
            1000,
        );
        assert_eq!(found.root, home.path().join("tree/p-1"));
        assert_eq!((found.name.as_str(), &found.left_out, &found.broken), ("p-1", &vec![], &None));
        for name in ["src/a.c", "b.c", "c.c", "up/src/a.c"] {
            assert_eq!(fs::read_to_string(found.root.join(name)).unwrap(), "int a;", "{name}");
        }
        let mode = fs::metadata(found.root.join("src/a.c")).unwrap().permissions().mode();
        assert_eq!(mode & 0o100, 0o100);
        assert!(found.pinned.starts_with("p-1.tar#"), "{}", found.pinned);
    }

    #[test]
    fn nothing_is_written_outside_and_no_file_through_a_link() {
        let (regular, link) = (tar::EntryType::Regular, tar::EntryType::Symlink);
        let (home, found) = checked_out(
            &[
                ("good/x", regular, "x"),
                ("../escaped", regular, "x"),
                ("/tmp/stampmill-escaped", regular, "x"),
                ("out", link, "../.."),
                ("absolute", link, "/etc"),
                ("d", link, "good"),
                ("d/e", regular, "x"),
                ("d/f", link, "x"),
                ("hard", tar::EntryType::Link, "../p-1.tar"),
            ],
            1000,
        );
        let mut names: Vec<&str> = found.left_out.iter().map(|(path, _)| path.as_str()).collect();
        names.sort_unstable();
        let told = ["../escaped", "/tmp/stampmill-escaped", "absolute", "d", "hard", "out"];
        assert_eq!(names, told);
        assert!(!home.path().join("escaped").exists());
        assert!(!Path::new("/tmp/stampmill-escaped").exists());
        assert!(found.root.join("d").symlink_metadata().unwrap().is_dir());
        assert!(!found.root.join("good/e").exists() && !found.root.join("good/f").exists());
    }

    #[test]
    fn what_is_too_large_or_breaks_off_is_not_all_there() {
        let regular = tar::EntryType::Regular;
        let (_home, found) = checked_out(&[("a", regular, "0123456789"), ("b", regular, "01")], 11);
        let broken = found.broken.unwrap();
        assert_eq!(broken.name, "package-too-large");
    }
}
