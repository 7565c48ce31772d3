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
    Signature, Signatures, Verdict,
    stage::{ByRows, Fates, Finish, Selected, Share, Stage, Unit, Units, Worked},
};
use rows::{ModuleKey as Key, ModuleRank as Rank};
use serde::Serialize;
use serde_json::Value;
use std::{cmp::Ordering, collections::BTreeMap, path::Path};

/// Makes a data set in which each structure has one module, and each module a family.
///
/// Of a module only hashes are held in memory, whatever its size; its signature is in a temporary file.
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

    fn items_by_rows(&self, share: Share) -> Result<Option<ByRows<'_, Self>>, Error> {
        let (own, all) = self.modules.items_by_rows(share)?;
        Ok(Some(ByRows { own, all }))
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
        let ranks = units.views::<Rank>().filter_map(|row| match row {
            Ok((_, row)) => takes_part(&row.kind, &row.verdict).then(|| Ok(ranked(row))),
            Err(error) => Some(Err(error)),
        });
        let rows = units.all().iter().map(|unit| unit.rows).sum();
        let mut plan = Plan::new(units.ranked(rows, ranks)?);
        let mut functions = units.distinct();
        for row in units.views::<Key>() {
            let key = row?.1;
            if plan.meet(&key)? {
                key.function_structures.iter().try_for_each(|hash| functions.push(*hash))?;
            }
        }
        plan.report.unique_functions = functions.count()?;
        let families = units.families(&plan.signatures)?;
        let (mut places, summary, mut verdicts) = plan.decide(&families)?;
        verdicts.insert(Verdict::ACCEPTED.to_owned(), summary.unique);
        verdicts.insert(DUPLICATE.to_owned(), summary.modules - summary.unique);
        let select = move |_: &Unit, row| match places.place(row) {
            Ok(row) => Selected::Row(row),
            Err(error) => Selected::Failed(error),
        };
        let select = Box::new(select);
        Ok(Finish { select, order: None, verdicts, summary, inputs: None })
    }
}

/// Modules that an earlier run set apart take part again, so that doing it twice changes nothing.
fn takes_part(kind: &str, verdict: &str) -> bool {
    kind == MODULE && (verdict == Verdict::ACCEPTED || verdict == DUPLICATE)
}

/// A module's structure, and which of those of one structure stays: one whose content is there, one with a license, that
/// of the least identity.
fn ranked(row: Rank) -> (String, String) {
    let no = |is: bool| if is { '0' } else { '1' };
    let present = no(row.verdict == Verdict::ACCEPTED);
    let licensed = no(!row.license_expression.is_empty());
    (row.structure, format!("{present}{licensed}{}", row.id))
}

/// What is known of all rows. Those that take part are known by their numbers, in the order of the data set; of those
/// that stay more is held.
struct Plan {
    fates: Fates,
    report: DedupReport,
    kept: Kept,
    signatures: Signatures,
    /// Rows that take no part, per verdict.
    others: BTreeMap<String, u64>,
}

/// The modules that stay, in the order of the data set.
#[derive(Default)]
struct Kept {
    /// The numbers of their rows.
    numbers: Vec<u64>,
    /// Their identities, one behind the other.
    ids: String,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Kept {
    fn push(&mut self, number: u64, id: &str) {
        self.numbers.push(number);
        self.ids.push_str(id);
        self.ends.push(self.ids.len());
    }

    fn id(&self, index: usize) -> &str {
        let begin = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ids[begin..self.ends[index]]
    }
}

impl Plan {
    fn new(fates: Fates) -> Plan {
        let (report, kept, signatures) =
            (DedupReport::default(), Kept::default(), Signatures::default());
        Plan { fates, report, kept, signatures, others: BTreeMap::new() }
    }

