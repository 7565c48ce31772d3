//! What was brought here: files by their content, and folders of links to them.

use dataset::{Error, Manifest, Result, Shard, content_hash};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// A folder of the cache.
#[derive(Clone, Debug)]
pub(crate) struct Cache(PathBuf);

impl Cache {
    pub(crate) fn at(folder: PathBuf) -> Cache {
        Cache(folder)
    }

    /// The folder called so in it, made where it is not there.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.0.join(name);
        fs::create_dir_all(&folder).map_err(file_error("create", &folder))?;
        Ok(folder)
    }

    /// Where the data set for a URL comes to be, by a hash of that.
    pub(crate) fn workshop(&self, url: &str, name: &str) -> PathBuf {
        self.0.join("made").join(&content_hash(url.as_bytes())[..16]).join(name)
    }

    /// A file that is to be filled.
    pub(crate) fn new_file(&self) -> Result<NamedTempFile> {
        let folder = self.folder("files")?;
        NamedTempFile::new_in(&folder).map_err(file_error("create a file in", &folder))
    }

    /// The file of this content, if it is here.
    pub(crate) fn file(&self, hash: &str, bytes: u64) -> Option<PathBuf> {
        let path = self.0.join("files").join(hash);
        let is_whole = |found: fs::Metadata| found.is_file() && found.len() == bytes;
        fs::metadata(&path).is_ok_and(is_whole).then_some(path)
    }

    /// Keep a file whose content was compared with its hash.
    pub(crate) fn keep(&self, file: NamedTempFile, hash: &str) -> Result<PathBuf> {
        let path = self.0.join("files").join(hash);
        read_only(file.path());
        file.persist(&path).map_err(|failed| file_error("write", &path)(failed.error))?;
        Ok(path)
    }

    /// Keep files of a data set that was made here, without copies of them; where that is not possible, they are
    /// brought here when they are needed.
    pub(crate) fn adopt(&self, folder: &Path, shards: &[Shard]) {
        let Ok(files) = self.folder("files") else { return };
        for shard in shards {
            let (from, to) = (folder.join(&shard.file), files.join(&shard.hash));
            if self.file(&shard.hash, shard.bytes).is_none() && fs::hard_link(&from, &to).is_ok() {
                read_only(&to);
            }
        }
    }

    /// The folder of the data set with this manifest, if it is here and whole at a glance.
    pub(crate) fn set(&self, text: &[u8], name: &str, shards: &[Shard]) -> Option<PathBuf> {
        let folder = self.0.join("sets").join(content_hash(text)).join(name);
        let is_whole = |shard: &Shard| {
            let found = fs::metadata(folder.join(&shard.file));
            found.is_ok_and(|found| found.is_file() && found.len() == shard.bytes)
        };
        (folder.join(Manifest::FILE).is_file() && shards.iter().all(is_whole)).then_some(folder)
    }

    /// Make that folder of files that are here, by their names in it.
    pub(crate) fn make_set(
        &self,
        text: &[u8],
        name: &str,
        files: &[(String, PathBuf)],
    ) -> Result<PathBuf> {
        let parent = self.folder(&format!("sets/{}", content_hash(text)))?;
        let new =
            tempfile::tempdir_in(&parent).map_err(file_error("create a folder in", &parent))?;
        for (name, file) in files {
            let to = new.path().join(name);
            if fs::hard_link(file, &to).is_err() {
                fs::copy(file, &to).map_err(file_error("write", &to))?;
            }
        }
        let manifest = new.path().join(Manifest::FILE);
        fs::write(&manifest, text).map_err(file_error("write", &manifest))?;
        let place = parent.join(name);
        if place.exists() {
            // It was not whole.
            fs::remove_dir_all(&place).map_err(file_error("remove", &place))?;
        }
        match fs::rename(new.path(), &place) {
            // Another process made it meanwhile.
            Err(_) if place.join(Manifest::FILE).is_file() => Ok(place),
            Err(error) => Err(file_error("write", &place)(error)),
            Ok(()) => {
                drop(new.keep());
                Ok(place)
            }
        }
    }
}

/// Content does not change: what would write to it is to hear of that.
fn read_only(path: &Path) {
    // Where it cannot be set, the hash tells.
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o444));
}

pub(crate) fn file_error<'a>(
    action: &'static str,
    path: &'a Path,
) -> impl FnOnce(std::io::Error) -> Error + use<'a> {
    move |source| Error::File { action, path: path.to_owned(), source }
}
