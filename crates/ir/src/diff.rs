//! What differs between two data sets of modules, or between two modules.

use crate::{
    Error, Reader,
    input::Modules,
    structure::{Shape, stable_name},
};
use dataset::{Dataset, Progress, Verdict};
use rayon::prelude::*;
use rows::{Module, ModuleOrigin};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fs,
    path::Path,
};

/// Modules that are compared at a time.
const CHUNK: usize = 32;

/// How many of something are in both, in one, or in both and differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// In the first alone.
    pub only_first: u64,
    /// In the second alone.
    pub only_second: u64,
    /// In both, with one structure.
    pub same: u64,
    /// In both, with another structure.
    pub changed: u64,
}

/// One thing that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The module: package and source file.
    pub module: String,
    /// The function; empty where the whole module is meant.
    pub function: String,
    /// `only-first`, `only-second`, `changed`, or why the module could not be read.
    pub change: String,
    /// Its instructions in the first; 0 where it is not there.
    pub instructions_before: u64,
    /// Its instructions in the second; 0 where it is not there.
    pub instructions_after: u64,
}

/// What `ir diff` found, as `--json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DiffReport {
    /// Modules, by package, source file and what they were compiled into.
    pub modules: Compared,
    /// Functions of modules that are in both, by name.
    pub functions: Compared,
    /// Modules that could not be read.
    pub failed: u64,
    /// Instructions of all modules of the first.
    pub instructions_before: u64,
    /// Instructions of all modules of the second.
    pub instructions_after: u64,
    /// What differs: modules in the order of the second, those of the first alone at the end.
    pub differences: Vec<Difference>,
}

impl DiffReport {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.differences.is_empty()
    }
}

/// A module as it is compared.
pub(crate) type Functions = BTreeMap<String, Shape>;

/// Compare what is at `first` with what is at `second`: two data sets of modules, or two files of bitcode or textual IR.
///
/// # Errors
/// When one of them is no data set of modules and no module.
pub fn diff(
    first: &Path,
    second: &Path,
    reader: &Reader,
    progress: &dyn Progress,
) -> Result<DiffReport, Error> {
    match (Dataset::is_at(first), Dataset::is_at(second)) {
        (true, true) => of_sets(&Modules::open(first)?, &Modules::open(second)?, reader, progress),
        (false, false) => of_files(first, second, reader),
        (is_set, _) => {
            let (set, other) = if is_set { (first, second) } else { (second, first) };
            if let Err(error) = std::fs::metadata(other) {
                return Err(Error::file("read", other)(error));
            }
            let reason =
                format!("it is no data set, and {} is one; compare two of a kind", set.display());
            Err(Error::format(other, reason))
        }
    }
}

fn of_files(first: &Path, second: &Path, reader: &Reader) -> Result<DiffReport, Error> {
    let read = |path: &Path| {
        let content = fs::read(path).map_err(Error::file("read", path))?;
        let name = path.display().to_string();
        let broken = |verdict: Verdict| Error::format(path, verdict);
        let functions = reader.functions(&name, &content)?.map_err(broken)?;
        let look = reader.look(&name, &content)?.map_err(broken)?;
        Ok::<_, Error>((functions, look.structure.module))
    };
    let (name, mut report) = (second.display().to_string(), DiffReport::default());
    let ((first, before), (second, after)) = (read(first)?, read(second)?);
    report.pair(&name, &first, &second);
    if report.modules.same == 1 && before != after {
        report.differs_elsewhere(&name);
    }
    Ok(report)
}

/// An accepted row of a data set.
struct Waiting {
    row: u64,
    id: String,
}

/// The accepted rows of a data set, by what their modules are called.
type Named = BTreeMap<String, Vec<Waiting>>;

