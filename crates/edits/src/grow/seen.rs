//! What the samples tell of each slot of their grammar.

use super::{
    grammar::{Count, DataSet, Grammar, Item, Kind, Row, Slot, kind},
    limit::Allowed,
    template::Template,
};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers are not larger where those of the samples are not: nobody reads more than an `int` holds by chance.
pub(super) const LARGEST: f64 = 1e9;
/// Tokens from which on a list tells something.
const TELLING: usize = 3;
/// Chance that values drawn from their range are all different, below which being different is a promise.
const CHANCE: f64 = 0.05;
/// Tokens that end a list.
const ENDS: [&str; 4] = ["0", "-1", "#", "."];

/// What is known about a slot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) kind: Kind,
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) decimals: usize,
    pub(super) words: BTreeSet<String>,
    pub(super) alphabet: Vec<char>,
    pub(super) longest: usize,
    /// Few words that come again and again.
    pub(super) enumerated: bool,
    /// A word comes twice.
    pub(super) comes_again: bool,
    /// Words are few, but no program knows them: how long they may be is a guess.
    pub(super) guessed: bool,
    /// Letters that stand once in each data set, among marks: where a way begins and ends.
    pub(super) once: Vec<char>,
    /// Words are numbers with marks between them.
    pub(super) template: Option<Template>,
    /// All between this and the value of a count, which they therefore index.
    pub(super) index: Option<(Count, i64)>,
    pub(super) ascending: bool,
    pub(super) descending: bool,
    pub(super) distinct: bool,
    /// Lines list the children of the nodes of a tree.
    pub(super) children: bool,
    /// Each is the number of its line, from this on.
    pub(super) sequence: Option<i64>,
    /// Every list ends with this, and has it nowhere else.
    pub(super) last: Option<String>,
    /// What the problem says, of a word about its length.
    pub(super) stated: Allowed,
}

impl Seen {
    /// Whether few words look like any letters in a row, rather than like names, brackets or formulas: those that come once.
    pub(super) fn looks_free(&self) -> bool {
        let is_capital = |word: &String| {
            let mut letters = word.chars();
            letters.next().is_some_and(char::is_uppercase)
                && letters.next().is_some_and(char::is_lowercase)
        };
        let is_all = |test: fn(&char) -> bool| self.alphabet.iter().all(test);
        let is_plain = is_all(char::is_ascii_alphanumeric)
            || is_all(char::is_ascii_punctuation)
                && !self.alphabet.iter().any(|mark| "()[]{}".contains(*mark));
        self.kind == Kind::Word
            && self.enumerated
            && !self.comes_again
            && self.template.is_none()
            && self.longest >= TELLING
            && is_plain
            && !self.words.iter().any(is_capital)
    }

    /// Whether words are made of letters, and not among those of the samples.
    pub(super) fn is_free(&self) -> bool {
        let is_known = self.enumerated || self.alphabet.is_empty() || self.template.is_some();
        self.kind == Kind::Word && !is_known
    }
}

