//! `compile_commands.json`: what a build says it would run.

use crate::{Error, Store, wrap};
use sandbox::Death;
use serde::{Deserialize, Serialize};
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

pub(super) const FILE: &str = "compile_commands.json";
const WALL: Duration = Duration::from_secs(600);

/// One entry of the database.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) directory: PathBuf,
    pub(super) file: String,
    #[serde(default)]
    command: String,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    output: Option<PathBuf>,
    /// Whether its source was there when the database was read; databases may be stale.
    #[serde(default)]
    pub(super) was_there: bool,
}

pub(super) fn read(path: &Path) -> Result<Vec<Entry>, Error> {
    let text = fs::read(path).map_err(Error::file("read", path))?;
    let mut entries: Vec<Entry> =
        serde_json::from_slice(&text).map_err(|error| Error::format(path, error))?;
    for entry in &mut entries {
        entry.was_there = entry.source().exists();
    }
    Ok(entries)
}

impl Entry {
    /// Its source file.
    pub(super) fn source(&self) -> PathBuf {
        self.directory.join(&self.file)
    }

    pub(super) fn words(&self) -> Vec<String> {
        match self.arguments.as_slice() {
            [] => wrap::split(&self.command),
            words => words.to_vec(),
        }
    }

    /// The object file that the command made, if it did.
    pub(super) fn object(&self) -> Option<PathBuf> {
        let words = self.words();
        let named = words.iter().position(|word| word == "-o");
        let output = self
            .output
            .clone()
            .or_else(|| named.map(|at| words.get(at + 1).map(PathBuf::from))?)?;
        Some(self.directory.join(output))
    }

    /// Run the command once more through the wrapper, with the object thrown away; the modules are
    /// in the store at `scratch/store` then.
    ///
    /// # Errors
    /// Why this machine could not run it; inside: the last words of a compiler that failed.
    pub(super) fn compile(
        &self,
        wrapper: &[OsString],
        scratch: &Path,
    ) -> Result<Result<Store, String>, Error> {
        let mut words = self.words();
        match words.iter().position(|word| word == "-o") {
            Some(at) if at + 1 < words.len() => {
                words[at + 1] = scratch.join("object.o").to_string_lossy().into_owned();
            }
            _ => words
                .extend(["-o".to_owned(), scratch.join("object.o").to_string_lossy().into_owned()]),
        }
        let store = scratch.join("store");
        let mut command = wrapper.to_vec();
        command.extend(words.into_iter().map(OsString::from));
        let mut environment: Vec<(OsString, OsString)> =
            std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "HOME").collect();
        environment.push((wrap::STORE.into(), store.clone().into()));
        environment.push(("TMPDIR".into(), scratch.into()));
        let program = sandbox::Program {
            command,
            environment,
            directory: Some(self.directory.clone()),
            wall: WALL,
            ..sandbox::Program::default()
        };
        let mut profile = sandbox::Profile::build(scratch.to_owned(), false);
        // What the command names outside of the system's folders, and where it runs.
        profile.readable.extend(self.words().iter().filter_map(|word| named(word)));
        let failed = |death: Death| match death {
            Death::Stopped => Error::Cancelled,
            death => Error::Start {
                program: self.words().into_iter().next().unwrap_or_default(),
                reason: death.to_string(),
            },
        };
        let finished = sandbox::run(&program, &profile).map_err(failed)?;
        if let Some(death) = &finished.death
            && (death.is_ours() || *death == Death::Stopped)
        {
            return Err(failed(death.clone()));
        }
        if finished.death.is_some() || finished.status != Some(0) {
            let said = String::from_utf8_lossy(&finished.stderr).into_owned();
            let line = said.lines().find(|line| line.contains("error"));
            return Ok(Err(match (line, finished.death) {
                (Some(line), _) => line.to_owned(),
                (None, Some(death)) => death.to_string(),
                (None, None) => "failed without a word".to_owned(),
            }));
        }
        Store::open(&store).map(Ok)
    }
}

/// The absolute path in a word of a command, alone or behind an option such as `-I`.
fn named(word: &str) -> Option<PathBuf> {
    let at = word.find('/')?;
    let path = PathBuf::from(&word[at..]);
    // Never all there is.
    (path.components().count() > 2 && path.exists()).then_some(path)
}
