//! Bootstrap over groups.

use crate::Task;
use std::collections::BTreeMap;

/// Draws of a bootstrap.
const DRAWS: usize = 10_000;

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
        let mean = |drawn: &[usize]| {
            let (sum, rows) = drawn.iter().fold((0.0, 0), |(sum, rows), group| {
                let (s, n) = sums[*group];
                (sum + s, rows + n)
            });
            sum / rows as f64
        };
        statistics::bootstrap_interval(self.count, DRAWS, seed, mean).unwrap_or([f64::NAN; 2])
    }
}
