//! The search for one target, and its beginnings: what is started from, and who proposes how much.

use super::Search;
use crate::{
    Metric,
    bandit::Bandit,
    clock::Clock,
    edit::Rng,
    metric::Aim,
    neighbours::Neighbours,
    program::{Program, Style},
    proposer::{Candidate, Judged, LARGEST, Proposer, Standing, State, size},
    subset_sum::Trust,
    target::Target,
};
use features::MOST_ARGUMENTS;
use rand::{Rng as _, SeedableRng};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// The squared distance, by plain differences, from which on a search that stands still begins again
/// from elsewhere; farther away patience still pays.
const STUCK: f64 = 100.0;

/// How many seeds there must be for half of them to be worth starting from.
const ENOUGH: usize = 192;

/// The share of a budget of time that is kept for asking, in the end, whether the nearest kernels are acceptable.
const ASKING: f64 = 0.2;

/// The share that is kept for writing them as people write, where that is asked for.
const WRITING: f64 = 0.25;

/// What stands for a proposer beside the empty kernel.
pub(super) const EMPTY: &str = "empty";

/// What stands for a proposer beside what was found for another target.
const ARCHIVE: &str = "archive";

/// The search for one target.
pub(super) struct Run {
    /// Ends what is done now: the search, or how one of its answers is written.
    pub(super) clock: Clock,
    /// Ends asking whether kernels are acceptable.
    pub(super) asking: Clock,
    /// Ends all of it.
    pub(super) end: Clock,
    pub(super) aim: Aim,
    pub(super) rng: Rng,
    /// Seeds by their distance.
    pub(super) ranked: Vec<usize>,
    pub(super) mined_exact: u32,
    pub(super) mined_proximity: f64,
    /// The nearest so far by the metric, nearest first.
    pub(super) nearest_found: Vec<Arc<Judged>>,
    /// The nearest that were found with plain edits alone, where others may be no answers.
    pub(super) plain: Vec<Arc<Judged>>,
    /// Hits in which all work-items write the same elements: answers where there are no others.
    pub(super) for_all: Vec<Arc<Judged>>,
    /// How many hits of each lineage were no answers.
    pub(super) rejected: HashMap<u64, usize>,
    /// Survivors that the last generation brought.
    pub(super) entered: Vec<Arc<Judged>>,
    pub(super) attempt: Attempt,
}

impl Run {
    /// Kernels at the target that were found.
    pub(super) fn exact(&self) -> usize {
        self.nearest_found.iter().filter(|judged| judged.distance == 0.0).count()
    }
}

/// What is forgotten when a search begins again.
pub(super) struct Attempt {
    /// The seeds that are started from, by their distance.
    pub(super) nearest: Vec<usize>,
    pub(super) generations: u32,
    /// Candidates judged when the last best was found.
    pub(super) improved: u64,
    pub(super) bandit: Bandit,
    pub(super) survivors: Vec<Arc<Judged>>,
    /// Hashes of texts that were judged.
    pub(super) seen: HashSet<String>,
    /// The least squared distance so far, as it guides the search.
    pub(super) best: f64,
    /// What became of plans.
    pub(super) trust: Trust,
    /// What single edits made of programs near the target.
    pub(super) neighbours: Neighbours,
}