fn named(modules: &Modules) -> Result<Named, Error> {
    let mut all = Named::new();
    let rows = modules.dataset().manifest().rows;
    for (origin, row) in modules.dataset().rows_in::<ModuleOrigin>(0..rows)?.zip(0..) {
        let origin = origin?;
        if origin.verdict == Verdict::ACCEPTED {
            let name = name_of(&origin.package, &origin.path, &origin.target);
            all.entry(name).or_default().push(Waiting { row, id: origin.id });
        }
    }
    Ok(all)
}

/// What of the first each row of the second is compared with, and rows of the first that are left. Of several modules of one name those
/// of equal content belong together, the others in their order.
fn paired(first: Named, mut second: Named) -> (HashMap<u64, Waiting>, Vec<(String, u64)>) {
    let (mut pairs, mut left) = (HashMap::new(), Vec::new());
    for (name, ones) in first {
        let others = second.remove(&name).unwrap_or_default();
        let mut equal: HashMap<&str, VecDeque<u64>> = HashMap::new();
        for other in &others {
            equal.entry(&other.id).or_default().push_back(other.row);
        }
        let mut changed = Vec::new();
        for one in ones {
            match equal.get_mut(one.id.as_str()).and_then(VecDeque::pop_front) {
                Some(row) => drop(pairs.insert(row, one)),
                None => changed.push(one),
            }
        }
        let rows = others.iter().map(|other| other.row);
        let free: Vec<u64> = rows.filter(|row| !pairs.contains_key(row)).collect();
        let mut free = free.into_iter();
        for one in changed {
            match free.next() {
                Some(row) => drop(pairs.insert(row, one)),
                None => left.push((name.clone(), one.row)),
            }
        }
    }
    left.sort_by_key(|(_, row)| *row);
    (pairs, left)
}

fn of_sets(
    first: &Modules,
    second: &Modules,
    reader: &Reader,
    progress: &dyn Progress,
) -> Result<DiffReport, Error> {
    let (mut others, left) = paired(named(first)?, named(second)?);
    let mut report = DiffReport::default();
    progress.begin("comparing", second.dataset().manifest().rows);
    let mut modules = second.rows()?.zip(0..).map(|(module, row)| Ok::<_, Error>((module?, row)));
    loop {
        let chunk: Vec<(Module, u64)> = modules.by_ref().take(CHUNK).collect::<Result<_, _>>()?;
        if chunk.is_empty() {
            break;
        }
        let size = chunk.len() as u64;
        let accepted = chunk.into_iter().filter(|(module, _)| module.is_accepted());
        let pairs: Vec<(String, Option<Waiting>, Module)> = accepted
            .map(|(module, row)| {
                let name = name_of(&module.package, &module.path, &module.target);
                (name, others.remove(&row), module)
            })
            .collect();
        let compared: Vec<DiffReport> = pairs
            .par_iter()
            .map(|(name, other, module)| of_pair(name, other.as_ref(), module, first, reader))
            .collect::<Result<_, _>>()?;
        compared.into_iter().for_each(|one| report.absorb(one));
        progress.advance(size);
    }
    for (name, row) in left {
        let module = row_of(first, row)?;
        report.modules.only_first += 1;
        report.instructions_before += module.instructions;
        report.differences.push(Difference {
            module: name,
            change: "only-first".to_owned(),
            instructions_before: module.instructions,
            ..Difference::default()
        });
    }
    Ok(report)
}

fn of_pair(
    name: &str,
    other: Option<&Waiting>,
    module: &Module,
    first: &Modules,
    reader: &Reader,
) -> Result<DiffReport, Error> {
    let mut report =
        DiffReport { instructions_after: module.instructions, ..DiffReport::default() };
    let Some(other) = other else {
        report.modules.only_second = 1;
        report.differences.push(Difference {
            module: name.to_owned(),
            change: "only-second".to_owned(),
            instructions_after: module.instructions,
            ..Difference::default()
        });
        return Ok(report);
    };
    if other.id == module.id {
        report.instructions_before = module.instructions;
        report.modules.same = 1;
        report.functions.same = module.functions;
        return Ok(report);
    }
    let before = row_of(first, other.row)?;
    let read = |row: &Module| reader.functions(&row.path, &row.content);
    match (read(&before)?, read(module)?) {
        (Ok(one), Ok(two)) => {
            report.pair(name, &one, &two);
            if report.modules.same == 1 && before.structure != module.structure {
                report.differs_elsewhere(name);
            }
        }
        (Err(verdict), _) | (_, Err(verdict)) => {
            report.failed = 1;
            report.differences.push(Difference {
                module: name.to_owned(),
                change: verdict.to_string(),
                ..Difference::default()
            });
        }
    }
    report.instructions_before = before.instructions;
    report.instructions_after = module.instructions;
    Ok(report)
}

