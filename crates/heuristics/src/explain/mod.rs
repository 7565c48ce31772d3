//! Why a heuristic decides as it does, and how good any could be.

mod collisions;
mod draw;

pub use collisions::{CollisionSet, FeatureCollisions, feature_collisions};
pub use draw::{tree_svg, tree_text};

use crate::{
    Result, Task,
    heuristic::{TrainOptions, train},
    score::Paired,
    validate::{CrossvalOptions, crossval},
};
use serde::Serialize;

/// Options of `heuristic explain`.
#[derive(Clone, Debug)]
pub struct ExplainOptions {
    /// The model; a `tree` to be drawn.
    pub model: String,
    /// Levels of the tree to draw.
    pub depth: usize,
    /// Rows to add to the training set and see what changes.
    pub extra: Option<Task>,
    /// Seed of the model and of the intervals.
    pub seed: u32,
}

/// What `heuristic explain` reports.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainReport {
    /// The tree of the whole task as text.
    pub tree: String,
    /// The same as SVG.
    #[serde(skip)]
    pub picture: String,
    /// Its number of leaves.
    pub leaves: usize,
    /// Its depth.
    pub depth: usize,
    /// Rows with equal features and different best choices.
    #[serde(rename = "twins")]
    pub collisions: FeatureCollisions,
    /// Held-out rows that the two training sets decide differently, costliest first.
    pub disagreements: Vec<Disagreement>,
    /// What the second training set changes over all held-out rows.
    pub paired: Option<Paired>,
}

/// A row that two training sets decide differently when its group is held out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Disagreement {
    /// The program.
    pub program: String,
    /// Its input.
    pub variant: String,
    /// Best choice.
    pub label: String,
    /// Choice of the model trained without the extra rows.
    pub without: String,
    /// Choice of the model trained with them.
    pub with: String,
    /// Cost without / cost with: above 1 the extra rows help here.
    pub gain: f64,
}

/// Explain a tree: draw it, list the rows that a second training set decides differently, and
/// find the rows that no model of these features can tell apart.
///
/// # Errors
/// As [`train`] and [`crossval`]; and when the model is no tree.
pub fn explain(task: &Task, options: &ExplainOptions) -> Result<ExplainReport> {
    let training = TrainOptions { model: options.model.clone(), seed: options.seed };
    let (heuristic, _) = train(task, &training)?;
    let tree = heuristic.tree()?;
    let (mut disagreements, mut paired) = (Vec::new(), None);
    if options.extra.is_some() {
        let crossval = crossval(
            task,
            &CrossvalOptions {
                models: vec![options.model.clone()],
                folds: 0,
                extra: options.extra.clone(),
                seed: options.seed,
            },
        )?;
        for model in crossval.models {
            let Some(with) = model.with_extra else { continue };
            disagreements = disagree(task, &model.predictions, &with.predictions);
            paired = Some(with.paired);
        }
    }
    Ok(ExplainReport {
        tree: tree_text(tree, &task.features, &task.choices, options.depth),
        picture: tree_svg(tree, &task.features, &task.choices, options.depth)?,
        leaves: tree.leaves(),
        depth: tree.depth(),
        collisions: feature_collisions(task)?,
        disagreements,
        paired,
    })
}

/// The rows that two sets of predictions decide differently, those with the greatest gain or loss
/// first.
#[must_use]
pub fn disagree(task: &Task, without: &[usize], with: &[usize]) -> Vec<Disagreement> {
    let rows = task.rows.iter().zip(without).zip(with).filter(|((_, a), b)| a != b);
    let mut all: Vec<Disagreement> = rows
        .map(|((row, &a), &b)| Disagreement {
            program: row.program.clone(),
            variant: row.variant.clone(),
            label: task.choices[row.label].clone(),
            without: task.choices[a].clone(),
            with: task.choices[b].clone(),
            gain: row.costs[a] / row.costs[b],
        })
        .collect();
    all.sort_by(|a, b| b.gain.ln().abs().total_cmp(&a.gain.ln().abs()));
    all
}
