//! Large points as sums: mined kernels whose vectors add up to nearly what is wanted, one behind the other in one kernel.
//!
//! Which kernels is an integer least-squares problem; what is done about it is matching pursuit (Mallat and Zhang, IEEE
//! Transactions on Signal Processing, 1993): the kernel that leads nearest is taken, and again for what is left. What is
//! too much counts more than what lacks, because it is harder to take away than to add.

use super::{Candidate, LARGE, Proposer, Standing, State, size};
use crate::{
    arguments::types_of,
    edit::Rng,
    metric::Aim,
    program::{Program, Ty},
    target::Target,
};
use features::FeatureSpace;
use rand::Rng as _;
use std::collections::HashMap;

/// Spaces of counts, which nearly add up when kernels are joined.
const COUNTS: [&str; 2] = ["instcount", "autophase"];
/// Kernels that are joined at most.
const PARTS: usize = 4;
/// Of so many kernels that lead nearest one is drawn; of more for the first.
const DRAWN: usize = 12;
const DRAWN_FIRST: usize = 48;
/// How much what is too much counts, beside what lacks.
const TOO_MUCH: f64 = 3.0;
/// Generations in which some candidates are its own.
const FIRST: u32 = 3;

/// Joins two to four mined kernels.
#[derive(Debug, Default)]
pub(super) struct Compose {
    /// Whether seeds have parameters alone that are asked for, where some are.
    fitting: HashMap<usize, bool>,
}