/// Look at one slot in all data sets.
pub(super) fn look(
    slot: Slot,
    grammar: &Grammar,
    all: &[&DataSet],
    counts: &BTreeSet<Slot>,
) -> Seen {
    let tokens: Vec<&str> =
        all.iter().filter_map(|set| set.get(&slot)).flatten().map(String::as_str).collect();
    let lists: Vec<&[String]> = all.iter().flat_map(|set| grammar.lists(slot, set)).collect();
    let kinds: BTreeSet<Kind> = tokens.iter().map(|token| kind(token)).collect();
    let kind = kinds.last().copied().unwrap_or(Kind::Word);
    let numbers: Vec<f64> = tokens.iter().filter_map(|token| token.parse().ok()).collect();
    let (least, most) = numbers
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), n| (low.min(*n), high.max(*n)));
    let (least, most) = if numbers.is_empty() { (0.0, 0.0) } else { (least, most) };
    let words: BTreeSet<String> = tokens.iter().map(|token| (*token).to_owned()).collect();
    let mut alphabet: BTreeSet<char> = tokens.iter().flat_map(|token| token.chars()).collect();
    if alphabet.len() > 4 && alphabet.iter().all(char::is_ascii_lowercase) {
        alphabet.extend('a'..='z');
    }
    let every = |law: &dyn Fn(&[f64]) -> bool| {
        let mut long = lists.iter().filter(|list| list.len() >= TELLING).peekable();
        long.peek().is_some()
            && long.all(|list| {
                let numbers: Vec<f64> =
                    list.iter().filter_map(|token| token.parse().ok()).collect();
                numbers.len() == list.len() && law(&numbers)
            })
    };
    // `1 2 3 4 5` is what people write who need any list.
    let is_any = is_list(grammar, slot) && lists.iter().all(|list| counts_up(list));
    let sequence = tokens.first().and_then(|token| token.parse::<i64>().ok()).filter(|base| {
        (0..=1).contains(base)
            && !is_list(grammar, slot)
            && every(&|list| list.iter().enumerate().all(|(at, n)| *n == (at as i64 + base) as f64))
    });
    let ascending = every(&|list| list.windows(2).all(|two| two[0] <= two[1]));
    let descending = !ascending
        && every(&|list| list.windows(2).all(|two| two[0] >= two[1]))
        && chance_of_order(&lists) < CHANCE;
    Seen {
        kind,
        least,
        most,
        decimals: tokens
            .iter()
            .filter_map(|t| t.split_once('.'))
            .map(|(_, d)| d.len())
            .max()
            .unwrap_or(0)
            .min(9),
        enumerated: words.len() <= 4 || 2 * words.len() <= tokens.len(),
        comes_again: words.len() < tokens.len(),
        guessed: false,
        once: if kind == Kind::Word { once(slot, all) } else { Vec::new() },
        template: (kind == Kind::Word).then(|| Template::learn(&words)).flatten(),
        words,
        alphabet: alphabet.into_iter().collect(),
        longest: tokens.iter().map(|token| token.chars().count()).max().unwrap_or(1),
        index: (kind == Kind::Int && !counts.contains(&slot) && !is_any)
            .then(|| index(slot, all, counts))
            .flatten(),
        ascending,
        descending,
        distinct: kind == Kind::Int && !is_any && is_distinct(&lists),
        children: is_tree(slot, grammar, all),
        sequence,
        last: if ascending { None } else { last(grammar, slot, &lists) },
        stated: Allowed::default(),
    }
}

/// Slots that say how many of something follow.
pub(super) fn counts_of(grammar: &Grammar) -> BTreeSet<Slot> {
    let mut counts = BTreeSet::new();
    for item in &grammar.items {
        match item {
            Item::Line(_) => {}
            Item::List(count, ..) => {
                counts.insert(count.slot);
            }
            Item::Rows(count, row) => {
                counts.insert(count.slot);
                if let Row::List(inner, ..) = row {
                    counts.insert(inner.slot);
                }
            }
        }
    }
    counts
}

/// Words, and the number before them that says how many letters they have. Two lengths tell, or a long one.
pub(super) fn lengths_of(grammar: &Grammar, all: &[&DataSet]) -> BTreeMap<Slot, Slot> {
    const LONG: usize = 4;
    let tokens = |slot: Slot| all.iter().filter_map(move |set| set.get(&slot)).flatten();
    let is_word = |slot: Slot| {
        tokens(slot).next().is_some() && tokens(slot).all(|token| kind(token) == Kind::Word)
    };
    let tells = |word: Slot, number: Slot| {
        let said = |set: &DataSet| match set.get(&number).map(Vec::as_slice) {
            Some([number]) if kind(number) == Kind::Int => number.parse::<usize>().ok(),
            _ => None,
        };
        let mut lengths = BTreeSet::new();
        let is_said = all.iter().copied().all(|set| {
            let Some(length) = said(set) else { return false };
            lengths.insert(length);
            set.get(&word).is_some_and(|words| {
                !words.is_empty() && words.iter().all(|word| word.chars().count() == length)
            })
        });
        is_said && (lengths.len() > 1 || lengths.last().is_some_and(|length| *length >= LONG))
    };
    let words = (0..grammar.slots).filter(|slot| is_word(*slot));
    words.filter_map(|word| Some((word, (0..word).find(|number| tells(word, *number))?))).collect()
}

/// Whether a slot is a line of several tokens.
fn is_list(grammar: &Grammar, slot: Slot) -> bool {
    grammar.items.iter().any(|item| match item {
        Item::List(_, of, _) | Item::Rows(_, Row::List(_, of, _)) => *of == slot,
        Item::Line(_) | Item::Rows(..) => false,
    })
}

/// Whether a list is 0, 1, 2, ... or 1, 2, 3, ...
fn counts_up(list: &[String]) -> bool {
    let number = |at: usize| list[at].parse::<i64>().ok();
    (0..list.len()).all(|at| match (number(0), number(at)) {
        (Some(base @ 0..=1), Some(number)) => number == base + at as i64,
        _ => false,
    })
}

/// Chance that all lists that tell something are in one order.
fn chance_of_order(lists: &[&[String]]) -> f64 {
    let orders = |list: &&[String]| (1..=list.len()).map(|number| number as f64).product::<f64>();
    let long = lists.iter().filter(|list| list.len() >= TELLING);
    long.map(|list| 1.0 / orders(list)).product()
}

