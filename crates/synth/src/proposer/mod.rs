//! What suggests programs to a search: one file each. To add one, write a file beside these and
//! name it in [`ALL`]; one that needs more than its
//! name (a language model) is handed to [`crate::Search::add_proposer`].

mod combine;
mod compose;
mod construct;
mod crossover;
mod guided;
pub mod model;
mod mutate;
pub(crate) mod nearest;
mod random;
mod smith;

pub(crate) use compose::is_summed;
pub use random::samples;

use crate::{
    Error,
    corpus::Corpus,
    edit::Rng,
    effects::Effects,
    metric::Aim,
    neighbours::Neighbours,
    program::{Program, Style},
    subset_sum::SubsetSums,
    target::Target,
};
use features::FeatureSpace;
use rand::{Rng as _, SeedableRng};
use std::sync::Arc;

/// Bytes from which on a candidate gets no more edits, some 4,000 instructions. Real kernels are smaller, and what an edit takes
/// grows with the program.
pub(crate) const LARGEST: usize = 64 << 10;

/// Instructions from which on a target is a large one.
const LARGE: f64 = 100.0;

/// Instructions that a target asks for at least; 0 where it does not say.
pub(crate) fn size(target: &Target, space: &dyn FeatureSpace) -> f64 {
    let is_all = |name: &str| name == "TotalInsts" || name.ends_with(".TotalInsts");
    let all = space.dimensions().into_iter().zip(&target.constraints);
    let least = all.filter_map(|(name, wanted)| wanted.filter(|_| is_all(name)));
    least.map(|wanted| wanted.least).fold(0.0, f64::max)
}

/// Names that edits of one program give are apart by up to this.
const NAMES_APART: usize = 100_000;

/// A program that may lie at the target.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its text.
    pub text: String,
    pub(crate) program: Option<Program>,
    pub(crate) parent: Option<Arc<Judged>>,
    /// The one edit that tells it from its parent, where it is one.
    pub(crate) edit: Option<usize>,
    /// The remembered changes that were counted on to reach the target.
    pub(crate) plan: Vec<(usize, u64)>,
}

impl Candidate {
    /// A program known by its text alone, as a language model writes it.
    #[must_use]
    pub fn of_text(text: String) -> Candidate {
        Candidate { text, program: None, parent: None, edit: None, plan: Vec::new() }
    }

    pub(crate) fn of_program(program: Program, parent: Option<Arc<Judged>>) -> Candidate {
        let text = program.to_string();
        Candidate { program: Some(program), parent, ..Candidate::of_text(text) }
    }
}

/// A candidate that compiles, and where it lies.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its text.
    pub text: String,
    /// Its vector.
    pub vector: Vec<f64>,
    /// Its distance from the target.
    pub distance: f64,
    /// The squared distance that decides whether it survives: the less, the fitter.
    pub(crate) fitness: f64,
    pub(crate) program: Option<Program>,
    /// The same for all that descend from one first program.
    pub(crate) lineage: u64,
    /// Whether it is a near-duplicate of a program that no answer may resemble.
    pub(crate) is_near: bool,
    /// Who proposed it.
    pub proposer: &'static str,
}

/// What a proposer may look at.
pub struct State<'a> {
    pub(crate) aim: &'a Aim,
    pub(crate) survivors: &'a [Arc<Judged>],
    pub(crate) corpus: &'a Corpus,
    /// Indices of the mined kernels nearest to the target, nearest first; a random half of them once
    /// the search has begun again.
    pub(crate) nearest: &'a [usize],
    pub(crate) effects: &'a Effects,
    /// The effects, for finding edits that together do exactly what is wanted.
    pub(crate) subset_sums: &'a SubsetSums,
    /// What single edits made of programs near the target.
    pub(crate) neighbours: &'a Neighbours,
    pub(crate) temperature: f64,
    pub(crate) judge: &'a crate::Judge,
    /// Where the empty kernel lies.
    pub(crate) empty: &'a [f64],
    /// That kernel, where making starts.
    pub(crate) blank: &'a Program,
    /// How edits are to write.
    pub(crate) style: Style,
}

