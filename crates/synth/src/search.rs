//! The search: generations of candidates, of which the nearest survive.

mod calibrate;

use crate::{
    Error, Judge, Memory, SteeredRow, TrajectoryRow,
    bandit::Bandit,
    clock::{Budget, Clock},
    corpus::Corpus,
    edit::{self, Rng},
    effects::Effects,
    feasible,
    judge::Location,
    memory::{Carried, Kept},
    metric::{Aim, Metric, deviations, following},
    neighbours::Neighbours,
    program::{Program, renumbered},
    proposer::{Candidate, Judged, Proposer, State, by_name},
    subset_sum::Trust,
    target::Target,
};
use rand::{Rng as _, SeedableRng};
use rows::SteeredVerdict;
use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// The squared distance from which on half of the candidates are edits tried one by one and combined.
const NEAR: f64 = 400.0;

/// The squared distance, by plain differences, from which on a search that stands still begins again
/// from elsewhere; farther away patience still pays.
const STUCK: f64 = 100.0;

/// How many seeds there must be for half of them to be worth starting from.
const ENOUGH: usize = 192;

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
    /// Kernels kept for each target; the search stops when so many are exact.
    pub kept: usize,
    /// Names of the proposers that share the budget.
    pub proposers: Vec<String>,
    /// Seed of all chance.
    pub seed: u64,
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
            proposers: crate::proposer::NAMES
                .iter()
                .filter(|name| **name != "random")
                .map(|name| (*name).to_owned())
                .collect(),
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
    pub trajectory: Vec<TrajectoryRow>,
    /// Candidates judged.
    pub candidates: u64,
    /// Whether the user stopped it: one that comes to its end may find more.
    pub is_cut: bool,
    /// What the search for the next target starts from, with those of the targets before.
    pub memory: Memory,
}

impl Found {
    /// Whether a kernel lies right at the target.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.kernels.first().is_some_and(|kernel| kernel.exact)
    }
}

/// A check that a kernel has to pass to be an answer, for example that it runs; or why that cannot be
/// told, which ends the search.
pub type Acceptance<'a> = &'a (dyn Fn(&str) -> Result<bool, String> + Sync);

