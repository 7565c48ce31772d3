use super::{Share, Stage};
use crate::{
    Dataset, Error, Result, content_hash,
    lock::Lock,
    place,
    staging::beside,
    unfinished::{MARKER, require_ours},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

const LOCK: &str = "lock";
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
        let job = serde_json::json!([S::NAME, version, stage.settings(), stage.seed(), inputs]);
        let job = content_hash(job.to_string().as_bytes())[..DIGITS].to_owned();
        Ok(Shares::of(out, force, job, count)?)
    }

    fn of(out: &Path, force: bool, job: String, count: u32) -> Result<Shares> {
        place::claim(out, force)?;
        let folder = beside(out, ".parts")?;
        match fs::symlink_metadata(&folder) {
            Ok(_) => require_ours(&folder)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
            }
            Err(error) => return Err(Error::file("read", &folder)(error)),
        }
        let lock = folder.join(LOCK);
        let lock = Lock::take(&lock).map_err(Error::file("lock", &lock))?;
        let lock = lock.ok_or_else(|| Error::Busy(out.to_owned()))?;
        let marker = folder.join(MARKER);
        fs::write(&marker, "").map_err(Error::file("write", &marker))?;
        let begun = place::names(&folder)?.iter().filter_map(|name| share_of(name, &job)).max();
        Ok(Shares { folder, job, count: begun.unwrap_or(count).max(1), _lock: lock })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
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
    /// When such a one cannot be removed.
    pub fn missing(&self) -> Result<Vec<u32>> {
        let mut missing = Vec::new();
        for index in 1..=self.count {
            let path = self.path(index);
            let share = Share { index, count: self.count };
            let is_whole = Dataset::open(&path).is_ok_and(|dataset| {
                let shared = dataset.manifest().notes.share.as_ref();
                shared.is_some_and(|shared| shared.share == share)
            });
            if is_whole {
                continue;
            }
            missing.push(index);
            if fs::symlink_metadata(&path).is_ok() {
                fs::remove_dir_all(&path).map_err(Error::file("remove", &path))?;
            }
        }
        Ok(missing)
    }

    /// How many shares are there, at a glance.
    #[must_use]
    pub fn ready(&self) -> u64 {
        self.paths().iter().filter(|path| Dataset::is_at(path)).count() as u64
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
        for name in place::names(&self.folder)? {
            let path = self.folder.join(&name);
            // Tries that were given up stand beside the shares, under longer names.
            if is_share(&name) {
                fs::remove_dir_all(&path).map_err(Error::file("remove", &path))?;
            }
        }
        let rest = place::names(&self.folder)?;
        if rest.iter().all(|name| [MARKER, LOCK].iter().any(|ours| name == Path::new(ours))) {
            place::remove_file(&self.folder.join(MARKER))?;
            place::remove_file(&self.folder.join(LOCK))?;
            place::remove_empty(&self.folder)?;
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
        fs::write(shares.path(1).join("dataset.json"), "{").unwrap();
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
