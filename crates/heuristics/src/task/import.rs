//! Tables from elsewhere as tasks: which column means what, and which rows are garbage.

use crate::{Error, Result, Row, Task, table::Table, task::cheapest};
use dataset::{Dataset, Row as _, Verdict};
use regex::Regex;
use rows::{FeaturesHead, TaskVerdict};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Where a row's group comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// A column.
    Column(String),
    /// The first capture group of a pattern in the program's name; a program that does not match,
    /// for example a generated one, is its own group.
    Pattern(String),
    /// Each program is its own group.
    Program,
}

/// Which features a row has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// These columns, as they are.
    Columns(Vec<String>),
    /// The four of Grewe, Wang and O'Boyle (CGO 2013, table 2), computed from the columns `comp`,
    /// `mem`, `localmem`, `coalesced`, `transfer` and `wgsize`.
    Grewe,
    /// The eleven of the CLgen paper's extended model (CGO 2017, section 8.2): seven raw columns
    /// and the four of Grewe.
    Extended,
}

impl Features {
    /// Their names in a task.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let text = |name: &&str| (*name).to_owned();
        match self {
            Features::Columns(columns) => columns.clone(),
            Features::Grewe => GREWE_NAMES.iter().map(text).collect(),
            Features::Extended => EXTENDED_RAW.iter().chain(&GREWE_NAMES).map(text).collect(),
        }
    }

    /// Columns they are computed from.
    fn inputs(&self) -> Vec<String> {
        match self {
            Features::Columns(columns) => columns.clone(),
            Features::Grewe => GREWE_INPUTS.map(str::to_owned).to_vec(),
            Features::Extended => EXTENDED_RAW.map(str::to_owned).to_vec(),
        }
    }
}

/// Which column of a table means what. The default reads the CLgen paper's files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mapping {
    /// Column with the program's name.
    pub program: String,
    /// Column with the input's name, if any.
    pub variant: Option<String>,
    /// Where the group comes from.
    pub group: Group,
    /// The features.
    pub features: Features,
    /// Choices and the columns with their costs, in the order of the task's choices; empty for a
    /// table of programs to predict for.
    pub costs: Vec<(String, String)>,
    /// Column with the best choice; where the table has it, it is checked against the costs.
    pub label: Option<String>,
    /// Columns that count things in a kernel: above this limit they hold garbage, not counts.
    pub counters: Vec<String>,
    /// The limit.
    pub counter_limit: f64,
}

impl Mapping {
    /// Columns of the CLgen paper's data (CGO 2017); groups are programs of a suite.
    #[must_use]
    pub fn cgo17(features: Features) -> Mapping {
        let text = str::to_owned;
        Mapping {
            program: text("benchmark"),
            variant: Some(text("dataset")),
            group: Group::Pattern(text(r"^([^0-9]+-[0-9.]+-[^-]+)")),
            features,
            costs: vec![(text("CPU"), text("runtime_cpu")), (text("GPU"), text("runtime_gpu"))],
            label: Some(text("oracle")),
            counters: ["comp", "rational", "mem", "localmem", "coalesced", "atomic"]
                .map(text)
                .to_vec(),
            counter_limit: 20_000.0,
        }
    }
}

impl Default for Mapping {
    fn default() -> Mapping {
        Mapping::cgo17(Features::Grewe)
    }
}

/// What an import kept and why it turned the rest away.
#[derive(Clone, Debug)]
pub struct Import {
    /// The rows kept.
    pub task: Task,
    /// Rows per verdict; `accepted` are those kept as they were.
    pub verdicts: BTreeMap<String, u64>,
    /// Rows rejected or changed: line in the table (the first row is line 2) and verdict.
    pub notes: Vec<(u64, Verdict)>,
}

/// What `heuristic import` reports.
#[derive(Clone, Debug, Serialize)]
pub struct ImportReport {
    /// Rows kept.
    pub rows: usize,
    /// Groups they fall into.
    pub groups: usize,
    /// Names of the features.
    pub features: Vec<String>,
    /// Rows per best choice.
    pub labels: BTreeMap<String, usize>,
    /// Rows per verdict, those rejected included.
    pub verdicts: BTreeMap<String, u64>,
}

