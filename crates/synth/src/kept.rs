//! What was found out about texts, kept between runs.

use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

/// By the hash of the text.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    pub(crate) known: HashMap<String, T>,
    file: Option<PathBuf>,
}

impl<T: Serialize + DeserializeOwned> Kept<T> {
    /// What the file of this name in `folder` holds; nothing without a folder, or where it cannot be read.
    pub(crate) fn open(folder: Option<&Path>, name: &str) -> Kept<T> {
        let file = folder.map(|folder| folder.join(name));
        let content = file.as_ref().and_then(|file| fs::read(file).ok());
        let known = content.and_then(|content| postcard::from_bytes(&content).ok());
        Kept { known: known.unwrap_or_default(), file }
    }

    /// Add more, and have the next run know all of it.
    pub(crate) fn add(&mut self, more: impl IntoIterator<Item = (String, T)>) {
        let before = self.known.len();
        self.known.extend(more);
        let file = self.file.as_ref().filter(|_| self.known.len() > before);
        let Some((file, folder)) = file.and_then(|file| Some((file, file.parent()?))) else {
            return;
        };
        // Without it the next run takes longer, nothing else.
        if let Ok(bytes) = postcard::to_stdvec(&self.known) {
            let _ = fs::create_dir_all(folder).and_then(|()| host::write_whole(file, &bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_there_the_next_time_and_a_broken_file_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        let open = || Kept::<u8>::open(Some(&inner), "kept.bin");
        let mut kept = open();
        kept.add([("a".to_owned(), 1)]);
        kept.add([("b".to_owned(), 2)]);
        assert_eq!(open().known, kept.known);
        fs::write(inner.join("kept.bin"), "x").expect("written");
        assert!(open().known.is_empty());
        let mut nowhere = Kept::<u8>::open(None, "kept.bin");
        nowhere.add([("a".to_owned(), 1)]);
        assert_eq!(nowhere.known.len(), 1);
    }
}
