use crate::{Error, Result};
use std::{collections::BTreeMap, path::Path};

/// What became of all that a stage read: it is checked when the data set is finished, so that
/// nothing can be lost without a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    units: &'static str,
    read: u64,
    fates: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Of `units`, for example `programs`.
    pub(crate) fn of(units: &'static str) -> Tally {
        Tally { units, ..Tally::default() }
    }

    /// So many more were read.
    pub(crate) fn read(&mut self, count: u64) {
        self.read += count;
    }

    /// This became of so many of them.
    pub(crate) fn became(&mut self, fate: &'static str, count: u64) {
        *self.fates.entry(fate).or_default() += count;
    }

    /// Refuse a stage that cannot say what became of something.
    pub(crate) fn check(&self, out: &Path) -> Result<()> {
        let told: u64 = self.fates.values().sum();
        if told == self.read {
            return Ok(());
        }
        let fates: Vec<String> =
            self.fates.iter().map(|(fate, count)| format!("{count} {fate}")).collect();
        Err(Error::Lost {
            path: out.to_owned(),
            read: self.read,
            units: self.units,
            told,
            fates: fates.join(", "),
        })
    }
}
