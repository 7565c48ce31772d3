//! Data sets that stand in an object store, named by URL: what is asked of whoever brings them here and puts them
//! there.

use crate::{Error, Manifest, Result, unfinished::MARKER};
use std::{
    borrow::Cow,
    fmt,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// How such a URL begins.
const SCHEME: &str = "s3://";
/// What stores take for a key.
const LONGEST: usize = 900;

/// Where a data set stands in an object store: `s3://BUCKET/KEY`, where the key may be empty: all of a bucket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Url {
    bucket: String,
    key: String,
}

impl Url {
    /// What a path says that users may write a URL for; `None`: it is a path of this machine.
    ///
    /// # Errors
    /// When it begins like a URL and is none. What may be a password in it is not repeated.
    pub fn of(path: &Path) -> Result<Option<Url>> {
        let bytes = path.as_os_str().as_encoded_bytes();
        if !bytes.starts_with(SCHEME.as_bytes()) {
            return Ok(None);
        }
        let text = path.to_str().ok_or_else(|| Error::Url(String::from("its letters")))?;
        let rest = text.trim_start_matches(SCHEME).trim_end_matches('/');
        if rest.contains(['@', '?', '#']) {
            return Err(Error::Url("what may be a password or a setting in it".to_owned()));
        }
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        let is_bucket = (3..=63).contains(&bucket.len())
            && bucket.bytes().all(|c| c.is_ascii_alphanumeric() || b"-._".contains(&c))
            && bucket.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !is_bucket {
            return Err(Error::Url(format!("`{bucket}`, which is no name of a bucket")));
        }
        let is_piece = |piece: &str| {
            let plain = |c: u8| c.is_ascii_alphanumeric() || b"-._=+,!".contains(&c);
            !matches!(piece, "" | "." | "..") && piece.bytes().all(plain)
        };
        match key.split('/').find(|piece| !key.is_empty() && !is_piece(piece)) {
            Some(piece) => Err(Error::Url(format!("`{piece}`"))),
            None if key.len() > LONGEST => Err(Error::Url("its length".to_owned())),
            None => Ok(Some(Url { bucket: bucket.to_owned(), key: key.to_owned() })),
        }
    }

    /// The bucket.
    #[must_use]
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// What the keys of all that stands there begin with, before a `/`.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The last word of it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or_default()
    }

    /// What stands in it under a name.
    #[must_use]
    pub fn join(&self, name: &str) -> Url {
        let key =
            if self.key.is_empty() { name.to_owned() } else { format!("{}/{name}", self.key) };
        Url { bucket: self.bucket.clone(), key }
    }

    /// Whether this stands in `other`, or is it.
    #[must_use]
    pub fn is_in(&self, other: &Url) -> bool {
        let rest = || self.key.strip_prefix(&other.key);
        self.bucket == other.bucket
            && (other.key.is_empty()
                || rest().is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }

    /// As users write it.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        PathBuf::from(self.to_string())
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.is_empty() {
            true => write!(f, "{SCHEME}{}", self.bucket),
            false => write!(f, "{SCHEME}{}/{}", self.bucket, self.key),
        }
    }
}

/// Whether what a user named is the URL of something in an object store, or is meant to be.
#[must_use]
pub fn is_url(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().starts_with(SCHEME.as_bytes())
}

/// How a path begins that is a URL, and none of [`Url`]'s.
pub(crate) fn other_scheme(path: &Path) -> Option<&str> {
    let (scheme, _) = path.to_str()?.split_once("://")?;
    let is_one = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let is_scheme =
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_one);
    (is_scheme && !is_url(path)).then_some(scheme)
}

/// Brings data sets from an object store and puts them there.
///
/// A data set stands there whole or not at all: its manifest is put last, and names the rest by its hashes.
pub trait ObjectStore: Send + Sync {
    /// The data set at a URL, in a folder here, all of it as its manifest says; `None`: there is none.
    ///
    /// # Errors
    /// When the store does not answer, refuses, or what it holds is not what the manifest says.
    fn take(&self, url: &Url) -> Result<Option<PathBuf>>;

