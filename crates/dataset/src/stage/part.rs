//! Parts of an unfinished data set that hold the rows of several items.

use super::Worked;
use crate::{Builder, Error, Result, Row, content_hash_of, shard};
use std::{cell::RefCell, path::Path};

/// In the metadata of a part: how many rows each of its items has.
const COUNTS: &str = "stampmill.rows_of_items";

/// The name of the part that holds these items.
pub(super) fn name<'a>(keys: impl ExactSizeIterator<Item = &'a str> + Clone) -> String {
    match keys.len() {
        1 => keys.clone().next().unwrap_or_default().to_owned(),
        _ => content_hash_of(keys.map(str::as_bytes)),
    }
}

impl<T: Row> Builder<T> {
    /// Add a part with the rows of several items.
    pub(super) fn add_items(
        &self,
        name: &str,
        items: impl IntoIterator<Item = Worked<T>>,
    ) -> Result<()> {
        let counts = RefCell::new(Vec::<u64>::new());
        let rows = items.into_iter().flat_map(|item| {
            counts.borrow_mut().push(0);
            let rows: Box<dyn Iterator<Item = T>> = match item {
                Worked::Rows(rows) | Worked::ForNow(rows) => Box::new(rows.into_iter()),
                Worked::Streamed(rows) => rows,
            };
            rows.inspect(|_| counts.borrow_mut().last_mut().into_iter().for_each(|n| *n += 1))
        });
        self.add_with(name, rows.map(Ok), || noted(&counts.borrow()))
    }

    /// Add a part with the rows of several items, so many of each.
    pub(super) fn add_counted(
        &self,
        name: &str,
        counts: impl Iterator<Item = u64>,
        rows: impl Iterator<Item = Result<T>>,
    ) -> Result<()> {
        self.add_with(name, rows, || noted(&counts.collect::<Vec<_>>()))
    }

    /// How many rows each item of a part has.
    pub(super) fn counts(&self, name: &str) -> Result<Vec<u64>> {
        counts(&self.part(name))
    }
}

fn noted(counts: &[u64]) -> Vec<(&'static str, String)> {
    let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
    vec![(COUNTS, counts.join(" "))]
}

fn counts(path: &Path) -> Result<Vec<u64>> {
    let text = shard::metadata(path, COUNTS)?.unwrap_or_default();
    text.split_whitespace()
        .map(|word| word.parse().map_err(|_| Error::shard(path, "a broken count of rows")))
        .collect()
}
