//! The search: generations of candidates, of which the nearest survive.

mod answers;
mod attempt;
mod calibrate;
mod discriminator;
mod known;
mod misses;
mod natural;
mod plain;
mod predict;
mod readable;
mod rewrite;
mod select;
mod unread;
mod variety;

pub use natural::Natural;
pub use predict::Predicted;
pub use variety::NotNear;

use crate::{
    Arguments, Error, Judge, SteeredRow, Survivor,
    clock::{Budget, Clock, Deadline},
    corpus::Corpus,
    edit,
    effects::Effects,
    feasible::{self, Asked},
    judge::Location,
    metric::{Metric, deviations, following},
    program::Program,
    proposer::{Judged, Proposer, by_name},
    target::Target,
};
use attempt::Run;
use dataset::Progress;
use known::Known;
use rows::SteeredVerdict;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

/// Kernels of one lineage that are asked about before those of others.
const OF_A_LINEAGE: usize = 3;

/// How a search goes about it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The distance that decides what survives.
    pub metric: Metric,
    /// What one target may use up.
    pub budget: Budget,
    /// Generations at most.
    pub depth: u32,
    /// Candidates of a generation.
    pub generation: usize,
    /// Candidates without a better one after which a search near its target begins again from
    /// elsewhere: nearly all targets that are hit at all are hit without ever waiting so long.
    pub patience: u64,
    /// Programs that survive a generation (BenchPress's K).
    pub survivors: usize,
    /// Probability that a survivor gives its place to a random candidate (PACT'22, section 3.4).
    pub replacement: f64,
    /// How freely edits are chosen; near 0 only the most promising.
    pub temperature: f64,
    /// Kernels kept for each target, no two of which are near-duplicates; the search stops when so many are exact.
    pub kept: usize,
    /// Names of the proposers that share the budget.
    pub proposers: Vec<String>,
    /// Whether what is found is written more readably, at the same point.
    pub readable: bool,
    /// The parameters that answers are to have, if any are asked for: candidates with others are left out.
    pub arguments: Option<Arguments>,
    /// Whether each candidate is compiled: none is left out because of what its edit is known to do, and none that was judged
    /// under other names is taken as judged.
    pub judge_all: bool,
    /// The random seed.
    pub seed: u64,
}

impl Settings {
    /// The empty kernel, with the parameters that are asked for.
    fn blank(&self) -> Program {
        let parameters = self.arguments.as_ref().map(Arguments::parameters).unwrap_or_default();
        Program { next: parameters.len(), parameters, ..Program::empty() }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            metric: Metric::default(),
            budget: Budget::Candidates(10_000),
            depth: u32::MAX,
            generation: 48,
            patience: 1_500,
            survivors: 32,
            replacement: 0.15,
            temperature: 0.3,
            kept: 1,
            proposers: crate::proposer::defaults(true),
            readable: true,
            arguments: None,
            judge_all: false,
            seed: 0,
        }
    }
}

/// What was found for one target.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The nearest kernels, or one row that says why there are none.
    pub kernels: Vec<SteeredRow>,
    /// The survivors of every generation, as they came.
    pub trajectory: Vec<Survivor>,
    /// Candidates judged.
    pub candidates: u64,
    /// Of these, those that were judged before, under other names.
    pub known: u64,
    /// Candidates whose edit was known to lead away; those that were skipped are none of [`Found::candidates`].
    pub predicted: Predicted,
    /// Whether it ended because the nearest is as large as candidates may be.
    pub is_at_the_end: bool,
    /// Whether the user stopped it: one that comes to its end may find more.
    pub is_cut: bool,
    /// The largest proximity, and the most hits, that somebody who watches was told.
    told: (f64, usize),
}

impl Found {
    /// Whether a kernel lies right at the target.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.kernels.first().is_some_and(|kernel| kernel.exact)
    }
}

/// A check that a kernel has to pass to be an answer, for example that it runs: `None`, or in a word what is found instead
/// (`race`); or why that cannot be told, which ends the search.
pub type Acceptance<'a> = &'a (dyn Fn(&str) -> Result<Option<String>, String> + Sync);

/// Searches one space, target after target; what is learned and found for one serves the next.
///
/// Under a budget in candidates everything found for a target is a function of the settings, of the
/// target, and of the targets before, in their order.
pub struct Search<'a> {
    judge: &'a Judge,
    corpus: &'a Corpus,
    settings: Settings,
    deviations: Vec<f64>,
    /// Which dimensions follow from the others.
    follows: Vec<bool>,
    effects: Effects,
    /// Whether all edits were tried, as far as the budget allowed.
    calibrated: bool,
    empty: Vec<f64>,
    proposers: Vec<Box<dyn Proposer>>,
    archive: Vec<Arc<Judged>>,
    /// Lineages begun.
    lineages: u64,
    acceptance: Option<Acceptance<'a>>,
    deadline: Deadline,
    /// What ends all of this target.
    end: Clock,
    /// What acceptance said of texts, by their hashes: to ask may take seconds.
    asked: Mutex<HashMap<String, Option<String>>>,
    /// Vectors of candidates for this target.
    known: Mutex<Known>,
    /// Of how many kernels it may have been asked while plainer ones are searched for.
    most_asked: usize,
    not_near: Option<&'a NotNear>,
    natural: Option<Natural>,
    watch: Option<&'a dyn Progress>,
    /// Whether the search is one for plainer kernels.
    sparing: bool,
    /// Whether answers may have no races.
    is_defined: bool,
    /// Whether answers have to run, and to write what they compute.
    must_run: bool,
}

