//! Kernels that were judged before for the same target: under other names they lie where they lay.

use super::Search;
use crate::{Error, judge::Location, program::renumbered};
use std::{
    collections::{HashMap, VecDeque},
    sync::{MutexGuard, PoisonError},
};

/// Kernels that are remembered for one target, some 25 MB; the oldest are forgotten first.
const MOST: usize = 32 << 10;

/// Vectors of kernels by the hash of their text, whatever names edits gave what they added.
#[derive(Debug, Default)]
pub(super) struct Known {
    vectors: HashMap<String, Vec<f64>>,
    order: VecDeque<String>,
    /// Candidates that were not compiled because they were known.
    repeated: u64,
}

impl Known {
    fn add(&mut self, key: &str, vector: &[f64]) {
        if self.vectors.insert(key.to_owned(), vector.to_vec()).is_some() {
            return;
        }
        self.order.push_back(key.to_owned());
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.vectors.remove(&oldest);
        }
    }
}

impl Search<'_> {
    /// Where candidates lie: as [`crate::Judge::locate`] says, but that of kernels which differ in the names that edits gave
    /// (`p48213`) alone one is compiled. What does not compile is not remembered.
    ///
    /// # Errors
    /// When candidates cannot be judged at all.
    pub(super) fn locate<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Result<Vec<Location>, Error> {
        if self.settings.judge_all {
            return self.judge.locate(texts);
        }
        let key = |text: &T| dataset::content_hash(renumbered(text.as_ref()).as_bytes());
        let keys: Vec<String> = self.judge.in_parallel(texts, key);
        let known: Vec<Option<Vec<f64>>> = {
            let known = self.known();
            keys.iter().map(|key| known.vectors.get(key).cloned()).collect()
        };
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut asked_keys: Vec<&str> = Vec::new();
        let mut asked: Vec<&str> = Vec::new();
        for ((text, key), known) in texts.iter().zip(&keys).zip(&known) {
            if known.is_none() && !places.contains_key(key.as_str()) {
                places.insert(key, asked.len());
                asked_keys.push(key);
                asked.push(text.as_ref());
            }
        }
        let judged = self.judge.locate(&asked)?;
        let mut memory = self.known();
        for (key, location) in asked_keys.iter().zip(&judged) {
            if let Location::At(vector) = location {
                memory.add(key, vector);
            }
        }
        let all = keys.iter().zip(known).map(|(key, known)| match known {
            Some(vector) => Location::At(vector),
            None => judged[places[key.as_str()]].clone(),
        });
        let all: Vec<Location> = all.collect();
        let told = |some: &[Location]| some.iter().filter(|one| **one != Location::Unknown).count();
        memory.repeated += (told(&all) - told(&judged)) as u64;
        Ok(all)
    }

    /// Candidates for this target that were known under other names.
    pub(super) fn repeated(&self) -> u64 {
        self.known().repeated
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Corpus, Judge, Settings};

    #[test]
    fn a_kernel_under_other_names_is_compiled_once() {
        let kernel = |[buffer, value]: [&str; 2]| {
            format!(
                "kernel void A(global float *{buffer}, float {value}) {{ {buffer}[get_global_id(0)] += {value}; }}"
            )
        };
        let other = "kernel void A(global float *p1) { p1[get_global_id(0)] *= 2.0f; }".to_owned();
        let broken = "kernel void A(global float *p1) { p2 = 1; }".to_owned();
        let texts =
            [kernel(["p7", "p12"]), other, kernel(["p12", "p7"]), kernel(["p901", "p3"]), broken];
        let space = features::space("instcount").expect("registered");
        let judge = Judge::new(space, 2).unwrap_or_else(|error| panic!("{error}"));
        let corpus = Corpus::default();
        let proposers = crate::default_proposers(false);
        let find = |judge_all: bool| {
            let settings =
                Settings { proposers: proposers.clone(), judge_all, ..Settings::default() };
            let search = Search::new(&judge, &corpus, settings).expect("known");
            let before = judge.judged();
            let first = search.locate(&texts).expect("judged");
            let again = search.locate(&texts).expect("judged");
            assert_eq!(first, again);
            (first, judge.judged() - before, search.repeated())
        };
        let (all, compiled, repeated) = find(true);
        assert_eq!((compiled, repeated), (10, 0));
        assert!(matches!(all[0], Location::At(_)) && all[0] == all[3] && all[0] != all[1]);
        assert_eq!(all[4], Location::Nowhere);
        // Of each round two are known, and of the second two more; what does not compile is asked about again.
        assert_eq!(find(false), (all, 4, 6));
    }

    #[test]
    fn the_oldest_kernel_is_forgotten_first() {
        let mut known = Known::default();
        for number in 0..=MOST {
            known.add(&number.to_string(), &[1.0]);
            known.add(&number.to_string(), &[1.0]);
        }
        assert_eq!((known.vectors.len(), known.order.len()), (MOST, MOST));
        assert!(!known.vectors.contains_key("0") && known.vectors.contains_key("1"));
    }
}
