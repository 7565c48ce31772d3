//! Programs as files of their own, and data sets with files for those who have no stampmill.

use crate::{
    Code, Dataset, Error, Language, Program, Programs, Provenance, Result, check::is_plain,
};
use std::{
    collections::HashMap,
    fs::{self, File, Permissions},
    io::{BufWriter, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
};

impl Dataset {
    /// Copy the data set to the new folder `to`, with files of these names and contents beside its parts.
    /// Its manifest lists them; its identity stays. Files of it that are named in `without` stay behind.
    ///
    /// # Errors
    /// When there is something at `to`, or a file cannot be read or written.
    pub fn export(&self, to: &Path, beside: &[(&str, Vec<u8>)], without: &[&str]) -> Result<()> {
        whole(to, |folder| {
            let mut manifest = self.manifest().clone();
            manifest.notes.files.retain(|name| !without.contains(&name.as_str()));
            let shards = manifest.shards.iter().map(|shard| &shard.file);
            for name in shards.chain(&manifest.notes.files) {
                let from = self.folder().join(name);
                // A manifest is anybody's: no name leads elsewhere, and no link does.
                if !is_plain(name)
                    || !fs::symlink_metadata(&from).is_ok_and(|found| found.is_file())
                {
                    return Err(Error::ForeignLink(from));
                }
                fs::copy(&from, folder.join(name)).map_err(Error::file("copy", &from))?;
            }
            for (name, content) in beside {
                let file = folder.join(name);
                fs::write(&file, content).map_err(Error::file("write", &file))?;
                if !manifest.notes.files.iter().any(|known| known == name) {
                    manifest.notes.files.push((*name).to_owned());
                }
            }
            manifest.write(folder)
        })
    }
}

/// The file of exported programs with a line of JSON for each: file, package, version, path, names, license.
pub const INDEX: &str = "index.jsonl";

impl Programs {
    /// Write the first `limit` programs as files (`.cl`, `.c`, `.cpp`, `.rs`, `.ll`, `.bc`) of the new folder `to`, named by
    /// path and original name, and `index.jsonl`, which says of each what it is and its license; returns their
    /// number. They are all there, or nothing is.
    ///
    /// # Errors
    /// When there is something at `to`, when a program cannot be read or a file not be written.
    pub fn export(&self, to: &Path, limit: usize) -> Result<u64> {
        whole(to, |folder| self.write_files(folder, limit))
    }

    fn write_files(&self, folder: &Path, limit: usize) -> Result<u64> {
        let mut taken: HashMap<String, u32> = HashMap::new();
        let mut written = 0;
        let mut index = String::new();
        for program in self.iter()?.take(limit) {
            let program = program?;
            let Program { path, language, code, provenance, .. } = &program;
            let extension = match language {
                Language::OpenCl => "cl",
                Language::C => "c",
                Language::Cxx => "cpp",
                Language::Cuda => "cu",
                Language::Rust => "rs",
                Language::LlvmIr => "ll",
                Language::Bitcode => "bc",
            };
            let stem = stem(path, program.known_as());
            let times = taken.entry(stem.to_lowercase()).or_default();
            *times += 1;
            let name = match *times {
                1 => format!("{stem}.{extension}"),
                again => format!("{stem}-{again}.{extension}"),
            };
            let file = folder.join(&name);
            let bytes = match code {
                Code::Text(text) => text.as_bytes(),
                Code::Bytes(bytes) => bytes,
            };
            fs::write(&file, bytes).map_err(Error::file("write", &file))?;
            let Provenance { package, version, license, .. } = provenance;
            let line = serde_json::json!({
                "file": name, "package": package, "version": version, "path": path, "name": program.name,
                "original_name": program.original_name, "license": license, "inferred": program.inferred,
            });
            index.push_str(&format!("{line}\n"));
            written += 1;
        }
        let file = folder.join(INDEX);
        fs::write(&file, index).map_err(Error::file("write", &file))?;
        Ok(written)
    }
}

/// Make the new file `to` with what `write` puts in it: all of it, or nothing.
///
/// # Errors
/// When there is something at `to`, or it cannot be written; and what `write` says.
pub fn new_file<T, E: From<Error>>(
    to: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<T, E>,
) -> Result<T, E> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(Error::ExistsTo(to.to_owned()).into());
    }
    let parent = match to.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let partial = tempfile::Builder::new()
        .prefix(".stampmill-export-")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(parent)
        .map_err(Error::file("create a file in", parent))?;
    let mut out = BufWriter::new(partial.as_file());
    let made = write(&mut out)?;
    let flushed = out.flush();
    drop(out);
    flushed.and_then(|()| partial.as_file().sync_all()).map_err(Error::file("write", to))?;
    partial.persist_noclobber(to).map_err(|error| Error::file("write", to)(error.error))?;
    Ok(made)
}