impl Proposer for Compose {
    fn name(&self) -> &'static str {
        "compose"
    }

    fn propose(&mut self, state: &State<'_>, count: usize, rng: &mut Rng) -> Vec<Candidate> {
        let is_plain = |text: &str| text.starts_with("__kernel") || text.starts_with("kernel");
        let seeds = state.nearest.iter().map(|index| (*index, &state.corpus.seeds[*index]));
        let asked: Vec<Ty> = state.blank.parameters.iter().map(|one| one.ty).collect();
        let mut fits = |index: usize, text: &str| {
            let fits = || fit(&types_of(text), &asked);
            asked.is_empty() || *self.fitting.entry(index).or_insert_with(fits)
        };
        let parts = seeds
            .filter(|(index, seed)| is_plain(&seed.text) && fits(*index, &seed.text))
            .map(|(index, seed)| (index, Part::of(state.empty, &seed.vector)));
        let sums = Sums { aim: state.aim, empty: state.empty, parts: parts.collect() };
        state.each(count, rng, |rng| {
            // To choose takes long where there are many seeds.
            let chosen = (!state.is_halted()).then(|| sums.choose(rng))?;
            joined(state, &chosen, &asked)
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
        space.name().split(',').all(|name| COUNTS.contains(&name)) && size(target, space) >= LARGE
    }
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

/// The kernels in one, in this order; on the parameters that are asked for, where some are.
fn joined(state: &State<'_>, seeds: &[usize], asked: &[Ty]) -> Option<Candidate> {
    let [first, behind @ ..] = seeds else { return None };
    if behind.is_empty() || state.is_halted() {
        return None;
    }
    let mut program = if asked.is_empty() {
        let first = state.seed(*first)?.clone();
        behind.iter().try_fold(first, |joined, seed| joined.followed_by(state.seed(*seed)?))?
    } else {
        let kernels = seeds.iter().map(|seed| state.seed(*seed));
        Program::in_sequence(&kernels.collect::<Option<Vec<_>>>()?, asked)?
    };
    program.style = state.style;
    let is_crowded = program.parameters.len() > state.style.parameters;
    (!is_crowded).then(|| Candidate::of_program(program, None))
}

/// What a kernel adds to one that it is joined to: its vector, less what each kernel has once.
#[derive(Clone, Debug, PartialEq)]
struct Part(Vec<(usize, f64)>);

impl Part {
    fn of(empty: &[f64], vector: &[f64]) -> Part {
        let all = vector.iter().zip(empty).map(|(value, once)| value - once).enumerate();
        Part(all.filter(|(_, by)| *by != 0.0).collect())
    }

    fn add(&self, to: &mut [f64], times: f64) {
        for (index, by) in &self.0 {
            to[*index] += times * by;
        }
    }
}

/// Kernels to add up.
struct Sums<'a> {
    aim: &'a Aim,
    /// Where the sum of none lies.
    empty: &'a [f64],
    /// The kernels, by their places among the seeds.
    parts: Vec<(usize, Part)>,
}

impl Sums<'_> {
    /// Kernels whose sum is near to what is wanted, by their places among the seeds.
    fn choose(&self, rng: &mut Rng) -> Vec<usize> {
        let mut at = self.empty.to_vec();
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < PARTS {
            let most = if chosen.is_empty() { DRAWN_FIRST } else { DRAWN };
            let mut gains = self.gains(&at);
            gains.truncate(most);
            let nth = (gains.len() as f64 * rng.random_range(0.0_f64..1.0).powi(2)) as usize;
            let Some((part, _)) = gains.get(nth) else { break };
            self.parts[*part].1.add(&mut at, 1.0);
            chosen.push(*part);
        }
        // But for the first, each gives way to what fits best to the others.
        if rng.random_bool(0.5) {
            for part in chosen.iter_mut().skip(1) {
                self.parts[*part].1.add(&mut at, -1.0);
                if let Some((best, _)) = self.gains(&at).first() {
                    *part = *best;
                }
                self.parts[*part].1.add(&mut at, 1.0);
            }
        }
        chosen.into_iter().map(|part| self.parts[part].0).collect()
    }

    /// The parts that lead nearer from a point, by how much, those that lead nearest first.
    fn gains(&self, at: &[f64]) -> Vec<(usize, f64)> {
        let gain = |part: &Part| {
            let moved = part.0.iter().map(|(index, by)| {
                self.loss(*index, at[*index]) - self.loss(*index, at[*index] + by)
            });
            moved.sum::<f64>()
        };
        let parts = self.parts.iter().enumerate().map(|(index, (_, part))| (index, gain(part)));
        let mut gains: Vec<(usize, f64)> = parts.filter(|(_, gain)| *gain > 0.0).collect();
        gains.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        gains
    }

    /// How far a value is from what is wanted of its dimension.
    fn loss(&self, index: usize, value: f64) -> f64 {
        let excess = self.aim.target.constraints[index].map_or(0.0, |wanted| wanted.excess(value));
        let times = if excess > 0.0 { TOO_MUCH } else { 1.0 };
        times * self.aim.fitness_weights[index] * excess * excess
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arguments, Metric};
    use rand::SeedableRng;

    fn sums<'a>(aim: &'a Aim, empty: &'a [f64], vectors: &[[f64; 3]]) -> Sums<'a> {
        let parts = vectors.iter().enumerate();
        let parts = parts.map(|(at, vector)| (10 + at, Part::of(empty, vector))).collect();
        Sums { aim, empty, parts }
    }

    #[test]
    fn kernels_are_chosen_that_sum_to_what_is_wanted() {
        // A return, loads, stores.
        let target = Target::point("t", &[1.0, 70.0, 33.0]);
        let aim = Aim::new(target, Metric::Euclidean, &[1.0; 3], &[false; 3]);
        let empty = [1.0, 0.0, 0.0];
        let vectors = [[1.0, 40.0, 3.0], [1.0, 30.0, 30.0], [1.0, 90.0, 90.0], [1.0, 2.0, 1.0]];
        let sums = sums(&aim, &empty, &vectors);
        assert_eq!(sums.parts[0].1, Part(vec![(1, 40.0), (2, 3.0)]));
        let found = (0..20).any(|seed| {
            let mut chosen = sums.choose(&mut Rng::seed_from_u64(seed));
            chosen.sort_unstable();
            chosen == [10, 11]
        });
        assert!(found);
        let gains = sums.gains(&empty);
        assert!(gains.iter().all(|(part, _)| *part != 2), "too much of all: {gains:?}");
    }

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
            ("instcount,grewe", "TotalInsts=300", false),
        ] {
            let space_of = features::joint(space).expect("registered");
            let target = Target::parse(target, space_of).expect("well-formed");
            let serves = Compose::default().serves(&target, space_of);
            assert_eq!(serves, is_served, "{space} {target:?}");
        }
    }
}
