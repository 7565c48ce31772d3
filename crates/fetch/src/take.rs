//! Which files a fetch takes, and what each must be.

use crate::{Error, Fetch, Fetched, Lock, Locked, Published, Source, remote};
use sha2::{Digest, Sha256};
use std::{
    fs::{self, File},
    io::{Read, Write},
    path::{Component, Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

/// The lock's name in the folder.
const LOCK: &str = "fetch.lock";
/// What a file is called until it is whole and right.
const PART: &str = "part";
const BUFFER: usize = 1 << 20;

/// One file and where it is.
struct Item {
    path: String,
    place: Place,
    /// Its SHA-256, where it is published with one.
    sha256: Option<String>,
}

enum Place {
    File(PathBuf),
    Url(String),
}

/// What a file must be.
struct Wanted {
    sha256: String,
    by: &'static str,
}

pub(crate) fn all(
    asked: &Fetch,
    source: &Source,
    stop: &AtomicBool,
    tell: &dyn Fn(&str),
) -> Result<Fetched, Error> {
    let items = items(asked, source)?;
    fs::create_dir_all(&asked.out).map_err(Error::file("create", &asked.out))?;
    let path = asked.lock.clone().unwrap_or_else(|| asked.out.join(LOCK));
    let mut lock = Lock::read(&path, &asked.name)?;
    let mut fetched = Fetched {
        name: asked.name.clone(),
        version: source.version.clone(),
        license: source.license.clone(),
        files: Vec::new(),
        fetched_bytes: 0,
        resumed_bytes: 0,
        present: 0,
        lock: path.clone(),
    };
    for Item { path: name, place, sha256: published } in items {
        let pin = source.files.iter().find(|file| file.path == name);
        let pin = published.or_else(|| pin.map(|file| file.sha256.clone()));
        let pinned = pin.clone().map(|sha256| Wanted { sha256, by: "known to this build" });
        let locked =
            lock.of(&name).map(|file| Wanted { sha256: file.sha256.clone(), by: "the lock" });
        let wanted = pinned.or(locked);
        let to = asked.out.join(&name);
        let from = match &place {
            Place::File(path) => path.display().to_string(),
            Place::Url(url) => remote::without_user(url),
        };
        let (bytes, sha256) = match there(&to, wanted.as_ref(), stop)? {
            Some(found) => {
                fetched.present += 1;
                found
            }
            None => {
                tell(&name);
                let part = part_of(&to);
                let parent = to.parent().unwrap_or(&asked.out);
                fs::create_dir_all(parent).map_err(Error::file("create", parent))?;
                match &place {
                    Place::File(path) => {
                        fetched.fetched_bytes += copy(path, &part, asked.most, stop)?
                    }
                    Place::Url(url) => {
                        let came = remote::download(url, &part, asked, stop)
                            .map_err(|error| refused(error, asked, source))?;
                        fetched.fetched_bytes += came.fetched;
                        fetched.resumed_bytes += came.resumed;
                    }
                }
                let (bytes, sha256) = hash(&part, stop)?;
                if let Some(wanted) = wanted.as_ref().filter(|wanted| wanted.sha256 != sha256) {
                    remote::forget(&part);
                    let Wanted { sha256: wanted, by } = wanted;
                    return Err(Error::Checksum {
                        file: name,
                        found: sha256,
                        wanted: wanted.clone(),
                        by,
                    });
                }
                fs::rename(&part, &to).map_err(Error::file("rename", &part))?;
                remote::forget(&part);
                (bytes, sha256)
            }
        };
        let file = Locked { path: name, bytes, sha256, pinned: pin.is_some(), from };
        // Where it first came from stays.
        let known = lock.of(&file.path).filter(|known| known.sha256 == file.sha256).cloned();
        let file = known.unwrap_or(file);
        if lock.of(&file.path) != Some(&file) {
            lock.add(&path, file.clone())?;
        }
        fetched.files.push(file);
    }
    Ok(fetched)
}

/// What a refusal comes to: of a public address, how to do without.
fn refused(error: Error, asked: &Fetch, source: &Source) -> Error {
    let error = match error {
        Error::Absent { place, file, .. } => {
            Error::Absent { place, file, holds: source.holds.clone() }
        }
        error => error,
    };
    match error {
        Error::Absent { .. } | Error::Remote { .. } if asked.from.is_none() => {
            Error::Public { reason: Box::new(error), page: source.page.clone() }
        }
        error => error,
    }
}

/// The files as they are published.
fn published(asked: &Fetch, source: &Source) -> Result<Vec<Item>, Error> {
    if source.published.is_empty() {
        let (name, page, holds) = (asked.name.clone(), source.page.clone(), source.holds.clone());
        return Err(Error::NotPublished { name, page, holds });
    }
    let item = |file: &Published| {
        let (place, sha256) = (Place::Url(file.url.clone()), file.sha256.clone());
        Ok(Item { path: plain(&file.path)?, place, sha256 })
    };
    source.published.iter().map(item).collect()
}

/// The files to take: those that are pinned, else what the place is or holds.
fn items(asked: &Fetch, source: &Source) -> Result<Vec<Item>, Error> {
    let Some(from) = asked.from.as_deref() else { return published(asked, source) };
    let is_url = ["http://", "https://"].iter().any(|scheme| from.starts_with(scheme));
    let root = PathBuf::from(from);
    let missing = |file: &str| Error::Absent {
        place: from.to_owned(),
        file: file.to_owned(),
        holds: source.holds.clone(),
    };
    if !source.files.is_empty() {
        return source
            .files
            .iter()
            .map(|file| {
                let place = match is_url {
                    // The address of a file, where there is one alone, or of the folder.
                    true if source.files.len() == 1
                        && from.ends_with(&format!("/{}", file.path)) =>
                    {
                        Place::Url(from.to_owned())
                    }
                    true => Place::Url(format!("{}/{}", from.trim_end_matches('/'), file.path)),
                    false if root.is_file() && source.files.len() == 1 => Place::File(root.clone()),
                    false => Place::File(root.join(&file.path)),
                };
                match &place {
                    Place::File(path) if !path.is_file() => Err(missing(&file.path)),
                    _ => Ok(Item { path: file.path.clone(), place, sha256: None }),
                }
            })
            .collect();
    }
    if is_url {
        let path = from.split(['?', '#']).next().unwrap_or(from);
        let name = path.rsplit('/').next().unwrap_or_default();
        let has_path = path.split("://").nth(1).is_some_and(|rest| rest.contains('/'));
        if name.is_empty() || !has_path {
            let why = format!(
                "{}: name a file, as {}/FILE",
                remote::without_user(from),
                remote::without_user(path.trim_end_matches('/'))
            );
            return Err(Error::Remote {
                url: why,
                reason: "which files there are is not known".into(),
            });
        }
        return Ok(vec![Item {
            path: plain(name)?,
            place: Place::Url(from.to_owned()),
            sha256: None,
        }]);
    }
    if root.is_file() {
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        return Ok(vec![Item {
            path: plain(&name.unwrap_or_default())?,
            place: Place::File(root),
            sha256: None,
        }]);
    }
    let mut found = Vec::new();
    below(&root, Path::new(""), &mut found)?;
    found.sort_by(|a: &Item, b| a.path.cmp(&b.path));
    if found.is_empty() { Err(missing("file")) } else { Ok(found) }
}

/// All plain files of a folder; links are left out, as they may lead out of it.
fn below(root: &Path, inner: &Path, found: &mut Vec<Item>) -> Result<(), Error> {
    let folder = root.join(inner);
    for entry in fs::read_dir(&folder).map_err(Error::file("read", &folder))? {
        let entry = entry.map_err(Error::file("read", &folder))?;
        let kind = entry.file_type().map_err(Error::file("read", &entry.path()))?;
        let path = inner.join(entry.file_name());
        if kind.is_dir() {
            below(root, &path, found)?;
        } else if kind.is_file() && path != Path::new(LOCK) {
            let name =
                path.to_str().ok_or_else(|| Error::Path { path: path.display().to_string() })?;
            found.push(Item { path: plain(name)?, place: Place::File(entry.path()), sha256: None });
        }
    }
    Ok(())
}

/// A name that stays below its folder, and is none of ours.
fn plain(name: &str) -> Result<String, Error> {
    let path = Path::new(name);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_)));
    match stays && !name.is_empty() && name != LOCK && !name.contains(['\0', '\n']) {
        true => Ok(name.to_owned()),
        false => Err(Error::Path { path: name.escape_debug().to_string() }),
    }
}

