//! Figure 7: predictions for the NAS benchmarks, trained with and without CLgen's kernels.

use super::{
    PUBLISHED_SEED,
    data::{Platform, suite},
};
use crate::{
    Result, Task,
    model::Method,
    score::{Paired, Scores, compare, score},
    validate::Folds,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Figure 7 for one platform; pairs are [without, with] CLgen's kernels.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figure7 {
    /// The device most often best, always chosen by the baseline.
    pub(super) static_device: String,
    /// As published: arithmetic mean of group means of predicted / static.
    pub(super) paper_formula: [f64; 2],
    pub(super) right_orientation: RightOrientation,
    /// Whether CLgen's kernels matter (first: without, second: with).
    pub(super) paired: Paired,
    /// The same with ties between equal splits broken in fixed order.
    pub(super) fixed_order_ties: Outcome,
    /// Least and greatest over the seeds.
    pub(super) over_seeds: OverSeeds,
    /// The published seed, without the rows that hold garbage: [`Outcome`] with CLgen's kernels.
    pub(super) without_garbage: Outcome,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct RightOrientation {
    pub(super) accuracy: [f64; 2],
    /// Geometric mean over rows of static / predicted.
    pub(super) geomean: [f64; 2],
    /// 95 % bootstrap intervals over programs.
    pub(super) geomean_interval: [[f64; 2]; 2],
    pub(super) oracle_geomean: f64,
    pub(super) oracle_share: [f64; 2],
}

/// The three headline numbers.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) paper_formula: [f64; 2],
    pub(super) accuracy: [f64; 2],
    pub(super) geomean: [f64; 2],
}

/// Ranges of the same over seeds, by number then [without, with], each [least, greatest].
#[derive(Clone, Debug, Serialize)]
pub(super) struct OverSeeds {
    pub(super) seeds: u32,
    pub(super) paper_formula: [[f64; 2]; 2],
    pub(super) accuracy: [[f64; 2]; 2],
    pub(super) geomean: [[f64; 2]; 2],
    /// Seeds with which CLgen's kernels lower the geometric mean.
    pub(super) lowered: u32,
}

/// The held-out suite and what is trained on besides the rest of it.
struct Setting {
    npb: Task,
    folds: Folds,
    without: Task,
    with: Task,
}

impl Figure7 {
    /// Each NAS program is predicted by a tree trained on the rest of all suites, without and with
    /// CLgen's kernels.
    pub(super) fn compute(platform: &Platform, seeds: u32) -> Result<Figure7> {
        let published = Method::parse("tree:random_ties=1")?;
        let setting = Setting::new(platform, &platform.synthetic)?;
        let run = |setting: &Setting, method: &Method, seed| -> Result<[Vec<usize>; 2]> {
            let (npb, folds) = (&setting.npb, &setting.folds);
            Ok([
                folds.predict(npb, Some(&setting.without), method, seed)?.0,
                folds.predict(npb, Some(&setting.with), method, seed)?.0,
            ])
        };
        let npb = &setting.npb;
        let device = npb.majority();
        let predictions = run(&setting, &published, PUBLISHED_SEED)?;
        let [without, with] = scores(npb, &predictions)?;
        let fixed = run(&setting, &Method::parse("tree")?, 0)?;
        let clean = Setting::new(platform, &platform.synthetic_clean)?;
        let cleaned = run(&clean, &published, PUBLISHED_SEED)?;
        let mut runs = Vec::new();
        for seed in 0..seeds {
            runs.push(Outcome::of(npb, &run(&setting, &published, seed)?, device));
        }
        Ok(Figure7 {
            static_device: npb.choices[device].clone(),
            paper_formula: predictions.each_ref().map(|one| paper_formula(npb, one, device)),
            right_orientation: RightOrientation {
                accuracy: [without.accuracy, with.accuracy],
                geomean: [without.geomean_speedup, with.geomean_speedup],
                geomean_interval: [without.geomean_interval, with.geomean_interval],
                oracle_geomean: without.over[&without.baseline].oracle_geomean,
                oracle_share: [without.oracle_share, with.oracle_share],
            },
            paired: compare(npb, &predictions[0], &predictions[1], u64::from(PUBLISHED_SEED))?,
            fixed_order_ties: Outcome::of(npb, &fixed, device),
            over_seeds: OverSeeds::of(&runs),
            without_garbage: Outcome::of(npb, &cleaned, device),
        })
    }
}

impl Setting {
    fn new(platform: &Platform, synthetic: &Task) -> Result<Setting> {
        let npb = platform.benchmarks.filter(|row| suite(&row.program) == Some("NPB"));
        let without = platform.benchmarks.filter(|row| suite(&row.program) != Some("NPB"));
        let with = without.clone().join(synthetic)?;
        let folds = Folds::by_group(&npb, 0, 0)?;
        Ok(Setting { npb, folds, without, with })
    }
}

impl Outcome {
    fn of(task: &Task, predictions: &[Vec<usize>; 2], device: usize) -> Outcome {
        Outcome {
            paper_formula: predictions.each_ref().map(|one| paper_formula(task, one, device)),
            accuracy: predictions.each_ref().map(|one| {
                let right = task.rows.iter().zip(one).filter(|(row, p)| row.label == **p);
                right.count() as f64 / task.rows.len() as f64
            }),
            geomean: predictions.each_ref().map(|one| {
                let rows = task.rows.iter().zip(one);
                statistics::geometric_mean(rows.map(|(row, &p)| row.costs[device] / row.costs[p]))
            }),
        }
    }
}

impl OverSeeds {
    fn of(runs: &[Outcome]) -> OverSeeds {
        let range = |value: fn(&Outcome) -> [f64; 2]| {
            [0, 1].map(|side| {
                let values = runs.iter().map(|run| value(run)[side]);
                [
                    values.clone().fold(f64::INFINITY, f64::min),
                    values.fold(f64::NEG_INFINITY, f64::max),
                ]
            })
        };
        OverSeeds {
            seeds: runs.len() as u32,
            paper_formula: range(|run| run.paper_formula),
            accuracy: range(|run| run.accuracy),
            geomean: range(|run| run.geomean),
            lowered: runs.iter().filter(|run| run.geomean[1] < run.geomean[0]).count() as u32,
        }
    }
}

/// Arithmetic mean over groups (program and data set) of the arithmetic mean of predicted / static:
/// the published code's "speedup".
fn paper_formula(task: &Task, predictions: &[usize], device: usize) -> f64 {
    let mut groups: BTreeMap<(&str, &str), (f64, f64)> = BTreeMap::new();
    for (row, &prediction) in task.rows.iter().zip(predictions) {
        let group = groups.entry((&row.group, &row.variant)).or_default();
        group.0 += row.costs[prediction] / row.costs[device];
        group.1 += 1.0;
    }
    groups.values().map(|(sum, rows)| sum / rows).sum::<f64>() / groups.len() as f64
}

fn scores(task: &Task, predictions: &[Vec<usize>; 2]) -> Result<[Scores; 2]> {
    let seed = u64::from(PUBLISHED_SEED);
    Ok([score(task, &predictions[0], seed)?, score(task, &predictions[1], seed)?])
}
