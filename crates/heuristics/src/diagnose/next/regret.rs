//! Disagreement about a choice, weighted by what it costs.

use super::Asked;
use crate::{Result, task::cheapest};

/// What the choices of a committee's members cost, in the mean over these, above the choice of the committee: log2, by
/// what the committee says that they cost.
///
/// Each member predicts what each choice costs against the mean of a program's choices, and chooses the cheapest. Members
/// that choose differently where it hardly matters count for little: query by committee, with regret for the vote.
pub(super) fn scores(asked: &Asked<'_>) -> Result<Vec<f64>> {
    let task = &asked.labeled.task;
    let choices = task.choices.len();
    let against_mean = |row: &crate::Row| -> Vec<f64> {
        let logs: Vec<f64> = row.costs.iter().map(|cost| cost.log2()).collect();
        let mean = logs.iter().sum::<f64>() / choices as f64;
        logs.into_iter().map(|log| log - mean).collect()
    };
    let by_row: Vec<Vec<f64>> = task.rows.iter().map(against_mean).collect();
    let targets: Vec<Vec<f64>> =
        (0..choices).map(|choice| by_row.iter().map(|logs| logs[choice]).collect()).collect();
    let said = asked.committee(&targets)?;
    let members = said.len() as f64;
    let regret = |at: usize| {
        let costs = |one: &Vec<Vec<f64>>| -> Vec<f64> { one.iter().map(|said| said[at]).collect() };
        let each: Vec<Vec<f64>> = said.iter().map(costs).collect();
        let mean: Vec<f64> = (0..choices)
            .map(|choice| each.iter().map(|costs| costs[choice]).sum::<f64>() / members)
            .collect();
        let best = mean[cheapest(&mean)];
        each.iter().map(|costs| mean[cheapest(costs)] - best).sum::<f64>() / members
    };
    Ok((0..asked.places.len()).map(regret).collect())
}

#[cfg(test)]
mod tests {
    use super::super::{
        Way,
        tests::{chosen, unlabeled},
    };
    use crate::diagnose::tests::table;
    use rand::Rng;

    #[test]
    fn where_a_wrong_choice_is_dear_is_next() {
        // Of one kind the first choice is always better, of another it hardly matters, of the last it is chance and matters.
        let of = |count, seed| {
            table(count, 4, &["a", "b"], seed, |rng| {
                let insts = rng.random_range(8.0..99.0_f64).floor();
                let kind = rng.random_range(0..3);
                let sign = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
                let log = [3.0, 0.02 * sign, 3.0 * sign][kind];
                (vec![insts, kind as f64], vec![insts, insts * f64::exp2(log)])
            })
        };
        let (labeled, pool) = (of(160, 1), unlabeled(of(300, 2)));
        let found = chosen(&labeled, &pool, Way::Regret, 10);
        assert!(found.iter().all(|one| pool.task.rows[one.row].features[1] == 2.0), "{found:?}");
        // Members agree about the first kind, and what the second costs is next to nothing.
        let all = chosen(&labeled, &pool, Way::Regret, 900);
        let mean = |kind: f64| {
            let of_kind = all.iter().filter(|one| pool.task.rows[one.row].features[1] == kind);
            let scores: Vec<f64> = of_kind.filter_map(|one| one.score).collect();
            scores.iter().sum::<f64>() / scores.len() as f64
        };
        let means = [mean(0.0), mean(1.0), mean(2.0)];
        assert!(means[0] < 0.1 * means[2] && means[1] < 0.3 * means[2], "{means:?}");
    }
}