/// Searches one space, target after target; what is learned and found for one serves the next.
///
/// Under a budget in candidates everything found for a target is a function of the settings, of the
/// target, and of the [`Memory`] of the targets before, in their order.
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
        let text = Program::empty().to_string();
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
            settings,
        })
    }

    /// Let another proposer share the budget, for example a language model.
    pub fn add_proposer(&mut self, proposer: Box<dyn Proposer>) {
        self.proposers.push(proposer);
    }

    fn is_only_nearest(&self) -> bool {
        self.proposers.iter().all(|proposer| proposer.name() == "nearest")
    }

    /// Whether survivors lead to anything.
    fn is_directed(&self) -> bool {
        self.proposers.iter().any(|one| !matches!(one.name(), "random" | "nearest"))
    }

    /// Only kernels that pass `acceptance` are answers.
    pub fn set_acceptance(&mut self, acceptance: Acceptance<'a>) {
        self.acceptance = Some(acceptance);
    }

    /// Go on behind targets that were searched for by another search of equal settings: what it
    /// remembered of each, in their order.
    ///
    /// # Errors
    /// [`Error::Memory`] where these are not of such a search.
    pub fn recall(&mut self, memories: impl IntoIterator<Item = Memory>) -> Result<(), Error> {
        for memory in memories {
            let Carried { calibrated, lineages, known, found } = memory.read()?;
            if !self.effects.recall(known) {
                return Err(Error::Memory);
            }
            (self.calibrated, self.lineages) = (calibrated, lineages);
            self.archive.extend(found.into_iter().map(Kept::recalled));
        }
        Ok(())
    }

    /// What is known now, and what was found for the last target.
    fn remember(&self, last: &[Arc<Judged>]) -> Memory {
        Memory::of(&Carried {
            calibrated: self.calibrated,
            lineages: self.lineages,
            known: self.effects.known(),
            found: last.iter().filter_map(|judged| Kept::of(judged)).collect(),
        })
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
        let mut run = self.begin(target);
        let mut found = Found { candidates: self.calibrate(&mut run, stop)?, ..Found::default() };
        let (judge, clock) = (self.judge, run.clock.clone());
        judge
            .halt()
            .watched(&clock, judge.counter(), stop, || self.search(&mut run, &mut found, stop))?;
        found.is_cut = stop.load(Ordering::Relaxed);
        self.finish(&run, &mut found)?;
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
            self.survive(run, fresh);
            run.attempt.generations += 1;
            record(run, generation, found);
            if self.is_done(run)? {
                break;
            }
        }
        Ok(())
    }

    fn begin(&mut self, target: &Target) -> Run {
        let clock = Clock::start(self.settings.budget);
        let aim = Aim::new(target.clone(), self.settings.metric, &self.deviations, &self.follows);
        let key = dataset::content_hash(target.name.as_bytes());
        let key = key.bytes().fold(0_u64, |all, byte| all.wrapping_mul(31) ^ u64::from(byte));
        let rng = Rng::seed_from_u64(self.settings.seed ^ key);
        let only_nearest = self.is_only_nearest();
        let seeds = self.corpus.seeds.iter().enumerate();
        let mut ranked: Vec<(f64, usize)> = seeds
            .filter(|(index, _)| !only_nearest || self.corpus.is_mined(*index))
            .map(|(index, seed)| (aim.distance(&seed.vector), index))
            .collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // What already lies at the target is no find: it is counted apart.
        let mined = || ranked.iter().filter(|(_, index)| self.corpus.is_mined(*index));
        let mined_exact = mined().filter(|(distance, _)| *distance == 0.0).count();
        let mined_proximity = mined()
            .next()
            .map_or(0.0, |(_, index)| target.proximity(&self.corpus.seeds[*index].vector));
        // Of equally near seeds the mined ones come first.
        let skipped = if only_nearest { 0 } else { mined_exact };
        let ranked: Vec<usize> = ranked.into_iter().skip(skipped).map(|(_, index)| index).collect();
        Run {
            clock,
            attempt: self.attempt(&aim, ranked.clone(), 0),
            aim,
            rng,
            ranked,
            mined_exact: u32::try_from(mined_exact).unwrap_or(u32::MAX),
            mined_proximity,
            nearest_found: Vec::new(),
            entered: Vec::new(),
        }
    }

    /// A beginning from these seeds, when so many candidates were judged.
    fn attempt(&mut self, aim: &Aim, nearest: Vec<usize>, candidates: u64) -> Attempt {
        for proposer in &mut self.proposers {
            proposer.restart();
        }
        Attempt {
            nearest,
            generations: 0,
            improved: candidates,
            bandit: Bandit::new(self.proposers.len()),
            survivors: if self.is_directed() { self.start(aim) } else { Vec::new() },
            seen: HashSet::new(),
            best: f64::INFINITY,
            trust: Trust::default(),
            neighbours: Neighbours::default(),
        }
    }

    /// Whether nothing nearer has come for long, near a target that was not hit yet.
    fn is_stuck(&self, run: &Run, candidates: u64) -> bool {
        self.settings.metric == Metric::Euclidean
            && self.is_directed()
            && run.attempt.best > 0.0
            && run.attempt.best <= STUCK
            && candidates - run.attempt.improved > self.settings.patience
    }

    /// What one set of survivors cannot reach another may: all that is kept is what was found and
    /// what edits were seen to do, and a random half of the seeds, where they are many, is what is
    /// started from.
    fn begin_again(&mut self, run: &mut Run, candidates: u64) {
        let Run { ranked, rng, .. } = &mut *run;
        let all = ranked.len() < ENOUGH;
        let nearest = ranked.iter().copied().filter(|_| all || rng.random_bool(0.5)).collect();
        run.attempt = self.attempt(&run.aim, nearest, candidates);
    }

    /// The empty kernel, and what was found for other targets.
    fn start(&self, aim: &Aim) -> Vec<Arc<Judged>> {
        let empty = Program::empty();
        let mut start = vec![Arc::new(Judged {
            text: empty.to_string(),
            vector: self.empty.clone(),
            distance: aim.distance(&self.empty),
            fitness: aim.fitness(&self.empty),
            program: Some(empty),
            lineage: 0,
            proposer: "empty",
        })];
        let mut known: Vec<Judged> = self
            .archive
            .iter()
            .map(|known| Judged {
                text: known.text.clone(),
                vector: known.vector.clone(),
                distance: aim.distance(&known.vector),
                fitness: aim.fitness(&known.vector),
                program: known.program.clone(),
                lineage: known.lineage,
                proposer: "archive",
            })
            .collect();
        known.sort_by(|a, b| a.fitness.total_cmp(&b.fitness));
        known.truncate(self.settings.survivors / 4);
        start.extend(known.into_iter().map(Arc::new));
        start.sort_by(|a, b| a.fitness.total_cmp(&b.fitness));
        start
    }

    fn propose(&mut self, run: &mut Run, wanted: usize) -> Vec<(usize, Candidate)> {
        let mut shares = vec![0; self.proposers.len()];
        for (arm, proposer) in self.proposers.iter().enumerate() {
            // Where to start from comes first, whatever it is worth later.
            if run.attempt.generations == 0 && proposer.name() == "nearest" {
                shares[arm] = wanted * 2 / 3;
            }
            // Most of its candidates are no success of their own, but what successes are made of.
            if proposer.name() == "combine" && run.attempt.best < NEAR {
                shares[arm] = wanted / 2;
            }
        }
        for _ in shares.iter().sum::<usize>()..wanted {
            shares[run.attempt.bandit.draw(&mut run.rng)] += 1;
        }
        let subset_sums = self.effects.subset_sums(&run.aim, &run.attempt.trust);
        let state = State {
            subset_sums: &subset_sums,
            neighbours: &run.attempt.neighbours,
            aim: &run.aim,
            survivors: &run.attempt.survivors,
            corpus: self.corpus,
            nearest: &run.attempt.nearest,
            effects: &self.effects,
            temperature: self.settings.temperature,
            judge: self.judge,
            empty: &self.empty,
        };
        let mut proposed = Vec::new();
        for (arm, share) in shares.into_iter().enumerate().filter(|(_, share)| *share > 0) {
            let candidates = self.proposers[arm].propose(&state, share, &mut run.rng);
            if candidates.len() < share {
                // Who has nothing to say is asked less.
                for _ in candidates.len()..share {
                    run.attempt.bandit.reward(arm, 0.0);
                }
            }
            for candidate in candidates {
                if run.attempt.seen.insert(dataset::content_hash(candidate.text.as_bytes())) {
                    proposed.push((arm, candidate));
                } else {
                    run.attempt.bandit.reward(arm, 0.0);
                }
            }
        }
        proposed
    }

    /// Those that compile; teaches effects and rewards proposers.
    fn take(
        &mut self,
        run: &mut Run,
        proposed: Vec<(usize, Candidate)>,
        locations: Vec<Location>,
    ) -> Vec<Arc<Judged>> {
        // The last survivors are there by chance: who is nearer than those is worth nothing yet.
        let middle = run.attempt.survivors.get(self.settings.survivors / 2);
        let middle = middle.map_or(f64::INFINITY, |middle| middle.fitness);
        let mut best = run.attempt.best;
        let mut fresh = Vec::new();
        for ((arm, candidate), location) in proposed.into_iter().zip(locations) {
            let vector = match location {
                Location::At(vector) => Some(vector),
                Location::Nowhere => None,
                Location::Unknown => continue,
            };
            if let (Some(edit), Some(parent)) = (candidate.edit, &candidate.parent) {
                self.effects.learn(edit, &parent.vector, vector.as_deref());
            }
            let hit = vector.as_ref().is_some_and(|vector| run.aim.distance(vector) == 0.0);
            if !hit {
                run.attempt.trust.doubt(&candidate.plan);
            }
            let edited = candidate.edit.zip(candidate.parent.clone());
            let Some(vector) = vector else {
                run.attempt.bandit.reward(arm, 0.0);
                if let Some((edit, parent)) = edited {
                    run.attempt.neighbours.add(&parent, edit, None);
                }
                continue;
            };
            let fitness = run.aim.fitness(&vector);
            let reward = if fitness < best {
                1.0
            } else if fitness < middle {
                0.1
            } else {
                0.0
            };
            best = best.min(fitness);
            run.attempt.bandit.reward(arm, reward);
            self.lineages += 1;
            let lineage = candidate.parent.map_or(self.lineages, |parent| match parent.lineage {
                // The empty kernel has no features to pass on.
                0 => self.lineages,
                lineage => lineage,
            });
            let judged = Arc::new(Judged {
                lineage,
                text: candidate.text,
                distance: run.aim.distance(&vector),
                vector,
                fitness,
                program: candidate.program,
                proposer: self.proposers[arm].name(),
            });
            if let Some((edit, parent)) = edited {
                run.attempt.neighbours.add(&parent, edit, Some(&judged));
            }
            fresh.push(judged);
        }
        run.attempt.best = best;
        run.attempt.bandit.forget();
        fresh
    }

    /// The nearest of old and new, each point once or twice, a quarter of them of one lineage at
    /// most, some replaced by chance.
    fn survive(&mut self, run: &mut Run, fresh: Vec<Arc<Judged>>) {
        let count = self.settings.survivors;
        let mut pool = std::mem::take(&mut run.attempt.survivors);
        pool.extend(fresh.iter().cloned());
        // Of equally near programs the newer is kept: the search drifts instead of standing still.
        let age = |judged: &Arc<Judged>| !fresh.iter().any(|one| Arc::ptr_eq(one, judged));
        let mut order: Vec<(Arc<Judged>, bool)> =
            pool.into_iter().map(|judged| (age(&judged), judged)).map(|(a, j)| (j, a)).collect();
        order.sort_by(|a, b| {
            a.0.fitness
                .total_cmp(&b.0.fitness)
                .then(a.1.cmp(&b.1))
                .then(a.0.text.len().cmp(&b.0.text.len()))
        });
        let mut points: Vec<(Vec<u64>, usize)> = Vec::new();
        let mut rest = Vec::new();
        let mut kept: Vec<Arc<Judged>> = Vec::new();
        for (judged, _) in order {
            let point: Vec<u64> = judged.vector.iter().map(|value| value.to_bits()).collect();
            let same = points.iter_mut().find(|(known, _)| *known == point);
            let is_new = match same {
                Some((_, times)) => {
                    *times += 1;
                    *times <= 2
                }
                None => {
                    points.push((point, 1));
                    true
                }
            };
            // What one lineage cannot reach another may.
            let family = kept.iter().filter(|one| one.lineage == judged.lineage).count();
            if is_new && family < count.div_ceil(4) && kept.len() < count {
                kept.push(judged);
            } else {
                rest.push(judged);
            }
        }
        // The best stays, so that an answer is never lost.
        for one in kept.iter_mut().skip(1) {
            if !rest.is_empty() && run.rng.random_bool(self.settings.replacement) {
                let other = run.rng.random_range(0..rest.len());
                *one = rest.swap_remove(other);
            }
        }
        kept.sort_by(|a, b| a.fitness.total_cmp(&b.fitness));
        // What is edited next must be known as a tree.
        let blind: Vec<usize> =
            (0..kept.len()).filter(|index| kept[*index].program.is_none()).collect();
        let texts: Vec<&str> = blind.iter().map(|index| kept[*index].text.as_str()).collect();
        let trees = self.judge.read(&texts);
        for (index, tree) in blind.into_iter().zip(trees) {
            if tree.is_some() {
                let old = &kept[index];
                kept[index] = Arc::new(Judged {
                    text: old.text.clone(),
                    vector: old.vector.clone(),
                    distance: old.distance,
                    fitness: old.fitness,
                    program: tree,
                    lineage: old.lineage,
                    proposer: old.proposer,
                });
            }
        }
        // What survives guides the search; an answer is what is nearest by the metric asked for.
        let least = run.nearest_found.first().map_or(f64::INFINITY, |best| best.distance);
        let entered = |judged: &&Arc<Judged>| {
            judged.distance < least || kept.iter().any(|one| one.text == judged.text)
        };
        run.entered = fresh.iter().filter(entered).cloned().collect();
        for judged in kept.iter().chain(&run.entered) {
            if run.nearest_found.iter().all(|known| known.text != judged.text) {
                run.nearest_found.push(judged.clone());
            }
        }
        run.nearest_found.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        run.nearest_found.truncate(4 * self.settings.kept);
        run.attempt.survivors = kept;
    }

    /// Whether enough kernels are exact, and acceptable.
    fn is_done(&self, run: &mut Run) -> Result<bool, Error> {
        // What is right but may not be an answer makes room for others.
        let is_right = |judged: &Arc<Judged>| judged.distance == 0.0;
        for some in [&mut run.attempt.survivors, &mut run.nearest_found] {
            for index in (0..some.len()).rev() {
                if is_right(&some[index]) && !self.accepts(&some[index])? {
                    some.remove(index);
                }
            }
        }
        let exact = run.nearest_found.iter().filter(|judged| judged.distance == 0.0).count();
        let exhausted = self.is_only_nearest() && run.entered.is_empty();
        Ok(exact >= self.settings.kept || exhausted)
    }

    fn accepts(&self, judged: &Judged) -> Result<bool, Error> {
        let accepts = self.acceptance.map_or(Ok(true), |accepts| accepts(&judged.text));
        accepts.map_err(Error::Acceptance)
    }

    fn finish(&mut self, run: &Run, found: &mut Found) -> Result<(), Error> {
        let seconds = run.clock.seconds();
        let mut best: Vec<Arc<Judged>> = Vec::new();
        for judged in run.nearest_found.iter().filter(|judged| judged.proposer != "empty") {
            if best.len() < self.settings.kept && self.accepts(judged)? {
                best.push(judged.clone());
            }
        }
        for (index, judged) in best.iter().enumerate() {
            let rank = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let mut row = self.row(run, rank, seconds, found.candidates);
            row.text = self.normal(judged);
            row.name = lexer::kernel_names(&row.text).first().map_or("A", |name| *name).to_owned();
            row.verdict = dataset::Verdict::ACCEPTED.to_owned();
            row.exact = judged.distance == 0.0;
            row.distance = judged.distance;
            row.proximity = run.aim.target.proximity(&judged.vector);
            row.proposer = judged.proposer.to_owned();
            row.vector = judged.vector.clone();
            found.kernels.push(row);
        }
        if found.kernels.is_empty() {
            let mut row = self.row(run, 1, seconds, found.candidates);
            row.verdict = SteeredVerdict::NothingFound.to_string();
            found.kernels.push(row);
        }
        best.retain(|judged| judged.program.is_some());
        found.memory = self.remember(&best);
        self.archive.extend(best);
        Ok(())
    }

    /// The text laid out, where that leaves it at its point.
    fn normal(&self, judged: &Judged) -> String {
        let text = self.judge.layout(&renumbered(&judged.text));
        let again =
            self.judge.judge(std::slice::from_ref(&text)).ok().and_then(|mut all| all.pop());
        if again.flatten().as_ref() == Some(&judged.vector) { text } else { judged.text.clone() }
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
        Found { kernels: vec![row], memory: self.remember(&[]), ..Found::default() }
    }
}

