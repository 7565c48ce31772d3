//! Data sets that are parts of one input: each has laws of its own.

use super::grammar::{Count, Filled, Grammar, Item, Kind, Line, Repeat, Row, Slot};
use std::collections::BTreeSet;

/// Data sets of a sample that may be parts of one input, at most.
const PARTS: usize = 4;
/// Tokens from which on the order of a list tells something.
const TELLING: usize = 3;

impl Grammar {
    /// The same grammar with one data set of several parts, where all samples have as many, and lists of one part are always sorted
    /// and those of another are not. A sorted list and what is looked for in it are read alike, and only the first is sorted.
    pub(super) fn unrolled(self, samples: &[Vec<Line<'_>>]) -> Grammar {
        let Some(parts) = self.parts(samples) else { return self };
        let mut items = Vec::new();
        for part in 0..parts {
            items.extend(self.items.iter().map(|item| item.shifted(part * self.slots)));
        }
        Grammar { repeat: Repeat::Once, items, slots: self.slots * parts }
    }

    /// How many parts there are; `None` where data sets are what they look like.
    fn parts(&self, samples: &[Vec<Line<'_>>]) -> Option<usize> {
        if self.repeat != Repeat::UntilEnd {
            return None;
        }
        let filled: Vec<Filled> = samples.iter().filter_map(|sample| self.read(sample)).collect();
        let parts = filled.first()?.len();
        if !(2..=PARTS).contains(&parts) || filled.iter().any(|sets| sets.len() != parts) {
            return None;
        }
        let sorted = |slot: Slot, part: usize| -> Option<bool> {
            let lists = filled.iter().flat_map(|sets| self.lists(slot, &sets[part]));
            let each: Vec<bool> =
                lists.filter(|list| list.len() >= TELLING).map(is_sorted).collect();
            (!each.is_empty()).then(|| each.iter().all(|is_sorted| *is_sorted))
        };
        let differ = (0..self.slots).any(|slot| {
            let each: BTreeSet<Option<bool>> = (0..parts).map(|part| sorted(slot, part)).collect();
            each.contains(&Some(true)) && each.contains(&Some(false))
        });
        differ.then_some(parts)
    }
}

impl Item {
    /// The same for slots that are so much further on.
    fn shifted(&self, by: Slot) -> Item {
        match self {
            Item::Line(tokens) => Item::Line(shifted(tokens, by)),
            Item::List(count, slot, kind) => Item::List(count.shifted(by), slot + by, *kind),
            Item::Rows(count, row) => Item::Rows(count.shifted(by), row.shifted(by)),
        }
    }
}

impl Row {
    fn shifted(&self, by: Slot) -> Row {
        match self {
            Row::Fixed(tokens) => Row::Fixed(shifted(tokens, by)),
            Row::List(count, slot, kind) => Row::List(count.shifted(by), slot + by, *kind),
            Row::Counted(before, slot, kind) => {
                Row::Counted(before.iter().map(|slot| slot + by).collect(), slot + by, *kind)
            }
            Row::Choice(first, shapes) => {
                let shapes = shapes.iter().map(|(name, of)| (name.clone(), shifted(of, by)));
                Row::Choice(first + by, shapes.collect())
            }
        }
    }
}

impl Count {
    fn shifted(self, by: Slot) -> Count {
        Count { slot: self.slot + by, ..self }
    }
}

fn shifted(tokens: &[(Slot, Kind)], by: Slot) -> Vec<(Slot, Kind)> {
    tokens.iter().map(|(slot, kind)| (slot + by, *kind)).collect()
}

/// Whether all tokens are numbers, none below the one before it.
fn is_sorted(list: &[String]) -> bool {
    let numbers: Option<Vec<f64>> = list.iter().map(|token| token.parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.windows(2).all(|two| two[0] <= two[1]))
}
