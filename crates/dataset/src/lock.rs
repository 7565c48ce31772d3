//! A lock between processes that no child of its holder holds too.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// A process that was stopped may take so long to end: who starts again at once waits for it.
const WAIT: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(20);

/// Device and number of the files that this process has locked.
///
/// A record lock belongs to a process and not to a descriptor: a child that was forked and has not
/// started its program yet does not hold it (with `flock` it does), but two threads of one process
/// do not exclude each other, and closing any descriptor of the file gives it up. So a file that is
/// held is not even opened.
static HELD: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());

/// A locked file; dropping it frees the lock.
#[derive(Debug)]
pub(crate) struct Lock {
    file: Option<File>,
    key: (u64, u64),
}

impl Lock {
    /// Lock the file at `path`, made where it is not there. `None`: this process holds it, or
    /// another one does and goes on doing so.
    pub(crate) fn take(path: &Path) -> io::Result<Option<Lock>> {
        let begun = Instant::now();
        loop {
            match Lock::attempt(path)? {
                Attempt::Locked(lock) => return Ok(Some(lock)),
                Attempt::HeldHere => return Ok(None),
                Attempt::HeldElsewhere if begun.elapsed() >= WAIT => return Ok(None),
                Attempt::HeldElsewhere => thread::sleep(PAUSE),
            }
        }
    }

    fn attempt(path: &Path) -> io::Result<Attempt> {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if fs::metadata(path).is_ok_and(|found| held.contains(&key(&found))) {
            return Ok(Attempt::HeldHere);
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        let operation = rustix::fs::FlockOperation::NonBlockingLockExclusive;
        match rustix::fs::fcntl_lock(&file, operation) {
            Ok(()) => {}
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) => {
                return Ok(Attempt::HeldElsewhere);
            }
            Err(error) => return Err(error.into()),
        }
        let key = key(&file.metadata()?);
        // Who held it may have removed the file meanwhile: then this is a lock on nothing.
        if !fs::metadata(path).is_ok_and(|found| self::key(&found) == key) {
            return Ok(Attempt::HeldElsewhere);
        }
        held.insert(key);
        Ok(Attempt::Locked(Lock { file: Some(file), key }))
    }
}

enum Attempt {
    Locked(Lock),
    HeldHere,
    HeldElsewhere,
}

impl Drop for Lock {
    fn drop(&mut self) {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.remove(&self.key);
        // Closed before another thread can lock the file: closing would give up that lock too.
        drop(self.file.take());
    }
}

fn key(found: &fs::Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_that_has_the_descriptor_does_not_have_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = Lock::take(&path).unwrap().expect("nobody has it");
        // What every child has between its fork and its exec, for as long as this child lives.
        let file = lock.file.as_ref().unwrap();
        rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty()).unwrap();
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat starts");
        let has = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap();
        let mut has = has.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
        assert!(has.any(|open| open == path), "the child has the descriptor");
        drop(lock);
        assert!(Lock::take(&path).unwrap().is_some(), "the child must not hold the lock");
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn two_threads_exclude_each_other_and_a_look_frees_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = Lock::take(&path).unwrap().expect("nobody has it");
        assert!(Lock::take(&path).unwrap().is_none());
        assert!(Lock::take(&path).unwrap().is_none(), "the look before must not have freed it");
        drop(first);
        assert!(Lock::take(&path).unwrap().is_some());
    }

    #[test]
    fn a_lock_on_a_file_that_is_gone_is_taken_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = Lock::take(&path).unwrap().expect("nobody has it");
        fs::remove_file(&path).unwrap();
        let second = Lock::take(&path).unwrap().expect("it is another file");
        drop(first);
        assert!(Lock::take(&path).unwrap().is_none(), "the second is still held");
        drop(second);
    }
}
