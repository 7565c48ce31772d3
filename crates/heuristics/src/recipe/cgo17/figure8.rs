//! Figure 8: the extended model against the original one over all suites.

use super::{PUBLISHED_SEED, data::Platform};
use crate::{
    Result, Task,
    model::Method,
    score::{Paired, compare, score},
    validate::Folds,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Figure 8 for one platform.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figure8 {
    /// As published: arithmetic mean of group means of new model / old model.
    pub(super) paper_formula: f64,
    pub(super) right_orientation: RightOrientation,
    /// The old model first, the new one second.
    pub(super) paired: Paired,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct RightOrientation {
    /// Geometric mean over rows of old model / new model.
    pub(super) geomean: f64,
    /// 95 % bootstrap interval over programs.
    pub(super) interval: [f64; 2],
    /// Of the old model (a tree on Grewe's ratios) and of the new one (the nearest neighbour in
    /// eleven unscaled features).
    pub(super) accuracy: [f64; 2],
}

impl Figure8 {
    /// Each program of all suites is predicted by models trained on the other programs and
    /// CLgen's kernels.
    pub(super) fn compute(platform: &Platform) -> Result<Figure8> {
        let task = &platform.benchmarks;
        let folds = Folds::by_group(task, 0, 0)?;
        let tree = Method::parse("tree:random_ties=1")?;
        let nearest = Method::parse("knn:k=1")?;
        let (old, _) = folds.predict(task, Some(&platform.synthetic), &tree, PUBLISHED_SEED)?;
        let (new, _) = folds.predict(
            &platform.benchmarks_extended,
            Some(&platform.synthetic_extended),
            &nearest,
            PUBLISHED_SEED,
        )?;
        let seed = u64::from(PUBLISHED_SEED);
        let paired = compare(task, &old, &new, seed)?;
        Ok(Figure8 {
            paper_formula: paper_formula(task, &old, &new),
            right_orientation: RightOrientation {
                geomean: paired.geomean,
                interval: paired.interval,
                accuracy: [score(task, &old, seed)?.accuracy, score(task, &new, seed)?.accuracy],
            },
            paired,
        })
    }
}

fn paper_formula(task: &Task, old: &[usize], new: &[usize]) -> f64 {
    let mut groups: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for ((row, &old), &new) in task.rows.iter().zip(old).zip(new) {
        let group = groups.entry(&row.group).or_default();
        group.0 += row.costs[new] / row.costs[old];
        group.1 += 1.0;
    }
    groups.values().map(|(sum, rows)| sum / rows).sum::<f64>() / groups.len() as f64
}
