//! Rows that no model can tell apart (CLgen, CGO 2017, section 8.2): equal features, different
//! best choices. They bound what any model of these features can reach.

use crate::{Result, Row, Task};
use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// Sets listed at most.
const LISTED: usize = 20;

/// What a feature space hides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeatureCollisions {
    /// Distinct feature vectors.
    pub vectors: usize,
    /// Vectors on which different choices are best.
    pub conflicting_vectors: usize,
    /// Rows with such a vector.
    pub conflicting_rows: usize,
    /// Pairs of rows with equal features and different labels.
    pub pairs: usize,
    /// No model of these features has a higher accuracy on these rows.
    pub accuracy_ceiling: f64,
    /// Nor a higher share of the oracle: the geometric mean when the choice that is cheapest over
    /// all rows of its vector is made for each.
    pub oracle_share_ceiling: f64,
    /// The costliest sets of such rows, at most 20.
    pub sets: Vec<CollisionSet>,
}

/// Rows with equal features and different best choices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CollisionSet {
    /// The features by the task's names.
    pub features: BTreeMap<String, f64>,
    /// `program variant` by best choice.
    pub programs: BTreeMap<String, Vec<String>>,
    /// Geometric mean of what the best single choice costs over what the best choice of each row
    /// costs: at least 1.
    pub cost: f64,
}

impl fmt::Display for FeatureCollisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} distinct feature vectors are best on different choices: {} rows, {} pairs\n\
             no model of these features has an accuracy above {:.3} or a share of the oracle \
             above {:.3} on these rows",
            self.conflicting_vectors,
            self.vectors,
            self.conflicting_rows,
            self.pairs,
            self.accuracy_ceiling,
            self.oracle_share_ceiling,
        )
    }
}

/// Find rows with equal features and different labels.
///
/// # Errors
/// When the task has no rows or unmeasured ones.
pub fn feature_collisions(task: &Task) -> Result<FeatureCollisions> {
    task.require_measured(crate::task::USABLE)?;
    let mut vectors: BTreeMap<Vec<u64>, Vec<&Row>> = BTreeMap::new();
    for row in &task.rows {
        // Adding zero makes the two zeros one.
        let key = row.features.iter().map(|value| (value + 0.0).to_bits()).collect();
        vectors.entry(key).or_default().push(row);
    }
    let mut found = FeatureCollisions {
        vectors: vectors.len(),
        conflicting_vectors: 0,
        conflicting_rows: 0,
        pairs: 0,
        accuracy_ceiling: 0.0,
        oracle_share_ceiling: 0.0,
        sets: Vec::new(),
    };
    let (mut right, mut lost) = (0, 0.0);
    for rows in vectors.values() {
        let mut counts = vec![0; task.choices.len()];
        for row in rows {
            counts[row.label] += 1;
        }
        right += counts.iter().max().copied().unwrap_or(0);
        let loss = least_loss(task, rows);
        lost += loss;
        let equal: usize = counts.iter().map(|count| count * count).sum();
        let pairs = (rows.len() * rows.len() - equal) / 2;
        if pairs > 0 {
            found.conflicting_vectors += 1;
            found.conflicting_rows += rows.len();
            found.pairs += pairs;
            found.sets.push(set(task, rows, loss));
        }
    }
    found.accuracy_ceiling = right as f64 / task.rows.len() as f64;
    found.oracle_share_ceiling = (-lost / task.rows.len() as f64).exp();
    found.sets.sort_by(|a, b| b.cost.total_cmp(&a.cost));
    found.sets.truncate(LISTED);
    Ok(found)
}

/// Sum over rows of the logarithm of what the best single choice costs over the oracle.
fn least_loss(task: &Task, rows: &[&Row]) -> f64 {
    let loss = |choice: usize| {
        rows.iter().map(|row| (row.costs[choice] / row.costs[row.label]).ln()).sum::<f64>()
    };
    (0..task.choices.len()).map(loss).fold(f64::INFINITY, f64::min)
}

fn set(task: &Task, rows: &[&Row], loss: f64) -> CollisionSet {
    let mut programs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let name = format!("{} {}", row.program, row.variant).trim_end().to_owned();
        programs.entry(task.choices[row.label].clone()).or_default().push(name);
    }
    CollisionSet {
        features: task.features.iter().cloned().zip(rows[0].features.iter().copied()).collect(),
        programs,
        cost: (loss / rows.len() as f64).exp(),
    }
}
