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

/// One module of a corpus.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) bitcode: Result<Vec<u8>, String>,
    pub(super) command: Vec<String>,
}

pub(super) fn read(folder: &Path) -> Result<Vec<Member>, Error> {
    let path = folder.join(FILE);
    let text = fs::read(&path).map_err(Error::file("read", &path))?;
    let description: Description =
        serde_json::from_slice(&text).map_err(|error| Error::format(&path, error))?;
    let members = description.modules.into_iter().map(|name| {
        let inside = Path::new(&name).components().all(|part| matches!(part, Component::Normal(_)));
        let bitcode = match inside {
            true => fs::read(folder.join(format!("{name}.bc"))).map_err(|e| e.to_string()),
            false => Err("leads out of its folder".to_owned()),
        };
        let command = match inside {
            true => fs::read(folder.join(format!("{name}.cmd"))).unwrap_or_default(),
            false => Vec::new(),
        };
        let words = command.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        let command = words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        Member { name, bitcode, command }
    });
    Ok(members.collect())
}
