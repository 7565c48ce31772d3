//! `git+URL-or-path[@rev]`, through gix. Blobs are read from the object database: there is no work
//! tree that a hostile repository could lead out of. A repository of this machine, by its path or by `file://`, is read
//! where it lies; others are cloned into the cache.

use super::{Context, Given, Package, Source};
use crate::{
    Error, Result,
    cache::without_user,
    sink::{About, Link, Sink},
    tree::Tree,
};
use dataset::Verdict;
use gix::{Commit, Repository, traverse::tree::recorder::Entry};
use rows::ContentVerdict;
use std::{ffi::OsString, os::unix::ffi::OsStringExt, path::PathBuf};

/// What to do where there is no repository.
const NAME_ONE: &str = "git+ is followed by the URL of a repository or its folder on this machine";

/// A repository as it is written.
pub(crate) struct Git {
    url: String,
    revision: Option<String>,
}

/// Reads `git+URL-or-path[@rev]`; `None` for what does not begin like that.
pub(crate) fn read(text: &str) -> Option<Result<Git, String>> {
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
            if !(local(rest).is_some_and(|at| at.exists())
                || path_from == 0 && revision.contains(':')) =>
        {
            (rest[..path_from + path.len()].to_owned(), Some(revision.to_owned()))
        }
        _ => (rest.to_owned(), None),
    };
    Some(Ok(Git { url, revision }))
}

pub(super) fn parse(text: &str) -> Option<Result<Box<dyn Source>, String>> {
    Some(read(text)?.map(|git| Box::new(git) as Box<dyn Source>))
}

/// Where a repository lies on this machine: that is said by a path, or by `file://`. `None` of one that lies elsewhere.
fn local(url: &str) -> Option<PathBuf> {
    let Some(rest) = url.strip_prefix("file://") else {
        let path = PathBuf::from(url);
        return (path.exists() || !url.contains(':')).then_some(path);
    };
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let spelled = PathBuf::from(path);
    Some(if spelled.exists() { spelled } else { unescaped(path) })
}

/// A path in which `%20` and its like stand for bytes.
fn unescaped(path: &str) -> PathBuf {
    let bytes = path.as_bytes();
    let (mut plain, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        // A number may have a sign before it, a code has none.
        let code = code.filter(|code| code.iter().all(u8::is_ascii_hexdigit));
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        plain.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    PathBuf::from(OsString::from_vec(plain))
}

impl Git {
    pub(crate) fn spec(&self) -> String {
        format!("git+{}", self.url)
    }

    /// The last part of its URL.
    pub(crate) fn name(&self) -> &str {
        let name = self.url.trim_end_matches('/').trim_end_matches(".git").trim_end_matches('/');
        name.rsplit(['/', ':']).next().unwrap_or(name)
    }

    /// It at one commit.
    pub(crate) fn pinned(&self, commit: &str) -> String {
        format!("git+{}@{commit}", without_user(&self.url))
    }

    pub(crate) fn failed(&self, error: impl std::fmt::Display) -> Error {
        Error::unavailable(&self.spec(), error)
    }

    /// It, from the cache where it is none of this machine.
    pub(crate) fn open(&self, context: &Context<'_>) -> Result<Repository> {
        if let Some(path) = local(&self.url) {
            if !path.exists() {
                return Err(self.failed(format!("{}; {NAME_ONE}", dataset::missing(&path))));
            }
            return gix::open(&path).map_err(|error| self.failed(format!("{error}; {NAME_ONE}")));
        }
        let entry = context.cache.entry("git", &self.url)?;
        let folder = entry.folder.join("repository");
        if entry.known::<String>().is_none() {
            context.online(&self.spec())?;
            if folder.exists() {
                std::fs::remove_dir_all(&folder).map_err(Error::file("remove", &folder))?;
            }
            context.progress.message(&format!("cloning {}", self.url));
            // gix's client takes the process's provider; whoever set one first has set it.
            let _ = rustls::crypto::ring::default_provider().install_default();
            gix::prepare_clone_bare(self.url.as_str(), &folder)
                .map_err(|error| self.failed(error))?
                .fetch_only(gix::progress::Discard, context.cancelled)
                .map_err(|error| self.failed(error))?;
            entry.complete(&self.url)?;
        }
        gix::open(&folder).map_err(|error| self.failed(error))
    }

    /// The commit that is asked for.
    pub(crate) fn commit<'r>(&self, repository: &'r Repository) -> Result<Commit<'r>> {
        let revision = self.revision.as_deref().unwrap_or("HEAD");
        let remote = format!("origin/{revision}");
        let id = repository
            .rev_parse_single(revision)
            .or_else(|_| repository.rev_parse_single(remote.as_str()))
            .map_err(|error| self.failed(error))?;
        let object = id.object().map_err(|error| self.failed(error))?;
        let commit = object.peel_to_kind(gix::object::Kind::Commit);
        Ok(commit.map_err(|error| self.failed(error))?.into_commit())
    }

    /// All files of a commit.
    pub(crate) fn files(&self, commit: &Commit<'_>) -> Result<Vec<Entry>> {
        let tree = commit.tree().map_err(|error| self.failed(error))?;
        tree.traverse().breadthfirst.files().map_err(|error| self.failed(error))
    }
}

/// Give those of `files` that `sink` wants.
pub(crate) fn give_files(
    repository: &Repository,
    files: &[Entry],
    context: &Context<'_>,
    sink: &mut dyn Sink,
) -> Result<()> {
    for file in files {
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
    Ok(())
}

impl Source for Git {
    fn fetch(&self, context: &Context<'_>) -> Result<Package> {
        let mut tree = Tree::default();
        let Given { name, version, .. } = self.give(context, &mut tree)?;
        Ok(Package { tree, ..Package::new(&name, &version) })
    }

    fn give(&self, context: &Context<'_>, sink: &mut dyn Sink) -> Result<Given> {
        let repository = self.open(context)?;
        let commit = self.commit(&repository)?;
        give_files(&repository, &self.files(&commit)?, context, sink)?;
        let version = commit.id.to_hex().to_string();
        let (name, pinned) = (self.name().to_owned(), self.pinned(&version));
        Ok(Given { name, version, pinned, is_wrapped: false })
    }
}