impl Search<'_> {
    /// Whether nothing is proposed but what was mined.
    pub(super) fn is_only_mined(&self) -> bool {
        self.proposers.iter().all(|proposer| proposer.is_only_mined())
    }

    /// Whether survivors lead to anything.
    fn is_directed(&self) -> bool {
        self.proposers.iter().any(|proposer| proposer.is_directed())
    }

    /// Takes out the proposers that have nothing to say of this target, each with its place.
    pub(super) fn without_idle(&mut self, target: &Target) -> Vec<(usize, Box<dyn Proposer>)> {
        let space = self.judge.space();
        let all = std::mem::take(&mut self.proposers).into_iter().enumerate();
        let (serving, idle): (Vec<_>, Vec<_>) = all.partition(|(_, one)| one.serves(target, space));
        self.proposers = serving.into_iter().map(|(_, one)| one).collect();
        idle
    }

    /// Puts them back.
    pub(super) fn with_idle(&mut self, idle: Vec<(usize, Box<dyn Proposer>)>) {
        for (place, one) in idle {
            self.proposers.insert(place, one);
        }
    }

    pub(super) fn begin(&mut self, target: &Target) -> Run {
        let end = Clock::start(self.settings.budget);
        let written = if self.natural.is_some() { WRITING } else { 0.0 };
        let asked = if self.acceptance.is_some() { ASKING } else { 0.0 };
        let aim = Aim::new(target.clone(), self.settings.metric, &self.deviations, &self.follows);
        let key = dataset::content_hash(target.name.as_bytes());
        let key = key.bytes().fold(0_u64, |all, byte| all.wrapping_mul(31) ^ u64::from(byte));
        let rng = Rng::seed_from_u64(self.settings.seed ^ key);
        let only_mined = self.is_only_mined();
        let seeds = self.corpus.seeds.iter().enumerate();
        let mut ranked: Vec<(f64, usize)> = seeds
            .filter(|(index, _)| !only_mined || self.corpus.is_mined(*index))
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
        let skipped = if only_mined { 0 } else { mined_exact };
        let ranked: Vec<usize> = ranked.into_iter().skip(skipped).map(|(_, index)| index).collect();
        Run {
            clock: end.but_the_last(asked + written),
            asking: end.but_the_last(written),
            end,
            attempt: self.attempt(&aim, ranked.clone(), 0),
            aim,
            rng,
            ranked,
            mined_exact: u32::try_from(mined_exact).unwrap_or(u32::MAX),
            mined_proximity,
            nearest_found: Vec::new(),
            plain: Vec::new(),
            for_all: Vec::new(),
            rejected: HashMap::new(),
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

    /// Whether nothing nearer has come for long, near a target that was not hit yet, or not by enough different kernels.
    pub(super) fn is_stuck(&self, run: &Run, candidates: u64) -> bool {
        self.settings.metric == Metric::Euclidean
            && self.is_directed()
            && (run.attempt.best > 0.0 || self.settings.kept > 1)
            && run.attempt.best <= STUCK
            && candidates - run.attempt.improved > self.settings.patience
    }

    /// Whether the nearest is as large as candidates may be and the target asks for more: nothing nearer can come of it.
    pub(super) fn is_at_the_end(&self, run: &Run) -> bool {
        self.is_directed()
            && run.attempt.best > STUCK
            && run.nearest_found.first().is_some_and(|nearest| nearest.text.len() >= LARGEST)
    }

    /// What one set of survivors cannot reach another may: all that is kept is what was found and
    /// what edits were seen to do, and a random half of the seeds, where they are many, is what is
    /// started from.
    pub(super) fn begin_again(&mut self, run: &mut Run, candidates: u64) {
        let Run { ranked, rng, .. } = &mut *run;
        let all = ranked.len() < ENOUGH;
        let nearest = ranked.iter().copied().filter(|_| all || rng.random_bool(0.5)).collect();
        run.attempt = self.attempt(&run.aim, nearest, candidates);
    }

    /// The empty kernel: where making starts.
    fn blank(&self) -> Program {
        Program { style: self.style(), ..self.settings.blank() }
    }

    /// The program with the parameters that are asked for; `None` where it has no use for them.
    pub(super) fn fitting(&self, program: Program) -> Option<Program> {
        match &self.settings.arguments {
            None => Some(program),
            Some(arguments) => program.with_parameters(arguments.types()),
        }
    }

    /// The same of a candidate.
    fn fitted(&self, candidate: Candidate) -> Option<Candidate> {
        let Some(arguments) = &self.settings.arguments else { return Some(candidate) };
        let Candidate { program: Some(program), parent, edit, plan, .. } = candidate else {
            return arguments.are_of(&candidate.text).then_some(candidate);
        };
        let candidate = Candidate::of_program(self.fitting(program)?, parent);
        Some(Candidate { edit, plan, ..candidate })
    }

    /// How edits are to write. A kernel may still get a few parameters when its buffers are set apart.
    fn style(&self) -> Style {
        let all = Style { sparing: self.sparing, ..Style::default() };
        let most = if self.is_defined { MOST_ARGUMENTS * 3 / 4 } else { all.parameters };
        let wanted = self.settings.arguments.as_ref().map(|arguments| arguments.types().len());
        Style { parameters: wanted.unwrap_or(most), ..all }
    }

    /// Whether a candidate has more parameters than what looks for races passes.
    fn is_crowded(&self, candidate: &Candidate) -> bool {
        let made = candidate.program.as_ref();
        self.is_defined && made.is_some_and(|made| made.parameters.len() > MOST_ARGUMENTS)
    }

    /// Whether a candidate has a loop whose step changes nothing.
    fn is_endless(candidate: &Candidate) -> bool {
        candidate.program.as_ref().is_some_and(Program::stands_still)
    }

    /// The empty kernel, and what was found for other targets.
    fn start(&self, aim: &Aim) -> Vec<Arc<Judged>> {
        let empty = self.blank();
        let mut start = vec![Arc::new(Judged {
            text: empty.to_string(),
            vector: self.empty.clone(),
            distance: aim.distance(&self.empty),
            fitness: aim.fitness(&self.empty),
            program: Some(empty),
            lineage: 0,
            is_near: false,
            proposer: EMPTY,
        })];
        let again = |known: &Arc<Judged>| Judged {
            distance: aim.distance(&known.vector),
            fitness: aim.fitness(&known.vector),
            proposer: ARCHIVE,
            ..Judged::clone(known)
        };
        let mut known: Vec<Judged> = self.archive.iter().map(again).collect();
        known.sort_by(|a, b| a.fitness.total_cmp(&b.fitness));
        known.truncate(self.settings.survivors / 4);
        start.extend(known.into_iter().map(Arc::new));
        start.sort_by(|a, b| a.fitness.total_cmp(&b.fitness));
        start
    }

    pub(super) fn propose(&mut self, run: &mut Run, wanted: usize) -> Vec<(usize, Candidate)> {
        if self.proposers.is_empty() {
            return Vec::new();
        }
        let standing = Standing {
            generation: run.attempt.generations,
            best: run.attempt.best,
            size: size(&run.aim.target, self.judge.space()),
        };
        let shares = self.proposers.iter().map(|proposer| proposer.share(&standing, wanted));
        let mut shares: Vec<usize> = shares.collect();
        for _ in shares.iter().sum::<usize>()..wanted {
            shares[run.attempt.bandit.draw(&mut run.rng)] += 1;
        }
        let subset_sums = self.effects.subset_sums(&run.aim, &run.attempt.trust);
        let blank = self.blank();
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
            blank: &blank,
            style: self.style(),
        };
        let mut proposed = Vec::new();
        for (arm, share) in shares.into_iter().enumerate().filter(|(_, share)| *share > 0) {
            if self.judge.halt().is_cut() && !proposed.is_empty() {
                break;
            }
            let candidates = self.proposers[arm].propose(&state, share, &mut run.rng);
            if candidates.len() < share {
                // Who has nothing to say is asked less.
                for _ in candidates.len()..share {
                    run.attempt.bandit.reward(arm, 0.0);
                }
            }
            for candidate in candidates {
                let Some(candidate) = self.fitted(candidate) else {
                    run.attempt.bandit.reward(arm, 0.0);
                    continue;
                };
                if candidate.text.len() > LARGEST + LARGEST / 2
                    || self.is_crowded(&candidate)
                    || Search::is_endless(&candidate)
                {
                    // One of two large parents, say: each of them is judged already.
                    run.attempt.bandit.reward(arm, 0.0);
                } else if run.attempt.seen.insert(dataset::content_hash(candidate.text.as_bytes()))
                {
                    proposed.push((arm, candidate));
                } else {
                    run.attempt.bandit.reward(arm, 0.0);
                }
            }
        }
        proposed
    }
}
