//! A proposer that needs no model: rule-based edits, combined by evolutionary search under the judge.
//!
//! A candidate is a set of edits of one program that do not conflict. First come all of them together and
//! each alone; then the fastest that are right are crossed and mutated until the budget of evaluations is
//! spent. What is handed in are the fastest right ones, fastest first: a floor that any model must beat.

use crate::{
    Result,
    bench::Bench,
    candidates::Candidates,
    each::each,
    judge::{JudgeOptions, Sanitize, Source, Tests},
    pair::Pair,
    rules::{Edit, Rewriter, apply, conflict},
    suite::TestSet,
};
use dataset::{Progress, content_hash};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

/// How to search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchOptions {
    /// Candidates judged per program.
    pub budget: usize,
    /// Candidates handed in per program.
    pub samples: usize,
    /// Leave out edits that change nothing but input and output.
    pub without_io: bool,
    /// Decides what is crossed.
    pub seed: u64,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions { budget: 16, samples: 8, without_io: false, seed: 0 }
    }
}

/// What a search came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SearchReport {
    /// Slow programs.
    pub programs: u64,
    /// Those with an edit that is right and faster on the visible tests.
    pub changed: u64,
    /// Those of them that are faster by PIE's threshold, 1.1, as `score` counts.
    pub improved: u64,
    /// Those that no rule has an edit for.
    pub without_edits: u64,
    /// Those that do not hold up themselves, by verdict.
    pub unjudged: BTreeMap<String, u64>,
    /// Candidates judged.
    pub evaluations: u64,
    /// How often each rule was in the fastest right candidate.
    pub rules: BTreeMap<String, u64>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// Which edits a candidate has.
type Genome = BTreeSet<usize>;

/// Search for the slow programs of `pairs` and hand in candidates for each, by tests that are not hidden.
///
/// # Errors
/// When programs cannot be built, run or timed at all, after [`sandbox::stop_all`], or when there is no clang.
pub fn search(
    pairs: &[Pair],
    tests: &TestSet,
    bench: &Bench,
    rewriter: &Rewriter,
    options: &SearchOptions,
    progress: &dyn Progress,
) -> Result<(Vec<Candidates>, SearchReport)> {
    let started = Instant::now();
    progress.begin("search", pairs.len() as u64);
    let tests = Tests { visible: tests.clone(), hidden: None };
    let results = each(pairs, |pair| {
        let found = one(pair, &tests, bench, rewriter, options);
        progress.advance(1);
        found
    })?;
    let mut report = SearchReport { programs: pairs.len() as u64, ..SearchReport::default() };
    let mut candidates = Vec::new();
    for (pair, found) in pairs.iter().zip(results) {
        report.evaluations += found.evaluations;
        if let Some(verdict) = found.unjudged {
            *report.unjudged.entry(verdict).or_default() += 1;
        }
        report.without_edits += u64::from(found.without_edits);
        report.changed += u64::from(!found.rules.is_empty());
        report.improved += u64::from(found.improved);
        for rule in found.rules {
            *report.rules.entry(rule.to_owned()).or_default() += 1;
        }
        let method = if options.without_io { "rules-without-io" } else { "rules" };
        let first = Candidates::of(pair, method, String::new());
        candidates.push(Candidates { programs: found.programs, ..first });
    }
    report.seconds = started.elapsed().as_secs_f64();
    Ok((candidates, report))
}

#[derive(Default)]
struct Found {
    programs: Vec<String>,
    rules: BTreeSet<&'static str>,
    evaluations: u64,
    without_edits: bool,
    improved: bool,
    unjudged: Option<String>,
}

fn one(
    pair: &Pair,
    tests: &Tests,
    bench: &Bench,
    rewriter: &Rewriter,
    options: &SearchOptions,
) -> Result<Found> {
    let source = match Source::prepare(pair, tests, bench)? {
        Ok(source) => source,
        Err(verdict) => {
            return Ok(Found { unjudged: Some(verdict.name.into_owned()), ..Found::default() });
        }
    };
    let mut edits = rewriter.edits(&pair.src_code, pair.language())?;
    edits.retain(|edit| !(options.without_io && edit.io));
    if edits.is_empty() {
        return Ok(Found { without_edits: true, ..Found::default() });
    }
    let hash = content_hash(pair.name().as_bytes());
    let seed = u64::from_str_radix(&hash[..8], 16).unwrap_or(0) ^ options.seed;
    let mut population = Population {
        edits: &edits,
        source: &source,
        bench,
        judged: BTreeMap::new(),
        broken: BTreeSet::new(),
    };
    population.evolve(options.budget, &mut ChaCha8Rng::seed_from_u64(seed))?;
    let ranked = population.ranked();
    let faster: Vec<&(Genome, f64)> =
        ranked.iter().filter(|(_, seconds)| *seconds < source.times.seconds).collect();
    let mut programs: Vec<String> = Vec::new();
    for (genome, _) in &faster {
        let program = population.program(genome);
        if programs.len() < options.samples && !programs.contains(&program) {
            programs.push(program);
        }
    }
    let least = JudgeOptions::default().threshold;
    let improved = faster.first().is_some_and(|(_, best)| source.times.seconds / best >= least);
    let rules = faster.first().map(|(genome, _)| genome.iter().map(|at| edits[*at].rule).collect());
    Ok(Found {
        programs,
        rules: rules.unwrap_or_default(),
        improved,
        evaluations: population.judged.len() as u64,
        ..Found::default()
    })
}

