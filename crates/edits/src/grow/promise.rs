//! What the samples of a problem have in common besides their grammar: promises that a problem may make.

use super::{
    generate::{Generator, resolve},
    grammar::{DataSet, Filled, Item, Kind, Row, Slot, lines},
    seen::{LARGEST, Seen},
};
use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

/// Orders of two columns that are looked at before they count as a promise.
const LOOKED_AT: usize = 2;

/// Promises that all samples keep.
pub(super) struct Promises {
    /// Words that are as long as a number says.
    lengths: Vec<(Slot, Slot)>,
    /// Columns side by side, and how the one is to the other.
    orders: Vec<(Slot, Slot, BTreeSet<Ordering>)>,
    /// Lengths of words.
    letters: BTreeMap<Slot, RangeInclusive<usize>>,
    /// Columns that are edges of trees.
    trees: Vec<(Slot, Slot)>,
}

impl Promises {
    /// Of the samples that a generator has learned from.
    pub(super) fn learn(generator: &Generator, samples: &[&str]) -> Promises {
        let filled: Vec<Filled> =
            samples.iter().filter_map(|text| generator.grammar.read(&lines(text))).collect();
        let all: Vec<&DataSet> = filled.iter().flatten().collect();
        let of_kind = |kind: Kind| {
            let seen = generator.seen.iter();
            seen.filter(move |(_, seen)| seen.kind == kind).map(|(slot, _)| *slot)
        };
        let mut lengths = Vec::new();
        for word in of_kind(Kind::Word) {
            let number = of_kind(Kind::Int)
                .find(|number| all.iter().all(|one| is_as_long(one, word, *number)));
            lengths.extend(number.map(|number| (word, number)));
        }
        let numbers: Vec<Slot> = of_kind(Kind::Int).chain(of_kind(Kind::Real)).collect();
        let mut orders = Vec::new();
        for (at, one) in numbers.iter().enumerate() {
            for other in &numbers[at + 1..] {
                let found: Option<Vec<Vec<Ordering>>> =
                    all.iter().map(|set| compared(set, *one, *other)).collect();
                let Some(found) = found.map(|found| found.concat()) else { continue };
                let many = found.len();
                let found: BTreeSet<Ordering> = found.into_iter().collect();
                let is_order =
                    !(found.contains(&Ordering::Less) && found.contains(&Ordering::Greater));
                if many >= LOOKED_AT && is_order {
                    orders.push((*one, *other, found));
                }
            }
        }
        let mut letters = BTreeMap::new();
        for word in of_kind(Kind::Word) {
            let tokens = all.iter().filter_map(|set| set.get(&word)).flatten();
            let all: BTreeSet<usize> = tokens.map(|token| token.chars().count()).collect();
            if let (Some(least), Some(most)) = (all.first(), all.last()) {
                letters.insert(word, *least..=*most);
            }
        }
        let trees = trees(generator, &all);
        Promises { lengths, orders, letters, trees }
    }

    /// Columns side by side of which the first is never above the second.
    pub(super) fn orders(&self) -> Vec<(Slot, Slot)> {
        let orders = self.orders.iter().map(|(one, other, known)| {
            match known.contains(&Ordering::Greater) {
                true => (*other, *one),
                false => (*one, *other),
            }
        });
        orders.collect()
    }

    /// Whether the words of a slot are as long as those of another, as far as their least and largest lengths tell.
    pub(super) fn is_as_long_as_another(&self, word: Slot) -> bool {
        let letters = self.letters.get(&word);
        self.letters.iter().any(|(other, range)| *other != word && Some(range) == letters)
    }

    /// Whether an input of the grammar keeps what no problem would say twice: indices, orders within a list, numbers that are
    /// all different, signs, letters, lengths that a number tells, trees.
    pub(super) fn hold(&self, generator: &Generator, text: &str) -> bool {
        let Some(filled) = generator.grammar.read(&lines(text)) else { return false };
        filled.iter().all(|set| {
            let each = set.iter().all(|(slot, tokens)| {
                let lists = generator.grammar.lists(*slot, set);
                generator.seen.get(slot).is_some_and(|seen| keeps(seen, tokens, &lists, set))
            });
            each && self.lengths.iter().all(|(word, number)| is_as_long(set, *word, *number))
                && self.trees.iter().all(|(one, other)| is_tree(set, *one, *other))
        })
    }

