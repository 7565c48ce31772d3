//! Judging without data sets: problems and candidates in memory, as servers have them.

use super::{JudgeOptions, Judgement, Source};
use crate::{
    Error, Result,
    bench::Bench,
    each::each,
    pair::Language,
    suite::{Test, hash_of},
};
use dataset::{Row, Verdict, content_hash_of};
use rows::EditVerdict;
use std::collections::BTreeMap;

/// A slow program, and what shows that a faster one computes the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Challenge {
    /// The program.
    pub slow: String,
    /// Its language, and that of the candidates.
    pub language: Language,
    /// Tests for correctness and time, which candidates may know.
    pub visible: Vec<Test>,
    /// Tests for correctness alone, which they may not.
    pub hidden: Vec<Test>,
}

/// Candidates, each for a challenge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The challenges.
    pub challenges: Vec<Challenge>,
    /// The position of a challenge and a program.
    pub candidates: Vec<(usize, String)>,
}

impl Batch {
    /// A judgement for each candidate, in their order, on the threads of [`with_jobs`](crate::with_jobs); and how many of
    /// them were known. Equal candidates are judged once. `stop` is asked before each; what was found out is kept.
    ///
    /// # Errors
    /// [`Error::Faults`] where this machine failed for some, as if stopped once `stop` says so.
    pub fn judge(
        &self,
        bench: &Bench,
        options: &JudgeOptions,
        stop: impl Fn() -> bool + Sync,
    ) -> Result<(Vec<Judgement>, usize)> {
        // Rows that were kept with fewer columns say less.
        let options_text = serde_json::to_string(options).unwrap_or_default();
        let settings = format!("{} {options_text}", Judgement::VERSION);
        let about: Vec<String> = self
            .challenges
            .iter()
            .map(|of| {
                let tests = [hash_of(&of.visible), hash_of(&of.hidden)];
                let pieces = [&bench.identity(), &settings, of.language.name(), &of.slow];
                content_hash_of(
                    pieces
                        .into_iter()
                        .chain(tests.each_ref().map(String::as_str))
                        .map(str::as_bytes),
                )
            })
            .collect();
        let key = |(of, code): &(usize, String)| {
            content_hash_of([about[*of].as_bytes(), code.as_bytes()])
        };
        let keys: Vec<String> = self.candidates.iter().map(key).collect();
        let mut found: BTreeMap<&str, Judgement> = BTreeMap::new();
        let mut open: BTreeMap<&str, &(usize, String)> = BTreeMap::new();
        for (key, candidate) in keys.iter().zip(&self.candidates) {
            match bench.kept(key) {
                Some(row) => drop(found.insert(key, row)),
                None => drop(open.insert(key, candidate)),
            }
        }
        let known = keys.iter().filter(|key| found.contains_key(key.as_str())).count();
        let mut asked: Vec<usize> = open.values().map(|(of, _)| *of).collect();
        asked.sort_unstable();
        asked.dedup();
        bench.toolchain.expect(open.values().flat_map(|(of, code)| {
            let Challenge { slow, language, .. } = &self.challenges[*of];
            [(code.as_str(), *language), (slow.as_str(), *language)]
        }));
        let go_on = || match stop() {
            true => Err(Error::Timing(timing::Error::Cancelled)),
            false => Ok(()),
        };
        let sources = each(&asked, |of| {
            go_on()?;
            let Challenge { slow, language, visible, hidden } = &self.challenges[*of];
            match visible.is_empty() {
                true => Ok(Err(Verdict::new(EditVerdict::NoTests, "none are given"))),
                false => Source::of(slow, *language, visible.clone(), hidden.clone(), bench),
            }
        })?;
        let open: Vec<(&str, &(usize, String))> = open.into_iter().collect();
        let rows = each(&open, |(key, (of, code))| {
            go_on()?;
            let place = asked.binary_search(of).expect("the challenges of all that is open");
            let row = match &sources[place] {
                Ok(source) => source.judge(code, bench, options)?,
                Err(verdict) => Judgement {
                    code: code.clone(),
                    verdict: verdict.name.clone().into_owned(),
                    detail: verdict.detail.clone(),
                    ..Judgement::default()
                },
            };
            bench.keep(key, &row);
            Ok(row)
        })?;
        found.extend(open.iter().map(|(key, _)| *key).zip(rows));
        let all = keys.iter().map(|key| found[key.as_str()].clone()).collect();
        Ok((all, known))
    }
}
