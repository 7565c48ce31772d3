//! A task with what its data set says beyond it.

use super::store::{SCHEMA, VERSION, from_batch};
use crate::{Error, Result, Row, Task, task::cheapest};
use arrow::array::{Array, AsArray, Float64Array, ListArray, RecordBatch, StringArray};
use arrow::datatypes::Float64Type;
use dataset::{Dataset, Manifest, Row as _, Verdict};
use rows::FeaturesHead;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// Where a row's program is from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Identity of the program; empty where the table does not say.
    pub id: String,
    /// Its package; the row's group where the table does not say.
    pub package: String,
    /// Its family of near-duplicates; empty where the table does not say.
    pub family: String,
}

/// A task, where its programs are from, and how its labels were made.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What it is called: the folder.
    pub name: String,
    /// The rows that have features. With one choice they are measured: others say nothing there.
    pub task: Task,
    /// Where each row's program is from.
    pub origins: Vec<Origin>,
    /// Rows that are not in the task, by their verdict.
    pub left_out: BTreeMap<String, u64>,
    /// The feature spaces in it: name, and the places of its dimensions in the task's features.
    pub spaces: Vec<(String, std::ops::Range<usize>)>,
    /// The question, where its data set says: its task and what the costs are.
    pub about: String,
    /// The level (0 to 3) that its vectors were counted at, where its data set says.
    pub level: Option<u64>,
    /// What shapes its labels: what two tables must have in common to be compared.
    pub labels: BTreeMap<String, String>,
}

impl Table {
    /// Read a data set of schema `task`.
    ///
    /// # Errors
    /// As [`Task::load`].
    pub fn load(folder: &Path) -> Result<Table> {
        let dataset = Dataset::open(folder)?;
        dataset.require(SCHEMA, VERSION)?;
        let manifest = dataset.manifest();
        let configuration = &manifest.notes.configuration;
        let mut table = Table { name: folder.display().to_string(), ..Table::default() };
        let listed = names(&configuration["choices"]);
        let said = |key: &str| configuration[key].as_str().unwrap_or_default();
        table.about = [said("task"), said("costs")]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(": ");
        table.level = configuration["vectors_level"].as_u64();
        for batch in dataset.batches(None)? {
            let batch = batch?;
            match batch.column_by_name("costs").and_then(|column| column.as_list_opt::<i32>()) {
                Some(costs) => table.read_lists(&batch, costs, &listed, configuration)?,
                None => {
                    let part = from_batch(folder, &batch)?;
                    let origin =
                        |row: &Row| Origin { package: row.group.clone(), ..Origin::default() };
                    table.origins.extend(part.rows.iter().map(origin));
                    let is_first = table.task.features.is_empty();
                    table.task = if is_first { part } else { table.task.join(&part)? };
                }
            }
        }
        table.labels = match listed.is_empty() {
            // Measured: another machine is another question.
            true => BTreeMap::from([("machine".to_owned(), measured_on(manifest))]),
            false => ["task", "choices", "settings", "compiled"]
                .iter()
                .map(|key| ((*key).to_owned(), configuration[*key].to_string()))
                .chain(manifest.notes.tools.clone())
                .collect(),
        };
        Ok(table)
    }

    /// Read a data set of `features` as a task without choices: programs to predict for. Rows without a vector in
    /// each of its spaces are left out.
    ///
    /// # Errors
    /// When it is of another schema, of a later version, or broken.
    pub fn of_vectors(folder: &Path) -> Result<Table> {
        let dataset = Dataset::open(folder)?;
        dataset.require(FeaturesHead::SCHEMA, FeaturesHead::VERSION)?;
        let configuration = &dataset.manifest().notes.configuration;
        let mut table = Table { name: folder.display().to_string(), ..Table::default() };
        table.level = configuration["level"].as_u64();
        for batch in dataset.batches(None)? {
            let batch = batch?;
            let spaces = table.columns(&batch, configuration)?;
            table.name_features(&spaces);
            // Data sets of earlier versions have none.
            let name = table.text(&batch, "name").ok();
            let [path, kernel, verdict, id] = [
                table.text(&batch, "path")?,
                table.text(&batch, "kernel")?,
                table.text(&batch, "verdict")?,
                table.text(&batch, "id")?,
            ];
            for at in 0..batch.num_rows() {
                let mut features = Vec::with_capacity(table.task.features.len());
                if spaces.is_empty() || !spaces.iter().all(|space| space.append(at, &mut features))
                {
                    let why = match verdict.value(at) {
                        Verdict::ACCEPTED => "undescribed",
                        why => why,
                    };
                    *table.left_out.entry(why.to_owned()).or_default() += 1;
                    continue;
                }
                let path = path.value(at).to_owned();
                // As its author named it, where that is known.
                let variant = name.map(|name| name.value(at)).filter(|name| !name.is_empty());
                let row = Row {
                    program: path.clone(),
                    variant: variant.unwrap_or(kernel.value(at)).to_owned(),
                    group: path,
                    features,
                    costs: Vec::new(),
                    label: 0,
                };
                table.task.rows.push(row);
                table.origins.push(Origin { id: id.value(at).to_owned(), ..Origin::default() });
            }
        }
        Ok(table)
    }

