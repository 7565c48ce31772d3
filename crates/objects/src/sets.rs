//! Data sets as objects.

use crate::{
    ask::Asker,
    cache::{Cache, file_error},
    protocol::{Action, Answer, When},
};
use dataset::{
    Error, Manifest, ObjectStore, Result, Shard, Url, content_hash_of_file, is_part_name,
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

/// A data set that is replaced while it is read is read anew; so often.
const TRIES: usize = 3;
/// Digits of a file's hash in the name of its object.
const DIGITS: usize = 16;

/// The name of the object with a Parquet file of a data set: a file of another content has another.
#[must_use]
pub fn object_name(file: &str, hash: &str) -> String {
    let stem = file.strip_suffix(".parquet").unwrap_or(file);
    format!("{stem}-{}.parquet", hash.get(..DIGITS).unwrap_or(hash))
}

/// Brings data sets here by the program `stampmill-objects`, and puts them there.
#[derive(Debug)]
pub struct Objects {
    asker: Asker,
    cache: Cache,
}

/// Why a data set is not taken.
enum Lack {
    /// A file that its manifest names is not there: it may have been replaced meanwhile.
    Gone(String),
    Error(Error),
}

impl From<Error> for Lack {
    fn from(error: Error) -> Lack {
        Lack::Error(error)
    }
}

impl Objects {
    /// What is brought here is kept in the folder `cache`.
    #[must_use]
    pub fn new(cache: PathBuf) -> Objects {
        Objects { asker: Asker::default(), cache: Cache::at(cache) }
    }

    /// The manifest at a URL, with the tag of its object.
    fn text(&self, url: &Url) -> Result<Option<(Vec<u8>, String)>> {
        let file = self.cache.new_file()?;
        let action = Action::Get(file.path().to_owned());
        match self.asker.ask("read", &url.join(Manifest::FILE), action)? {
            Answer::Is { tag, .. } => {
                let text = fs::read(file.path()).map_err(file_error("read", file.path()))?;
                Ok(Some((text, tag)))
            }
            Answer::Missing => Ok(None),
            other => Err(unexpected("read", url, &other)),
        }
    }

    /// A Parquet file of a data set, here.
    fn part(&self, url: &Url, shard: &Shard) -> Result<PathBuf, Lack> {
        if let Some(file) = self.cache.file(&shard.hash, shard.bytes) {
            return Ok(file);
        }
        // Copied there by other programs, it has the name that it has in a folder.
        for name in [object_name(&shard.file, &shard.hash), shard.file.clone()] {
            let at = url.join(&name);
            let file = self.cache.new_file()?;
            match self.asker.ask("read", &at, Action::Get(file.path().to_owned()))? {
                Answer::Is { .. } => {}
                Answer::Missing => continue,
                other => return Err(unexpected("read", &at, &other).into()),
            }
            let found = content_hash_of_file(file.path());
            let (bytes, hash) = found.map_err(file_error("read", file.path()))?;
            if bytes != shard.bytes {
                let reason =
                    format!("it has {bytes} bytes, not {} as _dataset.json says", shard.bytes);
                return Err(Lack::Error(damaged(&at, reason)));
            }
            if hash != shard.hash {
                let reason = "its content is not that of the hash in _dataset.json";
                return Err(Lack::Error(damaged(&at, reason.to_owned())));
            }
            return Ok(self.cache.keep(file, &hash)?);
        }
        Err(Lack::Gone(shard.file.clone()))
    }

    /// A file beside the Parquet files, whose hash nobody knows.
    fn other(&self, url: &Url, name: &str) -> Result<Option<PathBuf>> {
        let at = url.join(name);
        let file = self.cache.new_file()?;
        match self.asker.ask("read", &at, Action::Get(file.path().to_owned()))? {
            Answer::Is { .. } => {
                let found = content_hash_of_file(file.path());
                let (_, hash) = found.map_err(file_error("read", file.path()))?;
                self.cache.keep(file, &hash).map(Some)
            }
            Answer::Missing => Ok(None),
            other => Err(unexpected("read", &at, &other)),
        }
    }

    fn set(&self, url: &Url, text: &[u8]) -> Result<PathBuf, Lack> {
        let manifest = manifest(url, text)?;
        if let Some(folder) = self.cache.set(text, name(url), &manifest.shards) {
            return Ok(folder);
        }
        let mut files = Vec::new();
        for shard in &manifest.shards {
            files.push((shard.file.clone(), self.part(url, shard)?));
        }
        for beside in &manifest.notes.files {
            if let Some(file) = self.other(url, beside)? {
                files.push((beside.clone(), file));
            }
        }
        let bytes: u64 = manifest.shards.iter().map(|shard| shard.bytes).sum();
        tracing::info!(%url, bytes, "a data set was brought here");
        Ok(self.cache.make_set(text, name(url), &files)?)
    }

    fn put_object(&self, file: &Path, url: &Url, when: When) -> Result<bool> {
        match self.asker.ask("write", url, Action::Put(file.to_owned(), when))? {
            Answer::Is { .. } => Ok(true),
            Answer::Unmet => Ok(false),
            other => Err(unexpected("write", url, &other)),
        }
    }

    fn delete(&self, url: &Url) -> Result<()> {
        match self.asker.ask("remove", url, Action::Delete)? {
            Answer::Is { .. } | Answer::Missing => Ok(()),
            other => Err(unexpected("remove", url, &other)),
        }
    }

    /// Whether an object of this size is there.
    fn has_object(&self, url: &Url, size: u64) -> Result<bool> {
        match self.asker.ask("look at", url, Action::Size)? {
            Answer::Is { bytes, .. } => Ok(bytes == size),
            Answer::Missing => Ok(false),
            other => Err(unexpected("look at", url, &other)),
        }
    }
}

impl ObjectStore for Objects {
    fn take(&self, url: &Url) -> Result<Option<PathBuf>> {
        let mut gone = String::new();
        for _ in 0..TRIES {
            let Some((text, _)) = self.text(url)? else { return Ok(None) };
            match self.set(url, &text) {
                Ok(folder) => return Ok(Some(folder)),
                Err(Lack::Error(error)) => return Err(error),
                Err(Lack::Gone(file)) => gone = file,
            }
        }
        Err(damaged(url, format!("its part {gone} is gone")))
    }

    fn manifest(&self, url: &Url) -> Result<Option<Vec<u8>>> {
        Ok(self.text(url)?.map(|(text, _)| text))
    }

    fn files(&self, url: &Url) -> Result<Option<Vec<Url>>> {
        let Some((text, _)) = self.text(url)? else { return Ok(None) };
        let mut files = Vec::new();
        for shard in manifest(url, &text)?.shards {
            let names = [object_name(&shard.file, &shard.hash), shard.file.clone()];
            let mut found = None;
            for at in names.map(|name| url.join(&name)) {
                if self.has_object(&at, shard.bytes)? {
                    found = Some(at);
                    break;
                }
            }
            let gone = || damaged(url, format!("its part {} is gone, or another", shard.file));
            files.push(found.ok_or_else(gone)?);
        }
        Ok(Some(files))
    }

    fn has(&self, url: &Url) -> Result<bool> {
        let at = url.join(Manifest::FILE);
        match self.asker.ask("look at", &at, Action::Size)? {
            Answer::Is { .. } => Ok(true),
            Answer::Missing => Ok(false),
            other => Err(unexpected("look at", &at, &other)),
        }
    }

    fn put(&self, folder: &Path, url: &Url, replace: bool) -> Result<bool> {
        let file = folder.join(Manifest::FILE);
        let text = fs::read(&file).map_err(file_error("read", &file))?;
        let ours = manifest(url, &text)?;
        let before = self.text(url)?;
        let when = match &before {
            // It is there already: an answer was lost, or another made the same.
            Some((there, _)) if *there == text => return Ok(true),
            Some(_) if !replace => return Ok(false),
            Some((_, tag)) if tag.is_empty() => When::Always,
            Some((_, tag)) => When::Still(tag.clone()),
            None => When::New,
        };
        for shard in &ours.shards {
            let at = url.join(&object_name(&shard.file, &shard.hash));
            if !self.has_object(&at, shard.bytes)? {
                self.put_object(&folder.join(&shard.file), &at, When::Always)?;
            }
        }
        if !self.put_object(&file, &url.join(Manifest::FILE), when)? {
            let there = self.text(url)?;
            return Ok(there.is_some_and(|(there, _)| there == text));
        }
        self.cache.adopt(folder, &ours.shards);
        let bytes: u64 = ours.shards.iter().map(|shard| shard.bytes).sum();
        tracing::info!(%url, bytes, "a data set was put into an object store");
        // Who began to read the one that was replaced finds that its parts are gone, and reads this one.
        let names = |set: &Manifest| -> BTreeSet<String> {
            set.shards.iter().map(|shard| object_name(&shard.file, &shard.hash)).collect()
        };
        let old = before.and_then(|(text, _)| manifest(url, &text).ok());
        for name in old.iter().flat_map(&names).filter(|name| !names(&ours).contains(name)) {
            // What stays takes room and nothing else.
            if let Err(error) = self.delete(&url.join(&name)) {
                tracing::warn!(%error, "a part of the data set that was replaced stays");
            }
        }
        Ok(true)
    }

    fn names(&self, url: &Url) -> Result<Vec<String>> {
        match self.asker.ask("list", url, Action::List)? {
            Answer::Names(names) => Ok(names),
            other => Err(unexpected("list", url, &other)),
        }
    }

    fn remove(&self, url: &Url) -> Result<()> {
        let set = self.text(url)?.and_then(|(text, _)| manifest(url, &text).ok());
        let beside = set.map(|set| set.notes.files).unwrap_or_default();
        // From now on there is none.
        self.delete(&url.join(Manifest::FILE))?;
        for name in self.names(url)? {
            if beside.contains(&name) || name.starts_with("part-") && is_part_name(name.as_ref()) {
                self.delete(&url.join(&name))?;
            }
        }
        Ok(())
    }

    fn put_file(&self, file: &Path, url: &Url) -> Result<()> {
        self.put_object(file, url, When::Always).map(drop)
    }

    fn workshop(&self, url: &Url) -> PathBuf {
        self.cache.workshop(&url.to_string(), name(url))
    }
}

/// What a folder of the data set is called here.
fn name(url: &Url) -> &str {
    match url.name() {
        "" => url.bucket(),
        name => name,
    }
}

/// A manifest that leads nowhere but to files of its own data set.
fn manifest(url: &Url, text: &[u8]) -> Result<Manifest> {
    let broken = |reason: String| Error::Manifest { path: url.join(Manifest::FILE).path(), reason };
    let manifest: Manifest =
        serde_json::from_slice(text).map_err(|error| broken(error.to_string()))?;
    let is_plain = |name: &str| {
        let mut pieces = Path::new(name).components();
        matches!((pieces.next(), pieces.next()), (Some(Component::Normal(piece)), None) if piece == name)
            && Url::of(&url.join(name).path()).is_ok()
    };
    let is_hash = |hash: &str| hash.len() == 32 && hash.bytes().all(|c| c.is_ascii_hexdigit());
    let parts = manifest.shards.iter();
    let wrong = parts
        .filter(|part| !(is_plain(&part.file) && is_part_name(part.file.as_ref())))
        .map(|part| part.file.clone())
        .chain(manifest.notes.files.iter().filter(|name| !is_plain(name)).cloned())
        .next();
    if let Some(name) = wrong {
        return Err(broken(format!("it names {name:?}, which is no file of a data set")));
    }
    match manifest.shards.iter().find(|part| !is_hash(&part.hash)) {
        Some(part) => Err(broken(format!("it says no hash of {}", part.file))),
        None => Ok(manifest),
    }
}

fn damaged(url: &Url, reason: String) -> Error {
    Error::Manifest { path: url.path(), reason }
}

fn unexpected(action: &'static str, url: &Url, answer: &Answer) -> Error {
    let reason = format!("stampmill-objects answered {answer:?}");
    Error::Store { action, url: url.to_string(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(files: &str, hash: &str, beside: &str) -> String {
        format!(
            r#"{{"schema":"s","version":1,"stampmill":"0","identity":"","rows":1,"inputs":[],"configuration":null,
            "seed":0,"tools":{{}},"verdicts":{{}},"summary":null,"host":"","files":{beside},
            "shards":[{{"file":{files:?},"rows":1,"bytes":1,"hash":{hash:?}}}]}}"#
        )
    }

    #[test]
    fn a_manifest_leads_to_files_of_its_own_data_set_alone() {
        let url = Url::of(Path::new("s3://bucket/set")).unwrap().expect("a URL");
        let hash = "0123456789abcdef0123456789abcdef";
        let read = |text: String| manifest(&url, text.as_bytes());
        assert!(read(text("part-00000.parquet", hash, r#"["a.json"]"#)).is_ok());
        for wrong in [
            text("../part-00000.parquet", hash, "[]"),
            text("/etc/part-00000.parquet", hash, "[]"),
            text("dataset.txt", hash, "[]"),
            text("part-00000.parquet", "../../x", "[]"),
            text("part-00000.parquet", "", "[]"),
            text("part-00000.parquet", hash, r#"["../a.json"]"#),
            text("part-00000.parquet", hash, r#"["a/b.json"]"#),
            "{".to_owned(),
        ] {
            assert!(matches!(read(wrong.clone()), Err(Error::Manifest { .. })), "{wrong}");
        }
    }

    #[test]
    fn files_of_another_content_have_another_name() {
        let (one, other) = ("a".repeat(32), "b".repeat(32));
        assert_ne!(
            object_name("part-00000.parquet", &one),
            object_name("part-00000.parquet", &other)
        );
        assert!(is_part_name(object_name("part-00000.parquet", &one).as_ref()));
    }
}