/// Make the new folder `to` with what `write` puts in it: all of it, or nothing.
fn whole<T>(to: &Path, write: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(Error::ExistsTo(to.to_owned()));
    }
    let parent = match to.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(Error::file("create", parent))?;
    // A folder of its own name, so that it is nobody's but ours, and gone with an error.
    let partial = tempfile::Builder::new()
        .prefix(".stampmill-export-")
        .permissions(Permissions::from_mode(0o755))
        .tempdir_in(parent)
        .map_err(Error::file("create a folder in", parent))?;
    let made = write(partial.path())?;
    fs::rename(partial.path(), to).map_err(Error::file("write", to))?;
    // It is where it belongs: nothing of it is to be removed.
    let _ = partial.keep();
    Ok(made)
}

/// A file name that says where the program is from and holds no character a shell minds.
fn stem(path: &str, name: &str) -> String {
    let path = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let whole = if name.is_empty() { path.to_owned() } else { format!("{path}-{name}") };
    let tame: String =
        whole.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let tame = tame.trim_matches('-');
    let start = tame.len().saturating_sub(120);
    match tame.is_empty() {
        true => "program".to_owned(),
        false => tame[start..].trim_start_matches('-').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Notes, Row, check};
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Sample {
        text: String,
    }

    impl Row for Sample {
        const SCHEMA: &'static str = "sample";
        const VERSION: u32 = 1;
    }

    fn made(home: &Path, name: &str, files: &[&str]) -> Dataset {
        let builder = Builder::<Sample>::create(&home.join(name), false, &"").unwrap();
        let files = files.iter().map(ToString::to_string).collect();
        builder.finish([Sample { text: "a".into() }], Notes { files, ..Notes::default() }).unwrap()
    }

    #[test]
    fn a_data_set_is_copied_with_what_is_put_beside_it() {
        let home = tempfile::tempdir().unwrap();
        let (set, to) = (made(home.path(), "set", &["old.txt"]), home.path().join("copy"));
        fs::write(set.folder().join("old.txt"), "old").unwrap();
        set.export(&to, &[("README.md", b"# Set".to_vec())], &["old.txt"]).unwrap();
        let copy = Dataset::open(&to).unwrap();
        assert_eq!(copy.manifest().identity, set.manifest().identity);
        assert!(check(&to).unwrap().is_whole());
        assert!(to.join("README.md").is_file() && !to.join("old.txt").exists());
        assert!(matches!(set.export(&to, &[], &[]), Err(Error::ExistsTo(_))));
    }

    #[test]
    fn a_manifest_that_names_files_elsewhere_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("secret"), "s").unwrap();
        for (at, name) in ["../secret", "gone", "/etc/passwd", ".."].into_iter().enumerate() {
            let set = made(home.path(), &format!("set{at}"), &[name]);
            let to = home.path().join("copy");
            assert!(matches!(set.export(&to, &[], &[]), Err(Error::ForeignLink(_))), "{name}");
            assert!(!to.exists());
        }
    }
}
