//! Large points as sums: mined kernels whose vectors add up to nearly what is wanted, in one kernel.
//!
//! Which kernels is an integer least-squares problem; what is done about it is matching pursuit (Mallat and Zhang, IEEE
//! Transactions on Signal Processing, 1993): the kernel that leads nearest is taken, and again for what is left. What is
//! too much counts more than what lacks, because it is harder to take away than to add. A target of 200 instructions and more
//! is split into sub-targets too, shares of what lacks, each of which the kernel is taken for that lies nearest to it (`sums.rs`).
//!
//! Kernels stand one behind the other, in the two branches of a condition, in a loop or in a function of their own. What a join adds of
//! its own (a branch, a counter) is not reckoned with: each candidate is judged as a whole.
//!
//! Kernels come with the functions in front of them, under other names. Those with types, constants or macros of their own are left
//! out: such names stand in types, and in texts that no tree takes apart, where words alone do not tell what is meant.

mod sums;

use super::{Candidate, LARGE, Proposer, Standing, State, size};
use crate::{
    arguments::types_of,
    edit::Rng,
    program::{Join, Program, Ty, is_joinable},
    target::Target,
};
use features::FeatureSpace;
use std::collections::HashMap;
use sums::{Part, Sums, adding_up};

/// Spaces of counts, which nearly add up when kernels are joined.
const COUNTS: [&str; 3] = ["instcount", "autophase", "grewe"];
/// Generations in which some candidates are its own.
const FIRST: u32 = 3;

/// Joins two or more mined kernels.
#[derive(Debug, Default)]
pub(super) struct Compose {
    /// Whether seeds can be joined, and have parameters alone that are asked for, where some are.
    fitting: HashMap<usize, bool>,
}

impl Proposer for Compose {
    fn name(&self) -> &'static str {
        "compose"
    }

    fn propose(&mut self, state: &State<'_>, count: usize, rng: &mut Rng) -> Vec<Candidate> {
        let seeds = state.nearest.iter().map(|index| (*index, &state.corpus.seeds[*index]));
        let asked: Vec<Ty> = state.blank.parameters.iter().map(|one| one.ty).collect();
        let mut fits = |index: usize, text: &str| {
            let fits = || is_joinable(text) && (asked.is_empty() || fit(&types_of(text), &asked));
            *self.fitting.entry(index).or_insert_with(fits)
        };
        let adds_up = adding_up(&state.dimensions());
        let parts = seeds
            .filter(|(index, seed)| fits(*index, &seed.text))
            .map(|(index, seed)| (index, Part::of(state.empty, &seed.vector, &adds_up)));
        let size = size(state.target(), state.judge.space());
        let sums = Sums { aim: state.aim, empty: state.empty, size, parts: parts.collect() };
        state.each(count, rng, |rng| {
            // To choose takes long where there are many seeds.
            let chosen = (!state.is_halted()).then(|| sums.choose(rng))?;
            joined(state, &chosen, &asked, rng)
        })
    }

    /// What others start from comes first.
    fn share(&self, standing: &Standing, count: usize) -> usize {
        if standing.generation < FIRST { count / 6 } else { 0 }
    }

    fn is_directed(&self) -> bool {
        false
    }

    fn needs_seeds(&self) -> bool {
        true
    }

    /// A vector of counts that wants at least 100 instructions.
    fn serves(&self, target: &Target, space: &dyn FeatureSpace) -> bool {
        is_summed(target, space)
    }
}

/// Whether kernels are joined for this target: one of at least 100 instructions in spaces of counts.
pub(crate) fn is_summed(target: &Target, space: &dyn FeatureSpace) -> bool {
    space.name().split(',').all(|name| COUNTS.contains(&name)) && size(target, space) >= LARGE
}

/// Whether each of these types is among those that are asked for; `const` is looked at when kernels are joined.
fn fit(types: &[Ty], asked: &[Ty]) -> bool {
    let plain = |ty: Ty| match ty {
        Ty::Pointer { space, scalar, lanes, .. } => {
            Ty::Pointer { space, scalar, lanes, constant: false }
        }
        other => other,
    };
    types.iter().all(|ty| asked.iter().any(|other| plain(*ty) == plain(*other)))
}

/// The kernels in one, joined as the random numbers say; on the parameters that are asked for, where some are.
fn joined(state: &State<'_>, seeds: &[usize], asked: &[Ty], rng: &mut Rng) -> Option<Candidate> {
    let [_, behind @ ..] = seeds else { return None };
    if behind.is_empty() || state.is_halted() {
        return None;
    }
    let joins: Vec<Join> = behind.iter().map(|_| Join::drawn(rng)).collect();
    let kernels = seeds.iter().map(|seed| state.seed(*seed));
    let kernels = kernels.collect::<Option<Vec<&Program>>>()?;
    let mut program = Program::joined(&kernels, &joins, asked, rng)?;
    program.style = state.style;
    let is_crowded = program.parameters.len() > state.style.parameters;
    (!is_crowded).then(|| Candidate::of_program(program, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arguments;

    #[test]
    fn kernels_fit_whose_parameters_are_all_among_those_that_are_asked_for() {
        let asked: Arguments = "global float*, global const int*, int".parse().expect("types");
        for (parameters, is_fit) in [
            ("__global float* a, const int b", true),
            ("global const float* restrict a, global int* b, global float* c, int d, int e", true),
            ("", true),
            ("__global float4* a", false),
            ("__local float* a", false),
            ("__global float* a, image2d_t b", false),
        ] {
            let text = format!("kernel void A({parameters}) {{}}");
            assert_eq!(fit(&types_of(&text), asked.types()), is_fit, "{parameters}");
        }
    }

    #[test]
    fn large_points_of_counts_are_served_and_no_others() {
        for (space, target, is_served) in [
            ("instcount", "TotalInsts=100", true),
            ("instcount", "TotalInsts=99..200", false),
            ("instcount", "Load=200", false),
            ("autophase", "TotalInsts=300..400", true),
            ("instcount,autophase", "autophase.TotalInsts=300", true),
            ("instcount,autophase", "instcount.TotalInsts=30", false),
            ("instcount,grewe", "TotalInsts=300,mem=20", true),
            ("grewe", "mem=300", false),
            ("instcount,loops", "TotalInsts=300", false),
        ] {
            let space_of = features::joint(space).expect("registered");
            let target = Target::parse(target, space_of).expect("well-formed");
            let serves = Compose::default().serves(&target, space_of);
            assert_eq!(serves, is_served, "{space} {target:?}");
        }
    }
}
