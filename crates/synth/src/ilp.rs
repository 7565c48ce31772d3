//! Changes that sum to what is wanted, by integer programming.
//!
//! A change that an edit makes is a column, each dimension that leads a row, what is wanted the right
//! side; a column is taken or not. What no sum reaches is left over at a price. The dual values of a
//! relaxation, in which every change may be made any number of times and in part, say which changes that
//! are not known yet would help most (column generation: Gilmore and Gomory, Operations Research 9(6),
//! 1961).

use crate::{effects::Change, metric::Aim};
use microlp::{
    ComparisonOp, LinearExpr, OptimizationDirection, Problem, SolveOptions, SolveOutcome, Variable,
};

/// What a unit that is left over costs; an edit costs about 1.
const LEFT_OVER: f64 = 8.0;
/// Edits of a plan at most: seldom do more add up.
const LONGEST: f64 = 12.0;
/// Nodes of the search tree at most; nearly always the best is found at once.
const NODES: u64 = 60;

/// A change that can be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    pub(crate) change: &'a Change,
    pub(crate) cost: f64,
}

/// The columns that bring `excess` nearest to nothing at the least cost, never both of a pair of
/// `apart`, nor one that is a pair with itself; empty where doing nothing is best. Every unit counts
/// alike, whatever its weight, and to move within a range costs what it costs to leave a point.
pub(crate) fn cheapest(
    excess: &[f64],
    aim: &Aim,
    columns: &[Column<'_>],
    apart: &[(usize, usize)],
) -> Vec<usize> {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let mut rows = vec![LinearExpr::empty(); excess.len()];
    let mut edits = LinearExpr::empty();
    let mut variables: Vec<Variable> = Vec::with_capacity(columns.len());
    for column in columns {
        let variable = problem.add_binary_var(column.cost);
        edits.add(variable, 1.0);
        for (row, by) in aim.leading(column.change) {
            rows[row].add(variable, by);
        }
        variables.push(variable);
    }
    for (row, (mut sum, excess)) in rows.into_iter().zip(excess).enumerate() {
        if aim.leads[row] {
            for sign in [1.0, -1.0] {
                sum.add(problem.add_var(LEFT_OVER, (0.0, f64::INFINITY)), sign);
            }
            problem.add_constraint(sum, ComparisonOp::Eq, -excess);
        }
    }
    problem.add_constraint(edits, ComparisonOp::Le, LONGEST);
    for (one, other) in apart {
        if one == other {
            problem.add_constraint([(variables[*one], 1.0)], ComparisonOp::Eq, 0.0);
        } else {
            let both = [(variables[*one], 1.0), (variables[*other], 1.0)];
            problem.add_constraint(both, ComparisonOp::Le, 1.0);
        }
    }
    let mut options = SolveOptions::default();
    options.node_limit = Some(NODES);
    match problem.solve_with(options) {
        Ok(SolveOutcome::Solution(solution)) => {
            let made = |column: &usize| solution.var_value(variables[*column]) > 0.5;
            (0..columns.len()).filter(made).collect()
        }
        _ => Vec::new(),
    }
}

/// What a unit more of each dimension is worth, beside these columns: a change is worth trying whose
/// sum of these is above what an edit costs. Empty where that cannot be said.
pub(crate) fn prices(excess: &[f64], aim: &Aim, columns: &[Column<'_>]) -> Vec<f64> {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let prices: Vec<Variable> = excess
        .iter()
        .zip(&aim.leads)
        .map(|(excess, leads)| {
            if *leads {
                problem.add_var(-excess, (-LEFT_OVER, LEFT_OVER))
            } else {
                problem.add_var(0.0, (0.0, 0.0))
            }
        })
        .collect();
    for column in columns {
        let mut worth = LinearExpr::empty();
        for (row, by) in aim.leading(column.change) {
            worth.add(prices[row], by);
        }
        problem.add_constraint(worth, ComparisonOp::Le, column.cost);
    }
    match problem.solve() {
        Ok(SolveOutcome::Solution(solution)) => {
            prices.iter().map(|price| solution.var_value(*price)).collect()
        }
        _ => Vec::new(),
    }
}

/// What a change is worth at these prices.
pub(crate) fn worth(change: &Change, prices: &[f64]) -> f64 {
    let parts = change
        .iter()
        .filter_map(|(row, by)| prices.get(usize::from(*row)).map(|price| price * f64::from(*by)));
    parts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metric, Target};

    fn aim(dimensions: usize) -> Aim {
        let ones = vec![1.0; dimensions];
        let target = Target::point("t", &vec![0.0; dimensions]);
        Aim::new(target, Metric::Euclidean, &ones, &vec![false; dimensions])
    }

    fn columns(changes: &[Change]) -> Vec<Column<'_>> {
        changes.iter().map(|change| Column { change, cost: 1.0 }).collect()
    }

    #[test]
    fn a_way_that_leads_away_first_is_found() {
        // One unit too much of the first: four edits cancel it, none of which comes nearer.
        let twice: Change = vec![(0, 1.0), (2, 1.0)];
        let changes: [Change; 4] =
            [vec![(0, -3.0), (1, 1.0)], twice.clone(), twice, vec![(1, -1.0), (2, -2.0)]];
        let columns = columns(&changes);
        let excess = [1.0, 0.0, 0.0];
        assert_eq!(cheapest(&excess, &aim(3), &columns, &[]), [0, 1, 2, 3]);
        assert!(cheapest(&excess, &aim(3), &columns, &[(1, 2)]).is_empty());
        assert!(cheapest(&[0.0; 3], &aim(3), &columns, &[]).is_empty());
    }

    #[test]
    fn what_no_sum_reaches_is_left_over() {
        let changes: [Change; 1] = [vec![(0, -1.0)]];
        assert_eq!(cheapest(&[2.0, 1.0], &aim(2), &columns(&changes), &[]), [0]);
    }

    #[test]
    fn prices_name_the_change_that_is_missing() {
        let changes: [Change; 1] = [vec![(0, -1.0), (1, 1.0)]];
        let prices = prices(&[1.0, 0.0], &aim(2), &columns(&changes));
        // It would undo what the known one does too much.
        assert!(worth(&vec![(1, -1.0)], &prices) > 1.0);
        assert!(worth(&vec![(1, 1.0)], &prices) < 0.0);
        assert!(worth(&changes[0], &prices) <= 1.0 + 1e-9);
    }
}
