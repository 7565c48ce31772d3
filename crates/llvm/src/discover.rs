//! Where LLVM may lie on a machine.

use crate::Version;
use std::{
    collections::BTreeMap,
    env, fs,
    io::Read,
    path::{Path, PathBuf},
    process::Command,
};

/// Names the library to use instead of the newest found.
pub const OVERRIDE: &str = "STAMPMILL_LIBLLVM";

/// The earliest LLVM whose C API has all that is used here.
pub const EARLIEST: u32 = 14;

/// Folders in which distributions put LLVM.
const FOLDERS: [&str; 7] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/opt/homebrew/opt/llvm/lib",
    "/opt/llvm/lib",
];

/// A library that may be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The file, links resolved.
    pub path: PathBuf,
    /// Its version as its name tells.
    pub version: Version,
    /// Whether it comes with a Rust toolchain.
    pub of_rust: bool,
}

/// The LLVM libraries of this machine, newest first; with [`OVERRIDE`] set, that one alone.
///
/// Only names and first bytes of files are looked at; a candidate may still fail to load.
#[must_use]
pub fn candidates() -> Vec<Candidate> {
    if let Some(path) = env::var_os(OVERRIDE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        let version = version_of(&fs::canonicalize(&path).unwrap_or_else(|_| path.clone()))
            .unwrap_or(Version { major: 0, minor: 0, patch: 0 });
        return vec![Candidate { path, version, of_rust: false }];
    }
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(PathBuf::from).collect();
    folders.extend(
        entries(Path::new("/usr/lib"))
            .into_iter()
            .filter(|path| name(path).starts_with("llvm"))
            .map(|path| path.join("lib")),
    );
    for folder in folders {
        look_in(&folder, false, &mut found);
    }
    for folder in rust_folders() {
        look_in(&folder, true, &mut found);
    }
    let mut found: Vec<Candidate> = found.into_values().collect();
    found.sort_by(|a, b| b.version.cmp(&a.version).then_with(|| a.path.cmp(&b.path)));
    found
}

fn look_in(folder: &Path, of_rust: bool, found: &mut BTreeMap<PathBuf, Candidate>) {
    for entry in entries(folder) {
        let entry_name = name(&entry);
        if !entry_name.starts_with("libLLVM") || !entry_name.contains(".so") {
            continue;
        }
        let Ok(path) = fs::canonicalize(&entry) else { continue };
        let version = version_of(&path).or_else(|| version_of(&entry));
        let Some(version) = version.filter(|version| version.major >= EARLIEST) else { continue };
        if is_elf(&path) {
            found.entry(path.clone()).or_insert(Candidate { path, version, of_rust });
        }
    }
}

/// The version in a file's name; `None` for LLVM's component libraries, whose names go on with a
/// word (`libLLVMCore.so.19.1`).
fn version_of(path: &Path) -> Option<Version> {
    let file = name(path);
    let rest = file.strip_prefix("libLLVM")?;
    if rest.starts_with('-') || rest.starts_with(".so") { Version::find(rest) } else { None }
}

/// The library folders of the Rust toolchains, found without running anything where rustup keeps
/// them, else by asking `rustc`.
fn rust_folders() -> Vec<PathBuf> {
    let home = env::var_os("RUSTUP_HOME")
        .map(PathBuf::from)
        .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".rustup")));
    let toolchains = home.map(|home| entries(&home.join("toolchains"))).unwrap_or_default();
    if !toolchains.is_empty() {
        return toolchains.into_iter().map(|toolchain| toolchain.join("lib")).collect();
    }
    let asked = Command::new("rustc").args(["--print", "sysroot"]).output();
    let Some(answer) = asked.ok().filter(|output| output.status.success()) else {
        return Vec::new();
    };
    let sysroot = String::from_utf8_lossy(&answer.stdout);
    vec![Path::new(sysroot.trim()).join("lib")]
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(read) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Linker scripts bear the same names as libraries.
fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *b"\x7fELF"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn component_libraries_and_development_links_have_no_version() {
        let version = |file: &str| version_of(Path::new(file)).map(|version| version.major);
        assert_eq!(version("/usr/lib/llvm-19/lib/libLLVMCore.so.19.1"), None);
        assert_eq!(version("/usr/lib/llvm-19/lib/libLLVM.so"), None);
        assert_eq!(version("/usr/lib/llvm-19/lib/libLLVM.so.19.1"), Some(19));
        assert_eq!(version("libLLVM.so.22.1-rust-1.95.0-stable"), Some(22));
        assert_eq!(version("libLLVM-14.0.6.so.1"), Some(14));
    }

    #[test]
    fn candidates_come_newest_first_and_once_each() {
        let found = candidates();
        assert!(found.is_sorted_by(|a, b| a.version >= b.version));
        for (place, candidate) in found.iter().enumerate() {
            assert!(found[..place].iter().all(|earlier| earlier.path != candidate.path));
        }
    }
}
