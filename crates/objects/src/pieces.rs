//! Objects read piece by piece, by whoever needs little of each.

use crate::{
    ask::Asker,
    protocol::{Action, Answer},
};
use dataset::{Error, Result, Url};
use std::{
    fs,
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};
use tempfile::NamedTempFile;

/// Programs that are asked at the same time.
const AT_A_TIME: usize = 4;

/// Reads pieces of objects, several at a time, and keeps none.
#[derive(Debug, Default)]
pub struct Pieces {
    askers: [Asker; AT_A_TIME],
    next: AtomicUsize,
}

impl Pieces {
    fn ask(&self, url: &Url, action: Action) -> Result<Answer> {
        let at = self.next.fetch_add(1, Ordering::Relaxed) % AT_A_TIME;
        self.askers[at].ask("read", url, action)
    }

    /// How large an object is, and its tag, which is another once it is replaced; `None`: there is none.
    ///
    /// # Errors
    /// When the store does not answer or refuses.
    pub fn size(&self, url: &Url) -> Result<Option<(u64, String)>> {
        match self.ask(url, Action::Size)? {
            Answer::Is { bytes, tag } => Ok(Some((bytes, tag))),
            Answer::Missing => Ok(None),
            other => Err(unexpected(url, &other)),
        }
    }

    /// Some of its bytes; `None`: there is no such object.
    ///
    /// # Errors
    /// When the store does not answer or refuses, or has fewer of them.
    pub fn read(&self, url: &Url, bytes: Range<u64>) -> Result<Option<Vec<u8>>> {
        let failed = |reason: String| Error::Store { action: "read", url: url.to_string(), reason };
        let file = NamedTempFile::new().map_err(|error| failed(error.to_string()))?;
        let action = Action::Piece(file.path().to_owned(), bytes.start, bytes.end);
        match self.ask(url, action)? {
            Answer::Is { .. } => {}
            Answer::Missing => return Ok(None),
            other => return Err(unexpected(url, &other)),
        }
        let piece = fs::read(file.path()).map_err(|error| failed(error.to_string()))?;
        match piece.len() as u64 == bytes.end - bytes.start {
            true => Ok(Some(piece)),
            false => Err(failed(format!("{} bytes came instead of {bytes:?}", piece.len()))),
        }
    }
}

fn unexpected(url: &Url, answer: &Answer) -> Error {
    let reason = format!("stampmill-objects answered {answer:?}");
    Error::Store { action: "read", url: url.to_string(), reason }
}
