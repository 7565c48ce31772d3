//! Where things are on this machine: one rule each.
//!
//! - [`cache()`]: the folder of everything that can be made or fetched again;
//! - [`on_path`]: a program on the search path;
//! - [`write_whole`]: a file that nobody finds half made;
//! - [`Helper`]: the binaries that come with the main one, and the command that builds one that is missing;
//! - [`is_of_wheel`]: whether this program came with the Python wheel;
//! - [`shipped()`]: models and data sets that come with it.
//!
//! ```
//! assert!(stampmill_host::cache().is_absolute());
//! assert!(stampmill_host::on_path("sh").is_some());
//! ```

mod file;
mod helper;
mod shipped;

pub use file::{write_executable, write_whole};
pub use helper::{Helper, LIBEXEC_VARIABLE, Missing, installed, is_of_wheel};
pub use shipped::shipped;

use std::{
    env,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// The variable that names the cache.
pub const CACHE_VARIABLE: &str = "STAMPMILL_CACHE";

/// The root of the cache: `$STAMPMILL_CACHE`, else `$XDG_CACHE_HOME/stampmill`, else `~/.cache/stampmill`; the
/// system's temporary folder where there is no home. An absolute path; it need not be there yet.
///
/// Empty variables count as unset, and so does a relative `XDG_CACHE_HOME` (XDG Base Directory Specification).
#[must_use]
pub fn cache() -> PathBuf {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = cache_of(variable(CACHE_VARIABLE), variable("XDG_CACHE_HOME"), env::home_dir());
    // Programs that run elsewhere are told of it.
    std::path::absolute(&folder).unwrap_or(folder)
}

fn cache_of(named: Option<PathBuf>, xdg: Option<PathBuf>, home: Option<PathBuf>) -> PathBuf {
    named.unwrap_or_else(|| {
        xdg.filter(|folder| folder.is_absolute())
            .or_else(|| home.filter(|home| home.is_absolute()).map(|home| home.join(".cache")))
            .unwrap_or_else(env::temp_dir)
            .join("stampmill")
    })
}

/// The first program of that name on the search path (`PATH`).
#[must_use]
pub fn on_path(name: &str) -> Option<PathBuf> {
    all_on_path(name).next()
}

/// All programs of that name on the search path, in its order.
pub fn all_on_path(name: &str) -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let files: Vec<PathBuf> = env::split_paths(&path).map(|folder| folder.join(name)).collect();
    files.into_iter().filter(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_the_first_usable_name_says() {
        let path = |text: &str| Some(PathBuf::from(text));
        let home = || path("/home/a");
        assert_eq!(cache_of(path("/x"), path("/y"), home()), Path::new("/x"));
        assert_eq!(cache_of(None, path("/y"), home()), Path::new("/y/stampmill"));
        assert_eq!(cache_of(None, path("y"), home()), Path::new("/home/a/.cache/stampmill"));
        assert_eq!(cache_of(None, None, path("")), env::temp_dir().join("stampmill"));
    }

    #[test]
    fn what_cannot_be_run_is_no_program() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tool");
        std::fs::write(&file, "").unwrap();
        assert!(!is_program(&file) && !is_program(folder.path()));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(is_program(&file));
    }
}