impl<'a> Search<'a> {
    /// A search with these mined kernels to start from, which may be none.
    ///
    /// # Errors
    /// For an unknown proposer, one that lacks seeds, or a budget below one generation.
    pub fn new(
        judge: &'a Judge,
        corpus: &'a Corpus,
        settings: Settings,
    ) -> Result<Search<'a>, Error> {
        if let Budget::Candidates(budget) = settings.budget
            && budget < settings.generation as u64
        {
            return Err(Error::SmallBudget { budget, generation: settings.generation });
        }
        let mut proposers = Vec::new();
        for name in &settings.proposers {
            let proposer = by_name(name)?;
            if proposer.needs_seeds() && corpus.is_empty() {
                return Err(Error::NeedsSeeds(name.clone()));
            }
            proposers.push(proposer);
        }
        let dimensions = judge.space().dimensions().len();
        let text = settings.blank().to_string();
        let empty = judge.judge(&[text])?.pop().flatten();
        Ok(Search {
            judge,
            corpus,
            deviations: deviations(dimensions, corpus.vectors()),
            follows: following(judge.space()),
            effects: Effects::new(edit::all()),
            calibrated: false,
            empty: empty.unwrap_or_else(|| vec![0.0; dimensions]),
            proposers,
            archive: Vec::new(),
            lineages: 0,
            acceptance: None,
            deadline: Deadline::default(),
            end: Clock::start(settings.budget),
            asked: Mutex::default(),
            known: Mutex::default(),
            most_asked: 0,
            not_near: None,
            natural: None,
            watch: None,
            sparing: false,
            is_defined: false,
            must_run: false,
            settings,
        })
    }

    /// Let another proposer share the budget, for example a language model.
    pub fn add_proposer(&mut self, proposer: Box<dyn Proposer>) {
        self.proposers.push(proposer);
    }

    /// Only kernels that pass `acceptance` are answers.
    pub fn set_acceptance(&mut self, acceptance: Acceptance<'a>) {
        self.acceptance = Some(acceptance);
    }

    /// Acceptance looks at this one: it is begun anew for each kernel that is asked about.
    pub fn set_deadline(&mut self, deadline: Deadline) {
        self.deadline = deadline;
    }

    /// Answers may have no races: edits that make some are left out, and buffers that are written are read nowhere else.
    pub fn set_defined(&mut self) {
        self.effects = Effects::new(edit::defined());
        self.is_defined = true;
    }

    /// Answers have to run, and to write what they compute: targets at which none does are impossible.
    pub fn set_must_run(&mut self) {
        self.must_run = true;
    }

    /// No near-duplicates of these are answers.
    pub fn set_not_near(&mut self, known: &'a NotNear) {
        self.not_near = Some(known);
    }

    /// What is found is written as people write, as far as the budget goes.
    pub fn set_natural(&mut self, natural: Natural) {
        self.natural = Some(natural);
    }

    /// Tell somebody how each search goes.
    pub fn set_watch(&mut self, watch: &'a dyn Progress) {
        self.watch = Some(watch);
    }

    fn tell(&self, text: impl FnOnce() -> String) {
        if let Some(watch) = self.watch {
            watch.message(&text());
        }
    }

    /// Search for one target until it is hit, the budget is spent (but for one generation), or `stop`
    /// is raised: then with the best so far.
    ///
    /// # Errors
    /// When candidates cannot be judged at all, or not be told from answers. A target that is
    /// impossible is an answer.
    pub fn find(&mut self, target: &Target, stop: &AtomicBool) -> Result<Found, Error> {
        let asked = Asked { arguments: self.settings.arguments.as_ref(), must_run: self.must_run };
        if let Err(error) = feasible::check_asked(target, self.judge.space(), asked) {
            return Ok(self.impossible(target, &error));
        }
        let idle = self.without_idle(target);
        let found = self.find_possible(target, stop);
        self.with_idle(idle);
        found
    }

    /// The same with another budget than that of the settings.
    ///
    /// # Errors
    /// As [`Search::find`].
    pub(crate) fn find_within(
        &mut self,
        budget: Budget,
        target: &Target,
        stop: &AtomicBool,
    ) -> Result<Found, Error> {
        self.settings.budget = budget;
        self.find(target, stop)
    }

    fn find_possible(&mut self, target: &Target, stop: &AtomicBool) -> Result<Found, Error> {
        self.tell(|| format!("{}: begins", target.name));
        self.asked = Mutex::default();
        self.known = Mutex::default();
        let mut run = self.begin(target);
        self.end = run.end.clone();
        let (judge, clock) = (self.judge, run.clock.clone());
        let candidates = judge
            .halt()
            .watched(&clock, judge.counter(), stop, || self.calibrate(&mut run, stop))?;
        let mut found = Found { candidates, ..Found::default() };
        if self.may_be_plain() && clock.is_ample() {
            // Of others hardly any are without races.
            let own = if self.is_defined { clock.first_two_thirds() } else { clock.first_third() };
            self.search_plainly(&mut run, own, &mut found, stop)?;
        }
        if run.exact() < self.settings.kept {
            judge.halt().watched(&clock, judge.counter(), stop, || {
                self.search(&mut run, &mut found, stop)
            })?;
            // What it takes to be hit is known by now, and more of what edits do.
            if self.may_be_plain() && self.is_odd(&run) {
                let again = clock.for_as_long_again(found.candidates);
                self.search_plainly(&mut run, again, &mut found, stop)?;
            }
        }
        found.is_cut = stop.load(Ordering::Relaxed);
        let answers = self.finish(&mut run, &mut found, stop)?;
        // Nothing can start from what is known by its text alone.
        self.archive.extend(answers.into_iter().filter(|judged| judged.program.is_some()));
        Ok(found)
    }

    fn search(&mut self, run: &mut Run, found: &mut Found, stop: &AtomicBool) -> Result<(), Error> {
        let mut generation = 0;
        while generation < self.settings.depth
            && (generation == 0 || !run.clock.is_spent(found.candidates))
            && !stop.load(Ordering::Relaxed)
        {
            generation += 1;
            let wanted = run.clock.allows(found.candidates, self.settings.generation);
            if self.is_stuck(run, found.candidates) {
                self.begin_again(run, found.candidates);
            }
            let proposed = self.propose(run, wanted);
            if proposed.is_empty() {
                break;
            }
            let (proposed, checks) = self.without_predicted(run, proposed, found);
            let texts: Vec<&str> =
                proposed.iter().map(|(_, candidate)| candidate.text.as_str()).collect();
            let locations = self.locate(&texts)?;
            predict::check(found, &checks, &locations);
            found.candidates +=
                locations.iter().filter(|one| **one != Location::Unknown).count() as u64;
            let before = run.attempt.best;
            let fresh = self.take(run, proposed, locations);
            if run.attempt.best < before {
                run.attempt.improved = found.candidates;
            }
            let exact = run.exact();
            self.survive(run, fresh);
            run.attempt.generations += 1;
            record(run, generation, found);
            self.tell_how_near(run, found);
            if self.is_done(run)? {
                break;
            }
            let is_without = run.attempt.survivors.is_empty() && !self.is_only_mined();
            if run.exact() > exact || is_without {
                // Others are found from elsewhere: what is near this one is a near-duplicate of it.
                self.begin_again(run, found.candidates);
            }
            if self.is_at_the_end(run) {
                found.is_at_the_end = true;
                break;
            }
        }
        Ok(())
    }

    /// Say how near the search has come. What began again from elsewhere, or was not accepted, does not take that back.
    fn tell_how_near(&self, run: &Run, found: &mut Found) {
        let (target, wanted) = (&run.aim.target, self.settings.kept);
        let nearest = run.nearest_found.first();
        let near = nearest.map_or(0.0, |judged| target.proximity(&judged.vector));
        let hits = if self.acceptance.is_some() { self.accepted_of() } else { run.exact() };
        found.told = (found.told.0.max(near), found.told.1.max(hits.min(wanted)));
        let ((near, hits), candidates) = (found.told, found.candidates);
        self.tell(|| {
            let tried = match self.asked_of() {
                0 => String::new(),
                tried => format!(", {tried} tried"),
            };
            let hits =
                if wanted > 1 { format!(", {hits} of {wanted} hits") } else { String::new() };
            format!("{}: {candidates} candidates, proximity {near:.3}{hits}{tried}", target.name)
        });
    }

    fn impossible(&self, target: &Target, error: &Error) -> Found {
        let row = SteeredRow {
            target: target.name.clone(),
            space: self.judge.space().name().to_owned(),
            rank: 1,
            path: format!("{}#1", target.name),
            verdict: SteeredVerdict::Impossible.to_string(),
            detail: error.to_string(),
            ..SteeredRow::default()
        };
        Found { kernels: vec![row], ..Found::default() }
    }
}

fn record(run: &Run, generation: u32, found: &mut Found) {
    let seconds = run.clock.seconds();
    let mut least = found.trajectory.iter().map(|row| row.distance).fold(f64::INFINITY, f64::min);
    for judged in &run.entered {
        let best = judged.distance < least;
        least = least.min(judged.distance);
        found.trajectory.push(Survivor {
            generation,
            candidates: found.candidates,
            seconds,
            proposer: judged.proposer.to_owned(),
            distance: judged.distance,
            proximity: run.aim.target.proximity(&judged.vector),
            best,
        });
    }
}