struct Population<'a> {
    edits: &'a [Edit],
    source: &'a Source<'a>,
    bench: &'a Bench,
    /// Seconds of those that are right.
    judged: BTreeMap<Genome, Option<f64>>,
    /// Edits that alone do not even compile.
    broken: BTreeSet<usize>,
}

impl Population<'_> {
    fn evolve(&mut self, budget: usize, rng: &mut ChaCha8Rng) -> Result<()> {
        let all: Vec<usize> = (0..self.edits.len()).collect();
        let together = self.without_conflicts(all.iter().copied());
        self.judge(together.clone())?;
        let quick: Vec<usize> = all.iter().copied().filter(|at| !self.edits[*at].io).collect();
        self.judge(self.without_conflicts(quick))?;
        // Each alone, as far as half of the budget goes; most programs have few.
        for at in &all {
            if self.judged.len() < budget / 2 {
                self.judge(Genome::from([*at]))?;
            }
        }
        if !self.broken.is_empty() {
            let whole: Vec<usize> =
                all.iter().copied().filter(|at| !self.broken.contains(at)).collect();
            if self.judged.len() < budget {
                self.judge(self.without_conflicts(whole))?;
            }
        }
        let mut stale = 0;
        while self.judged.len() < budget && stale < 50 {
            let parents = self.ranked();
            let child = match parents.len() {
                0 => self.drawn(rng),
                many => {
                    let pick = |rng: &mut ChaCha8Rng| rng.random_range(0..many.min(4));
                    let (a, b) = (pick(rng), pick(rng));
                    self.crossed(&parents[a].0, &parents[b].0, rng)
                }
            };
            let known = self.judged.len();
            self.judge(child)?;
            stale = if self.judged.len() == known { stale + 1 } else { 0 };
        }
        Ok(())
    }

    fn judge(&mut self, genome: Genome) -> Result<()> {
        if genome.is_empty() || self.judged.contains_key(&genome) {
            return Ok(());
        }
        let program = self.program(&genome);
        // The sanitizers look at what is handed in, when it is judged.
        let options = JudgeOptions { sanitize: Sanitize::Never, ..JudgeOptions::default() };
        let judgement = self.source.judge(&program, self.bench, &options)?;
        if judgement.verdict == "does-not-compile"
            && let (1, Some(only)) = (genome.len(), genome.first())
        {
            self.broken.insert(*only);
        }
        let seconds = judgement.is_accepted().then_some(judgement.seconds).flatten();
        self.judged.insert(genome, seconds);
        Ok(())
    }

    /// Those that are right, fastest first; of equally fast ones that with fewer edits.
    fn ranked(&self) -> Vec<(Genome, f64)> {
        let mut right: Vec<(Genome, f64)> =
            self.judged.iter().filter_map(|(genome, s)| Some((genome.clone(), (*s)?))).collect();
        right.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.len().cmp(&b.0.len())));
        right
    }

    fn program(&self, genome: &Genome) -> String {
        let edits: Vec<&Edit> = genome.iter().map(|at| &self.edits[*at]).collect();
        apply(self.source.code, &edits)
    }

    /// Edits in their order, each unless it conflicts with one before it.
    fn without_conflicts(&self, wanted: impl IntoIterator<Item = usize>) -> Genome {
        let mut genome = Genome::new();
        for at in wanted {
            let rivals = |other: &usize| {
                let (a, b) = (&self.edits[at], &self.edits[*other]);
                conflict(a, b) || (a.io && b.io && a.rule != b.rule && rivals(a.rule, b.rule))
            };
            if !self.broken.contains(&at) && !genome.iter().any(rivals) {
                genome.insert(at);
            }
        }
        genome
    }

    fn drawn(&self, rng: &mut ChaCha8Rng) -> Genome {
        let wanted: Vec<usize> = (0..self.edits.len()).filter(|_| rng.random_bool(0.4)).collect();
        self.without_conflicts(wanted)
    }

    fn crossed(&self, a: &Genome, b: &Genome, rng: &mut ChaCha8Rng) -> Genome {
        let flip = 1.0 / self.edits.len() as f64;
        let wanted: Vec<usize> = (0..self.edits.len())
            .filter(|at| {
                let inherited = if rng.random_bool(0.5) { a.contains(at) } else { b.contains(at) };
                inherited != rng.random_bool(flip.min(0.5))
            })
            .collect();
        self.without_conflicts(wanted)
    }
}

/// Rules of which a program takes one: streams of our own leave none to set free.
fn rivals(a: &str, b: &str) -> bool {
    let own = |rule: &str| rule.starts_with("own-io");
    let streams = |rule: &str| own(rule) || rule == "unsynchronised-streams";
    (own(a) && streams(b)) || (own(b) && streams(a))
}
