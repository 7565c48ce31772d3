//! Why a search ended beside its target.

use super::Search;
use crate::metric::Aim;

/// Dimensions of which it is said.
const SAID: usize = 3;

impl Search<'_> {
    /// Of what is not as wanted at a point, the worst first, what no edit was seen to do, or to do alone: `in this search no
    /// edit raised PHI`, `to lower ICmp takes Br along (own-condition)`. None where single edits do all of it, if not in this kernel.
    pub(super) fn unmended(&self, aim: &Aim, vector: &[f64]) -> Vec<String> {
        let dimensions = self.judge.space().dimensions();
        let excess = aim.excess(vector);
        let mut off: Vec<usize> =
            (0..excess.len()).filter(|at| aim.leads[*at] && excess[*at] != 0.0).collect();
        off.sort_by(|a, b| {
            let weight = |at: usize| aim.weights[at] * excess[at].abs();
            weight(*b).total_cmp(&weight(*a))
        });
        let said = off.into_iter().filter_map(|at| {
            let name = dimensions[at];
            let way = if excess[at] > 0.0 { "lower" } else { "raise" };
            match self.effects.most_alone(aim, &excess, at) {
                None if excess[at] > 0.0 => Some(format!("in this search no edit lowered {name}")),
                None => Some(format!("in this search no edit raised {name}")),
                Some((edit, others)) => {
                    let others: Vec<&str> = others.into_iter().map(|at| dimensions[at]).collect();
                    (!others.is_empty()).then(|| {
                        format!("to {way} {name} takes {} along ({edit})", others.join(", "))
                    })
                }
            }
        });
        said.take(SAID).collect()
    }
}
