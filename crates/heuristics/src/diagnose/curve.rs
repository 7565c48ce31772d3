//! The error by number of real programs.

use super::{
    DiagnoseOptions, ErrorOf, Interval, Learner,
    fold::{Repeated, Splits},
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

/// The curve, and what its last doubling does.
pub(super) struct Curve {
    pub(super) points: Vec<CurvePoint>,
    /// Relative change of the error.
    pub(super) last: Option<ErrorOf>,
    /// Its least and greatest value over the splits.
    pub(super) over_splits: Option<Interval>,
}

/// Sizes double up to where the data end; the change by the last doubling is paired by group.
pub(super) fn measure(
    learner: &dyn Learner,
    table: &Table,
    splits: &Splits,
    options: &DiagnoseOptions,
    whole: &Repeated,
) -> Result<Curve> {
    let most = splits.smallest();
    let halves = std::iter::successors(Some(most), |size| Some(size / 2));
    let mut sizes: Vec<usize> = halves.take_while(|size| *size >= SMALLEST).take(SIZES).collect();
    sizes.reverse();
    let seed = u64::from(options.seed);
    let (mut points, mut found): (_, Vec<Repeated>) = (Vec::new(), Vec::new());
    for size in sizes {
        // Where all training sets are of the smallest's size, they were measured already.
        let mut folds = splits.all().iter().flat_map(|folds| &folds.all);
        let losses = if folds.all(|fold| fold.train.len() == size) {
            whole.clone()
        } else {
            // Shared among the splits, one for each at least.
            let draws = (most / size).clamp(1, options.draws.max(1)).div_ceil(splits.all().len());
            splits.losses(learner, table, (size, draws), options.seed)?
        };
        points.push(CurvePoint { programs: size, error: losses.mean.interval(seed) });
        found.push(losses);
    }
    let change = |last: f64, before: f64| last / before - 1.0;
    let (last, over_splits) = match found.as_slice() {
        [.., before, last] => {
            (Some(last.mean.against(&before.mean, seed, change)), Some(last.spread(before, change)))
        }
        _ => (None, None),
    };
    let last = last.filter(|change| change.value.is_finite());
    Ok(Curve { points, over_splits: over_splits.filter(|_| last.is_some()), last })
}