impl Import {
    /// The import in numbers.
    #[must_use]
    pub fn report(&self) -> ImportReport {
        ImportReport {
            rows: self.task.rows.len(),
            groups: self.task.groups().len(),
            features: self.task.features.clone(),
            labels: self.task.labels(),
            verdicts: self.verdicts.clone(),
        }
    }
}

/// Options of `heuristic import`.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// A CSV table (may be `.gz`), a `.parquet` file or a data set with the mapped columns; or a
    /// data set of `label`, or of `features`, which has no costs; these need no mapping.
    pub source: PathBuf,
    /// Which column means what.
    pub mapping: Mapping,
    /// Keep rows whose counters exceed the limit (still counted).
    pub keep_garbage: bool,
}

/// Read a table as a task.
///
/// A row that cannot be learnt from gets one of these verdicts; none is dropped unseen:
/// `garbage-feature` (a counter above the limit, or negative), `not-a-number`, `infinite-ratio`
/// (Grewe's ratios of a kernel without memory accesses), `bad-cost` (not positive and finite),
/// `unknown-label`. `relabelled` rows are kept: the
/// table's label is not their cheapest choice.
///
/// # Errors
/// When the table cannot be read, a mapped column is missing, its column `space` names several
/// feature spaces, or no row is left.
pub fn import(options: &ImportOptions) -> Result<Import> {
    if Task::is_at(&options.source) {
        let task = Task::load(&options.source)?;
        let verdicts = BTreeMap::from([(Verdict::ACCEPTED.to_owned(), task.rows.len() as u64)]);
        return Ok(Import { task, verdicts, notes: Vec::new() });
    }
    if is_vectors(&options.source) {
        let table = super::Table::of_vectors(&options.source)?;
        let mut verdicts = table.left_out;
        verdicts.insert(Verdict::ACCEPTED.to_owned(), table.task.rows.len() as u64);
        return Ok(Import { task: table.task, verdicts, notes: Vec::new() });
    }
    let table = Table::read(&options.source)?;
    let imported = from_table(&table, &options.mapping, options.keep_garbage);
    if let (Err(Error::MissingColumn { .. }), Ok(found)) =
        (&imported, Dataset::open(&options.source))
        && dataset::maker(&found.manifest().schema).is_some()
    {
        // Rows of another stage: what is missing is a stage between, not a column.
        found.require(super::store::SCHEMA, super::store::VERSION)?;
    }
    imported
}

/// Whether there is a data set of `features`.
fn is_vectors(folder: &Path) -> bool {
    Dataset::is_at(folder)
        && Dataset::open(folder).is_ok_and(|found| found.manifest().schema == FeaturesHead::SCHEMA)
}

pub(crate) fn read(path: &Path, mapping: &Mapping, keep_garbage: bool) -> Result<Import> {
    from_table(&Table::read(path)?, mapping, keep_garbage)
}

fn from_table(table: &Table, mapping: &Mapping, keep_garbage: bool) -> Result<Import> {
    one_space(table)?;
    let reader = Reader::new(table, mapping)?;
    let mut import = Import {
        task: Task {
            features: reader.names.clone(),
            choices: mapping.costs.iter().map(|(choice, _)| choice.clone()).collect(),
            rows: Vec::new(),
        },
        verdicts: BTreeMap::new(),
        notes: Vec::new(),
    };
    for at in 0..table.rows() {
        let (row, verdict) = match (reader.row(at), reader.garbage(at)) {
            (Ok((row, verdict)), None) => (Some(row), verdict),
            (Ok((row, _)), Some(verdict)) => (keep_garbage.then_some(row), verdict),
            (Err(verdict), _) => (None, verdict),
        };
        *import.verdicts.entry(verdict.name.to_string()).or_default() += 1;
        import.task.rows.extend(row);
        if !verdict.is_accepted() {
            import.notes.push((at as u64 + 2, verdict));
        }
    }
    if import.task.rows.is_empty() {
        let rejected = import.notes.len() as u64;
        return Err(Error::NoRows { what: table.name().to_owned(), rejected });
    }
    Ok(import)
}

