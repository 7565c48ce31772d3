//! A folder.

use super::{Context, Package, Source};
use crate::{Error, Result};
use dataset::Verdict;
use std::{
    fs::File,
    path::{Path, PathBuf},
};

/// Deeper than any real tree; links are not followed, so no loop gets here.
const DEPTH: usize = 128;

struct Folder(PathBuf);

pub(super) fn parse(text: &str) -> Option<Result<Box<dyn Source>, String>> {
    let path = Path::new(text);
    path.is_dir().then(|| Ok(Box::new(Folder(path.to_owned())) as Box<dyn Source>))
}

impl Source for Folder {
    fn fetch(&self, context: &Context<'_>) -> Result<Package> {
        let spec = self.0.display().to_string();
        let whole = self.0.canonicalize().map_err(|error| Error::unavailable(&spec, error))?;
        let name = whole.file_name().map_or(spec, |name| name.to_string_lossy().into_owned());
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
                    package.tree.tell("", Verdict::new("unreadable", error.to_string()));
                    continue;
                }
            };
            let inside = entry.path().strip_prefix(&whole).unwrap_or(entry.path());
            let path = inside.to_string_lossy().into_owned();
            // A link to a file inside is as good as the file; devices, sockets and what leads out
            // are not read. Opening a pipe would wait for ever, so the kind is looked at first.
            let target = match entry.file_type() {
                kind if kind.is_file() => entry.path().to_owned(),
                kind if kind.is_symlink() => match entry.path().canonicalize() {
                    Ok(target) if target.starts_with(&whole) && target.is_file() => target,
                    _ => continue,
                },
                _ => continue,
            };
            if crate::tree::role(&path).is_none() {
                continue;
            }
            let read = File::open(&target).and_then(|mut file| {
                let size = file.metadata()?.len();
                package.tree.offer(&path, Some(size), &mut file)
            });
            match read {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    package.tree.tell(&path, Verdict::new("unreadable", error.to_string()))
                }
            }
        }
        Ok(package)
    }
}
