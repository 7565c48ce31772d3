//! `pypi:NAME[==VERSION]`, through `pip download`.

use super::{Context, Package, Source, name_and_version};
use crate::{Error, Result, cache, client, find, packed::Packed, unpack};
use dataset::{Language, Licenses};
use serde::{Deserialize, Serialize};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

const WALL: Duration = Duration::from_secs(600);
/// For a source distribution whose build system is asked for its name.
const BUILD_WALL: Duration = Duration::from_secs(300);
/// What pip says where a project has no distribution of the kind that is asked for.
const NONE: &str = "No matching distribution";
/// What Python reads first, so that pip learns a package's name without its build system.
const METADATA: &str = include_str!("metadata.py");

struct Pypi {
    name: String,
    version: Option<String>,
}

/// What of a project is in the cache.
#[derive(Default, Serialize, Deserialize)]
struct About {
    /// File name of the wheel, or empty.
    wheel: String,
    /// File name of the source distribution, or empty.
    sdist: String,
    /// Why one of them is not there.
    missing: String,
}

impl About {
    /// Whether there is no more to be had; what failed for a reason that may pass is asked for again.
    fn is_all(&self) -> bool {
        let has_none = self.missing.contains(NONE);
        !self.sdist.is_empty() || !self.wheel.is_empty() && (self.missing.is_empty() || has_none)
    }
}

pub(super) fn parse(text: &str) -> Option<Result<Box<dyn Source>, String>> {
    let (name, version) = match name_and_version(text.strip_prefix("pypi:")?, "==") {
        Ok(found) => found,
        Err(reason) => return Some(Err(reason)),
    };
    Some(Ok(Box::new(Pypi { name: name.to_owned(), version: version.map(str::to_owned) })))
}

impl Source for Pypi {
    fn fetch(&self, context: &Context<'_>) -> Result<Package> {
        let wanted = match &self.version {
            Some(version) => format!("{}=={version}", self.name),
            None => self.name.clone(),
        };
        let spec = format!("pypi:{wanted}");
        let entry = context.cache.entry("pypi", &wanted)?;
        let about = match entry.known::<About>() {
            Some(about) if about.is_all() => about,
            _ => {
                context.online(&spec)?;
                let about = download(&spec, &wanted, &self.name, context, &entry.folder)?;
                if about.is_all() {
                    entry.complete(&about)?;
                }
                about
            }
        };
        let file = match (about.sdist.as_str(), about.wheel.as_str()) {
            ("", "") => return Err(Error::unavailable(&spec, about.missing)),
            ("", wheel) => wheel,
            (sdist, _) => sdist,
        };
        read(&spec, &self.name, &entry.folder.join(file))
    }
}

/// The wheel; where it holds no kernel, the source distribution too.
fn download(
    spec: &str,
    wanted: &str,
    name: &str,
    context: &Context<'_>,
    folder: &Path,
) -> Result<About> {
    let finished = client::run(spec, context.cancelled, WALL, || {
        let mut pip = Command::new("pip");
        pip.args([
            "download",
            "--quiet",
            "--no-deps",
            "--no-cache-dir",
            "--only-binary=:all:",
            "--dest",
        ]);
        pip.arg(folder).arg(wanted);
        pip
    })?;
    let mut about = About::default();
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "whl");
    if let Some(wheel) = cache::files(folder)?.into_iter().find(is_wheel) {
        about.wheel = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let package = read(spec, name, &wheel)?;
        if find::rows(&package, spec, Licenses::All, Language::OpenCl, None)
            .iter()
            .map(Packed::row)
            .any(|row| row.is_accepted() && row.kernels > 0)
        {
            return Ok(about);
        }
    } else {
        about.missing = finished.reason();
    }
    context.check()?;
    let sdist = match source_distribution(wanted, name, folder, false) {
        Err(reason) if !reason.contains(NONE) && context.check().is_ok() => {
            source_distribution(wanted, name, folder, true)
        }
        found => found,
    };
    match sdist {
        Ok(name) => about.sdist = name,
        Err(reason) => about.missing = reason,
    }
    Ok(about)
}

