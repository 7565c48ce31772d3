//! `git+URL-or-path[@rev]`, through gix. Blobs are read from the object database: there is no work
//! tree that a hostile repository could lead out of.

use super::{Context, Given, Package, Source};
use crate::{
    Error, Result,
    cache::without_user,
    sink::{About, Link, Sink},
    tree::Tree,
};
use dataset::Verdict;
use rows::ContentVerdict;
use std::path::Path;

/// What to do where there is no repository.
const NAME_ONE: &str = "git+ is followed by the URL of a repository or its folder on this machine";

struct Git {
    url: String,
    revision: Option<String>,
}

pub(super) fn parse(text: &str) -> Option<Result<Box<dyn Source>, String>> {
    let rest = text.strip_prefix("git+")?;
    if rest.is_empty() {
        return Some(Err("no repository is named".to_owned()));
    }
    // An `@` before the first slash of a URL's path belongs to the user's name in it.
    let path_from = rest
        .find("://")
        .map_or(0, |at| rest[at + 3..].find('/').map_or(rest.len(), |s| at + 3 + s));
    let (url, revision) = match rest[path_from..].rsplit_once('@') {
        Some((path, revision))
            if !(Path::new(rest).exists() || path_from == 0 && revision.contains(':')) =>
        {
            (rest[..path_from + path.len()].to_owned(), Some(revision.to_owned()))
        }
        _ => (rest.to_owned(), None),
    };
    Some(Ok(Box::new(Git { url, revision })))
}

impl Source for Git {
    fn fetch(&self, context: &Context<'_>) -> Result<Package> {
        let mut tree = Tree::default();
        let Given { name, version, .. } = self.give(context, &mut tree)?;
        Ok(Package { tree, ..Package::new(&name, &version) })
    }

    fn give(&self, context: &Context<'_>, sink: &mut dyn Sink) -> Result<Given> {
        let spec = format!("git+{}", self.url);
        let failed = |error: &dyn std::fmt::Display| Error::unavailable(&spec, error);
        let local = Path::new(&self.url);
        let repository = if local.exists() {
            gix::open(local).map_err(|error| failed(&format!("{error}; {NAME_ONE}")))?
        } else if !self.url.contains(':') {
            return Err(failed(&format!("{}; {NAME_ONE}", dataset::missing(local))));
        } else {
            let entry = context.cache.entry("git", &self.url)?;
            let folder = entry.folder.join("repository");
            if entry.known::<String>().is_none() {
                context.online(&spec)?;
                if folder.exists() {
                    std::fs::remove_dir_all(&folder).map_err(Error::file("remove", &folder))?;
                }
                context.progress.message(&format!("cloning {}", self.url));
                // gix's client takes the process's provider; whoever set one first has set it.
                let _ = rustls::crypto::ring::default_provider().install_default();
                gix::prepare_clone_bare(self.url.as_str(), &folder)
                    .map_err(|error| failed(&error))?
                    .fetch_only(gix::progress::Discard, context.cancelled)
                    .map_err(|error| failed(&error))?;
                entry.complete(&self.url)?;
            }
            gix::open(&folder).map_err(|error| failed(&error))?
        };
        let name = self.url.trim_end_matches('/').trim_end_matches(".git");
        let name = name.rsplit(['/', ':']).next().unwrap_or(name);
        let revision = self.revision.as_deref().unwrap_or("HEAD");
        let remote = format!("origin/{revision}");
        let id = repository
            .rev_parse_single(revision)
            .or_else(|_| repository.rev_parse_single(remote.as_str()))
            .map_err(|error| failed(&error))?;
        let commit =
            id.object().map_err(|error| failed(&error))?.peel_to_kind(gix::object::Kind::Commit);
        let commit = commit.map_err(|error| failed(&error))?.into_commit();
        let tree = commit.tree().map_err(|error| failed(&error))?;
        let files = tree.traverse().breadthfirst.files().map_err(|error| failed(&error))?;
        for file in &files {
            context.check()?;
            let path = dataset::bytes_text(&file.filepath);
            if file.mode.is_tree() || !sink.wants(&path) {
                continue;
            }
            if file.mode.is_commit() {
                let other = "a submodule, which is another repository";
                sink.tell(&path, Verdict::new(ContentVerdict::NotAFile, other));
                continue;
            }
            let read = match repository.find_object(file.oid) {
                Ok(blob) if file.mode.is_link() => {
                    sink.link(&path, &dataset::bytes_text(&blob.data), Link::Symbolic);
                    Ok(true)
                }
                Ok(blob) => {
                    let size = Some(blob.data.len() as u64);
                    let executable = file.mode.is_executable();
                    sink.file(&path, About { size, executable }, &mut &blob.data[..])
                }
                Err(error) => Err(std::io::Error::other(error.to_string())),
            };
            match read {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    sink.tell(&path, Verdict::new(ContentVerdict::Unreadable, error.to_string()));
                }
            }
        }
        let version = commit.id.to_hex().to_string();
        let pinned = format!("git+{}@{version}", without_user(&self.url));
        Ok(Given { name: name.to_owned(), version, pinned, is_wrapped: false })
    }
}
