//! Writing a kernel that was found in another way, at the same point: many small edits, of which those stay that make it
//! better by some measure.

use super::{Found, Run, Search, variety};
use crate::{
    Error,
    clock::Clock,
    edit::{self, Rng},
    judge::Location,
    program::{Program, as_mined},
    proposer::Judged,
};
use rand::{Rng as _, seq::IndexedRandom};
use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Edits of a candidate at most.
const EDITS: usize = 3;
/// The share of the time for a kernel in which it is written; in what is left answers are told from what is written.
const WRITTEN: f64 = 0.8;
/// The best kernels so far, which candidates are made of.
const PARENTS: usize = 6;

/// How well a kernel is written.
pub(super) trait Measure: Sync {
    /// What is measured of a kernel.
    type Of: Copy + Send;

    /// Of this kernel; `None`: nothing can be said of it.
    ///
    /// # Errors
    /// When no kernel can be measured.
    fn of(&self, program: &Program, text: &str) -> Result<Option<Self::Of>, Error>;

    /// The less, the better.
    fn cost(of: &Self::Of) -> f64;

    /// How long it is worth going on, for a kernel of this text.
    fn limits(&self, text: &str) -> Limits;

    /// What somebody who watches is told.
    fn told(of: &Self::Of) -> String;
}

/// When rewriting ends, if the budget does not end it.
pub(super) struct Limits {
    /// Candidates without a better one.
    pub(super) patience: u64,
    /// Candidates.
    pub(super) candidates: u64,
    /// Whether acceptance is asked of each better kernel, which may take a second each. Otherwise it is asked in the end.
    pub(super) asks_each: bool,
}

/// A kernel as it is written now, and what is measured of it.
pub(super) struct Rewritten<T> {
    pub(super) judged: Arc<Judged>,
    pub(super) of: T,
}

/// A kernel that candidates are made of.
struct Written<T> {
    of: T,
    program: Program,
}

