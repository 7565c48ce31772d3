//! No test is lost: one without `#[test]` stands in a list, and a list has no tests with it.

use anyhow::{Context, bail};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Check the test files of every crate under `crates/`.
///
/// # Errors
/// With all complaints; when a file cannot be read.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    let mut complaints = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let folder = entry?.path();
        let tests = folder.join("tests");
        let Ok(text) = fs::read_to_string(folder.join("Cargo.toml")) else { continue };
        let own = own_harness(&text.parse()?);
        for file in sources(&tests) {
            let text = fs::read_to_string(&file)?;
            let name = file.strip_prefix(&tests)?.iter().next().context("a file has a name")?;
            let name = Path::new(name).with_extension("");
            let is_own = own.contains(&*name.to_string_lossy());
            let shown = file.strip_prefix(root)?.display();
            complaints.extend(complaint(&text, is_own).map(|words| format!("{shown}: {words}")));
        }
    }
    if !complaints.is_empty() {
        complaints.sort();
        bail!("{}", complaints.join("\n"));
    }
    Ok(())
}

/// Names of the tests with a `main` of their own.
fn own_harness(manifest: &toml::Table) -> BTreeSet<String> {
    let tests = manifest.get("test").and_then(toml::Value::as_array);
    let own = tests
        .into_iter()
        .flatten()
        .filter(|test| test.get("harness").and_then(toml::Value::as_bool) == Some(false));
    own.filter_map(|test| test.get("name")?.as_str().map(str::to_owned)).collect()
}

/// What is wrong with a test file.
fn complaint(text: &str, is_own: bool) -> Option<&'static str> {
    let starts = |words: &str| text.lines().any(|line| line.trim_start().starts_with(words));
    if is_own && starts("#[test]") {
        return Some("`#[test]` is never run here: `harness = false`; name it in `trials::main!`");
    }
    if !is_own && starts("trials::main!") {
        return Some("`trials::main!` is never run here: Cargo.toml lacks `harness = false`");
    }
    if starts("#[ignore") {
        return Some("`#[ignore]` has no reason that is counted; use `trials::main!`");
    }
    None
}

/// Rust files below a folder, but what tests start as programs of their own.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_would_be_lost_are_named() {
        assert!(complaint("    #[test]\n    fn t() {}", true).is_some());
        assert!(complaint("#[test]\nfn t() {}", false).is_none());
        assert!(complaint("trials::main! {\n t\n}", false).is_some());
        assert!(complaint("trials::main! {\n t\n}", true).is_none());
        assert!(complaint("#[test]\n#[ignore]\nfn t() {}", false).is_some());
        let manifest = "[[test]]\nname = 'a'\nharness = false\n[[test]]\nname = 'b'\n";
        let own = own_harness(&manifest.parse().expect("TOML"));
        assert_eq!(own, BTreeSet::from(["a".to_owned()]));
    }
}
