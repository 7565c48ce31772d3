//! A program's turn: what is learned of how its edits go together, and sums of their changes by integer
//! programming.

use super::{Kind, Made, Unfit, Way};
use crate::{
    edit::Rng,
    ilp::{self, Column},
    program::Program,
    proposer::{Judged, State},
};
use rand::Rng as _;
use std::{collections::HashMap, sync::Arc};

/// How often conflicts are taken out of a sum, and in how many ways it is made.
const ROUNDS: usize = 4;
const REALISED: usize = 6;
/// Edits that make one change, of a large program, which are too many otherwise.
const OF_A_KIND: usize = 4;
/// What a change costs more for each sum that it was part of before, for each dimension that it moves,
/// where it was seen in a relative, and by chance, so that sums differ.
const DOUBT: f64 = 0.1;
const WIDTH: f64 = 0.05;
const STRANGE: f64 = 0.5;
const NOISE: f64 = 0.3;

/// The program whose edits are combined.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) focus: Arc<Judged>,
    /// Combinations of it that were tried.
    pub(super) combined: usize,
    /// How often each change, by its hash, was part of a sum found here.
    doubts: HashMap<u64, u32>,
    /// What relatives' edits made, by address, and whether it fits the program.
    fitting: HashMap<usize, (Arc<Judged>, bool)>,
    /// Programs whose edits are of the same thing; twice the same: one that is left out.
    conflicts: Vec<(Arc<Judged>, Arc<Judged>)>,
}

impl Turn {
    pub(super) fn of(focus: &Arc<Judged>) -> Turn {
        Turn {
            focus: focus.clone(),
            combined: 0,
            doubts: HashMap::new(),
            fitting: HashMap::new(),
            conflicts: Vec::new(),
        }
    }

