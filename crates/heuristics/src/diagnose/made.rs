//! How a model of real programs errs on made ones: at equal features they should cost the same.

use super::{
    DiagnoseOptions, ErrorOf, Learner,
    fold::Losses,
    space::{Space, distance},
};
use crate::{Result, Table};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeSet;

/// A source of made programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MadeReport {
    /// The table.
    pub table: String,
    /// Programs in it that are not among the real ones.
    pub programs: usize,
    /// Predicted less true log2 of the cost, the mean: above zero they cost less than real programs of equal
    /// features. Of a task with several choices there is none.
    pub bias: Option<ErrorOf>,
    /// The error on them of the model trained on all real programs.
    pub error: ErrorOf,
    /// Share of them that lie farther from every real program than 95 % of the real ones do from one another.
    pub outside: f64,
    /// The same error on those that do not.
    pub error_inside: Option<f64>,
}

pub(super) fn measure(
    learner: &dyn Learner,
    table: &Table,
    space: &Space,
    options: &DiagnoseOptions,
) -> Result<Vec<MadeReport>> {
    if options.made.is_empty() {
        return Ok(Vec::new());
    }
    let count = table.task.rows.len();
    let nearest = |point: &[f32], but: Option<usize>| {
        let others = (0..count).filter(|row| Some(*row) != but);
        others.map(|row| distance(point, space.of_row(row))).fold(f32::INFINITY, f32::min)
    };
    let mut among: Vec<f32> =
        (0..count).into_par_iter().map(|row| nearest(space.of_row(row), Some(row))).collect();
    among.sort_by(f32::total_cmp);
    let far = among[(among.len() * 95 / 100).min(among.len() - 1)];
    let known: BTreeSet<&str> = table.origins.iter().map(|origin| origin.id.as_str()).collect();
    let seed = u64::from(options.seed);
    let one = |made: &Table| {
        let mut made = super::measured(made).0;
        let keep: Vec<bool> = made
            .origins
            .iter()
            .map(|origin| origin.id.is_empty() || !known.contains(origin.id.as_str()))
            .collect();
        let mut kept = keep.iter();
        made.task.rows.retain(|_| kept.next().is_some_and(|keep| *keep));
        let mut kept = keep.iter();
        made.origins.retain(|_| kept.next().is_some_and(|keep| *keep));
        if made.task.rows.is_empty() {
            let what = format!("{} that are not among the real programs", made.name);
            return Err(crate::Error::NoRows { what, rejected: keep.len() as u64 });
        }
        let (biases, losses) = learner.on_others(&made, options.seed)?;
        let points = made.task.rows.par_iter().map(|row| space.point(&row.features));
        let is_far: Vec<bool> = points.map(|point| nearest(&point, None) > far).collect();
        let inside: Vec<f64> = losses
            .iter()
            .zip(&is_far)
            .filter_map(|(loss, is_far)| (!is_far).then_some(*loss))
            .collect();
        let figure = learner.figure();
        // Made programs are independent of each other but for their group; of a source that has no groups
        // programs are drawn.
        if made.task.groups().len() < super::LEAST.1 {
            for (at, row) in made.task.rows.iter_mut().enumerate() {
                row.group = at.to_string();
            }
        }
        let of = |values: Vec<f64>, figure| Losses::new(&made, values, figure).interval(seed);
        Ok(MadeReport {
            table: made.name.clone(),
            programs: losses.len(),
            bias: biases.map(|biases| of(biases, super::Figure::Mean)),
            outside: is_far.iter().filter(|far| **far).count() as f64 / losses.len() as f64,
            error_inside: (!inside.is_empty()).then(|| figure.over(inside)),
            error: of(losses, figure),
        })
    };
    options.made.iter().map(one).collect()
}
