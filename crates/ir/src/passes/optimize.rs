use super::Plan;
use crate::{
    Error, Module, ModuleItem, Reader, Report, extract,
    extract::described,
    input::{Modules, on_modules},
    reader::Optimized,
};
use dataset::{
    content_hash,
    stage::{ByRows, Finish, Items, Share, Stage, Units, Worked},
};
use serde_json::Value;
use std::{collections::BTreeMap, path::Path, time::Duration};

/// Makes a data set of the modules of another as a pipeline leaves them, at its end or where it is stopped. Rows that
/// are no modules stay as they are.
#[derive(Debug)]
pub struct Optimize<'a> {
    modules: Modules,
    reader: &'a Reader,
    plan: Plan,
    limit: Duration,
}

impl<'a> Optimize<'a> {
    /// Of the data set of modules at `dataset`; a module whose passes take longer than `limit` is rejected.
    ///
    /// # Errors
    /// When the data set cannot be read, or LLVM does not know the pipeline.
    pub fn new(
        dataset: &Path,
        reader: &'a Reader,
        plan: Plan,
        limit: Duration,
    ) -> Result<Optimize<'a>, Error> {
        let modules = Modules::open(dataset)?;
        plan.check(reader)?;
        Ok(Optimize { modules, reader, plan, limit })
    }

    fn row(&self, module: &Module) -> Result<Module, Error> {
        if !module.is_accepted() {
            return Ok(module.clone());
        }
        let found = self.reader.optimize(&module.path, &module.content, &self.plan, self.limit)?;
        let Optimized { look, content, detail } = match found {
            Ok(found) => found,
            Err(verdict) => return Ok(module.clone().turned_away(verdict)),
        };
        let row = Module {
            id: content_hash(&content),
            bytes: content.len() as u64,
            detail,
            ..module.clone()
        };
        Ok(described(row, look, content))
    }
}

impl Stage for Optimize<'_> {
    const NAME: &'static str = "ir optimize";
    on_modules!();
    type Row = Module;
    type Facts = ();
    type Summary = Report;

    fn settings(&self) -> Value {
        let Plan { pipeline, stop } = &self.plan;
        serde_json::json!({
            "pipeline": pipeline, "stop_after": stop.as_ref().map(ToString::to_string),
            "limit_ms": u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX),
        })
    }

    fn items_by_rows(&self, share: Share) -> Result<Option<ByRows<'_, Self>>, Error> {
        let (own, all) = self.modules.items_by_rows(share)?;
        Ok(Some(ByRows { own, all }))
    }

    fn items(&self) -> Result<Items<'_, Self>, Error> {
        let total = Some(self.modules.dataset().manifest().rows);
        Ok(Items { total, all: Box::new(self.modules.items()?) })
    }

    fn work(&self, (): &mut (), items: &[ModuleItem]) -> Result<Vec<Worked<Module>>, Error> {
        let row = |item: &ModuleItem| Ok(Worked::Rows(vec![self.row(&item.module)?]));
        items.iter().map(row).collect()
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn tools(&self) -> BTreeMap<String, String> {
        extract::tools()
    }

    fn finish<'a>(
        _: &'a Value,
        (): (),
        units: &'a Units<Module>,
    ) -> Result<Finish<'a, Module, Report>, Error> {
        Report::finish(units)
    }
}