    /// A sum found by integer programming, made in several ways: with the very edits that were chosen
    /// first. Changes that were part of one before cost more, for what they did alone they did not do
    /// there; edits that are found to be of the same thing are never chosen together again.
    pub(super) fn programmed(
        &mut self,
        state: &State<'_>,
        kinds: &[Kind<'_>],
        rng: &mut Rng,
    ) -> Vec<Vec<Way>> {
        let excess = state.aim.excess(&self.focus.vector);
        let of_a_kind = if state.is_large() { OF_A_KIND } else { usize::MAX };
        let mut ways: Vec<Way> = Vec::new();
        let mut columns: Vec<Column<'_>> = Vec::new();
        for (index, kind) in kinds.iter().enumerate() {
            let doubts = self.doubts.get(&kind.hash).copied().unwrap_or(0);
            let cost = 1.0 + DOUBT * f64::from(doubts) + WIDTH * kind.change.len() as f64;
            let mut fitting = 0;
            for (nth, made) in kind.made.iter().enumerate() {
                if fitting == of_a_kind {
                    break;
                }
                if !self.fits(made) {
                    continue;
                }
                fitting += 1;
                let strange = if Arc::ptr_eq(made.base, &self.focus) { 0.0 } else { STRANGE };
                let cost = cost + strange + rng.random_range(0.0..NOISE);
                ways.push(Way { kind: index, nth: Some(nth), unfit: Unfit::Made });
                columns.push(kind.column(cost));
            }
        }
        let indices: HashMap<*const Judged, usize> = ways
            .iter()
            .enumerate()
            .filter_map(|(index, way)| {
                Some((Arc::as_ptr(kinds[way.kind].made[way.nth?].child), index))
            })
            .collect();
        let mut plan: Vec<Way> = Vec::new();
        for _ in 0..ROUNDS {
            let index = |judged: &Arc<Judged>| indices.get(&Arc::as_ptr(judged)).copied();
            let apart: Vec<(usize, usize)> = self
                .conflicts
                .iter()
                .filter_map(|(one, other)| Some((index(one)?, index(other)?)))
                .collect();
            let chosen = ilp::cheapest(&excess, state.aim, &columns, &apart);
            // One of its own alone was made already; one of a relative was not made in this program.
            let own = |column: &usize| {
                let way = ways[*column];
                way.nth.is_some_and(|nth| Arc::ptr_eq(kinds[way.kind].made[nth].base, &self.focus))
            };
            if chosen.len() < 2 && chosen.iter().all(own) {
                return Vec::new();
            }
            plan = chosen.into_iter().map(|column| ways[column]).collect();
            if !self.find_conflicts(kinds, &plan) {
                break;
            }
        }
        for way in &plan {
            *self.doubts.entry(kinds[way.kind].hash).or_default() += 1;
        }
        let other: Vec<Way> = plan.iter().map(|way| Way { nth: None, ..*way }).collect();
        let mut plans = vec![other; REALISED];
        plans[0] = plan;
        plans
    }

    /// Whether what an edit of a relative made can be made in the program too.
    fn fits(&mut self, made: &Made<'_>) -> bool {
        if Arc::ptr_eq(made.base, &self.focus) {
            return true;
        }
        let fits = || {
            let [base, one, other] =
                [made.base, &self.focus, made.child].map(|judged| judged.program.as_ref());
            let (merged, one) = (Program::merge(base?, one?, other?)?, one?);
            // Parameters alone that it brings do nothing.
            Some(merged.body != one.body || merged.head != one.head)
        };
        let known = self.fitting.entry(Arc::as_ptr(made.child) as usize);
        known.or_insert_with(|| (made.child.clone(), fits() == Some(true))).1
    }

    /// Whether some of these edits are of the same thing; which is remembered.
    fn find_conflicts(&mut self, kinds: &[Kind<'_>], plan: &[Way]) -> bool {
        let before = self.conflicts.len();
        let edit = |way: &Way| way.nth.map(|nth| kinds[way.kind].made[nth]);
        let edits: Vec<Made<'_>> = plan.iter().filter_map(edit).collect();
        let mut program = self.focus.program.clone();
        for (index, Made { base, child, .. }) in edits.iter().enumerate() {
            let merge = |with: Option<&Program>| {
                Program::merge(base.program.as_ref()?, with?, child.program.as_ref()?)
            };
            if let Some(next) = merge(program.as_ref()) {
                program = Some(next);
                continue;
            }
            let culprits: Vec<&Arc<Judged>> = edits[..index]
                .iter()
                .filter(|other| Arc::ptr_eq(other.base, &self.focus))
                .map(|other| other.child)
                .filter(|with| merge(with.program.as_ref()).is_none())
                .collect();
            if culprits.is_empty() {
                // Not beside a relative's edit, or not beside all of them: it is left out from now on.
                self.conflicts.push(((*child).clone(), (*child).clone()));
            }
            for with in culprits {
                self.conflicts.push(((*child).clone(), with.clone()));
            }
        }
        self.conflicts.len() > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Expression, Statement, Ty};

    fn judged(values: [&str; 2]) -> Arc<Judged> {
        let set = |target: &str, value: &str| {
            let [target, value] = [target, value].map(|name| Expression::name(Ty::INT, name));
            Statement::Evaluate(Expression::assign(target, value))
        };
        let program =
            Program { body: vec![set("a", values[0]), set("b", values[1])], ..Program::empty() };
        Arc::new(Judged {
            text: program.to_string(),
            vector: Vec::new(),
            distance: 1.0,
            fitness: 1.0,
            program: Some(program),
            lineage: 1,
            is_near: false,
            proposer: "guided",
        })
    }

    fn kind<'a>(base: &'a Arc<Judged>, child: &'a Arc<Judged>) -> Kind<'a> {
        let made = vec![Made { base, child, edit: 0 }];
        Kind { hash: 1, change: Vec::new(), made }
    }

    #[test]
    fn edits_of_one_statement_are_a_conflict_and_of_two_are_none() {
        let focus = judged(["x", "y"]);
        let children = [judged(["p", "y"]), judged(["q", "y"]), judged(["x", "r"])];
        let kinds = children.each_ref().map(|child| kind(&focus, child));
        let plan = |of: [usize; 2]| of.map(|kind| Way { kind, nth: Some(0), unfit: Unfit::Made });
        let mut turn = Turn::of(&focus);
        assert!(!turn.find_conflicts(&kinds, &plan([0, 2])));
        assert!(turn.find_conflicts(&kinds, &plan([0, 1])));
        let [(one, other)] = turn.conflicts.as_slice() else { panic!("{}", turn.conflicts.len()) };
        assert!(Arc::ptr_eq(one, &children[1]) && Arc::ptr_eq(other, &children[0]));
    }

    #[test]
    fn what_a_relative_changed_fits_where_the_program_is_as_the_relative_was() {
        let (focus, relative) = (judged(["x", "y"]), judged(["x", "z"]));
        let children = [judged(["p", "z"]), judged(["x", "r"])];
        let mut turn = Turn::of(&focus);
        assert!(turn.fits(&kind(&relative, &children[0]).made[0]));
        assert!(!turn.fits(&kind(&relative, &children[1]).made[0]));
        assert!(turn.fits(&kind(&focus, &children[1]).made[0]));
    }
}
