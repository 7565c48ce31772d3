//! Scores: how good predictions are, always with orientation, mean and baseline.

mod paired;
mod resample;

pub use paired::{Paired, compare};

use crate::{Result, Task};
use resample::Groups;
use serde::Serialize;
use std::collections::BTreeMap;

/// How every speedup of this crate is oriented.
pub const ORIENTATION: &str =
    "cost of the baseline / cost of the predicted choice: above 1 the prediction is cheaper";
/// How speedups are averaged.
pub const MEAN: &str = "geometric mean over rows";

/// How good predictions are for rows whose costs are known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// Rows scored.
    pub rows: usize,
    /// Groups they fall into.
    pub groups: usize,
    /// Share of rows predicted to be best what is best, 0 to 1.
    pub accuracy: f64,
    /// Geometric-mean speedup over [`Scores::baseline`].
    pub geomean_speedup: f64,
    /// Its 95 % bootstrap interval; groups are drawn, since rows of a group are alike.
    pub geomean_interval: [f64; 2],
    /// Geometric mean of the cheapest choice's cost over the predicted one's: at most 1.
    pub oracle_share: f64,
    /// The choice most often best in the rows scored (ZeroR), which costs the baseline's.
    pub baseline: String,
    /// Always [`ORIENTATION`].
    pub orientation: &'static str,
    /// Always [`MEAN`].
    pub mean: &'static str,
    /// Speedup over always making each choice.
    pub over: BTreeMap<String, Speedup>,
    /// Recognition of each choice.
    pub choices: BTreeMap<String, Recognition>,
    /// What to know about the rows: verdict and count, for example `absent-choice`.
    pub verdicts: BTreeMap<String, u64>,
}

/// A speedup over a static choice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Speedup {
    /// Geometric mean over rows, static / predicted.
    pub geomean: f64,
    /// 95 % bootstrap interval over groups.
    pub interval: [f64; 2],
    /// The oracle's geometric mean over the same static choice: nothing can be above.
    pub oracle_geomean: f64,
}

/// How well one choice is recognised. A ratio over nothing is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Recognition {
    /// Rows on which it is best.
    pub best: usize,
    /// Rows for which it is predicted.
    pub predicted: usize,
    /// Of the rows for which it is predicted, the share on which it is best.
    pub precision: Option<f64>,
    /// Of the rows on which it is best, the share for which it is predicted.
    pub recall: Option<f64>,
    /// Of the rows on which it is not best, the share for which it is not predicted.
    pub specificity: Option<f64>,
}

/// Score predictions, one per row of `task`; the intervals depend on `seed`.
///
/// # Errors
/// When the task has no rows or unmeasured ones.
pub fn score(task: &Task, predictions: &[usize], seed: u64) -> Result<Scores> {
    task.require_measured("the rows to score")?;
    let groups = Groups::of(task);
    let baseline = task.majority();
    let (mut over, mut choices) = (BTreeMap::new(), BTreeMap::new());
    for (choice, name) in task.choices.iter().enumerate() {
        let gains = gains(task, predictions, |_| choice);
        let oracle = gains_of_oracle(task, choice);
        let speedup = Speedup {
            geomean: mean(&gains).exp(),
            interval: groups.interval(&gains, seed).map(f64::exp),
            oracle_geomean: mean(&oracle).exp(),
        };
        over.insert(name.clone(), speedup);
        choices.insert(name.clone(), recognition(task, predictions, choice));
    }
    let right = task.rows.iter().zip(predictions).filter(|(row, choice)| row.label == **choice);
    let absent = choices.values().filter(|choice| choice.best == 0).count() as u64;
    let headline = over[&task.choices[baseline]];
    Ok(Scores {
        rows: task.rows.len(),
        groups: groups.len(),
        accuracy: right.count() as f64 / task.rows.len() as f64,
        geomean_speedup: headline.geomean,
        geomean_interval: headline.interval,
        oracle_share: mean(&gains(task, predictions, |row| task.rows[row].label)).exp().min(1.0),
        baseline: task.choices[baseline].clone(),
        orientation: ORIENTATION,
        mean: MEAN,
        over,
        choices,
        verdicts: (absent > 0).then(|| ("absent-choice".to_owned(), absent)).into_iter().collect(),
    })
}

impl Scores {
    /// The single choice that costs least over all rows, where that is not the baseline, and the speedup over it.
    #[must_use]
    pub fn cheapest(&self) -> Option<(&str, Speedup)> {
        // Over what costs least the oracle gains least.
        let gain = |one: &(&String, &Speedup)| one.1.oracle_geomean;
        let least = self.over.iter().min_by(|a, b| gain(a).total_cmp(&gain(b)))?;
        let better = least.1.oracle_geomean < self.over.get(&self.baseline)?.oracle_geomean;
        better.then_some((least.0.as_str(), *least.1))
    }

    /// The scores in a few lines of text.
    #[must_use]
    pub fn text(&self) -> String {
        let [low, high] = self.geomean_interval;
        let mut text = format!(
            "{} rows in {} groups\naccuracy {:.3}\nspeedup over always {}: {:.3} ({:.0} % interval \
             {low:.3} to {high:.3}), {:.3} of the oracle\n({}; {})\n",
            self.rows,
            self.groups,
            self.accuracy,
            self.baseline,
            self.geomean_speedup,
            100.0 * statistics::COVERAGE,
            self.oracle_share,
            self.orientation,
            self.mean,
        );
        for (name, choice) in &self.choices {
            let share = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.3}"));
            text += &format!(
                "{name}: best on {}, predicted for {}; precision {}, recall {}, specificity {}\n",
                choice.best,
                choice.predicted,
                share(choice.precision),
                share(choice.recall),
                share(choice.specificity),
            );
        }
        text
    }
}

/// Logarithms of what a row gains by the prediction over another choice.
pub(crate) fn gains(task: &Task, predictions: &[usize], over: impl Fn(usize) -> usize) -> Vec<f64> {
    let rows = task.rows.iter().zip(predictions).enumerate();
    rows.map(|(at, (row, &choice))| (row.costs[over(at)] / row.costs[choice]).ln()).collect()
}

fn gains_of_oracle(task: &Task, over: usize) -> Vec<f64> {
    task.rows.iter().map(|row| (row.costs[over] / row.costs[row.label]).ln()).collect()
}

fn recognition(task: &Task, predictions: &[usize], choice: usize) -> Recognition {
    let count = |best: bool, predicted: bool| {
        let rows = task.rows.iter().zip(predictions);
        rows.filter(|(row, p)| ((row.label == choice) == best) && ((**p == choice) == predicted))
            .count()
    };
    let share =
        |part: usize, rest: usize| (part + rest > 0).then(|| part as f64 / (part + rest) as f64);
    let (hit, missed) = (count(true, true), count(true, false));
    let (wrong, spared) = (count(false, true), count(false, false));
    Recognition {
        best: hit + missed,
        predicted: hit + wrong,
        precision: share(hit, wrong),
        recall: share(hit, missed),
        specificity: share(spared, wrong),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