    /// The family of each row: of one whose family the table does not say, the program itself.
    #[must_use]
    pub fn families(&self) -> Vec<String> {
        let family = |(row, origin): (&Row, &Origin)| match origin.family.as_str() {
            "" => row.program.clone(),
            family => family.to_owned(),
        };
        self.task.rows.iter().zip(&self.origins).map(family).collect()
    }

    /// Rows whose family of near-duplicates has rows of another group: where whole groups are held out, and families are
    /// not, these stand on both sides.
    #[must_use]
    pub fn leaking(&self) -> usize {
        let families = self.families();
        let mut groups: BTreeMap<&str, &str> = BTreeMap::new();
        let mut several = BTreeSet::new();
        for (family, row) in families.iter().zip(&self.task.rows) {
            if *groups.entry(family).or_insert(&row.group) != row.group {
                several.insert(family.as_str());
            }
        }
        families.iter().filter(|family| several.contains(family.as_str())).count()
    }

    /// Refuse a table whose labels or features mean something else.
    ///
    /// # Errors
    /// Names what differs.
    pub fn same_labels(&self, other: &Table) -> Result<()> {
        self.same_question(other)?;
        self.task.same_space(&other.task)
    }

    /// Refuse a table whose labels mean something else: of another task, other tools, or measured on another machine.
    ///
    /// # Errors
    /// Names what differs.
    pub fn same_question(&self, other: &Table) -> Result<()> {
        let differs = self.labels.iter().find(|(key, value)| other.labels.get(*key) != Some(value));
        if let Some((key, value)) = differs {
            let shown = |text: Option<&String>| match text {
                Some(text) if text.len() <= 60 => format!("`{text}`"),
                Some(_) => "another".to_owned(),
                None => "none".to_owned(),
            };
            return Err(Error::OtherLabels {
                left: self.name.clone(),
                right: other.name.clone(),
                what: format!(
                    "{key} is {} and {}",
                    shown(Some(value)),
                    shown(other.labels.get(key))
                ),
            });
        }
        Ok(())
    }

    /// The task with the features of these spaces only.
    ///
    /// # Errors
    /// When it has no such space.
    pub fn with_spaces(mut self, wanted: &[String]) -> Result<Table> {
        let (mut names, mut spaces) = (Vec::new(), Vec::new());
        for wanted in wanted {
            let Some((name, places)) = self.spaces.iter().find(|(name, _)| name == wanted) else {
                let known: Vec<&str> = self.spaces.iter().map(|(name, _)| name.as_str()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(Error::NoFeatures(format!(" of `{wanted}` (there is {known})")));
            };
            let begin = names.len();
            names.extend(self.task.features[places.clone()].iter().cloned());
            spaces.push((name.clone(), begin..names.len()));
        }
        self.task = self.task.select(&names)?;
        self.spaces = spaces;
        Ok(self)
    }

    fn read_lists(
        &mut self,
        batch: &RecordBatch,
        costs: &ListArray,
        choices: &[String],
        configuration: &Value,
    ) -> Result<()> {
        let name = self.name.clone();
        let bad = |reason: String| Error::Table { path: name.clone().into(), reason };
        let spaces = self.columns(batch, configuration)?;
        self.task.choices = choices.to_vec();
        self.name_features(&spaces);
        let text = |column: &str| self.text(batch, column);
        let [program, variant, group, label, verdict, detail, id, package, family] = [
            text("program")?,
            text("variant")?,
            text("group")?,
            text("label")?,
            text("verdict")?,
            text("detail")?,
            text("id")?,
            text("package")?,
            text("family")?,
        ];
        for at in 0..batch.num_rows() {
            let mut leave = |why: &str| *self.left_out.entry(why.to_owned()).or_default() += 1;
            if label.is_null(at) {
                leave(verdict.value(at));
                continue;
            }
            let mut features = Vec::with_capacity(self.task.features.len());
            let found = spaces.iter().all(|space| space.append(at, &mut features));
            if spaces.is_empty() || !found {
                // `label` says why a program has no vectors.
                match detail.value(at) {
                    "" => leave("undescribed"),
                    why => {
                        leave(&format!("undescribed ({})", why.trim_start_matches("no vectors: ")))
                    }
                }
                continue;
            }
            if let Some(place) = features.iter().position(|value| !value.is_finite()) {
                let (feature, value) = (&self.task.features[place], features[place]);
                return Err(bad(format!("row {at}: `{feature}` is {value}")));
            }
            let paid = costs.value(at);
            let paid = paid.as_primitive_opt::<Float64Type>();
            let paid = paid.ok_or_else(|| bad("column `costs` holds no numbers".to_owned()))?;
            if paid.len() != choices.len() || paid.null_count() > 0 {
                return Err(bad(format!(
                    "row {at} has a label and {} costs, where there are {} choices",
                    paid.len() - paid.null_count(),
                    choices.len()
                )));
            }
            let paid = paid.values().to_vec();
            if let Some(place) = paid.iter().position(|cost| !(cost.is_finite() && *cost > 0.0)) {
                return Err(bad(format!(
                    "row {at}: cost of `{}` is {}",
                    choices[place], paid[place]
                )));
            }
            self.task.rows.push(Row {
                program: program.value(at).to_owned(),
                variant: variant.value(at).to_owned(),
                group: group.value(at).to_owned(),
                features,
                label: cheapest(&paid),
                costs: paid,
            });
            let package = match package.value(at) {
                "" => group.value(at),
                package => package,
            };
            self.origins.push(Origin {
                id: id.value(at).to_owned(),
                package: package.to_owned(),
                family: family.value(at).to_owned(),
            });
        }
        Ok(())
    }

    /// Name the features by the first batch's spaces and their dimensions.
    fn name_features(&mut self, spaces: &[SpaceColumn<'_>]) {
        if !self.task.features.is_empty() {
            return;
        }
        for space in spaces {
            let begin = self.task.features.len();
            let named = space.dimensions.iter().map(|name| format!("{}:{name}", space.name));
            self.task.features.extend(named);
            self.spaces.push((space.name.clone(), begin..self.task.features.len()));
        }
    }

    /// A column of text.
    fn text<'a>(&self, batch: &'a RecordBatch, column: &str) -> Result<&'a StringArray> {
        let found = batch.column_by_name(column).and_then(|found| found.as_string_opt::<i32>());
        found.ok_or_else(|| Error::Table {
            path: self.name.clone().into(),
            reason: format!("column `{column}` holds no text or is missing"),
        })
    }