fn row_of(modules: &Modules, row: u64) -> Result<Module, Error> {
    let mut rows = modules.dataset().rows_in::<Module>(row..row + 1)?;
    let found = rows.next().transpose()?;
    found.ok_or_else(|| Error::format(modules.dataset().folder(), format!("has no row {row}")))
}

/// What a module is called: the same in two versions of one package.
fn name_of(package: &str, path: &str, target: &str) -> String {
    let mut name = String::new();
    for part in [package, path] {
        if !part.is_empty() {
            let apart = if name.is_empty() { "" } else { " " };
            name = format!("{name}{apart}{part}");
        }
    }
    if target.is_empty() || target == path { name } else { format!("{name} ({target})") }
}

impl DiffReport {
    fn absorb(&mut self, other: DiffReport) {
        self.modules.absorb(other.modules);
        self.functions.absorb(other.functions);
        self.failed += other.failed;
        self.instructions_before += other.instructions_before;
        self.instructions_after += other.instructions_after;
        self.differences.extend(other.differences);
    }

    /// The functions of two modules are alike, and their variables are not.
    fn differs_elsewhere(&mut self, name: &str) {
        self.modules = Compared { changed: 1, ..Compared::default() };
        self.differences.push(Difference {
            module: name.to_owned(),
            change: "changed".to_owned(),
            instructions_before: self.instructions_before,
            instructions_after: self.instructions_after,
            ..Difference::default()
        });
    }

    /// Compare the functions of two modules.
    fn pair(&mut self, name: &str, first: &Functions, second: &Functions) {
        self.instructions_before = first.values().map(|shape| shape.instructions).sum();
        self.instructions_after = second.values().map(|shape| shape.instructions).sum();
        let before = self.differences.len();
        for (function, one, two) in partners(first, second) {
            let change = match (one, two) {
                (Some(one), Some(two)) if one.structure == two.structure => {
                    self.functions.same += 1;
                    continue;
                }
                (Some(_), Some(_)) => {
                    self.functions.changed += 1;
                    "changed"
                }
                (Some(_), None) => {
                    self.functions.only_first += 1;
                    "only-first"
                }
                _ => {
                    self.functions.only_second += 1;
                    "only-second"
                }
            };
            self.differences.push(Difference {
                module: name.to_owned(),
                function: function.to_owned(),
                change: change.to_owned(),
                instructions_before: one.map_or(0, |shape| shape.instructions),
                instructions_after: two.map_or(0, |shape| shape.instructions),
            });
        }
        match self.differences.len() == before {
            true => self.modules.same += 1,
            false => self.modules.changed += 1,
        }
    }
}

impl Compared {
    fn absorb(&mut self, other: Compared) {
        self.only_first += other.only_first;
        self.only_second += other.only_second;
        self.same += other.same;
        self.changed += other.changed;
    }
}

type Partners<'f> = (&'f str, Option<Shape>, Option<Shape>);