/// Refuse a table whose rows were described in several feature spaces.
fn one_space(table: &Table) -> Result<()> {
    let Ok(space) = table.column("space") else { return Ok(()) };
    let mut names = (0..table.rows()).map(|row| table.text(row, space));
    let Some(first) = names.next() else { return Ok(()) };
    match names.find(|name| *name != first) {
        None => Ok(()),
        Some(other) => {
            Err(Error::MixedSpaces { left: vec![first.to_owned()], right: vec![other.to_owned()] })
        }
    }
}

/// A table with its mapped columns found.
struct Reader<'a> {
    table: &'a Table,
    mapping: &'a Mapping,
    program: usize,
    variant: Option<usize>,
    group: GroupBy,
    names: Vec<String>,
    formula: Formula,
    inputs: Vec<usize>,
    costs: Vec<usize>,
    label: Option<usize>,
    counters: Vec<usize>,
}

enum GroupBy {
    Column(usize),
    Pattern(Regex),
    Program,
}

#[derive(Clone, Copy)]
enum Formula {
    Identity,
    Grewe,
    Extended,
}

/// Inputs of Grewe's ratios.
const GREWE_INPUTS: [&str; 6] = ["comp", "mem", "localmem", "coalesced", "transfer", "wgsize"];
/// Names of Grewe's ratios, as the CLgen paper's files spell them.
const GREWE_NAMES: [&str; 4] =
    ["F1:transfer/(comp+mem)", "F2:coalesced/mem", "F3:(localmem/mem)*avgws", "F4:comp/mem"];
/// Raw inputs of the extended model, in its order.
const EXTENDED_RAW: [&str; 7] =
    ["comp", "rational", "mem", "localmem", "coalesced", "transfer", "wgsize"];

