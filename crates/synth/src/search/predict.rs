//! Candidates that are not judged: what their one edit is known to do leads away from the target.

use super::{Found, Search, attempt::Run};
use crate::{
    effects::Change,
    judge::Location,
    metric::Aim,
    proposer::{Candidate, Judged},
};
use std::sync::Arc;

/// Candidates that are judged for a target before any is left out: small searches are not touched.
const BEGINS: u64 = 2_000;

/// Of so many predictions one is checked: its candidate is judged all the same.
const CHECKED: u64 = 16;

/// What became of candidates for one target whose one edit was known to lead away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Predicted {
    /// Candidates that a vector was predicted of.
    pub made: u64,
    /// Of these, those that were not judged.
    pub skipped: u64,
    /// Those that were judged all the same, as far as there was time.
    pub checked: u64,
    /// Those of them that have another vector than was predicted, or none.
    pub wrong: u64,
}

/// The place of a candidate that is judged although its vector is predicted, and that vector.
pub(super) type Check = (usize, Vec<f64>);

impl Search<'_> {
    /// Candidates without those that surely lie farther from the target than what they are made of, and than the middle of
    /// the population; and the predictions that are to be checked. What is left out is known from then on as a neighbour of
    /// its parent with the vector that was predicted: it survives nowhere and is no answer.
    pub(super) fn without_predicted(
        &self,
        run: &mut Run,
        proposed: Vec<(usize, Candidate)>,
        found: &mut Found,
    ) -> (Vec<(usize, Candidate)>, Vec<Check>) {
        // Who is nearer than the last survivors, which are there by chance, is worth nothing yet.
        let middle = run.attempt.survivors.get(self.settings.survivors / 2);
        let is_on = !self.settings.judge_all && found.candidates >= BEGINS;
        let Some(middle) = middle.map(|middle| middle.fitness).filter(|_| is_on) else {
            return (proposed, Vec::new());
        };
        let mut judged: Vec<(usize, Candidate)> = Vec::with_capacity(proposed.len());
        let mut checks: Vec<Check> = Vec::new();
        for (arm, candidate) in proposed {
            let Some((edit, parent, vector)) = self.leads_away(&run.aim, &candidate, middle) else {
                judged.push((arm, candidate));
                continue;
            };
            found.predicted.made += 1;
            if found.predicted.made % CHECKED == 1 {
                checks.push((judged.len(), vector));
                judged.push((arm, candidate));
                continue;
            }
            found.predicted.skipped += 1;
            run.attempt.bandit.reward(arm, 0.0);
            run.attempt.trust.doubt(&candidate.plan);
            let child = Arc::new(Judged {
                text: candidate.text,
                distance: run.aim.distance(&vector),
                fitness: run.aim.fitness(&vector),
                vector,
                program: candidate.program,
                lineage: parent.lineage,
                is_near: false,
                proposer: self.proposers[arm].name(),
            });
            run.attempt.neighbours.add(&parent, edit, Some(&child));
        }
        (judged, checks)
    }

    /// The edit and the parent of a candidate that surely lies farther away than this and than its parent, and where it lies.
    fn leads_away(
        &self,
        aim: &Aim,
        candidate: &Candidate,
        middle: f64,
    ) -> Option<(usize, Arc<Judged>, Vec<f64>)> {
        let (edit, parent) = (candidate.edit?, candidate.parent.as_ref()?);
        let (usual, odd) = self.effects.certain(edit)?;
        let least = parent.fitness.max(middle);
        let is_farther = |vector: &Vec<f64>| aim.fitness(vector) > least;
        let odd = odd.and_then(|change| moved(&parent.vector, change));
        if odd.is_some_and(|vector| !is_farther(&vector)) {
            return None;
        }
        let vector = moved(&parent.vector, usual).filter(is_farther)?;
        Some((edit, parent.clone(), vector))
    }
}

/// Where a change leads; `None` where it would take away what is not there.
fn moved(before: &[f64], change: &Change) -> Option<Vec<f64>> {
    let mut after = before.to_vec();
    for (index, by) in change {
        let value = after.get_mut(usize::from(*index))?;
        let was = *value;
        *value += f64::from(*by);
        if was >= 0.0 && *value < 0.0 {
            return None;
        }
    }
    Some(after)
}

