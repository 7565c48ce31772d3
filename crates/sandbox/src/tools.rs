//! Tools that people install in their homes: toolchains and interpreters found by `PATH`.

use crate::isolate::SYSTEM;
use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
};

/// What lies beside a folder of programs and belongs to them. Never their parent as a whole: homes
/// hold keys, and `.local/share` is anybody's. The last three are Spack's, whose own settings may hold keys too.
const BESIDE: [&str; 12] = [
    "bin",
    "lib",
    "lib64",
    "libexec",
    "include",
    "shims",
    "versions",
    "plugins",
    "pyenv.d",
    "etc/spack/defaults",
    "share/spack",
    "var/spack",
];

/// Files there: pyenv's, and the one that makes a folder a virtual environment of Python.
const FILES: [&str; 2] = ["version", "pyvenv.cfg"];

/// The folders in which programs on `PATH` and Rust's toolchains lie, besides the system's.
#[must_use]
pub fn tool_folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = BTreeSet::new();
    for folder in std::env::split_paths(&path).filter(|folder| folder.is_absolute()) {
        if SYSTEM.iter().any(|system| folder.starts_with(system)) {
            continue;
        }
        if let (Some(parent), true) = (folder.parent(), is_of_programs(&folder)) {
            folders
                .extend(BESIDE.iter().map(|name| parent.join(name)).filter(|path| path.is_dir()));
            folders
                .extend(FILES.iter().map(|name| parent.join(name)).filter(|path| path.is_file()));
        }
        folders.insert(folder);
    }
    folders.extend(rustup());
    folders.into_iter().filter(|folder| folder.exists()).collect()
}

fn is_of_programs(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == "bin" || name == "shims")
}

/// Where rustup keeps its toolchains, which `cargo` and `rustc` on `PATH` start.
#[must_use]
pub fn rustup() -> Option<PathBuf> {
    let home = || Some(Path::new(&std::env::var_os("HOME")?).join(".rustup"));
    std::env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(home)
}

/// What clients of package registries need of our environment to reach them as they are configured:
/// nothing else of it, which may hold keys.
#[must_use]
pub fn fetch_environment() -> Vec<(OsString, OsString)> {
    const NAMES: [&str; 9] = [
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
        "VIRTUAL_ENV",
    ];
    const PREFIXES: [&str; 5] = ["PIP_", "PYENV_", "CARGO_HTTP_", "CARGO_NET_", "RUSTUP_"];
    let passed = |name: &OsString| {
        let name = name.to_string_lossy();
        NAMES.contains(&&*name)
            || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || name.to_lowercase().ends_with("_proxy")
    };
    std::env::vars_os().filter(|(name, _)| passed(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_home_but_tools_is_named() {
        for folder in tool_folders() {
            assert!(
                !folder.ends_with(".ssh") && !folder.ends_with("share"),
                "{}",
                folder.display()
            );
        }
        assert!(fetch_environment().iter().all(|(name, _)| name != "AWS_SECRET_ACCESS_KEY"));
    }
}
