//! The rows of a data set of modules, as items of stages.

use crate::{Error, Module};
use dataset::{
    Dataset, Input, Row, content_hash_of,
    stage::{Numbered, Share},
};
use rows::ModuleOrigin;
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, ops::Range, path::Path};

/// Modules handled together where little is done with each; fewer where they are large (`Stage::size_bytes`).
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

        fn size_bytes(&self, item: &crate::ModuleItem) -> usize {
            item.size_bytes()
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
    /// `known` has how often each origin was met.
    fn of(module: Module, known: &mut HashMap<String, u64>) -> ModuleItem {
        let count = known.entry(origin(&module)).or_default();
        *count += 1;
        ModuleItem { occurrence: *count - 1, module }
    }

    /// About what it takes in memory: a module's bitcode and its hashes.
    pub(crate) fn size_bytes(&self) -> usize {
        let Module { content, function_structures, signature, log, .. } = &self.module;
        content.len()
            + std::mem::size_of_val(function_structures.as_slice())
            + std::mem::size_of_val(signature.as_slice())
            + log.len()
    }

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

/// A row of which no more is known.
fn of_origin(origin: ModuleOrigin) -> Module {
    let ModuleOrigin { id, kind, package_source, package, version, path, target, verdict } = origin;
    let known = Module { id, kind, package_source, package, version, ..Module::default() };
    Module { path, target, verdict, ..known }
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
        let mut known = HashMap::new();
        Ok(self.rows()?.map(move |row| Ok(ModuleItem::of(row?, &mut known))))
    }

    /// The same for one share of the rows: of the others only the columns of [`ModuleOrigin`] are read.
    pub(crate) fn items_by_rows(
        &self,
        share: Share,
    ) -> Result<(Range<u64>, Numbered<'static, ModuleItem, Error>), Error> {
        let rows = self.0.manifest().rows;
        let own = share.of_rows(rows);
        let origins = |rows: Range<u64>| {
            let origins = self.0.rows_in::<ModuleOrigin>(rows)?;
            Ok::<_, Error>(origins.map(|row| row.map(of_origin)))
        };
        let all = origins(0..own.start)?
            .chain(self.0.rows_in::<Module>(own.clone())?)
            .chain(origins(own.end..rows)?);
        let mut known = HashMap::new();
        let all =
            all.zip(0..).map(move |(module, row)| Ok((row, ModuleItem::of(module?, &mut known))));
        Ok((own, Box::new(all)))
    }
}
