//! Tasks: tables that heuristics learn from.

mod import;
mod store;
mod table;

pub(crate) use import::read;
pub use import::{Features, Group, Import, ImportOptions, ImportReport, Mapping, import};
pub use table::{Origin, Table};

use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// One observation: a program on one input.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The program or kernel.
    pub program: String,
    /// Which input or size of it; may be empty.
    pub variant: String,
    /// What is held out together in cross-validation, for example the benchmark.
    pub group: String,
    /// One finite value per feature of the task.
    pub features: Vec<f64>,
    /// What each choice of the task costs, positive, in any one unit; empty where unmeasured.
    pub costs: Vec<f64>,
    /// The cheapest choice, as a place in the task's choices; 0 where unmeasured.
    pub label: usize,
}

impl Row {
    /// Whether costs are known.
    #[must_use]
    pub fn measured(&self) -> bool {
        !self.costs.is_empty()
    }

    /// What tells it from other rows: program, input and features.
    pub(crate) fn mark(&self) -> String {
        let features: Vec<u8> = self.features.iter().flat_map(|one| one.to_le_bytes()).collect();
        let pieces = [self.program.as_bytes(), self.variant.as_bytes(), &features];
        let mut mark = dataset::content_hash_of(pieces);
        mark.truncate(16);
        mark
    }
}

/// A table of observations with named features and named choices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    /// Names of the features, in the order of [`Row::features`].
    pub features: Vec<String>,
    /// Names of the choices, in the order of [`Row::costs`].
    pub choices: Vec<String>,
    /// The observations.
    pub rows: Vec<Row>,
}

/// Where rows are wanted, as an error names it.
pub(crate) const USABLE: &str =
    "the task that have a label and vectors (`stampmill label --features VECTORS` puts vectors in)";

impl Task {
    /// Number of rows per choice that is best on them; choices that never are stand there with 0.
    #[must_use]
    pub fn labels(&self) -> BTreeMap<String, usize> {
        let mut counts: BTreeMap<String, usize> =
            self.choices.iter().map(|choice| (choice.clone(), 0)).collect();
        for row in self.rows.iter().filter(|row| row.measured()) {
            if let Some(count) = counts.get_mut(&self.choices[row.label]) {
                *count += 1;
            }
        }
        counts
    }

    /// The groups, sorted.
    #[must_use]
    pub fn groups(&self) -> BTreeSet<&str> {
        self.rows.iter().map(|row| row.group.as_str()).collect()
    }

    /// The choice that is most often best (ZeroR); of equals the one that costs least in the geometric mean, the first where
    /// that is the same too.
    #[must_use]
    pub fn majority(&self) -> usize {
        let mut counts = vec![0usize; self.choices.len()];
        for row in self.rows.iter().filter(|row| row.measured()) {
            counts[row.label] += 1;
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let cost = |choice: usize| -> f64 {
            let measured = self.rows.iter().filter(|row| row.measured());
            measured.map(|row| row.costs[choice].ln()).sum()
        };
        let often = (0..counts.len()).filter(|choice| counts[*choice] == most);
        often.min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(0)
    }

    /// The rows that satisfy a condition, as a task of the same shape.
    #[must_use]
    pub fn filter(&self, mut keep: impl FnMut(&Row) -> bool) -> Task {
        let rows = self.rows.iter().filter(|row| keep(row)).cloned().collect();
        Task { rows, features: self.features.clone(), choices: self.choices.clone() }
    }

    /// The same rows with the named features only, in that order.
    ///
    /// # Errors
    /// Names a feature that the task does not have.
    pub fn select(&self, names: &[String]) -> Result<Task> {
        let place = |name: &String| {
            let place = self.features.iter().position(|feature| feature == name);
            place.ok_or_else(|| Error::MissingColumn {
                table: "the task".to_owned(),
                column: name.clone(),
                found: self.features.clone(),
            })
        };
        let places: Vec<usize> = names.iter().map(place).collect::<Result<_>>()?;
        let mut task = self.clone();
        task.features = names.to_vec();
        for row in &mut task.rows {
            row.features = places.iter().map(|&place| row.features[place]).collect();
        }
        Ok(task)
    }

    /// This task's rows followed by another's.
    ///
    /// # Errors
    /// When features or choices differ: rows of different spaces cannot be compared.
    pub fn join(mut self, other: &Task) -> Result<Task> {
        self.same_space(other)?;
        self.rows.extend(other.rows.iter().cloned());
        Ok(self)
    }

    /// Refuse a task with other features or choices.
    ///
    /// # Errors
    /// Names the two lists that differ.
    pub fn same_space(&self, other: &Task) -> Result<()> {
        same(&self.features, &other.features)?;
        same(&self.choices, &other.choices)
    }

    /// Refuse a task that cannot be learnt from or scored on.
    ///
    /// # Errors
    /// When there are no rows, or rows without costs.
    pub fn require_measured(&self, what: &str) -> Result<()> {
        if self.rows.is_empty() {
            return Err(Error::NoRows { what: what.to_owned(), rejected: 0 });
        }
        match self.rows.iter().filter(|row| !row.measured()).count() {
            0 => Ok(()),
            unmeasured => Err(Error::Unmeasured(unmeasured)),
        }
    }
}

/// The cheapest choice; the first of equals.
pub(crate) fn cheapest(costs: &[f64]) -> usize {
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    costs.iter().position(|&cost| cost == least).unwrap_or(0)
}

fn same(left: &[String], right: &[String]) -> Result<()> {
    if left == right {
        return Ok(());
    }
    Err(Error::MixedSpaces { left: left.to_vec(), right: right.to_vec() })
}
