//! Committees: models that were fitted to the same rows and may disagree.

use crate::Error;
use heuristics::{Method, Model, Row, Task};

/// How a committee is put together: `mlp:7,knn:7,forest:7`.
#[derive(Clone, Debug)]
pub struct Plan {
    members: Vec<(Method, usize)>,
}

/// Models fitted to one task, each to a bootstrap sample of its own.
pub struct Committee {
    members: Vec<Box<dyn Model>>,
    choices: usize,
}

/// The bootstrap samples of a committee to be: it can be fitted more than once.
pub(crate) struct Samples<'a> {
    members: Vec<(&'a Method, Task, u32)>,
    choices: usize,
}

impl Plan {
    /// Read a plan; names are those of [`heuristics::LEARNERS`].
    ///
    /// # Errors
    /// For an unknown learner, or a count that is none.
    pub fn parse(text: &str) -> Result<Plan, Error> {
        let wrong = || Error::Committee(text.to_owned());
        let mut members = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, count) = part.rsplit_once(':').unwrap_or((part, "1"));
            let count: usize = count.parse().map_err(|_| wrong())?;
            members.push((Method::parse(name)?, count));
        }
        if members.iter().map(|(_, count)| count).sum::<usize>() < 2 {
            return Err(wrong());
        }
        Ok(Plan { members })
    }

    /// Fit every member to rows drawn with replacement.
    ///
    /// # Errors
    /// When the task is empty or unmeasured, or a library fails.
    pub fn fit(&self, task: &Task, seed: u64) -> Result<Committee, Error> {
        self.draw(task, seed).fit()
    }

    /// Rows drawn with replacement for every member.
    pub(crate) fn draw(&self, task: &Task, seed: u64) -> Samples<'_> {
        use rand::{Rng, SeedableRng};
        let mut chance = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut members = Vec::new();
        for (method, count) in &self.members {
            for _ in 0..*count {
                let mut sample = task.filter(|_| false);
                sample.rows = (0..task.rows.len())
                    .map(|_| task.rows[chance.random_range(0..task.rows.len())].clone())
                    .collect();
                members.push((method, sample, chance.random()));
            }
        }
        Samples { members, choices: task.choices.len() }
    }
}

impl Samples<'_> {
    /// Fit every member to its sample.
    fn fit(&self) -> Result<Committee, Error> {
        let members = self.members.iter().map(|(method, sample, seed)| method.fit(sample, *seed));
        Ok(Committee { members: members.collect::<Result<_, _>>()?, choices: self.choices })
    }

    /// Fit every member to its sample and one row more. Two such committees differ by their row
    /// alone: their samples are the same.
    pub(crate) fn fit_with(&mut self, row: &Row) -> Result<Committee, Error> {
        self.members.iter_mut().for_each(|(_, sample, _)| sample.rows.push(row.clone()));
        let fitted = self.fit();
        self.members.iter_mut().for_each(|(_, sample, _)| drop(sample.rows.pop()));
        fitted
    }
}

impl Committee {
    /// Votes per choice for a point.
    #[must_use]
    pub fn votes(&self, features: &[f64]) -> Vec<usize> {
        let mut votes = vec![0; self.choices];
        for member in &self.members {
            if let Some(slot) = votes.get_mut(member.predict(features)) {
                *slot += 1;
            }
        }
        votes
    }

    /// The share of the votes that each choice has for a point.
    pub(crate) fn shares(&self, features: &[f64]) -> Vec<f64> {
        let all = self.members.len() as f64;
        self.votes(features).into_iter().map(|votes| votes as f64 / all).collect()
    }

    /// The vote entropy of a point in bits (Dagan and Engelson, ICML 1995): 0 where all agree.
    #[must_use]
    pub fn entropy(&self, features: &[f64]) -> f64 {
        let shares = self.shares(features).into_iter();
        shares.filter(|share| *share > 0.0).map(|share| -share * share.log2()).sum()
    }

    /// What the majority says; the first of equals.
    #[must_use]
    pub fn predict(&self, features: &[f64]) -> usize {
        let votes = self.votes(features);
        let most = votes.iter().copied().max().unwrap_or(0);
        votes.iter().position(|count| *count == most).unwrap_or(0)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Programs on a line, each with what its two choices cost.
    pub(crate) fn on_a_line(programs: impl IntoIterator<Item = (f64, [f64; 2])>) -> Task {
        let row = |(at, (x, costs)): (usize, (f64, [f64; 2]))| Row {
            program: at.to_string(),
            variant: String::new(),
            group: at.to_string(),
            features: vec![x],
            costs: costs.to_vec(),
            label: usize::from(costs[1] < costs[0]),
        };
        Task {
            features: vec!["x".into()],
            choices: vec!["a".into(), "b".into()],
            rows: programs.into_iter().enumerate().map(row).collect(),
        }
    }

    fn task() -> Task {
        on_a_line((0..40).map(|at| (f64::from(at), if at < 20 { [1.0, 2.0] } else { [2.0, 1.0] })))
    }

    #[test]
    fn a_committee_is_of_one_mind_where_rows_are_and_not_at_the_border() {
        let committee = Plan::parse("tree:9,knn:8").expect("known").fit(&task(), 1).expect("fits");
        assert_eq!((committee.predict(&[2.0]), committee.predict(&[38.0])), (0, 1));
        assert_eq!(committee.entropy(&[2.0]), 0.0);
        assert!(committee.entropy(&[19.5]) > 0.1);
    }

    #[test]
    fn a_plan_that_is_none_is_refused() {
        for text in ["", "tree:1", "tree:x", "oracle:3"] {
            assert!(Plan::parse(text).is_err(), "{text}");
        }
    }
}