impl State<'_> {
    /// What is wanted.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.aim.target
    }

    /// The dimensions of its space.
    #[must_use]
    pub fn dimensions(&self) -> Vec<&'static str> {
        self.judge.space().dimensions()
    }

    /// The programs that survived so far, nearest first.
    #[must_use]
    pub fn survivors(&self) -> &[Arc<Judged>] {
        self.survivors
    }

    /// Whether many instructions are asked for.
    fn is_large(&self) -> bool {
        size(self.target(), self.judge.space()) >= LARGE
    }

    /// Whether no further edit is to be begun: the user wants no more, or the time is up.
    fn is_halted(&self) -> bool {
        self.judge.halt().is_cut()
    }

    /// So many candidates, each with random numbers of its own, so that threads can share the work and
    /// the answer does not depend on how many there are.
    fn each(
        &self,
        count: usize,
        rng: &mut Rng,
        one: impl Fn(&mut Rng) -> Option<Candidate> + Sync,
    ) -> Vec<Candidate> {
        let seeds: Vec<u64> = (0..count).map(|_| rng.random()).collect();
        self.judge
            .in_parallel(&seeds, |seed| one(&mut Rng::seed_from_u64(*seed)))
            .into_iter()
            .flatten()
            .collect()
    }

    /// A survivor; the nearer, the likelier.
    fn parent(&self, rng: &mut Rng) -> Option<&Arc<Judged>> {
        let last = self.survivors.len().checked_sub(1)?;
        let index = (last as f64 + 0.99) * rng.random_range(0.0_f64..1.0).powi(3);
        self.survivors.get(index as usize)
    }

    /// A copy of the program to edit, whose new names no other copy's edits give, so that what they
    /// make can be merged.
    fn copy(&self, judged: &Judged, rng: &mut Rng) -> Option<Program> {
        let mut program = judged.program.clone()?;
        program.next += rng.random_range(0..NAMES_APART);
        program.style = self.style;
        Some(program)
    }

    /// The tree of a mined kernel.
    fn seed(&self, index: usize) -> Option<&Program> {
        self.corpus.seeds[index].read(self.judge)
    }
}

/// How far a search has come since it last began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Generations that are over.
    pub generation: u32,
    /// The least squared distance so far, infinite at first.
    pub best: f64,
    /// Instructions that the target asks for at least; 0 where it does not say.
    pub size: f64,
}

/// Suggests programs, and says how a search is to treat it.
pub trait Proposer: Send {
    /// Its name in options and data sets.
    fn name(&self) -> &'static str;

    /// At most `count` candidates; fewer, or none, where it has nothing to say. The same state and
    /// random numbers must give the same candidates.
    fn propose(&mut self, state: &State<'_>, count: usize, rng: &mut Rng) -> Vec<Candidate>;

    /// How many of a generation of `count` are its own, before the bandit shares out the rest.
    fn share(&self, _standing: &Standing, _count: usize) -> usize {
        0
    }

    /// Whether survivors lead it anywhere.
    fn is_directed(&self) -> bool {
        true
    }

    /// Whether it proposes nothing but mined kernels as they are.
    fn is_only_mined(&self) -> bool {
        false
    }

    /// Whether it plans with what edits are known to do, so that all are tried first.
    fn needs_calibration(&self) -> bool {
        false
    }

    /// Whether it is there to be compared with, and proposes only where it is named.
    fn is_baseline(&self) -> bool {
        false
    }

    /// Whether it is of no use without mined kernels.
    fn needs_seeds(&self) -> bool {
        false
    }

    /// Whether it has anything to say of a target in this space; in the search for others it takes no part.
    fn serves(&self, _target: &Target, _space: &dyn FeatureSpace) -> bool {
        true
    }

    /// A search begins: for another target, or again from elsewhere.
    fn restart(&mut self) {}
}

/// Makes a proposer.
type Make = fn() -> Box<dyn Proposer>;

/// All proposers, in the order in which `--help` lists them.
const ALL: [Make; 9] = [
    || Box::new(nearest::Nearest::default()),
    || Box::new(construct::Construct),
    || Box::new(guided::Guided),
    || Box::new(combine::Combine::default()),
    || Box::new(compose::Compose::default()),
    || Box::new(crossover::Crossover),
    || Box::new(mutate::Mutate::default()),
    || Box::new(random::Random),
    || Box::new(smith::Smith),
];

/// Names of those that propose unless others are named; without seeds, those that need none.
#[must_use]
pub fn defaults(has_seeds: bool) -> Vec<String> {
    let all = ALL.iter().map(|make| make());
    let some = all.filter(|one| !one.is_baseline() && (has_seeds || !one.needs_seeds()));
    some.map(|one| one.name().to_owned()).collect()
}

/// Whether the proposer of this name is of no use without seeds.
#[must_use]
pub fn needs_seeds(name: &str) -> bool {
    by_name(name).is_ok_and(|proposer| proposer.needs_seeds())
}

/// The proposer of this name.
///
/// # Errors
/// [`Error::UnknownProposer`].
pub(crate) fn by_name(name: &str) -> Result<Box<dyn Proposer>, Error> {
    ALL.iter().map(|make| make()).find(|one| one.name() == name).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|make| make().name()).collect();
        Error::UnknownProposer { name: name.to_owned(), known: known.join(", ") }
    })
}
