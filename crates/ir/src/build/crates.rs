//! `crate:NAME[@VERSION]`, `crates:FILE` and `crates:top:N`, through `cargo vendor` and `cargo build --offline`.

use super::{
    BuildOptions, Outcome, Source, UNAVAILABLE,
    site::{Site, log, verdict},
};
use crate::{Error, wrap};
use dataset::{Verdict, content_hash};
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

#[derive(Debug)]
struct Crate {
    text: String,
    name: String,
    version: Option<String>,
    /// The lock file that stands beside a list of crates.
    lock: Option<String>,
}

pub(super) fn parse(
    text: &str,
    options: &BuildOptions<'_>,
) -> Option<Result<Vec<Box<dyn Source>>, Error>> {
    let unknown = |reason: String| Error::unknown_source(text, reason);
    if let Some(count) = text.strip_prefix("crates:top:") {
        return Some(top(text, count, options));
    }
    if let Some(path) = text.strip_prefix("crates:") {
        return Some(list(Path::new(path)).map_err(unknown));
    }
    let rest = text.strip_prefix("crate:")?;
    Some(one(rest, None).map(|one| vec![Box::new(one) as Box<dyn Source>]).map_err(unknown))
}

fn one(text: &str, lock: Option<String>) -> Result<Crate, String> {
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let plain = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphanumeric())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c))
    };
    if !plain(name) || !version.is_none_or(plain) {
        return Err(format!("`{text}` is no crate"));
    }
    let version = version.map(str::to_owned);
    Ok(Crate { text: format!("crate:{text}"), name: name.to_owned(), version, lock })
}

/// A file with a crate a line, `NAME@VERSION`; `#` begins a comment. `FILE.lock` beside it pins what
/// they depend on.
fn list(path: &Path) -> Result<Vec<Box<dyn Source>>, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let lock = fs::read_to_string(path.with_extension("lock")).ok();
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let crates: Result<Vec<Box<dyn Source>>, String> = lines
        .filter(|line| !line.is_empty())
        .map(|line| Ok(Box::new(one(line, lock.clone())?) as Box<dyn Source>))
        .collect();
    let crates = crates?;
    if crates.is_empty() {
        return Err("names no crates; write one a line, `regex@1.11.1`".to_owned());
    }
    Ok(crates)
}

/// The crates with most downloads.
fn top(text: &str, count: &str, options: &BuildOptions<'_>) -> Result<Vec<Box<dyn Source>>, Error> {
    let unknown = |reason: String| Error::unknown_source(text, reason);
    let count = super::sources::count(count, "crates").map_err(unknown)?;
    let cache = mine::Cache::at(options.cache.clone());
    let names = mine::popular_crates(count, &cache, options.offline, &options.cancel.flag())
        .map_err(|error| match error {
            mine::Error::Unavailable { reason, .. } => {
                Error::NoIndex { text: text.to_owned(), reason }
            }
            mine::Error::Cancelled => Error::Cancelled,
            error => error.into(),
        })?;
    let sources = names.iter().map(|name| Ok(Box::new(one(name, None)?) as Box<dyn Source>));
    sources.collect::<Result<_, String>>().map_err(unknown)
}

impl Source for Crate {
    fn text(&self) -> &str {
        &self.text
    }

    fn needs(&self) -> Vec<(&'static str, String)> {
        vec![("cargo", "install the Rust toolchain (rustup)".to_owned())]
    }

    fn pin(&self) -> String {
        self.lock.as_ref().map_or(String::new(), |lock| content_hash(lock.as_bytes()))
    }

    fn build(&self, site: &Site<'_>) -> Result<Outcome, Error> {
        let tree = site.tree();
        let mut outcome = Outcome {
            package: self.name.clone(),
            version: self.version.clone().unwrap_or_default(),
            package_source: self.text.clone(),
            ..Outcome::default()
        };
        let unavailable = |outcome: Outcome, reason: String, log: String| {
            Ok(Outcome { verdict: Some(Verdict::new(UNAVAILABLE, reason)), log, ..outcome })
        };
        put_manifest(&tree, &self.name, self.version.as_deref(), self.lock.as_deref())?;
        if let Err((reason, log)) = vendor(site, &tree)? {
            return unavailable(outcome, reason, log);
        }
        let Some(folder) = vendored(&tree, &self.name) else {
            return unavailable(
                outcome,
                format!("cargo did not fetch {}", self.name),
                String::new(),
            );
        };
        let manifest = manifest_of(&folder);
        if let Some(version) = field(&manifest, "version") {
            outcome.package_source = format!("crate:{}@{version}", self.name);
            outcome.version = version;
        }
        outcome.source = Some(folder.clone());
        let has_library = manifest.contains_key("lib") || folder.join("src/lib.rs").is_file();
        let mut arguments = vec!["cargo", "build", "--release", "--offline"];
        let mut directory = tree.clone();
        if !has_library || site.options.all_targets {
            // It is built as its authors do: its own manifest, with what its tests need.
            directory = tree.join("package");
            fs::rename(&folder, &directory).map_err(Error::file("move", &folder))?;
            outcome.source = Some(directory.clone());
            let checksums = directory.join(".cargo-checksum.json");
            fs::remove_file(&checksums).map_err(Error::file("remove", &checksums))?;
            if let Some(lock) = &self.lock {
                let path = directory.join("Cargo.lock");
                fs::write(&path, lock).map_err(Error::file("write", &path))?;
            }
            alone(&directory)?;
            if let Err((reason, log)) = vendor(site, &directory)? {
                return unavailable(outcome, reason, log);
            }
            arguments.push(if site.options.all_targets { "--all-targets" } else { "--bins" });
        }
        let environment: [(&str, OsString); 1] = [(wrap::ONLY, self.name.clone().into())];
        let finished = site.run(&arguments, &directory, &environment)?;
        outcome.verdict = verdict(&finished, site.options);
        outcome.log = log(&finished);
        Ok(outcome)
    }
}