/// The search for one target.
struct Run {
    clock: Clock,
    aim: Aim,
    rng: Rng,
    /// Seeds by their distance.
    ranked: Vec<usize>,
    mined_exact: u32,
    mined_proximity: f64,
    /// The nearest so far by the metric, nearest first.
    nearest_found: Vec<Arc<Judged>>,
    /// Survivors that the last generation brought.
    entered: Vec<Arc<Judged>>,
    attempt: Attempt,
}

/// What is forgotten when a search begins again.
struct Attempt {
    /// The seeds that are started from, by their distance.
    nearest: Vec<usize>,
    generations: u32,
    /// Candidates judged when the last best was found.
    improved: u64,
    bandit: Bandit,
    survivors: Vec<Arc<Judged>>,
    /// Hashes of texts that were judged.
    seen: HashSet<String>,
    /// The least squared distance so far, as it guides the search.
    best: f64,
    /// What became of plans.
    trust: Trust,
    /// What single edits made of programs near the target.
    neighbours: Neighbours,
}

fn record(run: &Run, generation: u32, found: &mut Found) {
    let seconds = run.clock.seconds();
    let mut least = found.trajectory.iter().map(|row| row.distance).fold(f64::INFINITY, f64::min);
    for judged in &run.entered {
        let best = judged.distance < least;
        least = least.min(judged.distance);
        found.trajectory.push(TrajectoryRow {
            target: run.aim.target.name.clone(),
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