    /// Whether the row takes part.
    fn meet(&mut self, key: &Key) -> Result<bool, dataset::Error> {
        if !takes_part(&key.kind, &key.verdict) {
            *self.others.entry(key.verdict.clone()).or_default() += 1;
            return Ok(false);
        }
        let report = &mut self.report;
        report.modules += 1;
        report.bitcode_bytes += key.bytes;
        report.functions += key.function_structures.len() as u64;
        let language = report.languages.entry(key.language.clone()).or_default();
        language[0] += 1;
        language[2] += key.bytes;
        let fate = self.fates.next(&key.structure)?;
        if fate.is_first() {
            report.unique += 1;
            report.unique_bytes += key.bytes;
            language[1] += 1;
            language[3] += key.bytes;
            self.kept.push(fate.place, &key.id);
            // Only structures without a signature (foreign data sets) are told apart by identity alone.
            let signature = Signature::from_values(&key.signature);
            let signature = signature.unwrap_or_else(|| Signature::of([key.id.as_str()]));
            self.signatures.push(signature).map_err(dataset::Error::Signatures)?;
        }
        Ok(true)
    }

    /// What becomes of each, by the families of those that stay.
    fn decide(
        self,
        families: &[usize],
    ) -> Result<(Places, DedupReport, BTreeMap<String, u64>), dataset::Error> {
        let Plan { mut report, fates, kept, others, .. } = self;
        // Of each family its member of the least identity, and how many it has.
        let mut least: Vec<u32> = (0..families.len() as u32).collect();
        let mut sizes = vec![0_u64; families.len()];
        for (index, family) in families.iter().enumerate() {
            sizes[*family] += 1;
            let known = least[*family] as usize;
            if kept.id(index).cmp(kept.id(known)) == Ordering::Less {
                least[*family] = index as u32;
            }
        }
        report.families = sizes.iter().filter(|size| **size > 0).count() as u64;
        report.largest_family = sizes.into_iter().max().unwrap_or(0);
        report.bytes_left_percent = match report.bitcode_bytes {
            0 => 0.0,
            bytes => (1000.0 * report.unique_bytes as f64 / bytes as f64).round() / 10.0,
        };
        let least = families.iter().map(|family| least[*family]).collect();
        Ok((Places { fates: fates.again()?, kept, least }, report, others))
    }
}

/// Where modules stand.
struct Places {
    fates: Fates,
    kept: Kept,
    /// Of each that stays the member of the least identity of its family.
    least: Vec<u32>,
}

impl Places {
    /// A row as the plan has it: kept or dropped, with its family.
    fn place(&mut self, row: Module) -> Result<Module, dataset::Error> {
        if !takes_part(&row.kind, &row.verdict) {
            return Ok(row);
        }
        let fate = self.fates.next(&row.structure)?;
        let keeper = self.kept.numbers.partition_point(|number| *number < fate.first);
        let family = self.kept.id(self.least[keeper] as usize).to_owned();
        let row = Module { family, ..row };
        if !fate.is_first() {
            let keeper = self.kept.id(keeper).to_owned();
            return Ok(row.turned_away(Verdict::new(DUPLICATE, keeper)));
        }
        let verdict = Verdict::ACCEPTED.to_owned();
        Ok(Module { duplicates: fate.copies - 1, verdict, detail: String::new(), ..row })
    }
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
    fn of_rows_whose_content_was_dropped_none_stays() {
        let folder = tempfile::tempdir().unwrap();
        let dropped =
            |number: u32| module(number, "a", "MIT").turned_away(Verdict::new(DUPLICATE, "0009"));
        // By identity and license the first one would stay.
        let rows = vec![dropped(1), module(9, "a", ""), dropped(9)];
        let (report, rows) = run(folder.path(), rows);
        assert_eq!((report.modules, report.unique), (3, 1));
        let kept: Vec<bool> = rows.iter().map(Module::is_accepted).collect();
        assert_eq!(
            (kept, rows[1].content.len(), rows[1].duplicates),
            (vec![false, true, false], 10, 2)
        );
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
