//! What stands at the place of a data set: which files are ours, and how it is replaced.

use crate::{Dataset, Error, Manifest, Result, file::open_file};
use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};
use std::{
    ffi::OsStr,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// What the pages that commands make call their maker, within their first KiB: such a page may lie
/// in a data set's folder and goes with it.
pub const PAGE_GENERATOR: &str = "stampmill";

const PAGES: [&str; 3] = ["report.html", "_report.html", "index.html"];

/// Name of a data set's part.
pub(crate) fn part_name(at: usize) -> String {
    format!("part-{at:05}.parquet")
}

/// Whether a file of this name may be a part of a data set, or its manifest: nothing else is made
/// in its place.
#[must_use]
pub fn is_part_name(name: &OsStr) -> bool {
    name == Manifest::FILE
        || Path::new(name).extension().is_some_and(|extension| extension == "parquet")
}

/// Whether we give this name to files of a data set.
fn is_ours(name: &OsStr) -> bool {
    let number = |name: &str| {
        name.strip_prefix("part-")?
            .strip_suffix(".parquet")
            .map(|number| number.len() >= 5 && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    name == Manifest::FILE || name.to_str().and_then(number).unwrap_or(false)
}

/// Whether a data set may be made at `out`: where nothing is, and by `force` in the place of an empty
/// folder or another data set; never of somebody's folder.
pub(crate) fn claim(out: &Path, force: bool) -> Result<()> {
    let Ok(found) = fs::symlink_metadata(out) else { return Ok(()) };
    if !force {
        return Err(Error::Exists(out.to_owned()));
    }
    if found.is_symlink() {
        return Err(Error::ForeignLink(out.to_owned()));
    }
    if !found.is_dir() || !Dataset::is_at(out) && !names(out)?.is_empty() {
        return Err(Error::Foreign(out.to_owned()));
    }
    match foreign(out)? {
        None => Ok(()),
        Some(file) => Err(Error::ForeignFile { folder: out.to_owned(), file }),
    }
}

/// The first thing in a data set's folder that is no part of a data set.
pub(crate) fn foreign(folder: &Path) -> Result<Option<PathBuf>> {
    Ok(all_foreign(folder)?.into_iter().next())
}

/// All of these, by name.
pub(crate) fn all_foreign(folder: &Path) -> Result<Vec<PathBuf>> {
    let beside = Manifest::read(folder).map_or_else(|_| Vec::new(), |found| found.notes.files);
    let foreign = |name: &PathBuf| {
        let path = folder.join(name);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        let is_page = || PAGES.iter().any(|page| name == Path::new(page)) && is_page(&path);
        let is_beside = || beside.iter().any(|file| name == Path::new(file));
        !(is_file && (is_ours(name.as_os_str()) || is_page() || is_beside()))
    };
    Ok(names(folder)?.into_iter().filter(foreign).collect())
}

fn is_page(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = open_file(path).and_then(|file| file.take(1024).read_to_end(&mut head));
    // The second is what the project was called before.
    let marks =
        [PAGE_GENERATOR, "benchstone"].map(|by| format!("name=\"generator\" content=\"{by}\""));
    let head = String::from_utf8_lossy(&head);
    read.is_ok() && marks.iter().any(|mark| head.contains(mark))
}

/// Names of what is in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Error::file("read", folder))?;
    let names: io::Result<Vec<PathBuf>> =
        entries.map(|entry| entry.map(|entry| entry.file_name().into())).collect();
    let mut names = names.map_err(Error::file("read", folder))?;
    names.sort();
    Ok(names)
}

/// Remove the files of a data set, one by one by their names, and its folder where that is then
/// empty. What is not ours stays.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    let stays = all_foreign(folder)?;
    for name in names(folder)? {
        if !stays.contains(&name) {
            remove_file(&folder.join(name))?;
        }
    }
    remove_empty(folder)
}

pub(crate) fn remove_file(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(Error::file("remove", path))
}

/// Remove a folder that is empty; one that is not stays.
pub(crate) fn remove_empty(folder: &Path) -> Result<()> {
    match fs::remove_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => {
            Err(Error::file("remove", folder)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Put the folder `whole` in the place of what is at `out`, if anything is; the answer is where the
/// old one is then: `whole` or `aside`. At no moment is there neither of the two.
pub(crate) fn put(whole: &Path, out: &Path, aside: &Path) -> Result<Option<PathBuf>> {
    let failed = || Error::file("write", out);
    if fs::symlink_metadata(out).is_err() {
        // Never over what came to be there meanwhile.
        let moved = match renameat_with(CWD, whole, CWD, out, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => return Err(Error::Exists(out.to_owned())),
            Err(Errno::INVAL | Errno::NOSYS) => fs::rename(whole, out),
            moved => moved.map_err(io::Error::from),
        };
        return moved.map(|()| None).map_err(failed());
    }
    match renameat_with(CWD, whole, CWD, out, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(Some(whole.to_owned())),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::XDEV) => {
            replace(whole, out, aside).map(Some)
        }
        Err(error) => Err(failed()(error.into())),
    }
}

/// Where the file system cannot exchange: the old one goes to `aside` first; a start after a kill in
/// between finds it there.
pub(crate) fn replace(whole: &Path, out: &Path, aside: &Path) -> Result<PathBuf> {
    fs::rename(out, aside).map_err(Error::file("move aside", out))?;
    fs::rename(whole, out).map_err(Error::file("write", out))?;
    Ok(aside.to_owned())
}
