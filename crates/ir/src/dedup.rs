//! Modules that are there already, and modules that are alike.
//!
//! Of the modules with one structural hash the one with a license and the least identity stays;
//! modules whose signatures are near are one family. Neither depends on the order of the rows, so
//! that data sets made in any order are split alike.

use crate::{
    Error, Module, ModuleItem,
    input::{Modules, on_each_module},
    module::{DUPLICATE, MODULE},
};
use dataset::{
    Signature, Verdict, families,
    stage::{Finish, Selected, Stage, Unit, Units, Worked},
};
use rows::ModuleKey as Key;
use serde::Serialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
};

/// Makes a data set in which each structure has one module, and each module a family.
///
/// Only hashes and signatures are held in memory: about 700 bytes a module, whatever its size.
#[derive(Debug)]
pub struct Dedup {
    modules: Modules,
}

/// What `ir dedup` found, as `--json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DedupReport {
    /// Modules before.
    pub modules: u64,
    /// Bytes of their bitcode.
    pub bitcode_bytes: u64,
    /// Modules of a structure that no other kept module has.
    pub unique: u64,
    /// Bytes of their bitcode.
    pub unique_bytes: u64,
    /// Share of the bytes that is left, in percent; ComPile's own deduplication left 66.
    pub bytes_left_percent: f64,
    /// Families of near-duplicates among the unique ones.
    pub families: u64,
    /// Modules in the largest family.
    pub largest_family: u64,
    /// Functions with a body, before.
    pub functions: u64,
    /// Different ones among them.
    pub unique_functions: u64,
    /// By language: modules before, unique ones, bytes before, bytes left.
    pub languages: BTreeMap<String, [u64; 4]>,
}

impl Dedup {
    /// Of the data set of modules at `dataset`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn new(dataset: &Path) -> Result<Dedup, Error> {
        Ok(Dedup { modules: Modules::open(dataset)? })
    }
}

impl Stage for Dedup {
    const NAME: &'static str = "ir dedup";
    on_each_module!();
    type Facts = ();
    type Summary = DedupReport;

    fn settings(&self) -> Value {
        serde_json::json!({})
    }

    /// A row alone is no duplicate: all is decided when they are together.
    fn work(&self, (): &mut (), items: &[ModuleItem]) -> Result<Vec<Worked<Module>>, Error> {
        Ok(items.iter().map(|item| Worked::Rows(vec![item.module.clone()])).collect())
    }

    fn finish<'a>(
        _: &'a Value,
        (): (),
        units: &'a Units<Module>,
    ) -> Result<Finish<'a, Module, DedupReport>, Error> {
        let mut plan = Plan::default();
        for row in units.views::<Key>() {
            plan.meet(&row?.1);
        }
        let (places, summary, mut verdicts) = plan.decide();
        verdicts.insert(Verdict::ACCEPTED.to_owned(), summary.unique);
        verdicts.insert(DUPLICATE.to_owned(), summary.modules - summary.unique);
        let mut seen: HashSet<String> = HashSet::new();
        let select = Box::new(move |_: &Unit, row| Selected::Row(placed(row, &places, &mut seen)));
        Ok(Finish { select, order: None, verdicts, summary, inputs: None })
    }
}

/// What is known of all rows.
#[derive(Default)]
struct Plan {
    report: DedupReport,
    /// By structure.
    kept: BTreeMap<String, Kept>,
    functions: HashSet<u64>,
    /// Rows that take no part, per verdict.
    others: BTreeMap<String, u64>,
}

impl Plan {
    fn meet(&mut self, key: &Key) {
        if !takes_part(key) {
            *self.others.entry(key.verdict.clone()).or_default() += 1;
            return;
        }
        let report = &mut self.report;
        report.modules += 1;
        report.bitcode_bytes += key.bytes;
        report.functions += key.function_structures.len() as u64;
        self.functions.extend(&key.function_structures);
        let language = report.languages.entry(key.language.clone()).or_default();
        language[0] += 1;
        language[2] += key.bytes;
        self.kept.entry(key.structure.clone()).or_insert_with(|| Kept::of(key)).meet(key);
    }

