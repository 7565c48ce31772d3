//! Bootstrap over groups.

use crate::Task;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// Draws of a bootstrap.
const DRAWS: usize = 10_000;
/// Share of the draws inside an interval.
pub(super) const INTERVAL: f64 = 0.95;

/// Geometric mean of positive values; 1 of none.
pub(crate) fn geomean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (count, sum) =
        values.into_iter().fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value.ln()));
    if count == 0 { 1.0 } else { (sum / count as f64).exp() }
}

/// Which rows belong to which group.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    /// Group by row.
    of: Vec<usize>,
    count: usize,
}

impl Groups {
    pub(super) fn of(task: &Task) -> Groups {
        let mut places = BTreeMap::new();
        for name in task.groups() {
            let next = places.len();
            places.insert(name, next);
        }
        let of = task.rows.iter().map(|row| places[row.group.as_str()]).collect();
        Groups { of, count: places.len() }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Sum of the values and number of rows by group.
    pub(super) fn sums(&self, values: &[f64]) -> Vec<(f64, usize)> {
        let mut sums = vec![(0.0, 0); self.count];
        for (&group, value) in self.of.iter().zip(values) {
            sums[group].0 += value;
            sums[group].1 += 1;
        }
        sums
    }

    /// Percentile interval of the mean over rows when whole groups are drawn with replacement.
    pub(super) fn interval(&self, values: &[f64], seed: u64) -> [f64; 2] {
        let sums = self.sums(values);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut means: Vec<f64> = (0..DRAWS)
            .map(|_| {
                let (sum, rows) = (0..self.count).fold((0.0, 0), |(sum, rows), _| {
                    let (s, n) = sums[random.random_range(0..self.count)];
                    (sum + s, rows + n)
                });
                sum / rows as f64
            })
            .collect();
        means.sort_by(f64::total_cmp);
        let tail = (DRAWS as f64 * (1.0 - INTERVAL) / 2.0) as usize;
        [means[tail], means[DRAWS - 1 - tail]]
    }
}