fn part_of(to: &Path) -> PathBuf {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(PART);
    to.with_file_name(name)
}

/// Size and checksum of a file that is there and is what it must be. One of which nothing is known is fetched anew; one that is
/// another is an error: it may be the user's.
fn there(
    path: &Path,
    wanted: Option<&Wanted>,
    stop: &AtomicBool,
) -> Result<Option<(u64, String)>, Error> {
    if !path.is_file() {
        return Ok(None);
    }
    let Some(Wanted { sha256: wanted, by }) = wanted else {
        let source = std::io::Error::other("it is there, and no lock knows it: move it away");
        return Err(Error::File { action: "write", path: path.to_owned(), source });
    };
    let (bytes, found) = hash(path, stop)?;
    match found == *wanted {
        true => Ok(Some((bytes, found))),
        false => {
            let source = std::io::Error::other(format!(
                "it is there with SHA-256 {found}, wanted {wanted} ({by}): move it away"
            ));
            Err(Error::File { action: "keep", path: path.to_owned(), source })
        }
    }
}

/// Copy a file, from its beginning.
fn copy(from: &Path, to: &Path, most: u64, stop: &AtomicBool) -> Result<u64, Error> {
    let mut source = File::open(from).map_err(Error::file("read", from))?;
    let mut part = File::create(to).map_err(Error::file("write", to))?;
    let mut buffer = vec![0; BUFFER];
    let mut copied = 0;
    loop {
        let read = source.read(&mut buffer).map_err(Error::file("read", from))?;
        copied += read as u64;
        if copied > most {
            return Err(Error::Large { file: from.display().to_string(), most });
        }
        if read == 0 {
            return part.sync_all().map(|()| copied).map_err(Error::file("write", to));
        }
        part.write_all(&buffer[..read]).map_err(Error::file("write", to))?;
        go_on(stop)?;
    }
}

fn hash(path: &Path, stop: &AtomicBool) -> Result<(u64, String), Error> {
    let mut file = File::open(path).map_err(Error::file("read", path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    let mut bytes = 0;
    loop {
        let read = file.read(&mut buffer).map_err(Error::file("read", path))?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        bytes += read as u64;
        go_on(stop)?;
    }
    let digits = hasher.finalize();
    Ok((bytes, digits.iter().map(|byte| format!("{byte:02x}")).collect()))
}

pub(crate) fn go_on(stop: &AtomicBool) -> Result<(), Error> {
    if stop.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
}
