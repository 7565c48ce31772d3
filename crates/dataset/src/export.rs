//! Programs as files of their own.

use crate::{Code, Error, Language, Program, Programs, Result};
use std::{
    collections::HashMap,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
};

impl Programs {
    /// Write the first `limit` programs as files (`.cl`, `.c`, `.cpp`, `.ll`, `.bc`) of the new folder `to`;
    /// returns their number. They are all there, or nothing is.
    ///
    /// # Errors
    /// When there is something at `to`, when a program cannot be read or a file not be written.
    pub fn export(&self, to: &Path, limit: usize) -> Result<u64> {
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
        let mut taken: HashMap<String, u32> = HashMap::new();
        let mut written = 0;
        for program in self.iter()?.take(limit) {
            let Program { path, name, language, code, .. } = program?;
            let extension = match language {
                Language::OpenCl => "cl",
                Language::C => "c",
                Language::Cxx => "cpp",
                Language::LlvmIr => "ll",
                Language::Bitcode => "bc",
            };
            let stem = stem(&path, &name);
            let times = taken.entry(stem.to_lowercase()).or_default();
            *times += 1;
            let name = match *times {
                1 => format!("{stem}.{extension}"),
                again => format!("{stem}-{again}.{extension}"),
            };
            let file = partial.path().join(&name);
            let bytes = match &code {
                Code::Text(text) => text.as_bytes(),
                Code::Bytes(bytes) => bytes,
            };
            fs::write(&file, bytes).map_err(Error::file("write", &file))?;
            written += 1;
        }
        fs::rename(partial.path(), to).map_err(Error::file("write", to))?;
        // It is where it belongs: nothing of it is to be removed.
        let _ = partial.keep();
        Ok(written)
    }
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