    /// Its manifest alone; `None`: there is none.
    ///
    /// # Errors
    /// When the store does not answer or refuses.
    fn manifest(&self, url: &Url) -> Result<Option<Vec<u8>>>;

    /// Where its Parquet files are, in order; `None`: there is none.
    ///
    /// # Errors
    /// When the store does not answer or refuses; when one is not there, or of another size.
    fn files(&self, url: &Url) -> Result<Option<Vec<Url>>>;

    /// Whether there is one.
    ///
    /// # Errors
    /// When the store does not answer or refuses.
    fn has(&self, url: &Url) -> Result<bool>;

    /// Put the data set that is in `folder` at a URL. False: there is one already, or another is there than when
    /// it was asked for with `replace`; then nothing has changed there.
    ///
    /// # Errors
    /// When the store does not answer or refuses; then a reader finds what was there before.
    fn put(&self, folder: &Path, url: &Url, replace: bool) -> Result<bool>;

    /// The names right below a URL, sorted: of data sets, and of what else stands there.
    ///
    /// # Errors
    /// When the store does not answer or refuses.
    fn names(&self, url: &Url) -> Result<Vec<String>>;

    /// Remove a data set, or what is left of one; what we did not put there stays.
    ///
    /// # Errors
    /// When the store does not answer or refuses.
    fn remove(&self, url: &Url) -> Result<()>;

    /// Put a file at a URL; what was there is replaced.
    ///
    /// # Errors
    /// When it cannot be read; when the store does not answer or refuses.
    fn put_file(&self, file: &Path, url: &Url) -> Result<()>;

    /// A folder of this machine in which the data set for a URL comes to be.
    fn workshop(&self, url: &Url) -> PathBuf;
}

static STORE: OnceLock<Box<dyn ObjectStore>> = OnceLock::new();

/// Have `store` bring and put data sets that are named by URL; the first caller's stays. Without one, these are errors.
pub fn object_stores_by(store: impl ObjectStore + 'static) {
    STORE.get_or_init(|| Box::new(store));
}

/// Who brings and puts them.
///
/// # Errors
/// When this program has none.
pub fn object_store() -> Result<&'static dyn ObjectStore> {
    STORE.get().map(Box::as_ref).ok_or(Error::NoStore)
}

/// The folder here with the data set that a user named.
pub(crate) fn here(named: &Path) -> Result<Cow<'_, Path>> {
    match Url::of(named)? {
        None => Ok(Cow::Borrowed(named)),
        Some(url) => match object_store()?.take(&url)? {
            Some(folder) => Ok(Cow::Owned(folder)),
            None => Err(Error::NotADataset(named.to_owned())),
        },
    }
}

/// The text of a data set's manifest, wherever the data set is; `None`: there is none.
///
/// # Errors
/// When it cannot be read.
pub fn manifest_text(named: &Path) -> Result<Option<Vec<u8>>> {
    if let Some(url) = Url::of(named)? {
        return object_store()?.manifest(&url);
    }
    let path = named.join(Manifest::FILE);
    match std::fs::read(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("read", &path)(error)),
    }
}

/// The Parquet files of a data set where it stands: their paths, or their URLs.
///
/// # Errors
/// When there is none, or it is not whole at a glance.
pub fn files(named: &Path) -> Result<Vec<PathBuf>> {
    let Some(url) = Url::of(named)? else {
        return crate::Dataset::open(named).map(|dataset| dataset.shards());
    };
    let files = object_store()?.files(&url)?;
    let files = files.ok_or_else(|| Error::NotADataset(named.to_owned()))?;
    Ok(files.iter().map(Url::path).collect())
}

/// Whether a data set stands where a user named one; of a URL, its store is asked.
///
/// # Errors
/// When the store does not answer or refuses.
pub fn is_there(named: &Path) -> Result<bool> {
    match Url::of(named)? {
        Some(url) => object_store()?.has(&url),
        None => Ok(crate::Dataset::is_at(named)),
    }
}

