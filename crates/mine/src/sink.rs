//! What takes in the files of a package, one after the other: a [`Tree`](crate::tree::Tree) in memory, or a folder.

use dataset::Verdict;
use std::io::{self, Read};

/// What is known of a file before it is read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct About {
    /// Bytes, where whoever says so is to be believed.
    pub(crate) size: Option<u64>,
    /// Whether it may be executed.
    pub(crate) executable: bool,
}

/// How a link names its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// By a path from the link's own folder.
    Symbolic,
    /// By a path from the top of the package.
    Hard,
}

/// Takes in files as they are found, under the paths that they are found by: no path is to be trusted.
pub(crate) trait Sink {
    /// Whether a file of this path is taken in, so that others need not be read.
    fn wants(&self, path: &str) -> bool;

    /// Take in a file. Returns whether there is room for more.
    ///
    /// # Errors
    /// When the content cannot be read.
    fn file(&mut self, path: &str, about: About, content: &mut dyn Read) -> io::Result<bool>;

    /// Take in a link.
    fn link(&mut self, path: &str, target: &str, kind: Link);

    /// Note what happened to the file at `path`.
    fn tell(&mut self, path: &str, verdict: Verdict);
}