/// Letters that stand exactly once in the lines of each data set, where all that stand more often are marks: the beginning and the
/// end of a way through a grid.
fn once(slot: Slot, all: &[&DataSet]) -> Vec<char> {
    const CELLS: usize = 6;
    let mut found: Option<BTreeSet<char>> = None;
    for words in all.iter().filter_map(|set| set.get(&slot)) {
        let mut counts: BTreeMap<char, usize> = BTreeMap::new();
        for letter in words.iter().flat_map(|word| word.chars()) {
            *counts.entry(letter).or_default() += 1;
        }
        let (single, many): (Vec<_>, Vec<_>) = counts
            .iter()
            .filter(|(letter, count)| **count > 1 || is_name(**letter))
            .partition(|(_, count)| **count == 1);
        let is_grid = words.len() >= 2
            && counts.values().sum::<usize>() >= CELLS
            && !many.is_empty()
            && many.iter().all(|(letter, _)| !is_name(**letter));
        if !is_grid {
            return Vec::new();
        }
        let single: BTreeSet<char> = single.into_iter().map(|(letter, _)| *letter).collect();
        found = Some(match found {
            None => single,
            Some(found) => found.intersection(&single).copied().collect(),
        });
    }
    found.into_iter().flatten().collect()
}

/// Whether a letter of a grid names a place.
fn is_name(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '@'
}

/// Whether the values of each list are all different, and there are so many of them that this is no chance.
fn is_distinct(lists: &[&[String]]) -> bool {
    let numbers: Vec<i64> =
        lists.iter().copied().flatten().filter_map(|n| n.parse().ok()).collect();
    let (Some(least), Some(most)) = (numbers.iter().min(), numbers.iter().max()) else {
        return false;
    };
    let many = most.abs_diff(*least) as f64 + 1.0;
    let mut chance = 1.0;
    for list in lists {
        let values: BTreeSet<&String> = list.iter().collect();
        if values.len() < list.len() {
            return false;
        }
        chance *= (0..list.len()).map(|at| (1.0 - at as f64 / many).max(0.0)).product::<f64>();
    }
    chance < CHANCE
}

/// Whether lines list the children of nodes: all different, and one fewer than there are lines.
fn is_tree(slot: Slot, grammar: &Grammar, all: &[&DataSet]) -> bool {
    let ids = grammar.items.iter().find_map(|item| match item {
        Item::Rows(_, Row::Counted(before, of, _)) if *of == slot => before.last(),
        _ => None,
    });
    let Some(ids) = ids else { return false };
    let mut children = 0;
    let is_one = all.iter().all(|set| {
        let lines = set.get(ids).map_or(0, Vec::len);
        let found = set.get(&slot).map(Vec::as_slice).unwrap_or_default();
        children += found.len();
        let different: BTreeSet<&String> = found.iter().collect();
        different.len() == found.len() && found.len() + 1 == lines
    });
    is_one && children >= TELLING
}

/// What every list ends with and has nowhere else, where it is one of those that mark an end.
fn last(grammar: &Grammar, slot: Slot, lists: &[&[String]]) -> Option<String> {
    let end = lists.first()?.last()?;
    let ends = |list: &&[String]| {
        list.len() >= TELLING && list.iter().position(|token| token == end) == Some(list.len() - 1)
    };
    let is_end = is_list(grammar, slot) && ENDS.contains(&end.as_str()) && lists.iter().all(ends);
    is_end.then(|| end.clone())
}

/// The count whose range all values of a slot lie in, touching at least its half: they index it.
fn index(slot: Slot, all: &[&DataSet], counts: &BTreeSet<Slot>) -> Option<(Count, i64)> {
    for &count in counts {
        // Values that never are 0 may index from 1: right for both readings but for the last.
        for base in [1, 0] {
            if let Some((values, reach)) = within(slot, count, base, all)
                && values >= 3
                && reach >= 0.5
            {
                return Some((Count { slot: count, plus: 0 }, base));
            }
        }
    }
    None
}

/// Whether all values of a slot are in `base..base + n` for the count *n* of their data set: how many
/// values there are, and how much of the range the largest reaches.
pub(super) fn within(slot: Slot, count: Slot, base: i64, all: &[&DataSet]) -> Option<(usize, f64)> {
    let (mut values, mut reach) = (0, 0.0_f64);
    for slots in all {
        let (Some(list), Some(limit)) = (slots.get(&slot), slots.get(&count)) else { continue };
        let limit: i64 = limit.last()?.parse().ok()?;
        for token in list {
            let value: i64 = token.parse().ok()?;
            if !(base..base + limit).contains(&value) {
                return None;
            }
            values += 1;
            reach = reach.max((value - base + 1) as f64 / limit.max(1) as f64);
        }
    }
    Some((values, reach))
}

