//! `dir:PATH`: a folder of source code, built by what it holds or by `--build`.

use super::{
    BuildOptions, Outcome, Source, recipe,
    site::{Site, log, verdict},
};
use crate::Error;
use dataset::{Verdict, content_hash_of, content_hash_of_file};
use rows::ModuleVerdict;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

#[derive(Debug)]
struct Folder {
    text: String,
    path: PathBuf,
    command: String,
    /// The program that its recipe stands on.
    needs: Option<&'static str>,
    /// What this run makes, which may lie in the folder: no part of it.
    ours: Vec<PathBuf>,
}

pub(super) fn parse(
    text: &str,
    options: &BuildOptions<'_>,
) -> Option<Result<Vec<Box<dyn Source>>, Error>> {
    let path = PathBuf::from(text.strip_prefix("dir:")?);
    if !path.is_dir() {
        let reason = match path.exists() {
            true => format!("{} is no folder", path.display()),
            false => dataset::missing(&path),
        };
        return Some(Err(Error::unknown_source(text, reason)));
    }
    let recipe = recipe::of(&path).filter(|_| options.command.is_none());
    let command = options.command.clone().or_else(|| recipe.map(|r| r.command.to_owned()));
    let needs = recipe.map(|recipe| recipe.needs);
    let out = std::path::absolute(&options.out).unwrap_or_else(|_| options.out.clone());
    let name = out.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let ours =
        [".partial", ".work", ""].map(|end| out.with_file_name(format!("{name}{end}"))).to_vec();
    let no_recipe = Error::NoRecipe { path: path.clone() };
    Some(match command {
        Some(command) => {
            Ok(vec![Box::new(Folder { text: text.to_owned(), path, command, needs, ours })])
        }
        None => Err(no_recipe),
    })
}

impl Source for Folder {
    fn text(&self) -> &str {
        &self.text
    }

    fn needs(&self) -> Vec<(&'static str, String)> {
        let install = |program: &'static str| (program, format!("install {program}"));
        self.needs.map(install).into_iter().collect()
    }

    fn pin(&self) -> String {
        hash_of(&self.path, &self.ours).unwrap_or_default()
    }

    fn build(&self, site: &Site<'_>) -> Result<Outcome, Error> {
        let tree = site.tree();
        copy(&self.path, &tree, &self.ours).map_err(Error::file("copy", &self.path))?;
        let name = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut outcome = Outcome {
            package_source: format!("dir:{name}#{}", self.pin()),
            package: name,
            source: Some(tree.clone()),
            ..Outcome::default()
        };
        run(site, &tree, &self.command, &mut outcome)?;
        Ok(outcome)
    }
}

/// Run the command that builds what is in `directory`, of the site's tree, and note what came of it.
///
/// # Errors
/// When it cannot be started for reasons of ours.
pub(super) fn run(
    site: &Site<'_>,
    directory: &Path,
    command: &str,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    // What a cargo package needs is fetched before the network goes.
    if directory.join("Cargo.toml").is_file() && !site.options.offline {
        let cache = crate::cache_folder(site.options.cache.as_deref()).join("cargo");
        fs::create_dir_all(&cache).map_err(Error::file("create", &cache))?;
        let environment = [("CARGO_HOME", cache.clone().into_os_string())];
        let vendor = ["cargo", "vendor", "--versioned-dirs", "vendor"];
        let fetched = site.fetch(&vendor, directory, &[cache], &environment)?;
        let config = site.cargo_home().join("config.toml");
        if fetched.status == Some(0) && !fetched.stdout.is_empty() {
            let text = String::from_utf8_lossy(&fetched.stdout).replace(
                "directory = \"vendor\"",
                &format!("directory = {:?}", directory.join("vendor")),
            );
            fs::write(&config, text).map_err(Error::file("write", &config))?;
        }
    }
    outcome.has_packages = directory.join("spack.yaml").is_file();
    let finished = site.run(&["sh", "-c", command], directory, &[])?;
    outcome.verdict = verdict(&finished, site.options);
    outcome.log.push_str(&log(&finished));
    if outcome.verdict.is_none() && command.trim().is_empty() {
        outcome.verdict =
            Some(Verdict::new(ModuleVerdict::DoesNotBuild, "the build command is empty"));
    }
    Ok(())
}

/// Hash over the paths and contents of all files.
fn hash_of(folder: &Path, without: &[PathBuf]) -> io::Result<String> {
    let mut pieces = Vec::new();
    let walk = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter();
    for entry in walk.filter_entry(|entry| !is_among(entry.path(), without)).flatten() {
        if entry.file_type().is_file() {
            let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
            pieces.push(path.as_os_str().as_encoded_bytes().to_vec());
            pieces.push(content_hash_of_file(entry.path())?.1.into_bytes());
        }
    }
    Ok(content_hash_of(pieces.iter().map(Vec::as_slice)))
}

fn is_among(path: &Path, paths: &[PathBuf]) -> bool {
    path.canonicalize()
        .is_ok_and(|path| paths.iter().any(|one| one.canonicalize().is_ok_and(|one| one == path)))
}

/// Copy a folder without some of what is in it; links are kept as links.
pub(super) fn copy(from: &Path, to: &Path, without: &[PathBuf]) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() && is_among(&entry.path(), without) {
            continue;
        }
        if kind.is_dir() {
            copy(&entry.path(), &target, without)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