/// Functions of two modules: by name, and then by name without the hash that ends rustc's.
fn partners<'f>(first: &'f Functions, second: &'f Functions) -> Vec<Partners<'f>> {
    let mut found: Vec<Partners<'f>> = Vec::new();
    let mut left: HashMap<&str, VecDeque<(&str, Shape)>> = HashMap::new();
    for (name, one) in first {
        match second.get(name) {
            Some(two) => found.push((name, Some(*one), Some(*two))),
            None => left.entry(stable_name(name)).or_default().push_back((name, *one)),
        }
    }
    for (name, two) in second.iter().filter(|(name, _)| !first.contains_key(*name)) {
        let one = left.get_mut(stable_name(name)).and_then(|all| {
            // One of equal structure, where there is one.
            let at = all.iter().position(|(_, one)| one.structure == two.structure).unwrap_or(0);
            all.remove(at)
        });
        found.push((name, one.map(|(_, one)| one), Some(*two)));
    }
    let alone = left.into_values().flatten().map(|(name, one)| (name, Some(one), None));
    found.extend(alone);
    found.sort_by_key(|(name, ..)| *name);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(all: &[(&str, u64)]) -> Functions {
        let shape = |structure| Shape { structure, instructions: structure };
        all.iter().map(|(name, structure)| ((*name).to_owned(), shape(*structure))).collect()
    }

    #[test]
    fn functions_are_paired_by_name_and_rustcs_without_its_hash() {
        let hash = |number: u32| format!("_ZN1f17h{number:016x}E");
        let (one, two, three) = (hash(1), hash(2), hash(3));
        let first = functions(&[("a", 1), ("b", 2), ("gone", 3), (&one, 4), (&two, 5)]);
        let second = functions(&[("a", 1), ("b", 9), ("new", 3), (&three, 5)]);
        let mut report = DiffReport::default();
        report.pair("m", &first, &second);
        let expected = Compared { only_first: 2, only_second: 1, same: 2, changed: 1 };
        assert_eq!(report.functions, expected);
        assert_eq!(report.modules.changed, 1);
        let named: Vec<(&str, &str)> =
            report.differences.iter().map(|d| (d.function.as_str(), d.change.as_str())).collect();
        let all = [
            (one.as_str(), "only-first"),
            ("b", "changed"),
            ("gone", "only-first"),
            ("new", "only-second"),
        ];
        assert_eq!(named, all);
    }

    #[test]
    fn what_is_in_no_function_makes_a_module_another_one() {
        let first = functions(&[("a", 1)]);
        let mut report = DiffReport::default();
        report.pair("m", &first, &first);
        assert_eq!(report.modules.same, 1);
        report.differs_elsewhere("m");
        assert_eq!((report.modules.same, report.modules.changed, report.is_same()), (0, 1, false));
        assert_eq!(report.differences[0].instructions_after, 1);
    }

    #[test]
    fn of_modules_of_one_name_equal_ones_belong_together() {
        let named = |ids: &[&str]| {
            let of = |(row, id): (u64, &&str)| Waiting { row, id: (*id).to_owned() };
            Named::from([("m".to_owned(), (0..).zip(ids).map(of).collect())])
        };
        let told = |first: &[&str], second: &[&str]| {
            let (pairs, left) = paired(named(first), named(second));
            let mut pairs: Vec<(u64, u64)> =
                pairs.into_iter().map(|(row, one)| (one.row, row)).collect();
            pairs.sort_unstable();
            (pairs, left.into_iter().map(|(_, row)| row).collect::<Vec<u64>>())
        };
        assert_eq!(told(&["a", "b"], &["b", "c"]), (vec![(0, 1), (1, 0)], vec![]));
        // What is new takes no other's place.
        assert_eq!(told(&["a"], &["b", "a"]), (vec![(0, 1)], vec![]));
        assert_eq!(told(&["a", "a", "b"], &["a"]), (vec![(0, 0)], vec![1, 2]));
    }

    #[test]
    fn a_module_is_called_after_package_and_file() {
        assert_eq!(name_of("zlib", "adler32.c", "adler32.o"), "zlib adler32.c (adler32.o)");
        assert_eq!(name_of("", "a.ll", "a.ll"), "a.ll");
    }
}
