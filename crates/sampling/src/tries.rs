//! Tries at samples that are drawn anew: how many are as asked, and what is said of it while they are drawn.

use crate::{SampleRow, Sampler, Settings, summary::is_accepted};
use dataset::Progress;
use lm::condition;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// Tries of which none is as asked, before that is said.
const NONE_OF: u64 = 32;
/// Tries of which fewer than one in [`RARE`] is as asked, before that is said.
const FEW_OF: u64 = 200;
const RARE: u64 = 100;

/// What came of the tries of a run till now.
#[derive(Debug, Default)]
struct Counts {
    tries: u64,
    matched: u64,
    is_said: bool,
}

impl Counts {
    /// Count so many more tries; true once, where hardly any was as asked till then.
    fn add(&mut self, tries: u64, matched: u64) -> bool {
        self.tries += tries;
        self.matched += matched;
        let is_rare = match self.matched {
            0 => self.tries >= NONE_OF,
            some => self.tries >= FEW_OF && some * RARE < self.tries,
        };
        let says = is_rare && !self.is_said;
        self.is_said |= says;
        says
    }
}

/// Counts tries, and tells of them who watches.
#[derive(Default)]
pub(crate) struct Tries<'a> {
    watch: Option<&'a dyn Progress>,
    counts: Mutex<Counts>,
}

impl Tries<'_> {
    /// Tell of one more try, the rows of which these are, in the order of their numbers.
    pub(crate) fn tell(&self, settings: &Settings, attempt: u64, rows: &[SampleRow]) {
        let (Some(watch), [first, ..], [.., last]) = (self.watch, rows, rows) else { return };
        let all = rows.len() as u64;
        let matched = rows.iter().filter(|row| is_accepted(row)).count() as u64;
        watch.message(&format!(
            "samples {} to {}, try {} of {}: {matched} of {all} are as asked",
            first.number,
            last.number,
            attempt + 1,
            settings.tries
        ));
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_rare = counts.add(all, matched);
        if is_rare && !settings.prompt.features.is_empty() {
            let Counts { tries, matched, .. } = *counts;
            watch.note(&rarely(tries, matched, &settings.prompt.features));
        }
    }
}

impl<'a> Sampler<'a> {
    /// Have somebody told how the tries go at samples that are drawn anew, and once, early, where hardly any has the features
    /// that the prompt asks for.
    #[must_use]
    pub fn watched_by(mut self, watch: &'a dyn Progress) -> Sampler<'a> {
        self.tries.watch = Some(watch);
        self
    }
}

/// What is said where hardly any try has the features that are wanted.
fn rarely(tries: u64, matched: u64, wanted: &BTreeMap<String, f64>) -> String {
    let of = format!("of the first {tries} tries");
    let found = match matched {
        0 => format!("none {of} has"),
        1 => format!("only 1 {of} has"),
        some => format!("only {some} {of} have"),
    };
    let said = format!("note: {found} the features of --want");
    match steered(wanted) {
        Some(command) => format!("{said}; `{command}` searches for kernels at exactly this point"),
        None => said,
    }
}

/// The search for these features; none where no feature space has any of them.
fn steered(wanted: &BTreeMap<String, f64>) -> Option<String> {
    let mut spaces: Vec<&str> = Vec::new();
    let mut target: Vec<String> = Vec::new();
    for name in condition::FEATURES {
        let Some(value) = wanted.get(name) else { continue };
        let (space, dimension) = match name {
            // A length in tokens of normal form, which no space counts.
            "tokens" => continue,
            "instructions" => ("instcount", "TotalInsts"),
            "blocks" => ("instcount", "TotalBlocks"),
            other => ("grewe", other),
        };
        if !spaces.contains(&space) {
            spaces.push(space);
        }
        target.push(format!("{dimension}={value}"));
    }
    let (space, target) = (spaces.join(","), target.join(","));
    let command = format!("stampmill steer --space {space} --target {target} --out found");
    (!spaces.is_empty()).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lm::{Drawing, Prompt};

    /// Keeps what is said.
    #[derive(Default)]
    struct Told(Mutex<Vec<String>>);

    impl Told {
        fn lines(&self) -> Vec<String> {
            self.0.lock().expect("whole").clone()
        }
    }

    impl Progress for Told {
        fn begin(&self, _: &str, _: u64) {}
        fn advance(&self, _: u64) {}
        fn message(&self, text: &str) {
            self.0.lock().expect("whole").push(format!("message: {text}"));
        }
        fn note(&self, text: &str) {
            self.0.lock().expect("whole").push(text.to_owned());
        }
    }

    fn rows(accepted: u64, others: u64) -> Vec<SampleRow> {
        let row = |number| {
            let verdict = if number < accepted { "accepted" } else { "not-as-asked" }.to_owned();
            SampleRow { number, verdict, ..SampleRow::default() }
        };
        (0..accepted + others).map(row).collect()
    }

    fn settings(wanted: &[(&str, f64)]) -> Settings {
        let features = wanted.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Settings {
            prompt: Prompt { features, ..Prompt::new(lm::START) },
            drawing: Drawing::default(),
            samples: 20,
            tries: 8,
            device: None,
            drawn: None,
            normalise: true,
            novel: false,
            most_bits: None,
            must_run: false,
        }
    }

    #[test]
    fn tries_of_which_hardly_any_is_as_asked_are_told_once_with_what_reaches_the_point() {
        let told = Told::default();
        let tries = Tries { watch: Some(&told), ..Tries::default() };
        let settings = settings(&[("mem", 8.0), ("localmem", 2.0)]);
        tries.tell(&settings, 0, &rows(0, 31));
        assert_eq!(told.lines(), ["message: samples 0 to 30, try 1 of 8: 0 of 31 are as asked"]);
        tries.tell(&settings, 1, &rows(0, 1));
        let note = told.lines().pop().expect("a note");
        assert!(note.starts_with("note: none of the first 32 tries has"), "{note}");
        let command = "`stampmill steer --space grewe --target mem=8,localmem=2 --out found`";
        assert!(note.contains(command), "{note}");
        tries.tell(&settings, 2, &rows(0, 400));
        assert_eq!(told.lines().len(), 4, "three tries and one note: {:?}", told.lines());
    }

    #[test]
    fn few_that_are_as_asked_are_told_and_others_are_not() {
        let mut counts = Counts::default();
        assert!(!counts.add(199, 1));
        assert!(counts.add(1, 0));
        assert!(!counts.add(100, 0), "it was said");
        let mut counts = Counts::default();
        assert!(!counts.add(199, 2) && !counts.add(1, 0), "one of a hundred is not rare");
        let told = Told::default();
        let tries = Tries { watch: Some(&told), ..Tries::default() };
        tries.tell(&settings(&[]), 0, &rows(0, 64));
        assert_eq!(told.lines().len(), 1, "nothing is wanted: {:?}", told.lines());
    }

    #[test]
    fn features_are_searched_for_in_the_spaces_that_have_them() {
        let command = |wanted: &[(&str, f64)]| steered(&settings(wanted).prompt.features);
        let of_both = command(&[("blocks", 4.0), ("tokens", 90.0), ("comp", 3.0)]).expect("one");
        let wanted = "--space grewe,instcount --target comp=3,TotalBlocks=4 ";
        assert!(of_both.contains(wanted), "{of_both}");
        assert_eq!(command(&[("tokens", 90.0)]), None);
    }
}
