//! Tries at samples that are drawn anew: how many are as asked, and what is said of it while they are drawn.

use crate::{Result, SampleRow, Sampler, Settings, drawn::Reader, summary::is_accepted};
use dataset::Progress;
use features::Extractor;
use lm::condition;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Tries of which none is as asked, before that is said.
const NONE_OF: u64 = 32;
/// The time without one that is as asked, before that is said.
const NONE_WITHIN: Duration = Duration::from_secs(10);
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
    /// Count so many more tries, this long after the first began; true once, where hardly any was as asked till then.
    fn add(&mut self, tries: u64, matched: u64, since: Duration) -> bool {
        self.tries += tries;
        self.matched += matched;
        let is_rare = match self.matched {
            0 => self.tries >= NONE_OF || since >= NONE_WITHIN,
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
    /// When somebody began to watch.
    began: Option<Instant>,
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
        let since = self.began.map_or(Duration::ZERO, |began| began.elapsed());
        let is_rare = counts.add(all, matched, since);
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
        (self.tries.watch, self.tries.began) = (Some(watch), Some(Instant::now()));
        self
    }

    /// One try at samples of these ascending numbers, with what was found out of features, told of who watches. Of many that are
    /// to have features a few come first, so that it is soon said where none has them.
    pub(crate) fn told_attempt(
        &self,
        reader: &mut Reader,
        numbers: &[u64],
        attempt: u64,
        wanted: Option<&Extractor>,
        progress: Option<&dyn Progress>,
    ) -> Result<Vec<SampleRow>> {
        let again = self.draws_anew();
        let splits = again && attempt == 0 && wanted.is_some() && self.settings.device.is_none();
        let first = if splits { numbers.len().min(NONE_OF as usize) } else { numbers.len() };
        let (first, others) = numbers.split_at(first);
        let mut rows = Vec::new();
        for numbers in [first, others] {
            if numbers.is_empty() || self.cancel.is_cancelled() {
                continue;
            }
            let mut drawn = self.attempt(reader, numbers, attempt, progress)?;
            if let Some(extractor) = wanted {
                let compared = self.compare(&mut drawn, extractor);
                // What is found out during a stop says nothing of a sample.
                if self.cancel.is_cancelled() {
                    drawn.clear();
                } else {
                    compared?;
                }
            }
            if again && !self.cancel.is_cancelled() {
                self.tries.tell(&self.settings, attempt, &drawn);
            }
            rows.append(&mut drawn);
        }
        Ok(rows)
    }
}

/// What is said where hardly any try has the features that are wanted.
fn rarely(tries: u64, matched: u64, wanted: &BTreeMap<String, f64>) -> String {
    let found = match matched {
        // How many there are till then is a matter of time.
        0 => "none of the first tries has".to_owned(),
        1 => format!("only 1 of the first {tries} tries has"),
        some => format!("only {some} of the first {tries} tries have"),
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
        assert!(note.starts_with("note: none of the first tries has the features"), "{note}");
        let command = "`stampmill steer --space grewe --target mem=8,localmem=2 --out found`";
        assert!(note.contains(command), "{note}");
        tries.tell(&settings, 2, &rows(0, 400));
        assert_eq!(told.lines().len(), 4, "three tries and one note: {:?}", told.lines());
    }

    #[test]
    fn a_long_time_without_one_that_is_as_asked_is_told() {
        let mut counts = Counts::default();
        assert!(!counts.add(3, 0, NONE_WITHIN / 2));
        assert!(counts.add(1, 0, NONE_WITHIN));
        assert!(!counts.add(1, 0, NONE_WITHIN * 2), "it was said");
        let mut counts = Counts::default();
        assert!(!counts.add(3, 1, NONE_WITHIN * 2), "one is as asked");
    }

    #[test]
    fn few_that_are_as_asked_are_told_and_others_are_not() {
        let soon = Duration::from_secs(1);
        let mut counts = Counts::default();
        assert!(!counts.add(199, 1, soon));
        assert!(counts.add(1, 0, soon));
        assert!(!counts.add(100, 0, soon), "it was said");
        let mut counts = Counts::default();
        assert!(
            !counts.add(199, 2, soon) && !counts.add(1, 0, soon),
            "one of a hundred is not rare"
        );
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