/// Have pip fetch the source distribution; returns the file's name. pip must learn its name and version: [`METADATA`] answers from
/// what the archive says of itself, or, where that does not do, the package's own build system: hence the sandbox, and the limit on
/// its time.
fn source_distribution(
    wanted: &str,
    name: &str,
    folder: &Path,
    ask: bool,
) -> Result<String, String> {
    let scratch = tempfile::tempdir_in(folder).map_err(|error| error.to_string())?;
    let scratch_path = scratch.path().canonicalize().map_err(|error| error.to_string())?;
    let mut command: Vec<OsString> =
        ["pip", "download", "--quiet", "--no-deps", "--no-cache-dir"].map(Into::into).to_vec();
    // pip and its index stay as configured; only where things are written is ours.
    let mut environment = sandbox::fetch_environment();
    environment.push(("TMPDIR".into(), scratch_path.clone().into()));
    if !ask {
        let hooks = scratch_path.join("hooks");
        std::fs::create_dir(&hooks)
            .and_then(|()| std::fs::write(hooks.join("sitecustomize.py"), METADATA))
            .map_err(|error| error.to_string())?;
        environment.retain(|(name, _)| name != "PYTHONPATH");
        environment.push(("PYTHONPATH".into(), hooks.into()));
        command.extend(["--no-build-isolation", "--use-pep517"].map(Into::into));
    }
    command.extend(["--no-binary".into(), name.into(), "--dest".into()]);
    command.extend([scratch_path.clone().into(), wanted.into()]);
    let program = sandbox::Program {
        command,
        environment,
        directory: Some(scratch_path.clone()),
        wall: BUILD_WALL,
        ..sandbox::Program::default()
    };
    let mut profile = sandbox::Profile::build(scratch_path.clone(), true);
    profile.readable.extend(configuration());
    let finished = sandbox::run(&program, &profile).map_err(|death| death.to_string())?;
    if let Some(death) = finished.death {
        return Err(format!("its build system was ended: {death}"));
    }
    let fetched = cache::files(&scratch_path).map_err(|error| error.to_string())?;
    let Some(sdist) = fetched.iter().find(|path| is_archive(path)) else {
        let said = String::from_utf8_lossy(&finished.stderr).into_owned();
        let is_error = |line: &&str| line.to_lowercase().trim_start().starts_with("error");
        let line = said.lines().rev().find(is_error);
        return Err(line.unwrap_or("pip fetched no source distribution").trim().to_owned());
    };
    let base = sdist.file_name().unwrap_or_default();
    std::fs::rename(sdist, folder.join(base)).map_err(|error| error.to_string())?;
    Ok(base.to_string_lossy().into_owned())
}

/// The user's files that configure pip.
fn configuration() -> Vec<PathBuf> {
    let named = std::env::var_os("PIP_CONFIG_FILE").map(PathBuf::from);
    let links = std::env::var_os("PIP_FIND_LINKS").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let own = [".config/pip/pip.conf", ".pip/pip.conf"].map(|path| home.join(path));
    named.into_iter().chain(links).chain(own).filter(|path| path.exists()).collect()
}

fn is_archive(path: &Path) -> bool {
    let name = path.to_string_lossy();
    [".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".zip"].iter().any(|ending| name.ends_with(ending))
}

/// Unpack a distribution; its file name holds its version.
fn read(spec: &str, name: &str, file: &Path) -> Result<Package> {
    let stem = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_wheel = stem.ends_with(".whl");
    let version = if is_wheel {
        stem.split('-').nth(1).unwrap_or_default().to_owned()
    } else {
        let stem = stem.rsplit_once(".tar").map_or(stem.as_str(), |(stem, _)| stem);
        let stem = stem.trim_end_matches(".zip").trim_end_matches(".tgz");
        stem.rsplit_once('-').map_or("", |(_, version)| version).to_owned()
    };
    let mut package = Package::new(name, &version);
    package.tree = unpack::archive(file).map_err(|error| Error::unavailable(spec, error))?;
    if !is_wheel {
        package.tree.strip_common_folder();
    }
    Ok(package)
}
