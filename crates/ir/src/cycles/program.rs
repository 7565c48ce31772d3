//! Programs of a data set of modules: modules that one command compiled into one file belong together.

use super::{Cycles, Stdin, row};
use crate::{Error, Module, input::Modules};
use dataset::{Row, Verdict, content_hash, content_hash_of, stage::Items};
use rows::{CyclesRow, ModuleOrigin};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

/// What a program may be, and what it is given to read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramItem {
    /// Its modules.
    pub modules: Vec<Module>,
    /// Its inputs; none: it reads nothing.
    pub inputs: Vec<ProgramInput>,
}

/// An input of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramInput {
    /// Tells it from the program's others; empty where there are none.
    pub name: String,
    /// What its standard input holds.
    #[serde(with = "serde_bytes")]
    pub stdin: Vec<u8>,
}

impl Row for ProgramItem {
    const SCHEMA: &'static str = "program-item";
    const VERSION: u32 = 1;
}

impl ProgramItem {
    pub(super) fn key(&self) -> String {
        let hashes: Vec<_> = self.inputs.iter().map(|one| content_hash(&one.stdin)).collect();
        let modules = self.modules.iter().flat_map(|module| {
            let Module { id, package_source, package, version, path, target, .. } = module;
            [id, package_source, package, version, path, target].map(String::as_bytes)
        });
        let inputs = hashes.iter().map(String::as_bytes);
        let names = self.inputs.iter().map(|one| one.name.as_bytes());
        content_hash_of(modules.chain(names).chain(inputs))
    }

    /// A row for each of its modules, that says why it is in no program.
    pub(super) fn rejected(&self, verdict: &Verdict) -> Vec<CyclesRow> {
        let rejected = |module| CyclesRow {
            program: String::new(),
            verdict: verdict.name.clone().into_owned(),
            detail: verdict.detail.clone(),
            ..row(module, module)
        };
        self.modules.iter().map(rejected).collect()
    }
}

/// What modules of one program share; `None` where nothing is known of a module but itself.
fn program(package_source: &str, package: &str, version: &str, target: &str) -> Option<String> {
    let pieces = [package_source, package, version, target].map(str::as_bytes);
    (!target.is_empty()).then(|| content_hash_of(pieces))
}

/// The programs, each when the last of its modules has come.
pub(super) fn items<'m, 'a>(
    modules: &'m Modules,
    stdin: &'m Stdin,
) -> Result<Items<'m, Cycles<'a>>, Error> {
    let (mut sizes, mut total) = (HashMap::new(), 0_u64);
    for origin in modules.dataset().rows::<ModuleOrigin>()? {
        let origin = origin?;
        if origin.verdict == Verdict::ACCEPTED {
            total += 1;
            let ModuleOrigin { package_source, package, version, target, .. } = &origin;
            if let Some(program) = program(package_source, package, version, target) {
                *sizes.entry(program).or_insert(0_usize) += 1;
            }
        }
    }
    total -= sizes.values().map(|size| *size as u64 - 1).sum::<u64>();
    let mut waiting: HashMap<String, Vec<Module>> = HashMap::new();
    let accepted = modules.rows()?.filter(|row| !row.as_ref().is_ok_and(|row| !row.is_accepted()));
    let whole = accepted.filter_map(move |module| {
        let module = match module {
            Ok(module) => module,
            Err(error) => return Some(Err(error)),
        };
        let Module { package_source, package, version, target, .. } = &module;
        let Some(program) = program(package_source, package, version, target) else {
            return Some(Ok(vec![module]));
        };
        let size = sizes.get(&program).copied().unwrap_or(1);
        let together = waiting.entry(program.clone()).or_default();
        together.push(module);
        (together.len() >= size).then(|| Ok(waiting.remove(&program).unwrap_or_default()))
    });
    let all = whole.map(move |modules| {
        let modules = modules?;
        let inputs = inputs(stdin, &modules)?;
        Ok(ProgramItem { modules, inputs })
    });
    Ok(Items { total: Some(total), all: Box::new(all) })
}

/// The inputs of a program: those that are called after any of its source files.
fn inputs(stdin: &Stdin, modules: &[Module]) -> Result<Vec<ProgramInput>, Error> {
    let read = |name: String, path: &Path| {
        let stdin = std::fs::read(path).map_err(Error::file("read", path))?;
        Ok(ProgramInput { name, stdin })
    };
    let found = match stdin {
        Stdin::Empty => Vec::new(),
        Stdin::File(path) => vec![(String::new(), path.clone())],
        Stdin::Folder(folder) => {
            let stems = modules.iter().filter_map(|module| Path::new(&module.path).file_stem());
            let found: Result<Vec<_>, _> =
                stems.map(|stem| timing::inputs(folder, &stem.to_string_lossy())).collect();
            let mut found: Vec<_> = found?.into_iter().flatten().collect();
            found.sort();
            found.dedup();
            if let [(name, _)] = &mut found[..] {
                name.clear();
            }
            found
        }
    };
    found.into_iter().map(|(name, path)| read(name, &path)).collect()
}

/// Files that may be inputs.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let all = walkdir::WalkDir::new(folder).max_depth(2).sort_by_file_name();
    let mut files = Vec::new();
    for entry in all {
        let entry = entry.map_err(|error| Error::format(folder, error))?;
        if entry.file_type().is_file() && entry.path().extension().is_some_and(|end| end == "in") {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_a_row() {
        assert!(ProgramItem::columns().is_ok());
    }
}
