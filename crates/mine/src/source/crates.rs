//! `crate:NAME[@VERSION]`, through `cargo vendor`.

use super::{Context, Package, Source, name_and_version};
use crate::{Error, Result, client, tree::role};
use serde::{Deserialize, Serialize};
use std::{fs, path::Path, process::Command, time::Duration};

/// A crate with hundreds of dependencies takes a minute.
const WALL: Duration = Duration::from_secs(600);

struct Crate {
    name: String,
    version: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct About {
    version: String,
}

pub(super) fn parse(text: &str) -> Option<Result<Box<dyn Source>, String>> {
    let (name, version) = match name_and_version(text.strip_prefix("crate:")?, "@") {
        Ok(found) => found,
        Err(reason) => return Some(Err(reason)),
    };
    Some(Ok(Box::new(Crate { name: name.to_owned(), version: version.map(str::to_owned) })))
}

impl Source for Crate {
    fn fetch(&self, context: &Context<'_>) -> Result<Package> {
        let wanted = self.version.as_deref().unwrap_or("any");
        let spec = format!("crate:{}@{wanted}", self.name);
        let entry = context.cache.entry("crate", &format!("{}@{wanted}", self.name))?;
        let kept = entry.folder.join("source");
        let about = match entry.known::<About>() {
            Some(about) => about,
            None => {
                context.online(&spec)?;
                let version = self.vendor(&spec, context, &kept)?;
                let about = About { version };
                entry.complete(&about)?;
                about
            }
        };
        let mut package = Package::new(&self.name, &about.version);
        for file in walkdir::WalkDir::new(&kept).sort_by_file_name().into_iter().flatten() {
            let path = file
                .path()
                .strip_prefix(&kept)
                .unwrap_or(file.path())
                .to_string_lossy()
                .into_owned();
            if file.file_type().is_file() && role(&path).is_some() {
                let mut content =
                    fs::File::open(file.path()).map_err(Error::file("open", file.path()))?;
                package
                    .tree
                    .offer(&path, None, &mut content)
                    .map_err(Error::file("read", file.path()))?;
            }
        }
        Ok(package)
    }
}

impl Crate {
    /// Have cargo fetch the crate, and keep its folder alone; returns its version.
    fn vendor(&self, spec: &str, context: &Context<'_>, kept: &Path) -> Result<String> {
        let scratch = tempfile::tempdir_in(kept.parent().unwrap_or(kept));
        let scratch = scratch.map_err(Error::file("create", kept))?;
        let folder = scratch.path();
        let version = self.version.as_ref().map_or("*".to_owned(), |version| format!("={version}"));
        let manifest = format!(
            "[package]\nname = \"wanted\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
             [dependencies]\n{} = \"{version}\"\n\n[workspace]\n",
            self.name
        );
        let path = folder.join("Cargo.toml");
        fs::write(&path, manifest).map_err(Error::file("write", &path))?;
        let library = folder.join("src");
        fs::create_dir(&library).map_err(Error::file("create", &library))?;
        let library = library.join("lib.rs");
        fs::write(&library, "").map_err(Error::file("write", &library))?;
        let finished = client::run(spec, context.cancelled, WALL, || {
            let mut cargo = Command::new("cargo");
            cargo.args(["vendor", "--quiet", "vendor"]).current_dir(folder);
            cargo
        })?;
        let vendored = folder.join("vendor").join(&self.name);
        if !finished.success || !vendored.is_dir() {
            return Err(Error::unavailable(spec, finished.reason()));
        }
        let manifest = fs::read_to_string(vendored.join("Cargo.toml")).unwrap_or_default();
        let version = manifest.parse::<toml::Table>().ok().and_then(|manifest| {
            manifest.get("package")?.get("version")?.as_str().map(str::to_owned)
        });
        if kept.exists() {
            fs::remove_dir_all(kept).map_err(Error::file("remove", kept))?;
        }
        fs::rename(&vendored, kept).map_err(Error::file("move", &vendored))?;
        Ok(version.unwrap_or_default())
    }
}
