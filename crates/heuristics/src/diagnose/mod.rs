//! Whether a task is short of programs: measured, before anybody makes some.
//!
//! All errors are of rows whose group was held out, and families of near-duplicates never stand on both
//! sides. A task with one choice is a regression of log2 of its cost; with several it is a choice, whose
//! error is log2 of what the choice costs over the oracle's. Rows are folded several times, and what is said of an
//! error is said of the mean over these splits. Intervals draw whole groups.

mod arms;
mod ceiling;
mod choose;
mod curve;
mod fold;
mod gap;
mod made;
mod next;
mod regions;
mod regress;
mod space;
mod verdict;

pub use arms::{Arm, ArmOptions, ArmReport, Rival, Skipped, arms};
pub use ceiling::Ceiling;
pub use choose::{ChoiceReport, FixedSet};
pub use curve::CurvePoint;
pub use gap::Gap;
pub use made::MadeReport;
pub use next::{Next, NextOptions, NextReport, Way, next};
pub use regions::{Bin, Mark, Region};
pub use regress::RegressionReport;
pub use verdict::Verdict;

use crate::{Error, Result, Table};
use fold::{Repeated, Splits};
use serde::Serialize;
use space::Space;
use std::collections::BTreeMap;

/// Folds of whole groups at most.
const FOLDS: usize = 5;
/// Fewer rows, or groups, say nothing.
const LEAST: (usize, usize) = (40, 3);

/// Splits unless told otherwise.
const SPLITS: usize = 5;

/// How to diagnose.
#[derive(Clone, Debug)]
pub struct DiagnoseOptions {
    /// Seed of folds, draws, models and intervals.
    pub seed: u32,
    /// How often the rows are folded anew: what one split says may be chance.
    pub splits: usize,
    /// Training sets of each size of the learning curve at most, but one in each split.
    pub draws: usize,
    /// Of a choice: tries of the fixed sets.
    pub tries: Vec<usize>,
    /// Regions that lack programs, at most.
    pub regions: usize,
    /// Tables of made programs, a source each, labelled like the real ones.
    pub made: Vec<Table>,
}

impl Default for DiagnoseOptions {
    fn default() -> DiagnoseOptions {
        DiagnoseOptions {
            seed: 0,
            splits: SPLITS,
            draws: 4,
            tries: vec![1, 2, 3, 5],
            regions: 40,
            made: Vec::new(),
        }
    }
}

/// A lower and an upper end that 95 % of the draws lie between.
pub type Interval = [f64; 2];

/// An error, or a difference of errors, with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ErrorOf {
    /// The figure over all rows.
    pub value: f64,
    /// 95 % bootstrap interval over groups.
    pub interval: Interval,
}

/// What [`diagnose`] found.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// The table.
    pub table: String,
    /// What all errors are.
    pub error: &'static str,
    /// Rows that were used.
    pub rows: usize,
    /// Their groups.
    pub groups: usize,
    /// Rows that were not, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// What was asked, where the table says so: the name of its task and what its costs are.
    pub task: String,
    /// The seed.
    pub seed: u32,
    /// How often the rows were folded.
    pub splits: usize,
    /// Rows whose family is on both sides of some fold: there they were not trained on.
    pub leaking: usize,
    /// Features, and those of them that differ from row to row.
    pub features: [usize; 2],
    /// Of a task with one choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regression: Option<RegressionReport>,
    /// Of a task with several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<ChoiceReport>,
    /// The best model.
    pub model: String,
    /// Its error on held-out groups.
    pub held_out: ErrorOf,
    /// What features and labels put on any model.
    pub ceiling: Ceiling,
    /// The error by number of real programs, ascending.
    pub curve: Vec<CurvePoint>,
    /// Relative change of the error by the last doubling: below zero it still falls.
    pub last_doubling: Option<ErrorOf>,
    /// The least and the greatest of these changes over the splits.
    pub doubling_over_splits: Option<Interval>,
    /// The error by distance to the training set, the nearest fifth first.
    pub distance: Vec<Bin>,
    /// Rank correlation of distance and error.
    pub distance_correlation: Option<f64>,
    /// How the model of the real programs errs on each source of made ones.
    pub made: Vec<MadeReport>,
    /// Where the error is, for `steer`: empty where more programs will not help.
    pub regions: Vec<Region>,
    /// What it comes to, most important first.
    pub verdicts: Vec<Verdict>,
}

