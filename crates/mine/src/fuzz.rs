//! For `fuzz/` alone: what is read of foreign packages.

use crate::{
    ContentFile, Embedded, embedded, find, license,
    packed::Packed,
    source::{self, Package},
    tree::{self, Host},
    unpack,
};
use dataset::{Language, Licenses};
use std::{io, path::Path};

/// The paths and sizes of the files in the archive at `path`.
///
/// # Errors
/// When it is none.
pub fn archive(path: &Path) -> io::Result<Vec<(String, usize)>> {
    let tree = unpack::archive(path)?;
    Ok(tree.iter().map(|(path, content)| (path.to_owned(), content.len())).collect())
}

/// Whether a path is spelled as those of a package are.
#[must_use]
pub fn is_path(path: &str) -> bool {
    tree::normal(path).is_some_and(|normal| normal == path)
}

/// Kernels in the strings of `text`, read as each of the languages.
#[must_use]
pub fn literals(text: &str) -> Vec<Embedded> {
    [Host::C, Host::Python, Host::Rust, Host::Julia, Host::Curly]
        .into_iter()
        .flat_map(|host| embedded::extract(host, text, Language::OpenCl, &|_| None))
        .collect()
}

/// The content files of a package.
#[must_use]
pub fn package(files: &[(&str, &[u8])], language: Language) -> Vec<ContentFile> {
    let mut package = Package::new("p", "1");
    for (path, content) in files {
        // A slice is always read.
        let _ = package.tree.offer(path, None, &mut &content[..]);
    }
    let rows = find::rows(&package, "fuzz", Licenses::All, language, None);
    rows.into_iter().map(Packed::unpack).collect()
}

/// The expressions that `text` is read as: as the top of a file, as `debian/copyright` for the file at
/// `path`, as package metadata, as an expression.
#[must_use]
pub fn licenses(text: &str, path: &str) -> Vec<String> {
    license::all_of(text, path)
}

/// An expression in the spelling of SPDX; empty for what is none.
#[must_use]
pub fn expression(text: &str) -> String {
    license::spdx_expression(text)
}

/// What is read of Debian's archives: names of the files of a source package, and the lists of sources.
#[must_use]
pub fn debian(text: &str) -> (Vec<String>, String) {
    source::debian_texts(text)
}