impl<'a> Reader<'a> {
    fn new(table: &'a Table, mapping: &'a Mapping) -> Result<Reader<'a>> {
        let formula = match &mapping.features {
            Features::Columns(_) => Formula::Identity,
            Features::Grewe => Formula::Grewe,
            Features::Extended => Formula::Extended,
        };
        let places = |names: &[String]| -> Result<Vec<usize>> {
            names.iter().map(|name| table.column(name)).collect()
        };
        let group = match &mapping.group {
            Group::Column(column) => GroupBy::Column(table.column(column)?),
            Group::Pattern(pattern) => GroupBy::Pattern(pattern_of(pattern)?),
            Group::Program => GroupBy::Program,
        };
        let costs: Vec<String> = mapping.costs.iter().map(|(_, column)| column.clone()).collect();
        let optional =
            |name: &Option<String>| name.as_deref().map(|name| table.column(name)).transpose();
        Ok(Reader {
            table,
            mapping,
            program: table.column(&mapping.program)?,
            variant: optional(&mapping.variant)?,
            group,
            names: mapping.features.names(),
            formula,
            inputs: places(&mapping.features.inputs())?,
            costs: places(&costs)?,
            label: mapping.label.as_deref().and_then(|name| table.column(name).ok()),
            // A table without some counter has no garbage in it.
            counters: mapping
                .counters
                .iter()
                .filter_map(|name| table.columns().iter().position(|column| column == name))
                .collect(),
        })
    }

    /// A counter that no kernel has, if there is one.
    fn garbage(&self, at: usize) -> Option<Verdict> {
        self.counters.iter().find_map(|&column| {
            let value = self.table.number(at, column);
            let name = &self.table.columns()[column];
            (value < 0.0 || value > self.mapping.counter_limit)
                .then(|| Verdict::new(TaskVerdict::GarbageFeature, format!("{name} is {value}")))
        })
    }

    fn row(&self, at: usize) -> std::result::Result<(Row, Verdict), Verdict> {
        let program = self.table.text(at, self.program);
        let group = match &self.group {
            GroupBy::Column(column) => self.table.text(at, *column),
            GroupBy::Program => program,
            GroupBy::Pattern(pattern) => pattern
                .captures(program)
                .and_then(|captures| captures.get(1))
                .map_or(program, |found| found.as_str()),
        };
        let features = self.features(at)?;
        let costs = self.costs_of(at)?;
        let label = cheapest(&costs);
        let mut row = Row {
            program: program.to_owned(),
            variant: self.variant.map_or("", |column| self.table.text(at, column)).to_owned(),
            group: group.to_owned(),
            features,
            costs,
            label,
        };
        let mut verdict = Verdict::accepted();
        if let (true, Some(column)) = (row.measured(), self.label) {
            let text = self.table.text(at, column);
            let stated = self.mapping.costs.iter().position(|(choice, _)| choice == text);
            let stated = stated.ok_or_else(|| Verdict::new(TaskVerdict::UnknownLabel, text))?;
            if row.costs[stated] == row.costs[label] {
                row.label = stated;
            } else {
                verdict =
                    Verdict::new(TaskVerdict::Relabelled, format!("{text} is not the cheapest"));
            }
        }
        Ok((row, verdict))
    }

    fn features(&self, at: usize) -> std::result::Result<Vec<f64>, Verdict> {
        let inputs: Vec<f64> =
            self.inputs.iter().map(|&column| self.table.number(at, column)).collect();
        let ratios = !matches!(self.formula, Formula::Identity);
        let bad = inputs.iter().position(|value| !value.is_finite() || (ratios && *value < 0.0));
        if let Some(place) = bad {
            let column = self.inputs[place];
            let (name, text) = (&self.table.columns()[column], self.table.text(at, column));
            let word = match inputs[place] {
                value if value.is_nan() => "not-a-number",
                value if value.is_infinite() => "infinite-ratio",
                _ => "garbage-feature",
            };
            return Err(Verdict::new(word, format!("{name} is `{text}`")));
        }
        let values = match self.formula {
            Formula::Identity => inputs,
            Formula::Grewe => {
                grewe(inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], inputs[5]).to_vec()
            }
            Formula::Extended => {
                let [comp, _, mem, localmem, coalesced, transfer, wgsize] = inputs[..] else {
                    unreachable!("the extended model has seven raw inputs");
                };
                let ratios = grewe(comp, mem, localmem, coalesced, transfer, wgsize);
                inputs.iter().copied().chain(ratios).collect()
            }
        };
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(place) => Err(Verdict::new(TaskVerdict::InfiniteRatio, self.names[place].clone())),
        }
    }

    fn costs_of(&self, at: usize) -> std::result::Result<Vec<f64>, Verdict> {
        let costs: Vec<f64> =
            self.costs.iter().map(|&column| self.table.number(at, column)).collect();
        match costs.iter().position(|cost| !(cost.is_finite() && *cost > 0.0)) {
            None => Ok(costs),
            Some(place) => {
                let column = self.costs[place];
                let (name, text) = (&self.table.columns()[column], self.table.text(at, column));
                Err(Verdict::new(TaskVerdict::BadCost, format!("{name} is `{text}`")))
            }
        }
    }
}

/// The four features of Grewe, Wang and O'Boyle (CGO 2013, table 2): data moved per operation,
/// coalesced share of memory accesses, local memory use weighted by work-group size, and
/// operations per memory access.
#[must_use]
pub(crate) fn grewe(
    comp: f64,
    mem: f64,
    localmem: f64,
    coalesced: f64,
    transfer: f64,
    wgsize: f64,
) -> [f64; 4] {
    [transfer / (comp + mem), coalesced / mem, localmem / mem * wgsize, comp / mem]
}

fn pattern_of(pattern: &str) -> Result<Regex> {
    let bad = |reason: String| Error::Pattern { pattern: pattern.to_owned(), reason };
    let regex = Regex::new(pattern).map_err(|error| bad(error.to_string()))?;
    if regex.captures_len() < 2 {
        return Err(bad("it has no capture group, for example `^([^-]+)`".to_owned()));
    }
    Ok(regex)
}
