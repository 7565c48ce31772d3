//! The rows of a data set of modules, as items of stages.

use crate::{Error, Module};
use dataset::{Dataset, Input, Row, content_hash_of};
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, path::Path};

/// Modules handled together where little is done with each.
pub(crate) const BATCH: usize = 16;

/// What a [`Stage`](dataset::stage::Stage) is by working on the rows of a data set of modules, its field `modules`.
macro_rules! on_modules {
    () => {
        const UNITS: &'static str = "modules";
        type Item = crate::ModuleItem;
        type Worker = ();
        type Error = crate::Error;

        fn inputs(&self) -> Result<Vec<dataset::Input>, crate::Error> {
            Ok(self.modules.inputs())
        }

        fn key(&self, item: &crate::ModuleItem) -> String {
            item.key()
        }

        fn worker(&self) -> Result<(), crate::Error> {
            Ok(())
        }
    };
}

/// The same of a stage that makes a row of each of them.
macro_rules! on_each_module {
    () => {
        crate::input::on_modules!();
        type Row = crate::Module;

        fn items(&self) -> Result<dataset::stage::Items<'_, Self>, crate::Error> {
            let total = Some(self.modules.dataset().manifest().rows);
            Ok(dataset::stage::Items { total, all: Box::new(self.modules.items()?) })
        }

        fn batch_size(&self) -> usize {
            crate::input::BATCH
        }

        fn tools(&self) -> std::collections::BTreeMap<String, String> {
            self.modules.dataset().manifest().notes.tools.clone()
        }
    };
}
pub(crate) use {on_each_module, on_modules};

/// A row of a data set of modules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleItem {
    /// How many rows with this key, but for this number, come before it.
    pub occurrence: u64,
    /// The row.
    pub module: Module,
}

impl Row for ModuleItem {
    const SCHEMA: &'static str = "module-item";
    const VERSION: u32 = 1;
}

impl ModuleItem {
    /// By content and origin. Equal rows are told apart: each of them has a row in what is made.
    pub(crate) fn key(&self) -> String {
        format!("{} {}", origin(&self.module), self.occurrence)
    }
}

fn origin(row: &Module) -> String {
    let Module { id, kind, verdict, package_source, package, version, path, target, .. } = row;
    let pieces = [id, kind, verdict, package_source, package, version, path, target];
    content_hash_of(pieces.map(String::as_bytes))
}

/// A data set of modules that a stage reads.
#[derive(Debug)]
pub(crate) struct Modules(Dataset);

impl Modules {
    pub(crate) fn open(path: &Path) -> Result<Modules, Error> {
        let dataset = Dataset::open(path)?;
        dataset.require(Module::SCHEMA, Module::VERSION)?;
        Ok(Modules(dataset))
    }

    pub(crate) fn dataset(&self) -> &Dataset {
        &self.0
    }

    pub(crate) fn inputs(&self) -> Vec<Input> {
        let (folder, hash) = (self.0.folder(), self.0.manifest().identity.clone());
        let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
        vec![Input { name, hash }]
    }

    pub(crate) fn rows(
        &self,
    ) -> Result<impl Iterator<Item = Result<Module, Error>> + use<>, Error> {
        Ok(self.0.rows::<Module>()?.map(|row| row.map_err(Error::from)))
    }

    pub(crate) fn items(
        &self,
    ) -> Result<impl Iterator<Item = Result<ModuleItem, Error>> + use<>, Error> {
        let mut known: HashMap<String, u64> = HashMap::new();
        Ok(self.rows()?.map(move |row| {
            let module = row?;
            let count = known.entry(origin(&module)).or_default();
            *count += 1;
            Ok(ModuleItem { occurrence: *count - 1, module })
        }))
    }
}