/// Counts predictions that were right and wrong, by what candidates were found to be.
pub(super) fn check(found: &mut Found, checks: &[Check], locations: &[Location]) {
    for (place, predicted) in checks {
        let is_right = match &locations[*place] {
            Location::At(vector) => vector.iter().zip(predicted).all(|(is, said)| {
                // Changes are remembered in single precision.
                (is - said).abs() <= 1e-6 * is.abs().max(1.0)
            }),
            Location::Nowhere => false,
            Location::Unknown => continue,
        };
        found.predicted.checked += 1;
        found.predicted.wrong += u64::from(!is_right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Corpus, Judge, Settings, Target};

    const EDIT: usize = 3;

    #[test]
    fn candidates_of_an_edit_that_always_leads_away_are_left_out_but_for_one_of_sixteen() {
        let space = features::space("instcount").expect("registered");
        let judge = Judge::new(space, 1).unwrap_or_else(|error| panic!("{error}"));
        let corpus = Corpus::default();
        let proposers = crate::default_proposers(false);
        let settings = Settings { proposers, ..Settings::default() };
        let mut search = Search::new(&judge, &corpus, settings.clone()).expect("known");
        let target = Target::parse("FMul=0..1,Load=9", space).expect("well-formed");
        let mut run = search.begin(&target);
        let parent = run.attempt.survivors[0].clone();
        run.attempt.survivors = vec![parent.clone(); settings.survivors];
        let index = |name| space.dimensions().iter().position(|one| *one == name).expect("there");
        let (multiply, load) = (index("FMul"), index("Load"));
        let with = |dimension: usize, by: f64| {
            let mut vector = parent.vector.clone();
            vector[dimension] += by;
            vector
        };
        let away = with(multiply, 5.0);
        let learn = |search: &mut Search<'_>, after: &[f64], times: usize| {
            for _ in 0..times {
                search.effects.learn(EDIT, &parent.vector, Some(after));
            }
        };
        let proposed = |edit: usize, count: usize| -> Vec<(usize, Candidate)> {
            let candidate = Candidate {
                program: parent.program.clone(),
                parent: Some(parent.clone()),
                edit: Some(edit),
                ..Candidate::of_text(parent.text.clone())
            };
            vec![(0, candidate); count]
        };
        let mut left = |search: &Search<'_>, edit: usize, candidates: u64| {
            let mut found = Found { candidates, ..Found::default() };
            let (judged, checks) =
                search.without_predicted(&mut run, proposed(edit, 20), &mut found);
            (judged.len(), checks.len(), found.predicted.skipped)
        };
        // Too little is known of it.
        learn(&mut search, &away, 39);
        assert_eq!(left(&search, EDIT, BEGINS), (20, 0, 0));
        learn(&mut search, &away, 1);
        assert_eq!(left(&search, EDIT, BEGINS), (2, 2, 18));
        // Small searches, and other edits, are not touched.
        assert_eq!(left(&search, EDIT, BEGINS - 1), (20, 0, 0));
        assert_eq!(left(&search, EDIT + 1, BEGINS), (20, 0, 0));
        // What it did once it may do again.
        learn(&mut search, &with(load, 1.0), 1);
        assert_eq!(left(&search, EDIT, BEGINS), (20, 0, 0));
        let all = Settings { judge_all: true, ..settings };
        let mut search = Search::new(&judge, &corpus, all).expect("known");
        learn(&mut search, &away, 40);
        assert_eq!(left(&search, EDIT, BEGINS), (20, 0, 0));
        // What was left out is a neighbour with the vector that was predicted.
        let known = run.attempt.neighbours.of(&parent).expect("of its edits some are known");
        assert_eq!(known.children.len(), 18);
        assert!(known.children.iter().all(|(child, edit)| child.vector == away && *edit == EDIT));
    }

    #[test]
    fn a_prediction_is_wrong_where_the_vector_is_another_or_none() {
        let mut found = Found::default();
        let checks = [0, 1, 2, 3].map(|place| (place, vec![2.0, 0.0]));
        let at = |first: f64| Location::At(vec![first, 0.0]);
        let locations = [at(2.0), at(3.0), Location::Nowhere, Location::Unknown];
        check(&mut found, &checks, &locations);
        assert_eq!((found.predicted.checked, found.predicted.wrong), (3, 2));
    }

    #[test]
    fn nothing_is_taken_away_that_is_not_there() {
        let change: Change = vec![(0, -1.0), (1, 2.0)];
        assert_eq!(moved(&[1.0, 0.0], &change), Some(vec![0.0, 2.0]));
        assert_eq!(moved(&[0.0, 0.0], &change), None);
        assert_eq!(moved(&[-1.0, 0.0], &change), Some(vec![-2.0, 2.0]));
    }
}