    /// Where the modules of each structure stand.
    fn decide(self) -> (HashMap<String, Place>, DedupReport, BTreeMap<String, u64>) {
        let Plan { mut report, kept, functions, others } = self;
        report.unique_functions = functions.len() as u64;
        let mut order: Vec<(String, Kept)> = kept.into_iter().collect();
        order.sort_by(|a, b| a.1.id.cmp(&b.1.id));
        let signatures: Vec<Signature> =
            order.iter_mut().map(|(_, kept)| kept.signature()).collect();
        let family = families(&signatures);
        let mut sizes: HashMap<usize, u64> = HashMap::new();
        let mut places: HashMap<String, Place> = HashMap::new();
        for (index, (structure, kept)) in order.iter().enumerate() {
            *sizes.entry(family[index]).or_default() += 1;
            report.unique += 1;
            report.unique_bytes += kept.bytes;
            let language = report.languages.entry(kept.language.clone()).or_default();
            language[1] += 1;
            language[3] += kept.bytes;
            let place = Place {
                keeper: kept.id.clone(),
                // The order is by identity, so a family's first member is its least.
                family: order[family[index]].1.id.clone(),
                duplicates: kept.members - 1,
            };
            places.insert(structure.clone(), place);
        }
        report.families = sizes.len() as u64;
        report.largest_family = sizes.values().copied().max().unwrap_or(0);
        report.bytes_left_percent = match report.bitcode_bytes {
            0 => 0.0,
            bytes => (1000.0 * report.unique_bytes as f64 / bytes as f64).round() / 10.0,
        };
        (places, report, others)
    }
}

/// Modules that an earlier run set apart take part again, so that doing it twice changes nothing.
fn takes_part(key: &Key) -> bool {
    key.kind == MODULE && (key.verdict == Verdict::ACCEPTED || key.verdict == DUPLICATE)
}

/// The module that stays of those of one structure.
struct Kept {
    licensed: bool,
    id: String,
    bytes: u64,
    language: String,
    signature: Vec<u32>,
    members: u64,
}

struct Place {
    keeper: String,
    family: String,
    duplicates: u64,
}

impl Kept {
    fn of(key: &Key) -> Kept {
        Kept {
            licensed: !key.license_expression.is_empty(),
            id: key.id.clone(),
            bytes: key.bytes,
            language: key.language.clone(),
            signature: key.signature.clone(),
            members: 0,
        }
    }

    fn meet(&mut self, key: &Key) {
        let members = self.members + 1;
        let licensed = !key.license_expression.is_empty();
        // One whose content was dropped before cannot stay.
        let present = key.verdict == Verdict::ACCEPTED;
        if present && (!licensed, &key.id) < (!self.licensed, &self.id) {
            *self = Kept::of(key);
        }
        self.members = members;
    }

    /// Only structures without a signature (foreign data sets) are told apart by identity alone.
    fn signature(&mut self) -> Signature {
        let values = std::mem::take(&mut self.signature);
        Signature::from_values(&values).unwrap_or_else(|| Signature::of([self.id.as_str()]))
    }
}

