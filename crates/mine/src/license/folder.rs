//! Licenses of a package that lies in a folder, for those who build it there.

use super::Licensing;
use crate::{
    Error, Result,
    source::Package,
    tree::{Role, role},
};
use dataset::content_hash;
use std::{collections::BTreeMap, fs, io::Read, path::Path};

/// The license of one file of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileLicense {
    /// SPDX expression, or empty.
    pub expression: String,
    /// What it was read from: `spdx-header`, `header-text`, `debian-copyright`, `metadata`,
    /// `license-file`, or empty.
    pub source: String,
}

/// What a package's license files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageLicenses {
    /// One for each path asked for.
    pub files: Vec<FileLicense>,
    /// The license texts in the package, by content hash.
    pub texts: BTreeMap<String, String>,
}

/// Find the licenses of the files `paths` (relative to `folder`, which holds the package).
///
/// # Errors
/// When a license file or its folder cannot be read.
pub fn licenses_of(folder: &Path, paths: &[String]) -> Result<PackageLicenses> {
    let mut package = Package::new("", "");
    let walk = walkdir::WalkDir::new(folder).follow_root_links(false).sort_by_file_name();
    for entry in walk.into_iter().flatten() {
        let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        let path = path.to_string_lossy().into_owned();
        let built = path.starts_with("target/") || path.starts_with("vendor/");
        if !entry.file_type().is_file() || built || role(&path) != Some(Role::License) {
            continue;
        }
        let mut content =
            fs::File::open(entry.path()).map_err(Error::file("open", entry.path()))?;
        let offered = package.tree.offer(&path, None, &mut content);
        offered.map_err(Error::file("read", entry.path()))?;
    }
    let licensing = Licensing::of(&package);
    let files = paths
        .iter()
        .map(|path| {
            let found = licensing.of_file(path, &top(folder, path));
            FileLicense { expression: found.expression, source: found.source.to_owned() }
        })
        .collect();
    let mut texts: BTreeMap<String, String> = licensing.texts.clone();
    // A file that no detector knows is still the license.
    for (path, content) in package.tree.iter() {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let is_text =
            ["licen", "copying", "copyright", "unlicense"].iter().any(|s| name.starts_with(s));
        if is_text && let Ok(text) = std::str::from_utf8(content) {
            texts.insert(content_hash(text.as_bytes()), text.to_owned());
        }
    }
    Ok(PackageLicenses { files, texts })
}

/// The top of a file, where a header stands. Nothing, where the path leads out of the folder: paths
/// are what a build says of itself.
fn top(folder: &Path, path: &str) -> String {
    let inside = |path: &Path| path.canonicalize().ok().filter(|path| path.is_file());
    let root = folder.canonicalize().ok();
    let file = inside(&folder.join(path));
    let file = file.filter(|file| root.is_some_and(|root| file.starts_with(root)));
    let mut text = Vec::new();
    if let Some(file) = file.and_then(|file| fs::File::open(file).ok()) {
        // What cannot be read says nothing of its license.
        let _ = file.take(8 << 10).read_to_end(&mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_out_says_nothing() {
        let home = tempfile::tempdir().unwrap();
        let header = "/* SPDX-License-Identifier: MIT */";
        fs::write(home.path().join("other.c"), header).unwrap();
        let folder = home.path().join("package");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("own.c"), header).unwrap();
        std::os::unix::fs::symlink("../other.c", folder.join("link.c")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.join("endless.c")).unwrap();
        let outside = home.path().join("other.c").display().to_string();
        let paths = ["own.c", "../other.c", "link.c", "endless.c", &outside].map(str::to_owned);
        let found = licenses_of(&folder, &paths).unwrap();
        let expressions: Vec<&str> = found.files.iter().map(|f| f.expression.as_str()).collect();
        assert_eq!(expressions, ["MIT", "", "", "", ""]);
        fs::write(home.path().join("LICENSE"), "a secret").unwrap();
        std::os::unix::fs::symlink(home.path(), home.path().join("link")).unwrap();
        assert!(licenses_of(&home.path().join("link"), &[]).unwrap().texts.is_empty());
    }

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
        let found = licenses_of(folder.path(), &paths).unwrap();
        let expressions: Vec<&str> = found.files.iter().map(|f| f.expression.as_str()).collect();
        assert_eq!(expressions, ["MIT OR Apache-2.0", "BSD-3-Clause", "MIT OR Apache-2.0"]);
        assert_eq!(found.texts.len(), 1);
    }

    #[test]
    fn a_package_without_a_license_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let found = licenses_of(folder.path(), &["a.c".to_owned()]).unwrap();
        assert_eq!(found.files, [FileLicense::default()]);
        assert!(found.texts.is_empty());
    }
}