    /// Whether it also looks like the samples: each number is between the least and the largest that they have in its place, each
    /// word as long as theirs, as many data sets at most, and columns are in the order that they always had.
    pub(super) fn is_like_samples(&self, generator: &Generator, text: &str) -> bool {
        let Some(filled) = generator.grammar.read(&lines(text)) else { return false };
        filled.len() <= generator.data_sets.max(1)
            && self.hold(generator, text)
            && filled.iter().all(|set| {
                let each = set.iter().all(|(slot, tokens)| {
                    let seen = &generator.seen[slot];
                    match seen.kind {
                        Kind::Word => tokens.iter().all(|token| {
                            let letters = self.letters.get(slot);
                            letters.is_some_and(|most| most.contains(&token.chars().count()))
                        }),
                        // Its count says how large it may be.
                        _ if seen.index.is_some() || seen.sequence.is_some() => true,
                        _ => tokens.iter().all(|token| {
                            let number = token.parse::<f64>();
                            number.is_ok_and(|number| (seen.least..=seen.most).contains(&number))
                        }),
                    }
                });
                each && self.orders.iter().all(|(one, other, known)| {
                    let found = compared(set, *one, *other).unwrap_or_default();
                    found.iter().all(|order| known.contains(order))
                })
            })
    }
}

/// Whether the tokens of a slot, list by list, are as those of the samples.
fn keeps(seen: &Seen, tokens: &[String], lists: &[&[String]], set: &DataSet) -> bool {
    let ends = |list: &&[String]| {
        let end = seen.last.as_ref();
        list.iter().position(|token| Some(token) == end).is_none_or(|at| at + 1 == list.len())
            && (end.is_none() || list.last() == end)
    };
    if !lists.iter().all(ends) {
        return false;
    }
    if let Some(template) = &seen.template {
        return tokens.iter().all(|token| template.fits(token));
    }
    if seen.kind == Kind::Word {
        return match seen.enumerated || seen.alphabet.is_empty() {
            true => tokens.iter().all(|token| seen.words.contains(token)),
            false => {
                let letters = || tokens.iter().flat_map(|token| token.chars());
                letters().all(|letter| seen.alphabet.contains(&letter))
                    && seen
                        .once
                        .iter()
                        .all(|one| letters().filter(|letter| letter == one).count() == 1)
            }
        };
    }
    let numbers: Vec<f64> = tokens.iter().filter_map(|token| token.parse().ok()).collect();
    let least = if seen.least < 0.0 {
        f64::NEG_INFINITY
    } else if seen.least > 0.0 && seen.decimals == 0 {
        1.0
    } else {
        0.0
    };
    // Nobody reads more than an `int` holds by chance.
    let largest = seen.most.abs().max(seen.least.abs()).max(LARGEST);
    let values: BTreeMap<Slot, i64> = set
        .iter()
        .filter_map(|(slot, tokens)| Some((*slot, tokens.last()?.parse().ok()?)))
        .collect();
    let is_index = seen.index.is_none_or(|(limit, base)| {
        resolve(limit, &values).is_some_and(|many| {
            let range = base as f64..(base + many as i64) as f64;
            numbers.iter().all(|number| range.contains(number))
        })
    });
    let every = |law: &dyn Fn(&[f64]) -> bool| {
        lists.iter().all(|list| {
            let numbers: Vec<f64> = list.iter().filter_map(|token| token.parse().ok()).collect();
            law(&numbers)
        })
    };
    let are_different = |numbers: &[f64]| {
        let all: BTreeSet<u64> = numbers.iter().map(|number| number.to_bits()).collect();
        all.len() == numbers.len()
    };
    is_index
        && numbers.iter().all(|number| *number >= least && number.abs() <= largest)
        && (!seen.ascending || every(&|list| list.windows(2).all(|two| two[0] <= two[1])))
        && (!seen.descending || every(&|list| list.windows(2).all(|two| two[0] >= two[1])))
        && (!seen.distinct || every(&are_different))
        && (!seen.children || are_different(&numbers))
        && seen.sequence.is_none_or(|base| {
            numbers.iter().enumerate().all(|(at, n)| *n == (at as i64 + base) as f64)
        })
}