/// Move a finished data set from a folder here into its place; false: one is there already, and the folder stays.
///
/// # Errors
/// When it cannot be moved.
pub fn put_into_place(folder: &Path, place: &Path) -> Result<bool> {
    match Url::of(place)? {
        Some(url) if !object_store()?.put(folder, &url, false)? => return Ok(false),
        Some(_) => {
            std::fs::remove_dir_all(folder).map_err(Error::file("remove", folder))?;
        }
        None => {
            if let Err(error) = std::fs::rename(folder, place) {
                return match crate::Dataset::is_at(place) {
                    true => Ok(false),
                    false => Err(Error::file("write", place)(error)),
                };
            }
        }
    }
    Ok(true)
}

/// Have files made beside a finished data set: `make` puts them into the folder that it is given.
///
/// # Errors
/// Those of `make`; when they cannot be put where the data set is.
pub fn beside<E: From<Error>>(
    out: &Path,
    make: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let Some(url) = Url::of(out)? else { return make(out) };
    let store = object_store()?;
    let folder = crate::begin_folder(&store.workshop(&url))?;
    make(&folder)?;
    for name in crate::place::names(&folder)? {
        if let Some(text) = name.to_str().filter(|name| *name != MARKER) {
            store.put_file(&folder.join(&name), &url.join(text))?;
        }
    }
    Ok(crate::abandon_folder(&folder)?)
}

/// A file that stands beside the Parquet files of a data set, on this machine; `None`: there is none.
///
/// # Errors
/// When the data set cannot be brought here.
pub fn file_beside(named: &Path, name: &str) -> Result<Option<PathBuf>> {
    let file = here(named)?.join(name);
    Ok(file.is_file().then_some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Result<Option<Url>> {
        Url::of(Path::new(text))
    }

    #[test]
    fn urls_have_a_bucket_and_plain_words() {
        for plain in ["kernels", "/data/s3:", "s3:/bucket/x", "S3://bucket/x", ""] {
            assert!(matches!(url(plain), Ok(None)), "{plain}");
        }
        let found = url("s3://bucket/a/b-1.x_y=2/").unwrap().expect("a URL");
        assert_eq!(found.to_string(), "s3://bucket/a/b-1.x_y=2");
        assert_eq!(
            (found.bucket(), found.key(), found.name()),
            ("bucket", "a/b-1.x_y=2", "b-1.x_y=2")
        );
        assert_eq!(
            url("s3://bucket").unwrap().expect("a URL").join("a").to_string(),
            "s3://bucket/a"
        );
        for wrong in [
            "s3://",
            "s3://ab",
            "s3:///x",
            "s3://bucket/../x",
            "s3://bucket/a//b",
            "s3://bucket/a b",
            "s3://bucket/./x",
            "s3://bucket/%2e%2e",
            "s3://bu cket/x",
            "s3://bucket/a\nb",
            "s3://.bucket/x",
        ] {
            assert!(matches!(url(wrong), Err(Error::Url(_))), "{wrong}");
        }
    }

    #[test]
    fn what_may_be_a_password_is_not_repeated() {
        for wrong in ["s3://key:secret@bucket/x", "s3://bucket/x?secret", "s3://bucket/x#secret"] {
            let said = url(wrong).expect_err("refused").to_string();
            assert!(!said.contains("secret") && said.contains("AWS_ACCESS_KEY_ID"), "{said}");
        }
    }

    #[test]
    fn one_stands_in_another_by_whole_words() {
        let is_in = |one: &str, other: &str| {
            url(one).unwrap().expect("a URL").is_in(&url(other).unwrap().expect("a URL"))
        };
        assert!(
            is_in("s3://bucket/a/b", "s3://bucket/a") && is_in("s3://bucket/a", "s3://bucket/a/")
        );
        assert!(is_in("s3://bucket/a", "s3://bucket"));
        assert!(
            !is_in("s3://bucket/ab", "s3://bucket/a") && !is_in("s3://bucket/a", "s3://bucket/a/b")
        );
        assert!(!is_in("s3://bucket2/a", "s3://bucket"));
    }
}