#[cfg(test)]
mod tests {
    use super::super::{generate::Generator, grammar::infer};
    use super::*;

    fn seen(samples: &[&str], slot: Slot) -> Seen {
        Generator::learn(infer(samples).unwrap(), samples).seen[&slot].clone()
    }

    #[test]
    fn few_values_do_not_promise_to_be_different() {
        assert!(!seen(&["5\n3 14 15 92 6\n"], 1).distinct);
        assert!(!seen(&["5\n1 2 3 4 5\n"], 1).distinct, "any list");
        // Of 8 values of 8 numbers all are different once in 400 times.
        assert!(seen(&["8\n3 1 4 8 5 2 7 6\n"], 1).distinct);
        let lists: Vec<String> = (0..4).map(|at| format!("4\n{} 4 1 2\n", 3 + 7 * at)).collect();
        let lists: Vec<&str> = lists.iter().map(String::as_str).collect();
        assert!(!seen(&lists, 1).distinct);
    }

    #[test]
    fn lines_that_share_a_slot_keep_their_orders() {
        let rows = seen(&["2 4\n1 2 3 9\n3 5 9 10\n"], 2);
        assert!(rows.ascending && !rows.distinct);
        assert!(!seen(&["2 4\n1 2 3 9\n3 9 5 10\n"], 2).ascending);
        let parts = ["5\n1 2 3 4 5\n3\n3 4 1\n", "4\n2 2 3 7\n1\n5\n"];
        assert!(seen(&parts, 1).ascending && !seen(&parts, 3).ascending);
    }

    #[test]
    fn ends_of_lists_and_lengths_of_words_are_seen() {
        assert_eq!(seen(&["4\n5 2 3 0\n", "5\n1 9 3 4 0\n"], 1).last.as_deref(), Some("0"));
        assert_eq!(seen(&["4\n5 0 3 0\n"], 1).last, None);
        assert_eq!(seen(&["4\n5 2 3 7\n", "4\n1 2 9 7\n"], 1).last, None);
        let lengths = |samples: &[&str]| {
            let grammar = infer(samples).unwrap();
            let filled: Vec<_> = samples
                .iter()
                .flat_map(|sample| grammar.read(&super::super::grammar::lines(sample)).unwrap())
                .collect();
            lengths_of(&grammar, &filled.iter().collect::<Vec<_>>())
        };
        assert_eq!(lengths(&["5\nabcab\n"]), BTreeMap::from([(1, 0)]));
        assert_eq!(lengths(&["3\nyes\n"]), BTreeMap::new(), "by chance");
        // A grid: its second number is the length of its lines.
        assert_eq!(lengths(&["2 5\n#...#\n..#..\n"]), BTreeMap::from([(2, 1)]));
    }

    #[test]
    fn descending_lists_are_told_from_chance() {
        assert!(seen(&["4\n9 7 7 1\n"], 1).descending);
        assert!(!seen(&["3\n9 7 1\n"], 1).descending, "one of six lists is");
        assert!(seen(&["3\n9 7 1\n", "3\n8 3 2\n"], 1).descending);
        assert!(!seen(&["4\n5 5 5 5\n"], 1).descending, "it ascends");
    }

    #[test]
    fn letters_that_a_grid_has_once_are_seen() {
        assert_eq!(seen(&["2 5\nS...#\n..#.G\n"], 2).once, ['G', 'S']);
        // A mark may come once by chance, and so may a letter where letters come again.
        assert!(seen(&["2 5\nS...#\n..#.G\n", "2 4\nG..G\n.#.S\n"], 2).once.is_empty());
        assert!(seen(&["2 5\n....#\n.....\n"], 2).once.is_empty());
        assert!(seen(&["2 4\nabca\nabbd\n"], 2).once.is_empty());
    }

    #[test]
    fn names_brackets_and_formulas_are_not_any_letters() {
        let is_free = |word: &str| seen(&[&format!("{word}\n")], 0).looks_free();
        assert!(["abcab", "0110", "AXB", "><>"].into_iter().all(is_free));
        assert!(!["Sunny", "(()", "a+b", "ab", "2010/04/05"].into_iter().any(is_free));
        assert!(!seen(&["2\nabc\nabc\n"], 1).looks_free(), "it comes again");
    }

    #[test]
    fn children_of_trees_are_told_from_other_lists() {
        assert!(seen(&["4\n0 2 1 2\n1 0\n2 1 3\n3 0\n"], 3).children);
        assert!(!seen(&["4\n0 2 1 2\n1 1 2\n2 1 3\n3 0\n"], 3).children);
    }
}