/// A package of ours that depends on exactly what is wanted.
fn put_manifest(
    tree: &Path,
    name: &str,
    version: Option<&str>,
    lock: Option<&str>,
) -> Result<(), Error> {
    let version = version.map_or("*".to_owned(), |version| format!("={version}"));
    let manifest = format!(
        "[package]\nname = \"wanted\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[dependencies]\n\
         {name} = \"{version}\"\n\n[workspace]\n"
    );
    let put =
        |path: PathBuf, text: &str| fs::write(&path, text).map_err(Error::file("write", &path));
    put(tree.join("Cargo.toml"), &manifest)?;
    if let Some(lock) = lock {
        put(tree.join("Cargo.lock"), lock)?;
    }
    fs::create_dir(tree.join("src")).map_err(Error::file("create", tree))?;
    put(tree.join("src/lib.rs"), "")
}

/// Have cargo fetch what the manifest in `folder` needs, and use that alone from now on; the
/// reason and log where it cannot.
fn vendor(site: &Site<'_>, folder: &Path) -> Result<Result<(), (String, String)>, Error> {
    let cache = crate::cache_folder(site.options.cache.as_deref()).join("cargo");
    fs::create_dir_all(&cache).map_err(Error::file("create", &cache))?;
    // A mirror or a proxy that the user has set up counts here too.
    let own = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    for name in ["config.toml", "config", "credentials.toml"] {
        if let Some(own) = own.as_ref().map(|own| own.join(name)).filter(|own| own.is_file()) {
            let copy = cache.join(name);
            fs::copy(&own, &copy).map_err(Error::file("write", &copy))?;
        }
    }
    let vendored = folder.join("vendor");
    let vendored = vendored.to_string_lossy();
    let mut command = vec!["cargo", "vendor", "--versioned-dirs"];
    if site.options.offline {
        command.push("--offline");
    }
    command.push(&vendored);
    let environment: [(&str, OsString); 1] = [("CARGO_HOME", cache.clone().into())];
    let finished = site.fetch(&command, folder, &[cache], &environment)?;
    if let Some(verdict) = verdict(&finished, site.options) {
        return Ok(Err((verdict.detail, log(&finished))));
    }
    let config = site.cargo_home().join("config.toml");
    fs::write(&config, &finished.stdout).map_err(Error::file("write", &config))?;
    Ok(Ok(()))
}

/// The folder of the package that the generated manifest asked for.
fn vendored(tree: &Path, name: &str) -> Option<PathBuf> {
    let lock = fs::read_to_string(tree.join("Cargo.lock")).ok()?.parse::<toml::Table>().ok()?;
    let packages = lock.get("package")?.as_array()?;
    let text = |package: &toml::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    let ours =
        packages.iter().find(|package| text(package, "name").as_deref() == Some("wanted"))?;
    let wanted = ours.get("dependencies")?.as_array()?.first()?.as_str()?.to_owned();
    // `NAME`, or `NAME VERSION` where it depends on another version of itself.
    let named = wanted.split_whitespace().nth(1).map(str::to_owned);
    let version = named.or_else(|| {
        let found =
            packages.iter().find(|package| text(package, "name").as_deref() == Some(name))?;
        text(found, "version")
    })?;
    let folder = tree.join("vendor").join(format!("{name}-{version}"));
    folder.is_dir().then_some(folder)
}

fn manifest_of(folder: &Path) -> toml::Table {
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    text.parse().unwrap_or_default()
}

fn field(manifest: &toml::Table, name: &str) -> Option<String> {
    Some(manifest.get("package")?.get(name)?.as_str()?.to_owned())
}

/// Make a manifest the root of a workspace of its own: the generated one lies above it.
fn alone(folder: &Path) -> Result<(), Error> {
    let path = folder.join("Cargo.toml");
    let mut text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
    if !manifest_of(folder).contains_key("workspace") {
        text.push_str("\n[workspace]\n");
    }
    fs::write(&path, text).map_err(Error::file("write", &path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_pins_its_crates() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("top.txt");
        fs::write(&path, "# the best known\nregex@1.11.1\n\nserde@1.0.219 # data\n").unwrap();
        fs::write(path.with_extension("lock"), "version = 4\n").unwrap();
        let crates = list(&path).unwrap();
        let texts: Vec<&str> = crates.iter().map(|one| one.text()).collect();
        assert_eq!(texts, ["crate:regex@1.11.1", "crate:serde@1.0.219"]);
        assert!(!crates[0].pin().is_empty());
        fs::write(&path, "# nothing\n").unwrap();
        assert!(list(&path).is_err());
        for bad in ["../x", "a@", "", "a b", "-x"] {
            assert!(one(bad, None).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_version_that_was_asked_for_is_found_among_several() {
        let folder = tempfile::tempdir().unwrap();
        let lock = "[[package]]\nname = \"a\"\nversion = \"0.1.0\"\n[[package]]\nname = \"a\"\nversion = \"2.0.0\"\n\
                    [[package]]\nname = \"wanted\"\nversion = \"0.0.0\"\ndependencies = [\"a 2.0.0\"]\n";
        fs::write(folder.path().join("Cargo.lock"), lock).unwrap();
        fs::create_dir_all(folder.path().join("vendor/a-2.0.0")).unwrap();
        fs::create_dir_all(folder.path().join("vendor/a-0.1.0")).unwrap();
        let found = vendored(folder.path(), "a").unwrap();
        assert!(found.ends_with("a-2.0.0"));
    }
}
