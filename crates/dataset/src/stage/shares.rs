use super::{Share, Stage};
use crate::{
    Dataset, Error, Result, Url, content_hash, is_there,
    lock::Lock,
    object_store, place,
    staging::beside,
    unfinished::{MARKER, claim, require_ours},
};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

const LOCK: &str = "lock";
/// What the folder's name ends with.
const PARTS: &str = ".parts";
/// Digits of a job's hash in the names of its shares.
const DIGITS: usize = 16;

/// The name of a share of the job called `job`.
#[must_use]
pub fn share_name(job: &str, index: u32, count: u32) -> String {
    format!("{job}-{index}-of-{count}")
}

/// The folder `NAME.parts` beside a data set to be, in which others make the shares of its job; locked.
///
/// A share's name tells what it is made of and how: the job's hash is over stage, version, settings, seed and inputs.
/// So one that is there needs not be made again, whoever made it, and one of another job is never taken for it.
#[derive(Debug)]
pub struct Shares {
    folder: PathBuf,
    /// The same where they are in an object store.
    url: Option<Url>,
    /// What is locked, on this machine.
    home: PathBuf,
    job: String,
    count: u32,
    _lock: Lock,
}

impl Shares {
    /// Begin to make the data set `out` of shares, or go on: of `count`, or of as many as before.
    ///
    /// # Errors
    /// When there is something at `out` and `force` does not replace it, when the folder is not ours, when another
    /// process is at it; when an input cannot be read.
    pub fn begin<S: Stage>(
        stage: &S,
        out: &Path,
        force: bool,
        count: u32,
    ) -> Result<Shares, S::Error> {
        let inputs = stage.inputs_in_detail()?;
        let version = env!("CARGO_PKG_VERSION");
        let is_by_rows = stage.items_by_rows(Share { index: 1, count })?.is_some();
        let (settings, seed) = (stage.settings(), stage.seed());
        let job = serde_json::json!([S::NAME, version, settings, seed, inputs, is_by_rows]);
        let job = content_hash(job.to_string().as_bytes())[..DIGITS].to_owned();
        Ok(Shares::of(out, force, job, count)?)
    }

    fn of(out: &Path, force: bool, job: String, count: u32) -> Result<Shares> {
        let url = Url::of(out)?;
        claim(out, url.as_ref(), force)?;
        let (folder, home) = match &url {
            None => (beside(out, PARTS)?, beside(out, PARTS)?),
            Some(url) if url.key().is_empty() => return Err(Error::NoName(out.to_owned())),
            Some(url) => {
                (format!("{url}{PARTS}").into(), beside(&object_store()?.workshop(url), PARTS)?)
            }
        };
        let url = Url::of(&folder)?;
        match fs::symlink_metadata(&home) {
            Ok(_) => require_ours(&home)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(&home).map_err(Error::file("create", &home))?;
            }
            Err(error) => return Err(Error::file("read", &home)(error)),
        }
        let lock = home.join(LOCK);
        let lock = Lock::take(&lock).map_err(Error::file("lock", &lock))?;
        let lock = lock.ok_or_else(|| Error::Busy(out.to_owned()))?;
        let marker = home.join(MARKER);
        fs::write(&marker, "").map_err(Error::file("write", &marker))?;
        let mut shares = Shares { folder, url, home, job, count: count.max(1), _lock: lock };
        let begun = shares.names()?;
        let begun = begun.iter().filter_map(|name| share_of(name, &shares.job)).max();
        shares.count = begun.unwrap_or(shares.count);
        Ok(shares)
    }

    /// Names of what is in the folder.
    fn names(&self) -> Result<Vec<PathBuf>> {
        match &self.url {
            None => place::names(&self.folder),
            Some(url) => Ok(object_store()?.names(url)?.into_iter().map(PathBuf::from).collect()),
        }
    }

    /// The folder, or its URL.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of this machine that is locked: the same, where that is no URL.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The hash of the job.
    #[must_use]
    pub fn job(&self) -> &str {
        &self.job
    }

    /// How many shares make the whole.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Where the shares are, in order.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        (1..=self.count).map(|index| self.path(index)).collect()
    }

    fn path(&self, index: u32) -> PathBuf {
        self.folder.join(share_name(&self.job, index, self.count))
    }

    /// The shares that are not there yet. What stands in the place of one and cannot be opened, a part of it cut off
    /// say, is removed.
    ///
    /// # Errors
    /// When such a one cannot be removed; when an object store does not say what it holds.
    pub fn missing(&self) -> Result<Vec<u32>> {
        let mut missing = Vec::new();
        let begun: BTreeSet<PathBuf> = self.names()?.into_iter().collect();
        for index in 1..=self.count {
            let path = self.path(index);
            let share = Share { index, count: self.count };
            if !begun.contains(Path::new(path.file_name().unwrap_or_default())) {
                missing.push(index);
                continue;
            }
            let is_whole = match Dataset::open(&path) {
                Ok(dataset) => {
                    let shared = dataset.manifest().notes.share.as_ref();
                    shared.is_some_and(|shared| shared.share == share)
                }
                // Nothing is known of it.
                Err(error @ Error::Store { .. }) => return Err(error),
                Err(_) => false,
            };
            if !is_whole {
                missing.push(index);
                self.remove_share(&path)?;
            }
        }
        Ok(missing)
    }

    fn remove_share(&self, path: &Path) -> Result<()> {
        match Url::of(path)? {
            Some(url) => object_store()?.remove(&url),
            None => fs::remove_dir_all(path).map_err(Error::file("remove", path)),
        }
    }

    /// How many shares are there, at a glance.
    #[must_use]
    pub fn ready(&self) -> u64 {
        let is_there = |path: &&PathBuf| match &self.url {
            None => Dataset::is_at(path),
            Some(_) => is_there(path).unwrap_or_default(),
        };
        self.paths().iter().filter(is_there).count() as u64
    }

    /// Leave no folder behind in which nothing is done: it would only be in the way.
    pub fn discard_if_empty(self) {
        if self.ready() == 0 {
            // What stays is found by the next run.
            let _ = self.remove();
        }
    }

    /// Remove them, and the folder where nothing of somebody else's is in it.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn remove(self) -> Result<()> {
        for name in self.names()? {
            // Tries that were given up stand beside the shares, under longer names.
            if is_share(&name) {
                self.remove_share(&self.folder.join(&name))?;
            }
        }
        let rest = place::names(&self.home)?;
        if rest.iter().all(|name| [MARKER, LOCK].iter().any(|ours| name == Path::new(ours))) {
            place::remove_file(&self.home.join(MARKER))?;
            place::remove_file(&self.home.join(LOCK))?;
            place::remove_empty(&self.home)?;
        }
        Ok(())
    }
}

