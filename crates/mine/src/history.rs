//! What commits of a repository change in its programs.

use crate::{
    Cache, ContentFile, Error, Progress, Result, Silent, find,
    packed::Packed,
    source::{Context, Git, Package, give_files, read_git},
    tree::{Role, Tree, contains, role},
};
use dataset::{Language, Licenses};
use gix::{ObjectId, Repository, traverse::tree::recorder::Entry};
use std::{
    collections::{BTreeSet, HashMap},
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

/// Which commits are looked at.
#[derive(Clone, Debug)]
pub struct HistoryOptions {
    /// `git+URL-OR-PATH[@REV]`: the commit to begin with, and the ones before it.
    pub source: String,
    /// How many at most.
    pub commits: u64,
    /// Files under other licenses are rejected.
    pub licenses: Licenses,
    /// Folder of the cache; see [`Cache::at`].
    pub cache: Option<PathBuf>,
    /// Fetch nothing: use what is in the cache.
    pub offline: bool,
}

/// A commit that changes OpenCL programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The commit.
    pub commit: String,
    /// The day it was made, such as `2024-05-31`.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
    /// The content files in the files that it changes, as they were before it, rejected ones too.
    pub before: Vec<ContentFile>,
    /// The same as it leaves them.
    pub after: Vec<ContentFile>,
}

/// A commit and all of its files.
type Point = (ObjectId, Vec<Entry>);

/// The commits that change OpenCL programs, the newest first, each compared with its first parent.
///
/// Of a commit those files are looked at that it changes and does not move, add or remove: OpenCL files, and others that hold
/// kernels. Their includes come from the tree of the commit.
pub struct History {
    git: Git,
    repository: Repository,
    licenses: Licenses,
    cache: Cache,
    cancelled: Arc<AtomicBool>,
    /// The next commit and its files; `None` where there is no more.
    next: Option<Point>,
    left: u64,
    looked: u64,
}

impl History {
    /// Open a repository, which is cloned where it is none of this machine.
    ///
    /// # Errors
    /// When the source is no git repository or cannot be had.
    pub fn open(
        options: HistoryOptions,
        cancelled: &Arc<AtomicBool>,
        progress: &dyn Progress,
    ) -> Result<History> {
        let HistoryOptions { source, commits, licenses, cache, offline } = options;
        let unknown = |reason: &str| Error::UnknownSource {
            spec: source.clone(),
            reason: reason.to_owned(),
            forms: "git+URL-OR-PATH[@REV]".to_owned(),
        };
        let git = match read_git(source.trim()) {
            Some(Ok(git)) => git,
            Some(Err(reason)) => return Err(unknown(&reason)),
            None => return Err(unknown("only a git repository has a history")),
        };
        let cache = Cache::at(cache);
        let context = Context { cache: &cache, offline, cancelled, progress };
        let repository = git.open(&context)?;
        let (id, files) = {
            let commit = git.commit(&repository)?;
            (commit.id, git.files(&commit)?)
        };
        let (next, cancelled) = (Some((id, files)), Arc::clone(cancelled));
        Ok(History { git, repository, licenses, cache, cancelled, next, left: commits, looked: 0 })
    }

    /// The repository's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.git.name()
    }

    /// Commits that were looked at so far.
    #[must_use]
    pub fn looked_at(&self) -> u64 {
        self.looked
    }

    /// What a commit changes, if that is something, and its first parent.
    fn change(&self, id: ObjectId, files: &[Entry]) -> Result<(Option<Change>, Option<Point>)> {
        let context = Context {
            cache: &self.cache,
            offline: true,
            cancelled: &self.cancelled,
            progress: &Silent,
        };
        context.check()?;
        let commit = self.repository.find_commit(id).map_err(|error| self.git.failed(error))?;
        let Some(parent) = commit.parent_ids().next() else { return Ok((None, None)) };
        // In a shallow clone the oldest commit has a parent that is not there.
        let Ok(parent) = self.repository.find_commit(parent.detach()) else {
            return Ok((None, None));
        };
        let before = self.git.files(&parent)?;
        let changed = self.changed(&before, files)?;
        if changed.is_empty() {
            return Ok((None, Some((parent.id, before))));
        }
        let content_files = |files: &[Entry], commit: ObjectId| -> Result<Vec<ContentFile>> {
            let mut tree = Tree::default();
            give_files(&self.repository, files, &context, &mut tree)?;
            let version = commit.to_hex().to_string();
            let package = Package { tree, ..Package::new(self.git.name(), &version) };
            let source = self.git.pinned(&version);
            let wanted = |path: &str| changed.contains(path);
            let (licenses, language) = (self.licenses, Language::OpenCl);
            let cancelled = &*self.cancelled;
            let rows =
                find::rows_of(&package, &source, licenses, language, None, &wanted, cancelled);
            context.check()?;
            Ok(rows.into_iter().map(Packed::unpack).filter(ContentFile::is_file).collect())
        };
        let message = commit.message().map_err(|error| self.git.failed(error))?;
        let time = commit.time().map_err(|error| self.git.failed(error))?;
        let change = Change {
            commit: id.to_hex().to_string(),
            date: time.format_or_unix(gix::date::time::format::SHORT),
            subject: message.summary().to_string(),
            before: content_files(&before, parent.id)?,
            after: content_files(files, id)?,
        };
        Ok((Some(change), Some((parent.id, before))))
    }

    /// Paths of files that may hold kernels, are in both, and differ.
    fn changed(&self, before: &[Entry], after: &[Entry]) -> Result<BTreeSet<String>> {
        let is_file = |file: &&Entry| !(file.mode.is_tree() || file.mode.is_commit());
        let old: HashMap<String, ObjectId> = before
            .iter()
            .filter(is_file)
            .map(|file| (dataset::bytes_text(&file.filepath), file.oid))
            .collect();
        let holds = |file: &Entry| -> Result<bool> {
            let blob = self.repository.find_object(file.oid);
            let blob = blob.map_err(|error| self.git.failed(error))?;
            Ok(contains(&blob.data, b"kernel"))
        };
        let mut changed = BTreeSet::new();
        for file in after.iter().filter(is_file) {
            let path = dataset::bytes_text(&file.filepath);
            if old.get(&path).is_none_or(|oid| *oid == file.oid) {
                continue;
            }
            let may_hold = match role(&path) {
                Some(Role::Kernel) => true,
                // Most changes are of programs that hold none.
                Some(Role::Header | Role::Host(_)) => holds(file)?,
                Some(Role::Build | Role::License) | None => false,
            };
            if may_hold {
                changed.insert(path);
            }
        }
        Ok(changed)
    }
}

impl Iterator for History {
    type Item = Result<Change>;

    fn next(&mut self) -> Option<Result<Change>> {
        while self.left > 0 {
            let (id, files) = self.next.take()?;
            self.left -= 1;
            self.looked += 1;
            match self.change(id, &files) {
                Ok((change, parent)) => {
                    self.next = parent;
                    if let Some(change) = change {
                        return Some(Ok(change));
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }
}