/// A row as the plan has it: kept or dropped, with its family.
fn placed(row: Module, places: &HashMap<String, Place>, seen: &mut HashSet<String>) -> Module {
    let takes_part = row.kind == MODULE && (row.is_accepted() || row.verdict == DUPLICATE);
    let Some(place) = places.get(&row.structure).filter(|_| takes_part) else { return row };
    let row = Module { family: place.family.clone(), ..row };
    // Of two rows of one identity the first stays.
    if row.id == place.keeper && seen.insert(row.id.clone()) {
        return Module {
            duplicates: place.duplicates,
            verdict: Verdict::ACCEPTED.to_owned(),
            detail: String::new(),
            ..row
        };
    }
    row.turned_away(Verdict::new(DUPLICATE, place.keeper.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dataset::{
        Builder, Dataset, Notes,
        stage::{self, Context},
    };
    use std::path::PathBuf;

    fn module(number: u32, structure: &str, license: &str) -> Module {
        // Signatures of one hundred equal values and the rest by number: far apart.
        let signature = (0..128).map(|at| if at < 20 { 1 } else { number * 1000 + at }).collect();
        Module {
            content: vec![number as u8; 10],
            id: format!("{number:04}"),
            kind: MODULE.to_owned(),
            bytes: 10,
            structure: structure.to_owned(),
            signature,
            function_structures: vec![1, 2],
            license_expression: license.to_owned(),
            verdict: Verdict::ACCEPTED.to_owned(),
            ..Module::default()
        }
    }

    fn put(folder: &Path, rows: Vec<Module>) -> PathBuf {
        let out = folder.join(format!("in{}", rows.len() + rows[0].id.len()));
        let builder = Builder::<Module>::create(&out, true, &0).unwrap();
        builder.finish(rows, Notes::default()).unwrap();
        out
    }

    fn run(folder: &Path, rows: Vec<Module>) -> (DedupReport, Vec<Module>) {
        let dataset = put(folder, rows);
        let out = folder.join("out");
        let context = Context { force: true, ..Context::new(out.clone()) };
        let report = stage::run(&Dedup::new(&dataset).unwrap(), &context).unwrap().summary;
        let rows = Dataset::open(&out).unwrap().rows::<Module>().unwrap();
        (report, rows.map(Result::unwrap).collect())
    }

    #[test]
    fn one_module_of_a_structure_stays_whatever_the_order() {
        let folder = tempfile::tempdir().unwrap();
        let near = Module { signature: module(7, "", "").signature, ..module(9, "e", "MIT") };
        let rows = vec![
            module(3, "a", ""),
            module(5, "a", "MIT"),
            module(4, "b", ""),
            module(7, "c", ""),
            near,
        ];
        let (report, forward) = run(folder.path(), rows.clone());
        assert_eq!((report.modules, report.unique, report.families), (5, 4, 3));
        assert_eq!((report.functions, report.unique_functions), (10, 2));
        assert_eq!(report.bytes_left_percent, 80.0);
        let (_, backward) = run(folder.path(), rows.into_iter().rev().collect());
        let key = |row: &Module| {
            (
                row.id.clone(),
                row.verdict.clone(),
                row.family.clone(),
                row.duplicates,
                row.content.len(),
            )
        };
        let mut one: Vec<_> = forward.iter().map(key).collect();
        let mut two: Vec<_> = backward.iter().map(key).collect();
        one.sort();
        two.sort();
        assert_eq!(one, two);
        // The licensed one of `a` stays, and both bear one family.
        assert_eq!(forward[0].verdict, DUPLICATE);
        assert!(forward[0].content.is_empty() && !forward[1].content.is_empty());
        assert_eq!(forward[0].family, forward[1].family);
        assert_eq!(forward[3].family, forward[4].family);
    }

    #[test]
    fn doing_it_twice_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (_, once) =
            run(folder.path(), vec![module(1, "a", ""), module(2, "a", ""), module(3, "b", "")]);
        let (report, twice) = run(folder.path(), once.clone());
        assert_eq!(once, twice);
        assert_eq!((report.modules, report.unique), (3, 2));
    }

    #[test]
    fn ten_thousand_modules_of_one_family_are_one_family() {
        let folder = tempfile::tempdir().unwrap();
        let rows = (0..10_000).map(|number| {
            let mut row = module(1, &format!("s{number}"), "");
            row.id = format!("{number:06}");
            // Each differs from the next in a few places.
            for at in 0..10 {
                row.signature[(number as usize * 7 + at * 3) % 128] =
                    1_000_000 + number * 16 + at as u32;
            }
            row
        });
        let (report, _) = run(folder.path(), rows.collect());
        assert_eq!((report.unique, report.families, report.largest_family), (10_000, 1, 10_000));
    }
}
