//! The error by number of real programs.

use super::{
    DiagnoseOptions, ErrorOf, Learner,
    fold::{Folds, Losses},
};
use crate::{Result, Table};
use serde::Serialize;

/// The smallest training set of a curve, and how many sizes there are at most.
const SMALLEST: usize = 20;
const SIZES: usize = 7;

/// A point of the learning curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Programs trained on.
    pub programs: usize,
    /// The error on held-out groups.
    pub error: ErrorOf,
}

/// Sizes double up to where the data end; the change by the last doubling is paired by group.
pub(super) fn measure(
    learner: &dyn Learner,
    table: &Table,
    folds: &Folds,
    options: &DiagnoseOptions,
    whole: &Losses,
) -> Result<(Vec<CurvePoint>, Option<ErrorOf>)> {
    let most = folds.smallest();
    let halves = std::iter::successors(Some(most), |size| Some(size / 2));
    let mut sizes: Vec<usize> = halves.take_while(|size| *size >= SMALLEST).take(SIZES).collect();
    sizes.reverse();
    let seed = u64::from(options.seed);
    let (mut points, mut found): (_, Vec<Losses>) = (Vec::new(), Vec::new());
    for size in sizes {
        // Where all training sets are of the smallest's size, they were measured already.
        let is_whole = folds.all.iter().all(|fold| fold.train.len() == size);
        let losses = if is_whole {
            whole.clone()
        } else {
            let draws = (most / size).clamp(1, options.draws.max(1));
            folds.losses(learner, table, (size, draws), options.seed)?
        };
        points.push(CurvePoint { programs: size, error: losses.interval(seed) });
        found.push(losses);
    }
    let last = match found.as_slice() {
        [.., before, last] => Some(last.against(before, seed, |last, before| last / before - 1.0)),
        _ => None,
    };
    Ok((points, last.filter(|change| change.value.is_finite())))
}
