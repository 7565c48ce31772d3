//! How small and how large something may be: what the problem states, by slot.

use super::grammar::{Grammar, Item, Line, Repeat, Row, Slot, lines, number};
use crate::problems::Limit;
use std::collections::BTreeMap;

/// What is stated about one thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Allowed {
    pub(super) least: Option<i64>,
    pub(super) most: Option<i64>,
}

/// What a problem states about its inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stated {
    pub(super) slots: BTreeMap<Slot, Allowed>,
    /// How many data sets there are.
    pub(super) data_sets: Allowed,
}

impl Allowed {
    /// The nearest number that is allowed.
    pub(super) fn nearest(self, number: i64) -> i64 {
        let number = self.most.map_or(number, |most| number.min(most));
        self.least.map_or(number, |least| number.max(least))
    }

    /// What is allowed by both.
    fn and(self, other: Allowed) -> Allowed {
        let least = [self.least, other.least].into_iter().flatten().max();
        let most = [self.most, other.most].into_iter().flatten().min();
        Allowed { least, most }
    }
}

/// What a token of a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Slot(Slot),
    /// How many data sets follow.
    DataSets,
}

/// What limits say, whose lines and tokens are those of a sample. Those of a place that it has not say nothing.
pub(super) fn stated(limits: &[Limit], grammar: &Grammar, sample: &str) -> Stated {
    let sample = lines(sample);
    let places = places(grammar, &sample).unwrap_or_default();
    let mut stated = Stated::default();
    let mut add = |place: Place, allowed: Allowed| {
        let known = match place {
            Place::DataSets => &mut stated.data_sets,
            Place::Slot(slot) => stated.slots.entry(slot).or_default(),
        };
        *known = known.and(allowed);
    };
    for limit in limits {
        let allowed = Allowed { least: limit.least, most: limit.most };
        if limit.data_sets {
            add(Place::DataSets, allowed);
        }
        if let Some(slot) = limit.slot.and_then(|slot| Slot::try_from(slot).ok())
            && slot < grammar.slots
        {
            add(Place::Slot(slot), allowed);
        }
        let at = |number: u64| usize::try_from(number).ok()?.checked_sub(1);
        let line = limit.line.and_then(at).and_then(|at| places.get(at));
        for (number, place) in (1..).zip(line.into_iter().flatten()) {
            if limit.token.is_none_or(|token| token == number) {
                add(*place, allowed);
            }
        }
    }
    stated
}

/// What each token of each line of a sample is; the line behind the last data set is not among them.
fn places(grammar: &Grammar, sample: &[Line<'_>]) -> Option<Vec<Vec<Place>>> {
    let mut places: Vec<Vec<Place>> = Vec::new();
    if grammar.repeat == Repeat::Counted {
        places.push(vec![Place::DataSets]);
    }
    for set in &grammar.read(sample)? {
        for item in &grammar.items {
            match item {
                Item::Line(tokens) => places.push(of(tokens.iter().map(|(slot, _)| *slot))),
                Item::List(count, slot, _) => places.push(of(many(*slot, number(set, *count)?))),
                Item::Rows(count, row) => {
                    for _ in 0..number(set, *count)? {
                        let line = sample.get(places.len())?;
                        places.push(of_row(row, line));
                    }
                }
            }
        }
    }
    Some(places)
}

fn of_row(row: &Row, line: &[&str]) -> Vec<Place> {
    match row {
        Row::Fixed(tokens) => of(tokens.iter().map(|(slot, _)| *slot)),
        Row::List(_, slot, _) => of(many(*slot, line.len())),
        Row::Counted(before, slot, _) => {
            let rest = many(*slot, line.len().saturating_sub(before.len()));
            of(before.iter().copied().chain(rest))
        }
        Row::Choice(first, shapes) => {
            let shape = line.first().and_then(|name| shapes.get(*name));
            let rest = shape.into_iter().flatten().map(|(slot, _)| *slot);
            of(std::iter::once(*first).chain(rest))
        }
    }
}

fn of(slots: impl Iterator<Item = Slot>) -> Vec<Place> {
    slots.map(Place::Slot).collect()
}

fn many(slot: Slot, count: usize) -> impl Iterator<Item = Slot> {
    std::iter::repeat_n(slot, count)
}

#[cfg(test)]
mod tests {
    use super::super::grammar::infer;
    use super::*;

    fn on(line: u64, token: Option<u64>, most: i64) -> Limit {
        Limit { line: Some(line), token, least: Some(1), most: Some(most), ..Limit::default() }
    }

    fn most(stated: &Stated) -> Vec<(Slot, Option<i64>)> {
        stated.slots.iter().map(|(slot, allowed)| (*slot, allowed.most)).collect()
    }

    #[test]
    fn limits_of_lines_and_tokens_are_those_of_slots() {
        let sample = "3 4\n5 6 7\n1 2\n3 1\n2 2\n1 3\n";
        let grammar = infer(&[sample]).unwrap();
        let limits =
            [on(1, Some(1), 100), on(1, Some(2), 50), on(2, None, 1000), on(4, Some(2), 9)];
        let found = stated(&limits, &grammar, sample);
        assert_eq!(most(&found), [(0, Some(100)), (1, Some(50)), (2, Some(1000)), (4, Some(9))]);
        // Of two for one slot both hold; what is not there says nothing.
        let slot = Limit { slot: Some(0), most: Some(70), ..Limit::default() };
        let limits = [on(1, None, 100), slot, on(1, Some(3), 1), on(7, None, 1), on(2, Some(9), 1)];
        let found = stated(&limits, &grammar, sample);
        assert_eq!(most(&found), [(0, Some(70)), (1, Some(100))]);
        assert_eq!(found.slots[&0].least, Some(1));
        assert_eq!([0, 5, 80].map(|number| found.slots[&0].nearest(number)), [1, 5, 70]);
    }

    #[test]
    fn data_sets_have_limits_too() {
        let sample = "2\n3\n1 2 3\n2\n4 5\n";
        let grammar = infer(&[sample]).unwrap();
        let five = Allowed { least: Some(1), most: Some(5) };
        assert_eq!(stated(&[on(1, None, 5)], &grammar, sample).data_sets, five);
        let limit = Limit { data_sets: true, most: Some(5), ..Limit::default() };
        assert_eq!(stated(&[limit], &grammar, sample).data_sets.most, Some(5));
        assert_eq!(most(&stated(&[on(3, None, 7)], &grammar, sample)), [(1, Some(7))]);
    }
}