/// Measure whether more programs would help, and where.
///
/// # Errors
/// When there are too few rows, groups or features, the labels of tables cannot be compared, or a
/// library beneath fails.
pub fn diagnose(table: &Table, options: &DiagnoseOptions) -> Result<Diagnosis> {
    let (table, unmeasured) = measured(table);
    let task = &table.task;
    let groups = task.groups().len();
    if task.features.is_empty() || task.rows.is_empty() && !table.left_out.is_empty() {
        let left = table.left_out.iter().map(|(why, count)| format!("{count} {why}"));
        let left: Vec<String> = left.collect();
        let left = if left.is_empty() { String::new() } else { format!(" ({})", left.join(", ")) };
        return Err(Error::NoFeatures(left));
    }
    if task.rows.len() < LEAST.0 || groups < LEAST.1 {
        let wanted = "40 rows of 3 groups";
        let (what, rows) = ("a diagnosis", task.rows.len());
        return Err(Error::TooSmall { what, rows, groups, wanted });
    }
    options.made.iter().try_for_each(|made| table.same_labels(made))?;
    let space = Space::of(task);
    let splits = Splits::by_group(&table, FOLDS, (options.seed, options.splits));
    let found = match task.choices.len() {
        1 => regress::measure(&table, &splits, options)?,
        _ => choose::measure(&table, &splits, options)?,
    };
    let Found { learner, losses: repeated, model, error, regression, choice } = found;
    let curve = curve::measure(&*learner, &table, &splits, options, &repeated)?;
    let losses = repeated.mean;
    let held_out = losses.interval(u64::from(options.seed));
    let ceiling = ceiling::measure(&*learner, &table, &space, &losses, options)?;
    let near = regions::Nearness::measure(&table, &space, &splits);
    let made = made::measure(&*learner, &table, &space, options)?;
    let mut diagnosis = Diagnosis {
        table: table.name.clone(),
        error,
        rows: task.rows.len(),
        groups,
        left_out: table.left_out.clone(),
        task: table.about.clone(),
        seed: options.seed,
        splits: splits.all().len(),
        leaking: splits.leaking(),
        features: [task.features.len(), space.width()],
        regression,
        choice,
        model,
        held_out,
        ceiling,
        curve: curve.points,
        last_doubling: curve.last,
        doubling_over_splits: curve.over_splits,
        distance: near.bins(&losses),
        distance_correlation: Some(near.correlation(&losses)).filter(|rho| rho.is_finite()),
        made,
        regions: Vec::new(),
        verdicts: Vec::new(),
    };
    if unmeasured > 0 {
        diagnosis.left_out.insert("unmeasured".to_owned(), unmeasured);
    }
    diagnosis.verdicts = verdict::of(&diagnosis);
    if diagnosis.verdicts.iter().any(|verdict| verdict.word == verdict::SHORT) {
        diagnosis.regions = near.regions(&table, &losses, options.regions);
    }
    Ok(diagnosis)
}

/// What a kind of task found first.
struct Found<'a> {
    learner: Box<dyn Learner + 'a>,
    losses: Repeated,
    model: String,
    error: &'static str,
    regression: Option<RegressionReport>,
    choice: Option<ChoiceReport>,
}

/// Fits to some rows and errs on others.
trait Learner: Sync {
    /// The loss of each of `test` after training on `train`, both as places in the table.
    fn losses(&self, train: &[usize], test: &[usize], seed: u32) -> Result<Vec<f64>>;

    /// How losses become an error.
    fn figure(&self) -> Figure;

    /// The loss of a row where that of another is predicted for it.
    fn loss_of_neighbour(&self, row: usize, neighbour: usize) -> f64;

    /// The least mean loss of one answer for all of these rows.
    fn least_loss(&self, rows: &[usize]) -> f64;

    /// After training on all rows: bias, and the loss of each row of another table.
    fn on_others(&self, other: &Table, seed: u32) -> Result<(Option<Vec<f64>>, Vec<f64>)>;
}

/// How losses become an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figure {
    /// The root of their mean: squared errors.
    Root,
    /// Their mean: logarithms.
    Mean,
}

impl Figure {
    fn of(self, sum: f64, count: f64) -> f64 {
        match self {
            Figure::Root => (sum / count).sqrt(),
            Figure::Mean => sum / count,
        }
    }

    fn over(self, losses: impl IntoIterator<Item = f64>) -> f64 {
        let (sum, count) =
            losses.into_iter().fold((0.0, 0.0), |(sum, count), loss| (sum + loss, count + 1.0));
        self.of(sum, count)
    }
}

/// The table without rows that have no costs, and how many these are.
fn measured(table: &Table) -> (Table, u64) {
    let keep: Vec<bool> = table.task.rows.iter().map(crate::Row::measured).collect();
    let mut kept = table.clone();
    let mut at = 0;
    kept.task.rows.retain(|_| {
        at += 1;
        keep[at - 1]
    });
    at = 0;
    kept.origins.retain(|_| {
        at += 1;
        keep[at - 1]
    });
    (kept, keep.iter().filter(|keep| !**keep).count() as u64)
}

#[cfg(test)]
mod tests;