    /// The columns that hold vectors.
    fn columns<'a>(
        &self,
        batch: &'a RecordBatch,
        configuration: &Value,
    ) -> Result<Vec<SpaceColumn<'a>>> {
        let mut all = Vec::new();
        for (name, dimensions) in configuration["spaces"].as_object().into_iter().flatten() {
            let Some(column) = batch.column_by_name(name) else { continue };
            let dimensions = names(dimensions);
            let values = if let Some(lists) = column.as_list_opt::<i32>() {
                Values::List(lists)
            } else if let Some(members) = column.as_struct_opt() {
                let member =
                    |name: &String| members.column_by_name(name)?.as_primitive_opt::<Float64Type>();
                let found: Option<Vec<_>> = dimensions.iter().map(member).collect();
                let found = found.ok_or_else(|| Error::Table {
                    path: self.name.clone().into(),
                    reason: format!("column `{name}` lacks a dimension"),
                })?;
                Values::Members(column, found)
            } else {
                continue;
            };
            all.push(SpaceColumn { name: name.clone(), dimensions, values });
        }
        Ok(all)
    }
}

/// The machine that labels were measured on: that of the runs, wherever they became a table, or of the table that this is a
/// part of.
fn measured_on(manifest: &Manifest) -> String {
    let of = |schema: &str| -> BTreeSet<&str> {
        let made = manifest.lineage.values().filter(|made| made.schema == schema);
        made.map(|made| made.host.as_str()).collect()
    };
    let hosts = ["run", SCHEMA].into_iter().map(of).find(|hosts| !hosts.is_empty());
    hosts.map_or_else(|| manifest.host.clone(), |hosts| Vec::from_iter(hosts).join("; "))
}

struct SpaceColumn<'a> {
    name: String,
    dimensions: Vec<String>,
    values: Values<'a>,
}

enum Values<'a> {
    List(&'a ListArray),
    Members(&'a dyn Array, Vec<&'a Float64Array>),
}

impl SpaceColumn<'_> {
    /// Append a row's vector; false where it has none of the right length.
    fn append(&self, at: usize, to: &mut Vec<f64>) -> bool {
        match &self.values {
            Values::List(lists) if lists.is_valid(at) => {
                let list = lists.value(at);
                let Some(values) = list.as_primitive_opt::<Float64Type>() else { return false };
                to.extend(values.values());
                values.len() == self.dimensions.len()
            }
            Values::Members(column, members) if column.is_valid(at) => {
                to.extend(members.iter().map(|member| member.value(at)));
                true
            }
            _ => false,
        }
    }
}

fn names(list: &Value) -> Vec<String> {
    let each = list.as_array().into_iter().flatten();
    each.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}
