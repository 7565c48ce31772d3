//! Folders that are no data sets: they come to be beside their place, too.

use crate::{
    Error, Result, is_url, place,
    unfinished::{MARKER, require_ours},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The folder `NAME.partial` beside `out`, empty but for the mark that it is ours. What is left in
/// one so marked is removed; one without the mark is refused.
///
/// # Errors
/// When it is not ours or cannot be made.
pub fn begin_folder(out: &Path) -> Result<PathBuf> {
    let partial = partial_folder(out)?;
    match fs::symlink_metadata(&partial) {
        Ok(_) => {
            require_ours(&partial)?;
            fs::remove_dir_all(&partial).map_err(Error::file("remove", &partial))?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::file("read", &partial)(error)),
    }
    fs::create_dir_all(&partial).map_err(Error::file("create", &partial))?;
    let marker = partial.join(MARKER);
    fs::write(&marker, "").map_err(Error::file("write", &marker))?;
    Ok(partial)
}

/// Where [`begin_folder`] makes its folder.
///
/// # Errors
/// When `out` has no name of its own.
pub fn partial_folder(out: &Path) -> Result<PathBuf> {
    beside(out, ".partial")
}

/// What stands beside `out` under its name and this ending.
pub(crate) fn beside(out: &Path, ending: &str) -> Result<PathBuf> {
    if is_url(out) {
        return Err(Error::NotThere(out.to_owned()));
    }
    let Some(name) = out.file_name() else { return Err(Error::NoName(out.to_owned())) };
    let mut name = name.to_owned();
    name.push(ending);
    Ok(out.with_file_name(name))
}

/// Remove a folder that [`begin_folder`] made.
///
/// # Errors
/// When it is not ours or cannot be removed.
pub fn abandon_folder(partial: &Path) -> Result<()> {
    require_ours(partial)?;
    fs::remove_dir_all(partial).map_err(Error::file("remove", partial))
}

/// Move what [`begin_folder`] made to `out`. A folder that is there is replaced if all that lies
/// in it is `ours` by its name; at no moment is there neither of the two.
///
/// # Errors
/// Names what lies there that is not ours; when the folder cannot be moved.
pub fn place_folder(partial: &Path, out: &Path, ours: &dyn Fn(&Path) -> bool) -> Result<()> {
    require_ours(partial)?;
    let marker = partial.join(MARKER);
    if let Ok(found) = fs::symlink_metadata(out) {
        if found.is_symlink() {
            return Err(Error::ForeignLink(out.to_owned()));
        }
        let names = place::names(out)?;
        if let Some(file) = names.into_iter().find(|name| !ours(name)) {
            return Err(Error::ForeignFile { folder: out.to_owned(), file });
        }
    }
    let aside = partial.with_extension("replaced");
    place::remove_file(&marker)?;
    match place::put(partial, out, &aside) {
        Ok(None) => Ok(()),
        Ok(Some(old)) => fs::remove_dir_all(&old).map_err(Error::file("remove", &old)),
        Err(error) => {
            // It stays ours.
            let _ = fs::write(&marker, "");
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_takes_the_place_of_its_like_and_of_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("model");
        let make = |text: &str| {
            let partial = begin_folder(&out).unwrap();
            fs::write(partial.join("config.json"), text).unwrap();
            place_folder(&partial, &out, &|name| name == Path::new("config.json"))
        };
        make("1").unwrap();
        make("2").unwrap();
        assert_eq!(fs::read_to_string(out.join("config.json")).unwrap(), "2");
        assert_eq!(place::names(home.path()).unwrap(), [Path::new("model")]);
        assert_eq!(place::names(&out).unwrap(), [Path::new("config.json")]);

        fs::write(out.join("thesis.txt"), "years").unwrap();
        assert!(matches!(make("3"), Err(Error::ForeignFile { .. })));
        assert!(out.join("thesis.txt").is_file());

        let partial = partial_folder(&out).unwrap();
        fs::remove_dir_all(&partial).unwrap();
        fs::create_dir(&partial).unwrap();
        fs::write(partial.join("thesis.txt"), "years").unwrap();
        assert!(matches!(begin_folder(&out), Err(Error::ForeignPartial(_))));
        assert!(matches!(abandon_folder(&partial), Err(Error::ForeignPartial(_))));
        assert!(partial.join("thesis.txt").is_file());
    }
}
