//! `git+URL-OR-PATH[@REV][#FOLDER]` and archives, `FILE[#FOLDER]`: written into the tree, and built as a folder is.

use super::{BuildOptions, Outcome, Source, UNAVAILABLE, folder, recipe, site::Site};
use crate::{Error, extract::is_inside, wrap::real};
use dataset::{Verdict, content_hash_of_file};
use rows::ModuleVerdict;
use std::{
    fs,
    path::{Path, PathBuf},
};

#[derive(Debug)]
struct Checkout {
    text: String,
    /// As `mine` reads it: the text without the folder.
    source: String,
    /// The folder of it that is built.
    folder: Option<String>,
    /// Hash of an archive.
    hash: String,
}

pub(super) fn parse(
    text: &str,
    _: &BuildOptions<'_>,
) -> Option<Result<Vec<Box<dyn Source>>, Error>> {
    let (source, folder) = match text.rsplit_once('#') {
        Some((source, folder)) if !Path::new(text).is_file() => (source, Some(folder.to_owned())),
        _ => (text, None),
    };
    let is_git = source.starts_with("git+");
    if !is_git && !Path::new(source).is_file() {
        return None;
    }
    let one = one(text, source, folder, is_git);
    Some(one.map(|one| vec![Box::new(one) as Box<dyn Source>]))
}

fn one(text: &str, source: &str, folder: Option<String>, is_git: bool) -> Result<Checkout, Error> {
    let unknown = |reason: String| Error::unknown_source(text, reason);
    if let Some(folder) = &folder
        && (folder.is_empty() || !is_inside(folder))
    {
        return Err(unknown(format!("`{folder}` is no folder inside of it")));
    }
    let hash = match is_git {
        true => mine::Spec::parse(source).map(|_| String::new()).map_err(|error| match error {
            mine::Error::UnknownSource { reason, .. } => unknown(reason),
            error => error.into(),
        })?,
        false => {
            let path = Path::new(source);
            if !mine::is_archive(path).map_err(Error::file("read", path))? {
                return Err(unknown(
                    "it is no archive (tar, tar.gz, tar.bz2, tar.xz, tar.zst or zip); a list of sources is written \
                     @LIST.toml, a list of crates crates:FILE"
                        .to_owned(),
                ));
            }
            content_hash_of_file(path).map_err(Error::file("read", path))?.1
        }
    };
    Ok(Checkout { text: text.to_owned(), source: source.to_owned(), folder, hash })
}

impl Checkout {
    /// The folder that is built, and the command that builds it; else why it cannot be built.
    fn plan(&self, site: &Site<'_>) -> Result<(PathBuf, String), Verdict> {
        let tree = site.tree();
        let directory = match &self.folder {
            Some(folder) => {
                // A link may lead out of the source.
                let found = tree.join(folder).canonicalize().ok();
                let found = found.filter(|found| found.starts_with(&tree) && found.is_dir());
                let none = || Verdict::new(UNAVAILABLE, format!("it has no folder {folder}"));
                found.ok_or_else(none)?
            }
            None => tree,
        };
        if let Some(command) = &site.options.command {
            return Ok((directory, command.clone()));
        }
        let Some(recipe) = recipe::of(&directory) else {
            let detail = "it holds the file of no build system that is known; say how it is built with --build";
            return Err(Verdict::new(ModuleVerdict::DoesNotBuild, detail));
        };
        if real(&[recipe.needs]).is_none() {
            let detail = format!("it needs {}, which is not on the path", recipe.needs);
            return Err(Verdict::new(ModuleVerdict::NeedsUnavailable, detail));
        }
        Ok((directory, recipe.command.to_owned()))
    }
}

impl Source for Checkout {
    fn text(&self) -> &str {
        &self.text
    }

    fn pin(&self) -> String {
        self.hash.clone()
    }

    fn build(&self, site: &Site<'_>) -> Result<Outcome, Error> {
        let options = site.options;
        let mut outcome = Outcome { package_source: self.text.clone(), ..Outcome::default() };
        let cache = mine::Cache::at(options.cache.clone());
        let fresh = site.fresh("checkout")?;
        let cancel = options.cancel.flag();
        let bytes = options.disk_bytes;
        let found = mine::check_out(&self.source, &fresh, bytes, &cache, options.offline, &cancel);
        let found = match found {
            Ok(found) => found,
            Err(mine::Error::Unavailable { reason, .. }) => {
                outcome.package = name_of(&self.source);
                outcome.verdict = Some(Verdict::new(UNAVAILABLE, reason));
                return Ok(outcome);
            }
            Err(mine::Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => return Err(error.into()),
        };
        let tree = site.tree();
        fs::remove_dir(&tree).map_err(Error::file("remove", &tree))?;
        fs::rename(&found.root, &tree).map_err(Error::file("move", &found.root))?;
        let below = |apart: &str| match &self.folder {
            Some(folder) => format!("{apart}{folder}"),
            None => String::new(),
        };
        outcome.package = found.name + &below("/");
        outcome.version = found.version;
        // An archive's hash stands behind a `#` already.
        outcome.package_source =
            found.pinned + &below(if self.hash.is_empty() { "#" } else { "/" });
        outcome.source = Some(tree.clone());
        let left_out: Vec<String> = found
            .left_out
            .iter()
            .map(|(path, verdict)| format!("left out: {path}: {}\n", verdict.detail))
            .collect();
        outcome.log = left_out.concat();
        if let Some(broken) = found.broken {
            outcome.verdict = Some(match broken.name == "package-too-large" {
                true => Verdict::new(ModuleVerdict::DiskLimit, broken.detail),
                false => Verdict::new(UNAVAILABLE, broken.detail),
            });
            return Ok(outcome);
        }
        match self.plan(site) {
            Ok((directory, command)) => folder::run(site, &directory, &command, &mut outcome)?,
            Err(verdict) => outcome.verdict = Some(verdict),
        }
        Ok(outcome)
    }
}

/// The last part of a path or an address.
fn name_of(source: &str) -> String {
    let name = source.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or(source);
    name.trim_start_matches("git+").to_owned()
}
