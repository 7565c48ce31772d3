//! Vectors of seeds: what is known of them is read, others are described as far as there is time.

use crate::{
    Budget, Error,
    clock::Clock,
    judge::{Judge, Location},
    kept::Kept,
};
use std::{collections::HashMap, sync::atomic::AtomicBool};

/// What opening seeds may take.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    pub(crate) clock: Clock,
    /// Draws which are described where there is no time for all.
    pub(crate) seed: u64,
}

impl Allowance {
    /// Whatever it takes.
    pub(crate) fn unlimited() -> Allowance {
        Allowance { clock: Clock::start(Budget::Candidates(u64::MAX)), seed: 0 }
    }
}

/// Where each of the texts lies, from what is `given` or `kept`, or described now; unknown where there was no time.
pub(crate) fn vectors(
    texts: &[&str],
    given: &HashMap<String, Vec<f64>>,
    judge: &Judge,
    mut kept: Kept<Option<Vec<f64>>>,
    allowance: &Allowance,
) -> Result<Vec<Location>, Error> {
    let keys: Vec<String> =
        texts.iter().map(|text| dataset::content_hash(text.as_bytes())).collect();
    let is_known = |key: &String| given.contains_key(key) || kept.known.contains_key(key);
    let mut fresh: Vec<usize> = (0..keys.len()).filter(|at| !is_known(&keys[*at])).collect();
    // Neighbors are of one package: what there is time for is to be a sample of all.
    let seed = allowance.seed;
    let draw = |at: &usize| dataset::content_hash(format!("{seed} {}", keys[*at]).as_bytes());
    fresh.sort_by_cached_key(draw);
    if !fresh.is_empty() {
        let unknown: Vec<&str> = fresh.iter().map(|at| texts[*at]).collect();
        let (clock, stop) = (&allowance.clock, AtomicBool::new(false));
        let located =
            judge.halt().watched(clock, judge.counter(), &stop, || judge.locate(&unknown))?;
        kept.add(fresh.into_iter().zip(located).filter_map(|(at, location)| {
            let vector = match location {
                Location::At(vector) => Some(vector),
                Location::Nowhere => None,
                Location::Unknown => return None,
            };
            Some((keys[at].clone(), vector))
        }));
    }
    let location = |key: &String| match (given.get(key), kept.known.get(key)) {
        (Some(vector), _) | (None, Some(Some(vector))) => Location::At(vector.clone()),
        (None, Some(None)) => Location::Nowhere,
        (None, None) => Location::Unknown,
    };
    Ok(keys.iter().map(location).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_was_no_time_for_is_described_by_the_next_runs() {
        let space = features::space("instcount").expect("registered");
        let judge = Judge::new(space, 2).unwrap_or_else(|error| panic!("{error}"));
        let text = |at: usize| format!("kernel void A(global int* a) {{ a[{at}] = {at}; }}");
        let mut texts: Vec<String> = (0..6).map(text).collect();
        texts.push("kernel void A(global int* a) { a[0] = unknown; }".to_owned());
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let found = |allowance: &Allowance| {
            let kept = Kept::open(Some(folder.path()), "vectors.bin");
            vectors(&texts, &HashMap::new(), &judge, kept, allowance).expect("LLVM is here")
        };
        let unknown =
            |all: &[Location]| all.iter().filter(|one| **one == Location::Unknown).count();
        let late = Allowance { clock: Clock::overdue(), seed: 1 };
        let mut left = texts.len();
        while left > 0 {
            let now = unknown(&found(&late));
            assert!(now < left, "each run describes one at least");
            left = now;
        }
        let before = judge.judged();
        let all = found(&Allowance::unlimited());
        assert_eq!((judge.judged(), unknown(&all)), (before, 0), "all of them were kept");
        assert_eq!(all.iter().filter(|one| **one == Location::Nowhere).count(), 1);
    }
}