/// Whether all words of a slot have as many letters as the number of another says.
fn is_as_long(set: &DataSet, word: Slot, number: Slot) -> bool {
    let (Some(words), Some(numbers)) = (set.get(&word), set.get(&number)) else { return true };
    let [number] = &numbers[..] else { return false };
    words.iter().all(|word| number.parse() == Ok(word.chars().count()))
}

/// How the numbers of a slot are to those of another, one by one; `None` where they are not as many.
fn compared(set: &DataSet, one: Slot, other: Slot) -> Option<Vec<Ordering>> {
    let (Some(a), Some(b)) = (set.get(&one), set.get(&other)) else { return Some(Vec::new()) };
    if a.len() != b.len() {
        return None;
    }
    let number = |token: &String| token.parse::<f64>().ok();
    a.iter().zip(b).map(|(a, b)| number(a)?.partial_cmp(&number(b)?)).collect()
}

/// Pairs of columns that are the edges of a tree in all samples.
fn trees(generator: &Generator, all: &[&DataSet]) -> Vec<(Slot, Slot)> {
    let mut found = Vec::new();
    for item in &generator.grammar.items {
        if let Item::Rows(count, Row::Fixed(tokens)) = item
            && let [(one, _), (other, _), ..] = tokens[..]
        {
            let is_one = all.iter().all(|set| {
                let number = |slot: &Slot| set.get(slot)?.last()?.parse::<i64>().ok();
                let values = BTreeMap::from_iter(number(&count.slot).map(|n| (count.slot, n)));
                let rows = set.get(&one).map_or(0, Vec::len);
                generator.nodes(tokens, rows, &values).is_some() && is_tree(set, one, other)
            });
            found.extend(is_one.then_some((one, other)));
        }
    }
    found
}

/// Whether no edge closes a circle.
fn is_tree(set: &DataSet, one: Slot, other: Slot) -> bool {
    let (Some(a), Some(b)) = (set.get(&one), set.get(&other)) else { return true };
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut above: Vec<usize> = Vec::new();
    let mut root = |node, above: &mut Vec<usize>| {
        let mut at = *numbers.entry(node).or_insert_with(|| {
            above.push(above.len());
            above.len() - 1
        });
        while above[at] != at {
            above[at] = above[above[at]];
            at = above[at];
        }
        at
    };
    a.iter().zip(b).all(|(a, b)| {
        let (from, to) = (root(a.as_str(), &mut above), root(b.as_str(), &mut above));
        above[from] = to;
        from != to
    })
}

#[cfg(test)]
mod tests {
    use super::super::Inputs;

    #[test]
    fn promises_that_all_samples_keep_are_known() {
        let sorted = Inputs::learn(&["5\n1 2 2 4 9\n", "4\n2 3 5 8\n"]).unwrap();
        assert!(sorted.is_well_formed("3\n1 1 7\n") && !sorted.is_well_formed("3\n1 7 1\n"));
        assert!(!sorted.is_well_formed("3\n0 1 7\n"), "no sample has a 0");
        assert!(sorted.is_like_samples("4\n1 1 7 9\n"));
        assert!(!sorted.is_like_samples("3\n1 1 7\n"), "no sample has three");
        assert!(!sorted.is_like_samples("4\n1 1 7 10\n"), "no sample has a 10");
        let word = Inputs::learn(&["1\nc\n", "3\nabc\n", "5\nbacba\n", "4\nccab\n", "2\nab\n"]);
        let word = word.unwrap();
        assert!(word.is_well_formed("2\nba\n") && !word.is_well_formed("2\nabc\n"));
        // Neither column is sorted or distinct in both.
        let tree = Inputs::learn(&["4\n2 1\n0 1\n1 3\n", "4\n1 3\n1 0\n2 1\n"]).unwrap();
        assert!(tree.is_well_formed("4\n0 1\n2 3\n0 2\n"));
        assert!(!tree.is_well_formed("4\n0 1\n1 0\n2 3\n"));
        let ordered = Inputs::learn(&["1 4\n", "2 3\n", "3 3\n"]).unwrap();
        assert!(ordered.is_well_formed("3 1\n") && !ordered.is_like_samples("3 1\n"));
        assert!(ordered.is_like_samples("1 3\n"));
    }
}
