use super::{PassesReport, Plan, Trace};
use crate::{
    Error, Module, ModuleItem, Reader, extract,
    input::{Modules, on_modules},
};
use dataset::{
    Verdict,
    stage::{ByRows, Finish, Items, Share, Stage, Units, Worked},
};
use rows::{
    PassRow,
    pass_effect::{ADDED, CHANGED, REMOVED, UNCHANGED},
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    time::Duration,
};

/// Makes a data set with a row for each run of a pass on a function of a data set of modules.
pub struct Passes<'a> {
    modules: Modules,
    reader: &'a Reader,
    plan: Plan,
    limit: Duration,
    times: bool,
}

impl<'a> Passes<'a> {
    /// Of the data set of modules at `dataset`; a module whose passes take longer than `limit` has a row that says so.
    /// Without `times` the rows are the same in every run.
    ///
    /// # Errors
    /// When the data set cannot be read, or LLVM does not know the pipeline.
    pub fn new(
        dataset: &Path,
        reader: &'a Reader,
        plan: Plan,
        limit: Duration,
        times: bool,
    ) -> Result<Passes<'a>, Error> {
        let modules = Modules::open(dataset)?;
        plan.check(reader)?;
        Ok(Passes { modules, reader, plan, limit, times })
    }

    fn rows(&self, module: &Module) -> Result<Worked<PassRow>, Error> {
        let row = PassRow {
            id: module.id.clone(),
            language: module.language.clone(),
            package: module.package.clone(),
            path: module.path.clone(),
            verdict: Verdict::ACCEPTED.to_owned(),
            ..PassRow::default()
        };
        let found = self.reader.watch(&module.path, &module.content, &self.plan, self.limit)?;
        let (trace, detail) = match found {
            Ok(found) => found,
            Err(Verdict { name, detail }) => {
                let verdict = name.into_owned();
                return Ok(Worked::Rows(vec![PassRow { verdict, detail, ..row }]));
            }
        };
        if trace.runs.iter().all(|run| run.touched.is_empty()) {
            let detail = "it has no function that a pass ran on".to_owned();
            return Ok(Worked::Rows(vec![PassRow { detail, ..row }]));
        }
        let times = self.times;
        Ok(Worked::Streamed(Box::new(of_trace(trace, PassRow { detail, ..row }, times))))
    }
}

/// The rows of what passes did, each like `like`.
fn of_trace(trace: Trace, like: PassRow, times: bool) -> impl Iterator<Item = PassRow> + Send {
    let Trace { passes, functions, runs } = trace;
    let mut occurrences: HashMap<(u32, u32), u64> = HashMap::new();
    (1..).zip(runs).flat_map(move |(step, run)| {
        let row = |(at, one): (usize, super::Touched)| {
            let occurrence = occurrences.entry((run.pass, one.function)).or_default();
            *occurrence += 1;
            let effect = match (one.before, one.after) {
                (None, _) => ADDED,
                (_, None) => REMOVED,
                _ if one.changed => CHANGED,
                _ => UNCHANGED,
            };
            PassRow {
                step,
                pass: passes[run.pass as usize].clone(),
                unit: run.unit.name().to_owned(),
                function: functions[one.function as usize].clone(),
                occurrence: *occurrence,
                effect: effect.to_owned(),
                instructions_before: one.before.map_or(0, u64::cast_signed),
                instructions_after: one.after.map_or(0, u64::cast_signed),
                seconds: (times && at == 0).then_some(run.seconds),
                ..like.clone()
            }
        };
        run.touched.into_iter().enumerate().map(row).collect::<Vec<_>>()
    })
}

impl Stage for Passes<'_> {
    const NAME: &'static str = "ir optimize --after-each";
    on_modules!();
    const OF_THIS_RUN: &'static [&'static str] = &["seconds_by_pass"];
    type Row = PassRow;
    type Facts = ();
    type Summary = PassesReport;

    fn settings(&self) -> Value {
        let Plan { pipeline, stop } = &self.plan;
        serde_json::json!({
            "pipeline": pipeline, "stop_after": stop.as_ref().map(ToString::to_string),
            "limit_ms": u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX), "times": self.times,
        })
    }

    fn items_by_rows(&self, share: Share) -> Result<Option<ByRows<'_, Self>>, Error> {
        let (own, items) = self.modules.items_by_rows(share)?;
        let accepted = |item: &Result<(u64, ModuleItem), Error>| {
            !item.as_ref().is_ok_and(|(_, item)| !item.module.is_accepted())
        };
        Ok(Some(ByRows { own, all: Box::new(items.filter(accepted)) }))
    }

    fn items(&self) -> Result<Items<'_, Self>, Error> {
        let verdicts = &self.modules.dataset().manifest().notes.verdicts;
        let accepted = |item: &Result<ModuleItem, Error>| {
            !item.as_ref().is_ok_and(|i| !i.module.is_accepted())
        };
        let all = Box::new(self.modules.items()?.filter(accepted));
        Ok(Items { total: Some(verdicts.get(Verdict::ACCEPTED).copied().unwrap_or(0)), all })
    }

    fn work(&self, (): &mut (), items: &[ModuleItem]) -> Result<Vec<Worked<PassRow>>, Error> {
        items.iter().map(|item| self.rows(&item.module)).collect()
    }

    fn left_out(&self) -> Result<BTreeMap<String, u64>, Error> {
        Ok(self.modules.dataset().rejected()?)
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
        units: &'a Units<PassRow>,
    ) -> Result<Finish<'a, PassRow, PassesReport>, Error> {
        Ok(PassesReport::finish(units)?)
    }
}
