//! Parts of an unfinished data set that hold the rows of several items.

use crate::{Builder, Error, Result, Row, content_hash_of, shard};
use std::path::Path;

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
    pub(super) fn add_items(&self, name: &str, items: Vec<Vec<T>>) -> Result<()> {
        let counts: Vec<String> = items.iter().map(|rows| rows.len().to_string()).collect();
        self.add_with(name, items.into_iter().flatten().map(Ok), &[(COUNTS, counts.join(" "))])
    }

    /// How many rows each item of a part has.
    pub(super) fn counts(&self, name: &str) -> Result<Vec<u64>> {
        counts(&self.part(name))
    }
}

fn counts(path: &Path) -> Result<Vec<u64>> {
    let text = shard::metadata(path, COUNTS)?.unwrap_or_default();
    text.split_whitespace()
        .map(|word| word.parse().map_err(|_| Error::shard(path, "a broken count of rows")))
        .collect()
}