impl Search<'_> {
    /// The kernel in the best way of writing it that the limits and what is left of the budget allow: as near the target,
    /// acceptable, and no near-duplicate of `others`. `None`: nothing can be measured of it.
    ///
    /// # Errors
    /// When candidates cannot be judged at all.
    pub(super) fn rewrite<M: Measure>(
        &self,
        measure: &M,
        run: &mut Run,
        judged: &Arc<Judged>,
        others: &[&str],
        found: &mut Found,
        stop: &AtomicBool,
    ) -> Result<Option<Rewritten<M::Of>>, Error> {
        let Some(program) = judged.program.clone().or_else(|| self.judge.read_one(&judged.text))
        else {
            return Ok(None);
        };
        let Some(before) = measure.of(&program, &judged.text)? else { return Ok(None) };
        let limits = measure.limits(&judged.text);
        // What a run of a few arguments accepts may race with others.
        let is_apart = self.is_defined && program.set_apart().is_none();
        let is_own = self.is_defined && !program.writes_for_all();
        let edits = edit::natural();
        let mut seen = HashSet::from([as_mined(&judged.text)]);
        let mut best = vec![Written { of: before, program }];
        // The best kernels, one after the other; the first is an answer.
        let mut steps = vec![Rewritten { judged: judged.clone(), of: before }];
        let asks_in_the_end = self.acceptance.is_some() && !limits.asks_each;
        let clock = run.clock.for_the_next(if asks_in_the_end { WRITTEN } else { 1.0 });
        let (mut idle, mut used) = (0, 0);
        while idle < limits.patience
            && used < limits.candidates
            && !clock.is_spent(found.candidates)
            && !stop.load(Ordering::Relaxed)
        {
            let wanted = run.clock.allows(found.candidates, self.settings.generation);
            let fitting =
                |program| self.fitting(program).filter(|one: &Program| !one.stands_still());
            let programs = variants(&best, &edits, wanted, &fitting, &mut seen, &mut run.rng);
            if programs.is_empty() {
                break;
            }
            let texts: Vec<&str> = programs.iter().map(|(_, text)| text.as_str()).collect();
            let locations = self.locate(&texts)?;
            let known = locations.iter().filter(|one| **one != Location::Unknown).count() as u64;
            found.candidates += known;
            idle += known.max(1);
            used += known.max(1);
            let there: Vec<(Program, String, Vec<f64>)> = programs
                .into_iter()
                .zip(locations)
                .filter_map(|((program, text), location)| match location {
                    Location::At(vector)
                        if run.aim.distance(&vector) <= judged.distance
                            && !(is_apart && program.set_apart().is_some())
                            && !(is_own && program.writes_for_all()) =>
                    {
                        Some((program, text, vector))
                    }
                    _ => None,
                })
                .collect();
            let measured =
                self.judge.in_parallel(&there, |(program, text, _)| measure.of(program, text));
            for ((program, text, vector), of) in there.into_iter().zip(measured) {
                let Some(of) = of? else { continue };
                let judged = Arc::new(Judged {
                    is_near: self.is_near(&text),
                    distance: run.aim.distance(&vector),
                    fitness: run.aim.fitness(&vector),
                    text,
                    vector,
                    program: Some(program.clone()),
                    lineage: judged.lineage,
                    proposer: judged.proposer,
                });
                let cost = M::cost(&of);
                let is_best = cost < M::cost(&best[0].of);
                let is_room = best.len() < PARENTS
                    || best.last().is_some_and(|last| cost < M::cost(&last.of));
                let may_be = || !judged.is_near && !variety::is_like_any(&judged.text, others);
                let is_asked = || Ok::<_, Error>(!limits.asks_each || self.accepts(&judged)?);
                if !is_room || is_best && !(may_be() && is_asked()?) {
                    continue;
                }
                if is_best {
                    idle = 0;
                    steps.push(Rewritten { judged, of });
                }
                best.push(Written { of, program });
                best.sort_by(|a, b| M::cost(&a.of).total_cmp(&M::cost(&b.of)));
                best.truncate(PARENTS);
            }
            self.tell(|| format!("{}: {}", run.aim.target.name, M::told(&best[0].of)));
        }
        match limits.asks_each {
            true => Ok(steps.pop()),
            false => self.last_accepted(steps, &run.clock),
        }
    }

    /// The last of several steps that is acceptable, where the first is: the last one, or what halving finds in time.
    fn last_accepted<T>(
        &self,
        mut steps: Vec<Rewritten<T>>,
        clock: &Clock,
    ) -> Result<Option<Rewritten<T>>, Error> {
        let (mut good, mut bad) = (0, steps.len());
        let mut next = steps.len().saturating_sub(1);
        let is_late = || self.acceptance.is_some() && clock.is_up();
        while bad - good > 1 && !is_late() {
            match self.accepts(&steps[next].judged)? {
                true => good = next,
                false => bad = next,
            }
            next = usize::midpoint(good, bad);
        }
        Ok((good < steps.len()).then(|| steps.swap_remove(good)))
    }
}

/// So many programs that were not seen yet, each some edits from one of the best, as `fitting` has them.
fn variants<T>(
    best: &[Written<T>],
    edits: &[edit::Edit],
    wanted: usize,
    fitting: &dyn Fn(Program) -> Option<Program>,
    seen: &mut HashSet<String>,
    rng: &mut Rng,
) -> Vec<(Program, String)> {
    let mut programs = Vec::new();
    for _ in 0..4 * wanted {
        let Some(parent) = best.choose(rng) else { break };
        let mut program = parent.program.clone();
        for _ in 0..rng.random_range(1..=EDITS) {
            let before = program.clone();
            let made = edits.choose(rng).and_then(|edit| edit.apply(&mut program, rng));
            if made.is_none() {
                program = before;
            }
        }
        let Some(program) = fitting(program) else { continue };
        let text = program.to_string();
        // Other names alone make no other kernel.
        if seen.insert(as_mined(&text)) {
            programs.push((program, text));
            if programs.len() == wanted {
                break;
            }
        }
    }
    programs
}
