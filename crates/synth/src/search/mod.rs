//! The search: generations of candidates, of which the nearest survive.

mod attempt;
mod calibrate;
mod misses;
mod natural;
mod plain;
mod readable;
mod rewrite;
mod select;
mod unread;
mod variety;

pub use natural::Natural;
pub use variety::NotNear;

use crate::{
    Arguments, Error, Judge, SteeredRow, Survivor,
    clock::{Budget, Clock},
    corpus::Corpus,
    edit,
    effects::Effects,
    feasible,
    judge::Location,
    metric::{Metric, deviations, following},
    program::{Program, as_mined, renumbered, without_unused},
    proposer::{Judged, LARGEST, Proposer, by_name, nearest},
    target::Target,
};
use attempt::Run;
use dataset::Progress;
use features::Part;
use natural::Likelihood;
use readable::Readable;
use rows::SteeredVerdict;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

/// Bytes of a kernel that is laid out whatever the time.
const LONG: usize = 8 << 10;

/// How much of a budget of time may be used until no further kernel is asked whether it is acceptable, which may take seconds
/// each: the nearest is asked whatever the time.
const LATE: f64 = 1.05;

/// The nearest mined kernels that are asked about where all that was made has races, say; and of how many of those before.
const MINED: usize = 6;
const MADE_FIRST: usize = 2;

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
    /// Whether it ended because the nearest is as large as candidates may be.
    pub is_at_the_end: bool,
    /// Whether the user stopped it: one that comes to its end may find more.
    pub is_cut: bool,
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
    /// What acceptance said of texts, by their hashes: to ask may take seconds.
    asked: Mutex<HashMap<String, Option<String>>>,
    /// Of how many kernels it may have been asked while plainer ones are searched for.
    most_asked: usize,
    not_near: Option<&'a NotNear>,
    natural: Option<Natural>,
    watch: Option<&'a dyn Progress>,
    /// Whether the search is one for plainer kernels.
    sparing: bool,
    /// Whether answers may have no races.
    is_defined: bool,
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
            asked: Mutex::default(),
            most_asked: 0,
            not_near: None,
            natural: None,
            watch: None,
            sparing: false,
            is_defined: false,
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

    /// Answers may have no races: edits that make some are left out, and buffers that are written are read nowhere else.
    pub fn set_defined(&mut self) {
        self.effects = Effects::new(edit::defined());
        self.is_defined = true;
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
        if let Err(error) = feasible::check(target, self.judge.space()) {
            return Ok(self.impossible(target, &error));
        }
        let idle = self.without_idle(target);
        let found = self.find_possible(target, stop);
        self.with_idle(idle);
        found
    }

    fn find_possible(&mut self, target: &Target, stop: &AtomicBool) -> Result<Found, Error> {
        self.tell(|| format!("{}: begins", target.name));
        self.asked = Mutex::default();
        let mut run = self.begin(target);
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
        self.finish(&mut run, &mut found, stop)?;
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
            let texts: Vec<&str> =
                proposed.iter().map(|(_, candidate)| candidate.text.as_str()).collect();
            let locations = self.judge.locate(&texts)?;
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
            self.tell(|| {
                let target = &run.aim.target;
                let nearest = run.nearest_found.first();
                let near = nearest.map_or(0.0, |judged| target.proximity(&judged.vector));
                format!("{}: {} candidates, proximity {near:.3}", target.name, found.candidates)
            });
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

    fn finish(&mut self, run: &mut Run, found: &mut Found, stop: &AtomicBool) -> Result<(), Error> {
        let (mut best, mut unlikely) = (Vec::new(), 0);
        let nearest = self.in_order(run);
        let made = nearest.iter().filter(|judged| judged.proposer != attempt::EMPTY);
        for (asked, judged) in made.enumerate() {
            let is_late = asked > 0 && self.acceptance.is_some() && run.clock.share() > LATE;
            if best.len() == self.settings.kept || is_late {
                break;
            }
            let apart = self.apart(judged)?;
            let judged = apart.as_ref().unwrap_or(judged);
            if !self.accepts(judged)? {
                continue;
            }
            let others: Vec<&str> =
                best.iter().map(|(other, _): &(Arc<Judged>, _)| other.text.as_str()).collect();
            let (judged, likelihood) = self.written_anew(run, judged, &others, found, stop)?;
            match self.natural.as_ref().is_none_or(|natural| natural.is_natural(likelihood)) {
                true => best.push((judged, likelihood)),
                false => unlikely += 1,
            }
        }
        best.sort_by(|(a, _), (b, _)| a.distance.total_cmp(&b.distance));
        found.is_cut = found.is_cut || stop.load(Ordering::Relaxed);
        let seconds = run.clock.seconds();
        for (index, (judged, likelihood)) in best.iter().enumerate() {
            let rank = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let mut row = self.row(run, rank, seconds, found.candidates);
            row.text = self.normal(judged, &run.clock);
            row.name = lexer::kernel_names(&row.text).first().map_or("A", |name| *name).to_owned();
            row.verdict = dataset::Verdict::ACCEPTED.to_owned();
            row.exact = judged.distance == 0.0;
            row.distance = judged.distance;
            row.proximity = run.aim.target.proximity(&judged.vector);
            row.proposer = judged.proposer.to_owned();
            let mut said = match row.exact || self.is_only_mined() {
                true => Vec::new(),
                false => self.unmended(&run.aim, &judged.vector),
            };
            if found.is_at_the_end {
                let size = LARGEST >> 10;
                said.push(format!(
                    "nothing nearer was looked for: its kernel is as large as kernels are made, {size} KiB"
                ));
            }
            row.detail = said.join("; ");
            row.vector = judged.vector.clone();
            row.bits_before = likelihood.map(|one| one.before.bits);
            row.bits = likelihood.map(|one| one.after.bits);
            row.bits_per_token = likelihood.map(|one| one.after.per_token());
            found.kernels.push(row);
        }
        if found.kernels.is_empty() {
            let mut row = self.row(run, 1, seconds, found.candidates);
            row.verdict = SteeredVerdict::NothingFound.to_string();
            row.detail = match unlikely {
                0 => self.nothing(found.candidates),
                _ => format!(
                    "{unlikely} kernels were found, and none has as few bits a token as --most-bits asks for: give it more time \
                     (--budget), or more bits"
                ),
            };
            found.kernels.push(row);
        }
        // Nothing can start from what is known by its text alone.
        self.archive.extend(
            best.into_iter().map(|(judged, _)| judged).filter(|judged| judged.program.is_some()),
        );
        Ok(())
    }

    /// The nearest kernels. Where they are asked about one by one, survivors too, and first a few of each lineage: what is wrong
    /// with one kernel often is with those made of it.
    fn in_order(&self, run: &Run) -> Vec<Arc<Judged>> {
        let mut all = run.nearest_found.clone();
        if self.acceptance.is_none() {
            return all;
        }
        let may_be = |one: &&Arc<Judged>| !one.is_near && !self.is_mined_hit(one);
        for survivor in run.attempt.survivors.iter().filter(may_be) {
            if all.iter().all(|one| one.text != survivor.text) {
                all.push(survivor.clone());
            }
        }
        all.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        let mut seen: HashMap<u64, usize> = HashMap::new();
        let mut ranked: Vec<(usize, Arc<Judged>)> = all
            .into_iter()
            .map(|judged| {
                let times = seen.entry(judged.lineage).or_default();
                *times += 1;
                // A hit is an answer before all that is farther.
                (if judged.distance == 0.0 { 0 } else { 1 + *times / OF_A_LINEAGE }, judged)
            })
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        let hits = ranked.iter().take_while(|(rank, _)| *rank == 0).count();
        let (mut ordered, mut plain) = (Vec::new(), run.plain.iter());
        let mut mined = self.nearest_mined(run).into_iter();
        for (at, (_, judged)) in ranked.into_iter().enumerate() {
            // Of plain kernels, and of those that people wrote, more are answers than of others.
            if at >= hits {
                ordered.extend(plain.next().cloned());
            }
            ordered.push(judged);
            if at >= hits + MADE_FIRST {
                ordered.extend(mined.next());
            }
        }
        ordered.extend(plain.cloned());
        ordered.extend(mined);
        ordered
    }

    /// The nearest mined kernels that are not at the target, which may be answers where nothing that is made is one.
    fn nearest_mined(&self, run: &Run) -> Vec<Arc<Judged>> {
        if !self.is_defined {
            return Vec::new();
        }
        let seeds = run.ranked.iter().filter(|at| self.corpus.is_mined(**at));
        let seeds = seeds.map(|at| &self.corpus.seeds[*at]).map(|seed| {
            Arc::new(Judged {
                text: seed.text.clone(),
                vector: seed.vector.clone(),
                distance: run.aim.distance(&seed.vector),
                fitness: run.aim.fitness(&seed.vector),
                program: None,
                lineage: 0,
                is_near: self.is_near(&seed.text),
                proposer: nearest::NAME,
            })
        });
        seeds.filter(|one| one.distance > 0.0).take(MINED).collect()
    }

    /// Why there is no kernel, and what may help.
    fn nothing(&self, candidates: u64) -> String {
        if self.proposers.is_empty() {
            return "no proposer that is named has anything to say of it".to_owned();
        }
        let seeds = if self.corpus.is_empty() { " or seeds (--seeds)" } else { "" };
        let asked = match self.acceptance {
            None => String::new(),
            Some(_) => self.rejected(),
        };
        format!(
            "none of {candidates} candidates is accepted and nearer than the empty kernel{asked}: give it more time (--budget){seeds}"
        )
    }

    /// A kernel that was found, more readable and then likelier to a model, as far as either is asked for.
    fn written_anew(
        &self,
        run: &mut Run,
        judged: &Arc<Judged>,
        others: &[&str],
        found: &mut Found,
        stop: &AtomicBool,
    ) -> Result<(Arc<Judged>, Option<Likelihood>), Error> {
        let mut written = judged.clone();
        // What was mined is as people wrote it, and what is run to be judged takes too long.
        let is_mined = judged.proposer == nearest::NAME;
        let is_run = self.judge.space().parts().contains(&Part::Run);
        if self.settings.readable && !is_mined && !is_run {
            let readable = match self.corpus.is_empty() {
                true => Readable::short(),
                false => Readable::than(&judged.text),
            };
            let readable = self.rewrite(&readable, run, judged, others, found, stop)?;
            written = readable.map_or(written, |readable| readable.judged);
        }
        let Some(natural) = &self.natural else { return Ok((written, None)) };
        let Some(before) = natural.bits(&judged.text)? else { return Ok((written, None)) };
        Ok(match self.rewrite(natural, run, &written, others, found, stop)? {
            Some(likely) => (likely.judged, Some(Likelihood { before, after: likely.of })),
            None => {
                let after = natural.bits(&written.text)?;
                (written, after.map(|after| Likelihood { before, after }))
            }
        })
    }

    /// The text laid out and without parameters that it does not use, where that leaves it at its point; one that takes
    /// seconds to lay out and to judge again is left as it is where the time is up.
    fn normal(&self, judged: &Judged, clock: &Clock) -> String {
        if judged.text.len() > LONG && clock.is_up() {
            return judged.text.clone();
        }
        let is_there = |text: &String| {
            let again =
                self.judge.judge(std::slice::from_ref(text)).ok().and_then(|mut all| all.pop());
            again.flatten().as_ref() == Some(&judged.vector)
        };
        let is_anew = self.settings.readable || self.natural.is_some();
        let named: fn(&str) -> String = if is_anew { as_mined } else { renumbered };
        let laid_out = |text: &str| Some(self.judge.layout(&named(text))).filter(is_there);
        let unused = self.settings.arguments.is_none().then(|| without_unused(&judged.text));
        unused
            .and_then(|text| laid_out(&text))
            .or_else(|| laid_out(&judged.text))
            .unwrap_or_else(|| judged.text.clone())
    }

    fn row(&self, run: &Run, rank: u32, seconds: f64, candidates: u64) -> SteeredRow {
        let target = run.aim.target.name.clone();
        SteeredRow {
            path: format!("{target}#{rank}"),
            target,
            space: self.judge.space().name().to_owned(),
            rank,
            mined_exact: run.mined_exact,
            mined_proximity: run.mined_proximity,
            seeds: u32::try_from(self.corpus.len()).unwrap_or(u32::MAX),
            candidates,
            seconds,
            ..SteeredRow::default()
        }
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