/// Whether we give this name to shares, and to tries of making one.
fn is_share(name: &Path) -> bool {
    let name = name.to_str().unwrap_or_default();
    name.split_once('-').is_some_and(|(job, rest)| {
        job.len() == DIGITS && job.bytes().all(|c| c.is_ascii_hexdigit()) && rest.contains("-of-")
    })
}

/// Of how many shares of this job the one of this name is.
fn share_of(name: &Path, job: &str) -> Option<u32> {
    let rest = name.to_str()?.strip_prefix(job)?.strip_prefix('-')?;
    let (index, count) = rest.split_once("-of-")?;
    let (index, count) = (index.parse::<u32>().ok()?, count.parse::<u32>().ok()?);
    (1..=count).contains(&index).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = "0123456789abcdef";

    fn begin(out: &Path, job: &str, count: u32) -> Result<Shares> {
        Shares::of(out, false, job.to_owned(), count)
    }

    #[test]
    fn a_job_goes_on_with_the_number_of_shares_that_it_began_with() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("set");
        let shares = begin(&out, JOB, 3).unwrap();
        fs::create_dir(shares.path(2)).unwrap();
        drop(shares);
        assert_eq!(begin(&out, JOB, 8).unwrap().count(), 3);
        assert_eq!(begin(&out, "fedcba9876543210", 8).unwrap().count(), 8);
    }

    #[test]
    fn what_is_no_whole_share_is_missing_and_removed() {
        let home = tempfile::tempdir().unwrap();
        let shares = begin(&home.path().join("set"), JOB, 2).unwrap();
        fs::create_dir(shares.path(1)).unwrap();
        fs::write(shares.path(1).join("_dataset.json"), "{").unwrap();
        assert_eq!(shares.ready(), 1);
        assert_eq!(shares.missing().unwrap(), [1, 2]);
        assert!(!shares.path(1).exists());
    }

    #[test]
    fn two_at_a_time_exclude_each_other() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("set");
        let first = begin(&out, JOB, 2).unwrap();
        assert!(matches!(begin(&out, JOB, 2), Err(Error::Busy(_))));
        drop(first);
        begin(&out, JOB, 2).unwrap().remove().unwrap();
        assert!(place::names(home.path()).unwrap().is_empty());
    }

    #[test]
    fn what_is_not_ours_stays() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("set");
        let shares = begin(&out, JOB, 2).unwrap();
        let folder = shares.folder().to_owned();
        fs::create_dir(shares.path(1)).unwrap();
        fs::create_dir(folder.join(share_name(JOB, 1, 2) + ".try-a.partial")).unwrap();
        fs::write(folder.join("thesis.txt"), "mine").unwrap();
        shares.remove().unwrap();
        assert!(folder.join("thesis.txt").is_file());
        assert!(!folder.join(share_name(JOB, 1, 2)).exists());
        let foreign = home.path().join("other.parts");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join("thesis.txt"), "mine").unwrap();
        let refused = begin(&home.path().join("other"), JOB, 2);
        assert!(matches!(refused, Err(Error::ForeignPartial(_))));
    }
}
