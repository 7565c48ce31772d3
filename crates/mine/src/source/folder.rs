//! A folder.

use super::{Context, Package, Source};
use crate::{Error, Result, tree::role};
use dataset::{Dataset, Verdict, is_machine_fault_at, open_file, path_text};
use rows::ContentVerdict;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Deeper than any real tree; links are not followed, so no loop gets here.
const DEPTH: usize = 128;

struct Folder(PathBuf);

pub(super) fn parse(text: &str) -> Option<Result<Box<dyn Source>, String>> {
    // As `ir build` writes it, too.
    let path = Path::new(text.strip_prefix("dir:").unwrap_or(text));
    if path.is_dir() && Dataset::is_at(path) {
        let is_one = "it is a data set: `stampmill prepare` reads what `mine` made, `import` and `merge` what others did";
        return Some(Err(is_one.to_owned()));
    }
    path.is_dir().then(|| Ok(Box::new(Folder(path.to_owned())) as Box<dyn Source>))
}

impl Source for Folder {
    fn fetch(&self, context: &Context<'_>) -> Result<Package> {
        let spec = self.0.display().to_string();
        let whole = self.0.canonicalize().map_err(|error| Error::unavailable(&spec, error))?;
        let name = whole.file_name().map_or(spec, |name| path_text(Path::new(name)));
        let mut package = Package::new(&name, "");
        let walk = walkdir::WalkDir::new(&whole)
            .follow_links(false)
            .max_depth(DEPTH)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
        for entry in walk {
            context.check()?;
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let at = error.path().unwrap_or(&whole).to_owned();
                    let path = path_text(at.strip_prefix(&whole).unwrap_or(&at));
                    let error = error.into_io_error().unwrap_or_else(|| io::Error::other("a loop"));
                    package.tree.tell(&path, unreadable(&at, error)?);
                    continue;
                }
            };
            let path = path_text(entry.path().strip_prefix(&whole).unwrap_or(entry.path()));
            if entry.file_type().is_dir() {
                if entry.depth() == DEPTH {
                    let verdict =
                        Verdict::new(ContentVerdict::TooDeep, format!("{DEPTH} folders deep"));
                    package.tree.tell(&path, verdict);
                }
                continue;
            }
            let target = match target(&whole, &entry, &path)? {
                Ok(target) => target,
                Err(Some(verdict)) => {
                    package.tree.tell(&path, verdict);
                    continue;
                }
                Err(None) => continue,
            };
            let read = open_file(&target).and_then(|mut file| {
                let size = file.metadata()?.len();
                package.tree.offer(&path, Some(size), &mut file)
            });
            match read {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    let verdict = unreadable(&target, error)?;
                    package.tree.tell(&path, verdict);
                }
            }
        }
        Ok(package)
    }
}

/// The file that an entry stands for; a verdict where it stands for none though its name says so,
/// nothing where its name says nothing.
///
/// A link to a file inside is as good as the file; devices, pipes, sockets and what leads out are
/// not opened.
fn target(
    whole: &Path,
    entry: &walkdir::DirEntry,
    path: &str,
) -> Result<Result<PathBuf, Option<Verdict>>> {
    let matters = role(path).is_some();
    if !entry.file_type().is_symlink() {
        let verdict = || Verdict::new(ContentVerdict::NotAFile, "a pipe, a socket or a device");
        return Ok(match (matters, entry.file_type().is_file()) {
            (true, true) => Ok(entry.path().to_owned()),
            (true, false) => Err(Some(verdict())),
            (false, _) => Err(None),
        });
    }
    let target = match entry.path().canonicalize() {
        Ok(target) => target,
        Err(error) if matters => return Ok(Err(Some(unreadable(entry.path(), error)?))),
        Err(_) => return Ok(Err(None)),
    };
    let is_folder = target.is_dir();
    if !target.starts_with(whole) {
        let verdict =
            Verdict::new(ContentVerdict::UnsafePath, "a link that leads out of its folder");
        return Ok(Err((matters || is_folder).then_some(verdict)));
    }
    // A folder inside is visited where it stands.
    Ok(if matters && !is_folder { Ok(target) } else { Err(None) })
}

/// The verdict of what cannot be read, where that is not this machine's fault.
fn unreadable(path: &Path, error: io::Error) -> Result<Verdict> {
    match is_machine_fault_at(path, &error) {
        true => Err(Error::file("read", path)(error)),
        false if error.kind() == io::ErrorKind::InvalidInput => {
            Ok(Verdict::new(ContentVerdict::NotAFile, error.to_string()))
        }
        false => Ok(Verdict::new(ContentVerdict::Unreadable, error.to_string())),
    }
}
