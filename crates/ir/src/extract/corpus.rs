//! ml-compiler-opt's corpus: `corpus_description.json` names modules, each with `.bc`, `.cmd` and
//! perhaps `.thinlto.bc` beside it.

use crate::Error;
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::{Component, Path},
};

/// The corpus's description.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Description {
    /// Whether modules were compiled with ThinLTO.
    #[serde(default)]
    pub(crate) has_thinlto: bool,
    /// The modules, without endings.
    pub(crate) modules: Vec<String>,
}

pub(crate) const FILE: &str = "corpus_description.json";

/// The names of a corpus's modules.
pub(super) fn read(folder: &Path) -> Result<Vec<String>, Error> {
    let path = folder.join(FILE);
    let text = fs::read(&path).map_err(Error::file("read", &path))?;
    let description: Description =
        serde_json::from_slice(&text).map_err(|error| Error::format(&path, error))?;
    Ok(description.modules)
}

/// Whether a relative path stays in its folder, as a module's does in that of its corpus.
pub(crate) fn is_inside(name: &str) -> bool {
    Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

/// The command beside a module's bitcode, or nothing.
pub(super) fn command(bitcode: &Path) -> Vec<String> {
    let command = fs::read(bitcode.with_extension("cmd")).unwrap_or_default();
    let words = command.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}
