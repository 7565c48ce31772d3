//! Licences of a package that lies in a folder, for those who build it there.

use super::Licensing;
use crate::{
    Error, Result,
    source::Package,
    tree::{Role, role},
};
use dataset::content_hash;
use std::{collections::BTreeMap, fs, path::Path};

/// The licence of one file of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileLicence {
    /// SPDX expression, or empty.
    pub expression: String,
    /// What it was read from: `spdx-header`, `header-text`, `debian-copyright`, `metadata`,
    /// `licence-file`, or empty.
    pub source: String,
}

/// What a package's licence files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageLicences {
    /// One for each path asked for.
    pub files: Vec<FileLicence>,
    /// The licence texts in the package, by content hash.
    pub texts: BTreeMap<String, String>,
}

/// Find the licences of the files `paths` (relative to `folder`, which holds the package).
///
/// # Errors
/// When a licence file or its folder cannot be read.
pub fn licences_of(folder: &Path, paths: &[String]) -> Result<PackageLicences> {
    let mut package = Package::new("", "");
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten() {
        let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        let path = path.to_string_lossy().into_owned();
        let built = path.starts_with("target/") || path.starts_with("vendor/");
        if !entry.file_type().is_file() || built || role(&path) != Some(Role::Licence) {
            continue;
        }
        let mut content =
            fs::File::open(entry.path()).map_err(Error::file("open", entry.path()))?;
        let offered = package.tree.offer(&path, None, &mut content);
        offered.map_err(Error::file("read", entry.path()))?;
    }
    let licensing = Licensing::of(&package);
    let read = |path: &String| {
        // A header stands at the top of a file.
        let text = fs::read(folder.join(path)).unwrap_or_default();
        String::from_utf8_lossy(&text[..text.len().min(8 << 10)]).into_owned()
    };
    let files = paths
        .iter()
        .map(|path| {
            let found = licensing.of_file(path, &read(path));
            FileLicence { expression: found.expression, source: found.source.to_owned() }
        })
        .collect();
    let mut texts: BTreeMap<String, String> = licensing.texts.clone();
    // A file that no detector knows is still the licence.
    for (path, content) in package.tree.iter() {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let is_text =
            ["licen", "copying", "copyright", "unlicense"].iter().any(|s| name.starts_with(s));
        if is_text && let Ok(text) = std::str::from_utf8(content) {
            texts.insert(content_hash(text.as_bytes()), text.to_owned());
        }
    }
    Ok(PackageLicences { files, texts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_decides_for_files_that_say_nothing_and_texts_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        put("Cargo.toml", "[package]\nname = \"x\"\nlicense = \"MIT/Apache-2.0\"\n");
        put("LICENSE-OWN", "Do as you like, but tell us.");
        fs::create_dir(folder.path().join("src")).unwrap();
        put("src/lib.rs", "pub fn f() {}");
        put("src/b.c", "/* SPDX-License-Identifier: BSD-3-Clause */");
        let paths = ["src/lib.rs".to_owned(), "src/b.c".to_owned(), "gone.rs".to_owned()];
        let found = licences_of(folder.path(), &paths).unwrap();
        let expressions: Vec<&str> = found.files.iter().map(|f| f.expression.as_str()).collect();
        assert_eq!(expressions, ["MIT OR Apache-2.0", "BSD-3-Clause", "MIT OR Apache-2.0"]);
        assert_eq!(found.texts.len(), 1);
    }

    #[test]
    fn a_package_without_a_licence_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let found = licences_of(folder.path(), &["a.c".to_owned()]).unwrap();
        assert_eq!(found.files, [FileLicence::default()]);
        assert!(found.texts.is_empty());
    }
}
