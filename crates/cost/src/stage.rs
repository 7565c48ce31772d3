//! The stage that labels programs.

use crate::{
    Bench, Error, LabelRow, Result, Task,
    bench::Costs,
    described::{Described, NO_VECTORS},
    task::Tools,
};
use dataset::{
    Code, Found, Input, Language, Programs, Verdict,
    stage::{Facts, Finish, Items, Stage, Units, Worked},
};
use rows::{Grouping, LabelHead, TaskVerdict, program_name};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// A program to label, or what stands in the place of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelItem {
    /// Identity of the program: the hash of its content.
    pub id: String,
    /// Where it is from.
    pub path: String,
    /// The data set's name for it; empty for files.
    pub name: String,
    /// Its package; empty for files.
    pub package: String,
    /// Its family of near-duplicates; empty for files.
    pub family: String,
    /// Its license.
    pub license: String,
    /// Name of its language; empty for what is no program.
    pub language: String,
    /// Its content.
    #[serde(with = "serde_bytes")]
    pub content: Vec<u8>,
    /// Why it is no program, or empty.
    pub verdict: String,
    /// What goes with that verdict.
    pub detail: String,
}

impl dataset::Row for LabelItem {
    const SCHEMA: &'static str = "program";
    const VERSION: u32 = 1;
}

impl LabelItem {
    fn of(found: Found) -> LabelItem {
        match found {
            Found::Program(program) => LabelItem {
                id: program.code.hash(),
                name: program.known_as().to_owned(),
                path: program.path,
                package: program.provenance.package,
                family: program.family,
                license: program.provenance.license,
                language: program.language.name().to_owned(),
                content: match program.code {
                    Code::Text(text) => text.into_bytes(),
                    Code::Bytes(bytes) => bytes,
                },
                ..LabelItem::default()
            },
            Found::Rejected(rejected) => LabelItem {
                path: rejected.path,
                verdict: rejected.verdict.name.into_owned(),
                detail: rejected.verdict.detail,
                ..LabelItem::default()
            },
        }
    }

    /// Its row without label and vectors.
    fn head(&self, grouping: Grouping) -> LabelHead {
        let name = Some(self.name.as_str()).filter(|name| !name.is_empty());
        LabelHead {
            program: program_name(&self.package, &self.path, name, &self.id),
            group: grouping.of(&self.package, &self.family, &self.path).to_owned(),
            id: self.id.clone(),
            package: self.package.clone(),
            family: self.family.clone(),
            path: self.path.clone(),
            name: self.name.clone(),
            license: self.license.clone(),
            ..LabelHead::default()
        }
    }
}

/// What [`Label`] came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelReport {
    /// Programs: a row each.
    pub programs: u64,
    /// Rows with a label.
    pub rows: u64,
    /// Groups that these fall into.
    pub groups: u64,
    /// Rows with a label and vectors.
    pub described: u64,
    /// Rows per verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Rows with a label and without vectors, where there are any at all, per reason: the verdict on the program in
    /// the data set of vectors, `several-vectors` or `not-in-vectors`.
    pub undescribed: BTreeMap<String, u64>,
    /// Rows per choice that is cheapest; of a task with one choice, all.
    pub labels: BTreeMap<String, u64>,
}

impl LabelReport {
    /// What all rows came to.
    pub(crate) fn of<'a>(
        facts: Counted,
        units: &'a Units<LabelRow>,
    ) -> Result<Finish<'a, LabelRow, LabelReport>> {
        let mut report = LabelReport { programs: facts.programs, ..LabelReport::default() };
        let mut groups = BTreeSet::new();
        for row in units.rows() {
            let (_, row) = row?;
            *report.verdicts.entry(row.head.verdict).or_default() += 1;
            if let Some(label) = row.head.label {
                report.rows += 1;
                groups.insert(row.head.group);
                report.described += u64::from(!row.described.vectors.is_empty());
                if let Some(why) = row.head.detail.strip_prefix(NO_VECTORS) {
                    *report.undescribed.entry(why.to_owned()).or_default() += 1;
                }
                *report.labels.entry(label).or_default() += 1;
            }
        }
        report.groups = groups.len() as u64;
        Ok(Finish::all(report.verdicts.clone(), report))
    }
}

/// Labels programs: a data set of schema `task` with a row for each.
pub struct Label {
    task: Box<dyn Task>,
    bench: Bench,
    programs: Programs,
    inputs: Vec<Input>,
    whole: Input,
    grouping: Grouping,
    described: Described,
    tools: BTreeMap<String, String>,
}

impl Label {
    /// Label `programs`, which a user calls `name`; `vectors` is a data set of schema `features`.
    ///
    /// # Errors
    /// When a program or the vectors cannot be read, or a tool is missing.
    pub fn new(
        task: Box<dyn Task>,
        bench: Bench,
        (programs, name): (Programs, &str),
        vectors: Option<&Path>,
        grouping: Grouping,
    ) -> Result<Label> {
        let inputs = programs.inputs(name)?;
        let whole = Input { name: name.to_owned(), hash: programs.identity_of(&inputs) };
        let tools = task.tools()?.into_iter().collect();
        let described = vectors.map(Described::read).transpose()?.unwrap_or_default();
        Ok(Label { task, bench, programs, inputs, whole, grouping, described, tools })
    }

