//! What a worker writes to standard error.

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use std::{
    io::{ErrorKind, PipeReader, Read},
    sync::Mutex,
};

/// Bytes that are kept for the message of a [`Death`](crate::Death), and that are read at once.
const KEPT: usize = 4096;
/// So many reads empty a pipe: who writes without end is not listened to without end.
const READS: usize = 16;
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// The end of what a worker has written to standard error since it was sent a request.
#[derive(Debug)]
pub(crate) struct Words {
    from: PipeReader,
    /// Who reads the pipe holds it: nothing is on its way between the two.
    last: Mutex<Vec<u8>>,
}

impl Words {
    pub(crate) fn new(from: PipeReader) -> Words {
        Words { from, last: Mutex::new(Vec::new()) }
    }

    /// Keep what is written, until nobody can write any more.
    pub(crate) fn listen(&self) {
        loop {
            match self.wait(None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            let Ok(mut last) = self.last.lock() else { return };
            if !self.read(&mut last) {
                return;
            }
        }
    }

    /// Forget what was written so far, also what nobody has read yet.
    pub(crate) fn forget(&self) {
        if let Ok(mut last) = self.last.lock() {
            self.read(&mut last);
            last.clear();
        }
    }

    /// What is kept.
    pub(crate) fn last(&self) -> Vec<u8> {
        self.last.lock().map(|last| last.clone()).unwrap_or_default()
    }

    /// Add what the pipe holds; whether there may be more at another time.
    fn read(&self, last: &mut Vec<u8>) -> bool {
        let mut buffer = [0; KEPT];
        for _ in 0..READS {
            if !matches!(self.wait(Some(&AT_ONCE)), Ok(true)) {
                break;
            }
            match (&self.from).read(&mut buffer) {
                Ok(0) => return false,
                Ok(count) => {
                    last.extend_from_slice(&buffer[..count]);
                    let excess = last.len().saturating_sub(KEPT);
                    last.drain(..excess);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// Whether there is something to read, or nobody left to write, within the limit.
    fn wait(&self, limit: Option<&Timespec>) -> Result<bool, Errno> {
        let mut watched = [PollFd::new(&self.from, PollFlags::IN)];
        poll(&mut watched, limit).map(|ready| ready > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_is_forgotten_is_gone_whether_it_was_read_or_not() {
        let (from, mut to) = std::io::pipe().expect("a pipe");
        let words = Words::new(from);
        to.write_all(b"early").expect("there is room");
        words.forget();
        to.write_all(b"late").expect("there is room");
        drop(to);
        words.listen();
        assert_eq!(words.last(), b"late");
        words.forget();
        assert_eq!(words.last(), b"");
    }

    #[test]
    fn the_end_of_much_is_kept() {
        let (from, mut to) = std::io::pipe().expect("a pipe");
        let words = Words::new(from);
        std::thread::scope(|scope| {
            scope.spawn(|| words.listen());
            // More than a pipe holds.
            to.write_all(&vec![b'a'; 100_000]).expect("somebody reads");
            to.write_all(&[b'b'; 10]).expect("somebody reads");
            drop(to);
        });
        let last = words.last();
        assert_eq!(last.len(), KEPT);
        assert!(last.starts_with(b"a") && last.ends_with(&[b'b'; 10]));
    }
}
