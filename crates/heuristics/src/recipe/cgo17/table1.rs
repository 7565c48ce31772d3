//! Table 1: train on one suite, test on another.

use super::{
    Cells,
    data::{Platform, SUITES, suite},
};
use crate::{Result, model::Method};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Per cent of the oracle's performance.
pub(super) struct Table1 {
    pub(super) cells: Cells<f64>,
    pub(super) ranges: Cells<[f64; 2]>,
}

impl Table1 {
    /// A cell: a tree trained on one suite's rounded ratios predicts another's rows; a right
    /// prediction obtains the row's `speedup`, a wrong one its `penalty`; geometric mean obtained
    /// over geometric mean of the speedups.
    pub(super) fn compute(platform: &Platform, seeds: u32) -> Result<Table1> {
        let fixed = Method::parse("tree")?;
        let random = Method::parse("tree:random_ties=1")?;
        let mut table = Table1 { cells: BTreeMap::new(), ranges: BTreeMap::new() };
        let trained: Vec<(&str, Vec<BTreeMap<&str, f64>>)> = SUITES
            .into_par_iter()
            .map(|training| {
                let task = platform.rounded.filter(|row| suite(&row.program) == Some(training));
                let runs = std::iter::once((&fixed, 0))
                    .chain((0..seeds).map(|seed| (&random, seed)))
                    .map(|(method, seed)| tested(platform, method.fit(&task, seed)?.as_ref()));
                Ok((training, runs.collect::<Result<Vec<_>>>()?))
            })
            .collect::<Result<_>>()?;
        for (training, runs) in trained {
            for tested in SUITES {
                let values = runs.iter().map(|run| run[tested]);
                let low = values.clone().fold(f64::INFINITY, f64::min);
                let high = values.fold(f64::NEG_INFINITY, f64::max);
                table.cells.entry(tested).or_default().insert(training, runs[0][tested]);
                table.ranges.entry(tested).or_default().insert(training, [low, high]);
            }
        }
        Ok(table)
    }
}

/// What a model obtains on each suite.
fn tested(
    platform: &Platform,
    model: &dyn crate::model::Model,
) -> Result<BTreeMap<&'static str, f64>> {
    let mut rows: BTreeMap<&'static str, Vec<(f64, f64)>> = BTreeMap::new();
    for (at, row) in platform.rounded.rows.iter().enumerate() {
        let Some(suite) = suite(&row.program) else { continue };
        let best = platform.speedup[at];
        let right = model.predict(&row.features) == row.label;
        let obtained = if right { best } else { platform.penalty[at] };
        rows.entry(suite).or_default().push((obtained, best));
    }
    let share = |rows: &[(f64, f64)]| {
        let obtained = statistics::geometric_mean(rows.iter().map(|row| row.0));
        100.0 * obtained / statistics::geometric_mean(rows.iter().map(|row| row.1))
    };
    Ok(SUITES
        .into_iter()
        .map(|suite| (suite, share(rows.get(suite).map_or(&[], Vec::as_slice))))
        .collect())
}