    /// What its costs are, and their names.
    #[must_use]
    pub fn task(&self) -> &dyn Task {
        &*self.task
    }

    fn row(&self, item: &LabelItem, costs: Costs) -> LabelRow {
        let mut head = item.head(self.grouping);
        let verdict = match costs {
            Err(verdict) => verdict,
            Ok(costs) => {
                let choices = self.task.choices();
                let failed: Vec<&str> = costs
                    .iter()
                    .zip(&choices)
                    .filter_map(|(cost, choice)| cost.is_none().then_some(choice.as_str()))
                    .collect();
                let free = costs
                    .iter()
                    .zip(&choices)
                    .find(|(cost, _)| cost.is_some_and(|cost| !(cost.is_finite() && cost > 0.0)));
                let verdict = match (failed.as_slice(), free) {
                    // Costs are compared by their ratio.
                    ([], Some((Some(cost), choice))) => {
                        Verdict::new(TaskVerdict::BadCost, format!("{choice}: {cost}"))
                    }
                    ([], _) => {
                        let costs: Vec<f64> = costs.iter().copied().flatten().collect();
                        head.label = cheapest(&costs).map(|place| choices[place].clone());
                        self.described.verdict(&item.id)
                    }
                    (failed, _) => Verdict::new(TaskVerdict::ChoiceFailed, failed.join(" ")),
                };
                head.costs = costs;
                verdict
            }
        };
        (head.verdict, head.detail) = (verdict.name.into_owned(), verdict.detail);
        LabelRow { head, described: self.described.of(&item.id) }
    }
}

/// The cheapest; the first of equals.
pub(crate) fn cheapest(costs: &[f64]) -> Option<usize> {
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    costs.iter().position(|cost| *cost == least)
}

impl Stage for Label {
    const NAME: &'static str = "label --task";
    const UNITS: &'static str = "programs";
    type Item = LabelItem;
    type Row = LabelRow;
    type Facts = Counted;
    type Summary = LabelReport;
    type Worker = Tools;
    type Error = Error;

    fn settings(&self) -> Value {
        json!({
            "task": self.task.name(),
            "costs": self.task.about(),
            "choices": self.task.choices(),
            "settings": self.task.settings(),
            "grouping": self.grouping,
            "spaces": self.described.spaces,
            "vectors_level": self.described.level,
            "compiled": self.bench.settings(),
            "tools": self.tools,
        })
    }

    fn inputs(&self) -> Result<Vec<Input>> {
        Ok(std::iter::once(self.whole.clone()).chain(self.described.input.clone()).collect())
    }

    fn inputs_in_detail(&self) -> Result<Vec<Input>> {
        Ok(self.inputs.iter().cloned().chain(self.described.input.clone()).collect())
    }

    fn left_out(&self) -> Result<BTreeMap<String, u64>> {
        Ok(self.programs.left_out()?)
    }

    fn items(&self) -> Result<Items<'_, Label>> {
        let all = self.programs.found()?.map(|found| Ok(LabelItem::of(found?)));
        Ok(Items { total: Some(self.programs.len()), all: Box::new(all) })
    }

    fn key(&self, item: &LabelItem) -> String {
        let pieces = [&item.id, &item.path, &item.name, &item.package, &item.verdict, &item.detail];
        dataset::content_hash_of(pieces.map(|piece| piece.as_bytes()))
    }

    fn batch_size(&self) -> usize {
        32
    }

    fn size_bytes(&self, item: &LabelItem) -> usize {
        item.content.len()
    }

    fn worker(&self) -> Result<Tools> {
        Ok(Tools::default())
    }

    fn work(&self, tools: &mut Tools, items: &[LabelItem]) -> Result<Vec<Worked<LabelRow>>> {
        let mut modules = Vec::new();
        let mut compiled = Vec::with_capacity(items.len());
        for item in items {
            compiled.push(match item.language.parse::<Language>() {
                Ok(language) => {
                    let (path, content) = (&item.path, &item.content);
                    match self.task.module(&self.bench, path, language, content)? {
                        Ok(module) => {
                            modules.push(module);
                            Ok(())
                        }
                        Err(verdict) => Err(verdict),
                    }
                }
                Err(_) => {
                    let name = item.verdict.clone().into();
                    Err(Verdict { name, detail: item.detail.clone() })
                }
            });
        }
        let mut costs = self.task.label(&self.bench, tools, &modules)?.into_iter();
        let rows = items.iter().zip(compiled).map(|(item, compiled)| {
            let costs =
                compiled.and_then(|()| costs.next().expect("a task answers for every module"));
            Worked::Rows(vec![self.row(item, costs)])
        });
        Ok(rows.collect())
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn observe(&self, _: &LabelItem, _: Option<&[LabelRow]>, facts: &mut Counted) {
        facts.programs += 1;
    }

    fn tools(&self) -> BTreeMap<String, String> {
        self.bench.tools().into_iter().chain(self.tools.clone()).collect()
    }

    fn finish<'a>(
        _: &'a Value,
        facts: Counted,
        units: &'a Units<LabelRow>,
    ) -> Result<Finish<'a, LabelRow, LabelReport>> {
        LabelReport::of(facts, units)
    }
}

/// What rows do not say: programs that are there twice have one row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    pub(crate) programs: u64,
}

impl Facts for Counted {
    fn absorb(&mut self, other: Counted) {
        self.programs += other.programs;
    }
}
