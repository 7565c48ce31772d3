//! Which items are a share's.

use super::{ByRows, Items, Share, Stage};
use std::collections::HashSet;

/// Items with what tells them apart.
type AllMet<'a, S> =
    Box<dyn Iterator<Item = Result<Met<<S as Stage>::Item>, <S as Stage>::Error>> + 'a>;

/// The items of a stage as a run, or a share of one, meets them.
pub(super) struct Source<'a, S: Stage + ?Sized> {
    /// How many there are, where that is known beforehand.
    pub(super) total: Option<u64>,
    /// Whether the share is one of rows.
    pub(super) is_by_rows: bool,
    pub(super) all: AllMet<'a, S>,
}

/// An item.
pub(super) struct Met<I> {
    pub(super) item: I,
    pub(super) key: String,
    /// Whether it, or the first item with its key, is the share's.
    pub(super) is_own: bool,
}

impl<'a, S: Stage + ?Sized> Source<'a, S> {
    pub(super) fn of(stage: &'a S, share: Option<Share>) -> Result<Source<'a, S>, S::Error> {
        if let Some(share) = share
            && let Some(items) = stage.items_by_rows(share)?
        {
            let total = Some(items.own.end - items.own.start);
            return Ok(Source { total, is_by_rows: true, all: by_rows(stage, items) });
        }
        let Items { total, all } = stage.items()?;
        let met = move |item| {
            let key = stage.key(&item);
            let is_own = share.is_none_or(|share| share.has(&key));
            Met { item, key, is_own }
        };
        let all = Box::new(all.map(move |item| item.map(met)));
        Ok(Source { total, is_by_rows: false, all })
    }
}

fn by_rows<'a, S: Stage + ?Sized>(stage: &'a S, items: ByRows<'a, S>) -> AllMet<'a, S> {
    let own = items.own;
    // Keys may be long and are many.
    let (mut before, mut ours) = (HashSet::<u128>::new(), HashSet::<u128>::new());
    Box::new(items.all.map(move |numbered| {
        let (row, item) = numbered?;
        let key = stage.key(&item);
        let hash = hash(&key);
        let is_own = if row < own.start {
            before.insert(hash);
            false
        } else if row < own.end {
            let is_first = !before.contains(&hash);
            if is_first {
                ours.insert(hash);
            }
            is_first
        } else {
            ours.contains(&hash)
        };
        Ok(Met { item, key, is_own })
    }))
}

fn hash(key: &str) -> u128 {
    let hash = blake3::hash(key.as_bytes());
    let (half, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
    u128::from_le_bytes(*half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_in_one_share() {
        for (rows, count) in [(0, 3), (5, 9), (9, 9), (1000, 7), (u64::MAX, 2)] {
            let shares = (1..=count).map(|index| Share { index, count }.of_rows(rows));
            let end = shares.fold(0, |begin, own| {
                assert_eq!(own.start, begin);
                own.end
            });
            assert_eq!(end, rows);
        }
    }
}
