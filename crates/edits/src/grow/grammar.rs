//! A grammar of a problem's inputs, inferred from its samples.
//!
//! Inputs of contests are lines of tokens in which some numbers say how many lines or tokens follow. Of all
//! ways to read the samples like that, the shortest description is taken: `n` and *n* lines explain an
//! input in two items, five unrelated lines need five. One description must fit all samples.

use std::collections::{BTreeMap, BTreeSet};

/// A number (in order of appearance) that later items refer to.
pub(super) type Slot = usize;

/// How many of something: the value of a slot and a little more or less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) slot: Slot,
    pub(super) plus: i64,
}

/// Shape of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Int,
    Real,
    Word,
}

/// Lines that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// One line of so many tokens.
    Line(Vec<(Slot, Kind)>),
    /// One line of a counted number of tokens.
    List(Count, Slot, Kind),
    /// A counted number of lines.
    Rows(Count, Row),
}

/// Shape of repeated lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// The same tokens each.
    Fixed(Vec<(Slot, Kind)>),
    /// A counted number of tokens each.
    List(Count, Slot, Kind),
    /// Some tokens, the last of which says how many more follow.
    Counted(Vec<Slot>, Slot, Kind),
    /// What follows the first token depends on it.
    Choice(Slot, BTreeMap<String, Vec<(Slot, Kind)>>),
}

/// How often the items come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    /// Once.
    Once,
    /// Until the input ends.
    UntilEnd,
    /// As often as the first line says.
    Counted,
    /// Until this line.
    Until(String),
}

/// All inputs that look like the samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grammar {
    pub(super) repeat: Repeat,
    pub(super) items: Vec<Item>,
    /// Number of slots.
    pub(super) slots: usize,
}

pub(super) type Line<'a> = Vec<&'a str>;

/// What one data set puts into the slots, in order.
pub(super) type DataSet = BTreeMap<Slot, Vec<String>>;

/// What a sample put into the slots, data set by data set, in order.
pub(super) type Filled = Vec<DataSet>;

/// Structures that are tried before giving up.
const TRIES: usize = 800;

/// Numbers, counted back from a line, that it may be counted by.
const REACH: usize = 16;

pub(super) fn kind(token: &str) -> Kind {
    let digits = token.strip_prefix(['-', '+']).unwrap_or(token);
    let whole =
        !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|b| b.is_ascii_digit());
    // Strings of digits with a leading zero are words: `0110`.
    if whole && (digits.len() == 1 || !digits.starts_with('0')) {
        Kind::Int
    } else if token.contains('.') && token.parse::<f64>().is_ok_and(f64::is_finite) {
        Kind::Real
    } else {
        Kind::Word
    }
}

pub(super) fn lines(input: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> =
        input.lines().map(|line| line.split_whitespace().collect()).collect();
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

/// The shortest grammar that reads all samples; `None` where there is none but the trivial.
pub(super) fn infer(samples: &[&str]) -> Option<Grammar> {
    let samples: Vec<Vec<Line<'_>>> = samples.iter().map(|sample| lines(sample)).collect();
    // Counts show best in the longest sample.
    let longest = samples.iter().max_by_key(|sample| sample.len())?;
    if longest.is_empty() {
        return None;
    }
    let mut best: Option<(usize, Grammar)> = None;
    for repeat in repeats(&samples) {
        let Some((body, first)) = body(longest, &repeat) else { continue };
        let mut search = Search { lines: body, found: Vec::new(), tries: 0 };
        search.extend(0, &mut Vec::new(), &mut Vec::new(), repeat != Repeat::Once);
        for (items, slots) in search.found {
            let grammar = Grammar { repeat: repeat.clone(), items, slots };
            let cost = cost(&grammar) + usize::from(first);
            let shorter = best.as_ref().is_none_or(|(least, _)| cost < *least);
            if shorter && samples.iter().all(|sample| grammar.read(sample).is_some()) {
                best = Some((cost, grammar));
            }
        }
    }
    best.map(|(_, grammar)| grammar.unrolled(&samples))
}

fn cost(grammar: &Grammar) -> usize {
    let each = |item: &Item| match item {
        Item::Line(tokens) => 8 + tokens.len(),
        Item::List(..) => 9,
        Item::Rows(_, Row::Fixed(tokens)) => 9 + tokens.len(),
        Item::Rows(_, Row::List(..)) => 10,
        Item::Rows(_, Row::Counted(before, ..)) => 12 + before.len(),
        Item::Rows(_, Row::Choice(_, shapes)) => 12 + 3 * shapes.len(),
    };
    // A number that says how many there are, rather than one that says one less.
    let is_beside = |item: &&Item| match item {
        Item::List(count, ..) | Item::Rows(count, _) => count.plus != 0,
        Item::Line(_) => false,
    };
    let beside = grammar.items.iter().filter(is_beside).count();
    let repeat = match grammar.repeat {
        Repeat::Once => 0,
        Repeat::Counted => 12,
        Repeat::Until(_) => 3,
        // Rows that a number of the first line counts are likelier than as many data sets.
        Repeat::UntilEnd => 12,
    };
    repeat + beside + grammar.items.iter().map(each).sum::<usize>()
}

/// Ways to repeat that the samples allow.
fn repeats(samples: &[Vec<Line<'_>>]) -> Vec<Repeat> {
    let mut repeats = vec![Repeat::Once];
    let last = |sample: &Vec<Line<'_>>| sample.last().map(|line| line.join(" "));
    let ends: BTreeSet<Option<String>> = samples.iter().map(last).collect();
    if let (1, Some(Some(end))) = (ends.len(), ends.first()) {
        let terminal = |token: &str| {
            matches!(token, "0" | "-1" | "#" | "." | "*" | "0.0" | "END" | "end" | "quit")
        };
        if end.split(' ').all(terminal) && samples.iter().all(|sample| sample.len() > 1) {
            repeats.push(Repeat::Until(end.clone()));
        }
    }
    let counted = |sample: &Vec<Line<'_>>| {
        sample.len() > 1 && sample[0].len() == 1 && sample[0][0].parse::<u32>().is_ok_and(|n| n > 0)
    };
    if samples.iter().all(counted) {
        repeats.push(Repeat::Counted);
    }
    repeats.push(Repeat::UntilEnd);
    repeats
}

/// The lines of the data sets, and whether one before them was taken away.
fn body<'s, 'a>(sample: &'s [Line<'a>], repeat: &Repeat) -> Option<(&'s [Line<'a>], bool)> {
    match repeat {
        Repeat::Once | Repeat::UntilEnd => Some((sample, false)),
        Repeat::Counted => Some((sample.get(1..)?, true)),
        Repeat::Until(_) => Some((sample.get(..sample.len().checked_sub(1)?)?, false)),
    }
}

struct Search<'s, 'a> {
    lines: &'s [Line<'a>],
    found: Vec<(Vec<Item>, usize)>,
    tries: usize,
}

/// A number that has been read, by slot.
type Known = Vec<(Slot, Option<i64>)>;

impl Search<'_, '_> {
    /// All ways to go on at line `at`; `partial`: the items may end before the lines do.
    fn extend(&mut self, at: usize, items: &mut Vec<Item>, known: &mut Known, partial: bool) {
        self.tries += 1;
        if self.tries > TRIES || items.len() > 12 {
            return;
        }
        if at == self.lines.len() || (partial && at > 0) {
            self.found.push((items.clone(), known.len()));
        }
        let Some(line) = self.lines.get(at) else { return };
        for (slot, value) in known.clone().into_iter().rev().take(REACH) {
            let Some(value) = value else { continue };
            for plus in [0, -1] {
                let Ok(count) = usize::try_from(value + plus) else { continue };
                let counted = Count { slot, plus };
                if count >= 1 && at + count <= self.lines.len() {
                    for (row, slots) in rows(&self.lines[at..at + count], known) {
                        let before = known.len();
                        known.extend((before..before + slots).map(|slot| (slot, None)));
                        items.push(Item::Rows(counted, row));
                        self.extend(at + count, items, known, partial);
                        items.pop();
                        known.truncate(before);
                    }
                }
                if count >= 1
                    && line.len() == count
                    && (count > 1 || plus == 0)
                    && let Some(kind) = one_kind(line)
                {
                    let before = known.len();
                    known.push((before, None));
                    items.push(Item::List(counted, before, kind));
                    self.extend(at + 1, items, known, partial);
                    items.pop();
                    known.truncate(before);
                }
            }
        }
        let before = known.len();
        let mut tokens = Vec::new();
        for token in line {
            tokens.push((known.len(), kind(token)));
            known.push((known.len(), token.parse().ok()));
        }
        if tokens.len() <= 12 {
            items.push(Item::Line(tokens));
            self.extend(at + 1, items, known, partial);
            items.pop();
        }
        known.truncate(before);
    }
}

/// The kind of all tokens; whole numbers among fractions are fractions.
fn one_kind(tokens: &[&str]) -> Option<Kind> {
    let kinds: BTreeSet<Kind> = tokens.iter().map(|token| kind(token)).collect();
    let kinds: Vec<Kind> = kinds.into_iter().collect();
    match kinds[..] {
        [one] => Some(one),
        [Kind::Int, Kind::Real] => Some(Kind::Real),
        _ => None,
    }
}

/// Shapes that some lines have in common, and how many slots each takes.
fn rows(lines: &[Line<'_>], known: &Known) -> Vec<(Row, usize)> {
    let next = known.len();
    let mut found = Vec::new();
    let width = lines[0].len();
    if width > 0 && lines.iter().all(|line| line.len() == width) {
        let columns: Option<Vec<(Slot, Kind)>> = (0..width)
            .map(|at| {
                let column: Vec<&str> = lines.iter().map(|line| line[at]).collect();
                Some((next + at, one_kind(&column)?))
            })
            .collect();
        let all: Vec<&str> = lines.iter().flatten().copied().collect();
        if let Some(columns) = columns.filter(|columns| columns.len() <= 8) {
            found.push((Row::Fixed(columns), width));
        }
        for (slot, value) in known {
            if *value == Some(width as i64)
                && let Some(kind) = one_kind(&all)
            {
                found.push((Row::List(Count { slot: *slot, plus: 0 }, next, kind), 1));
            }
        }
    }
    if lines.len() >= 2 {
        for before in 1..=2 {
            let counted = lines.iter().all(|line| {
                let count = line.get(before - 1).and_then(|token| token.parse::<usize>().ok());
                count.is_some_and(|count| line.len() == before + count)
            });
            let rest: Vec<&str> =
                lines.iter().flat_map(|line| line.iter().skip(before)).copied().collect();
            if let (true, Some(kind)) = (counted && !rest.is_empty(), one_kind(&rest)) {
                found.push((
                    Row::Counted((next..next + before).collect(), next + before, kind),
                    before + 1,
                ));
            }
        }
        if let Some(choice) = choice(lines, next) {
            found.push(choice);
        }
    }
    found
}

/// Lines whose first token tells what follows, of at least two shapes.
fn choice(lines: &[Line<'_>], next: Slot) -> Option<(Row, usize)> {
    let mut shapes: BTreeMap<String, Vec<Line<'_>>> = BTreeMap::new();
    for line in lines {
        shapes.entry((*line.first()?).to_owned()).or_default().push(line.clone());
    }
    let widths: BTreeSet<usize> = lines.iter().map(Vec::len).collect();
    if shapes.len() > 6 || widths.len() < 2 {
        return None;
    }
    let mut slot = next + 1;
    let mut described = BTreeMap::new();
    for (first, lines) in shapes {
        let width = lines[0].len();
        if lines.iter().any(|line| line.len() != width) {
            return None;
        }
        let mut columns = Vec::new();
        for at in 1..width {
            let column: Vec<&str> = lines.iter().map(|line| line[at]).collect();
            columns.push((slot, one_kind(&column)?));
            slot += 1;
        }
        described.insert(first, columns);
    }
    Some((Row::Choice(next, described), slot - next))
}

impl Grammar {
    /// What a sample puts into the slots; `None` where it does not fit.
    pub(super) fn read(&self, sample: &[Line<'_>]) -> Option<Filled> {
        let (lines, _) = body(sample, &self.repeat)?;
        if let Repeat::Until(end) = &self.repeat
            && sample.last()?.join(" ") != *end
        {
            return None;
        }
        let mut filled = Filled::new();
        let mut at = 0;
        while at < lines.len() {
            let (slots, next) = self.read_one(lines, at)?;
            filled.push(slots);
            at = next;
            if self.repeat == Repeat::Once && at < lines.len() {
                return None;
            }
        }
        if self.repeat == Repeat::Counted && sample[0][0].parse() != Ok(filled.len()) {
            return None;
        }
        (!filled.is_empty()).then_some(filled)
    }

    /// The tokens of a slot, list by list: where a line holds several, each line is a list.
    pub(super) fn lists<'s>(&self, slot: Slot, set: &'s DataSet) -> Vec<&'s [String]> {
        let Some(tokens) = set.get(&slot) else { return Vec::new() };
        let sizes: Option<Vec<usize>> = self.items.iter().find_map(|item| {
            let Item::Rows(_, row) = item else { return None };
            match row {
                Row::List(count, of, _) if *of == slot => {
                    let size = number(set, *count).filter(|size| *size > 0)?;
                    Some(vec![size; tokens.len() / size])
                }
                Row::Counted(before, of, _) if *of == slot => {
                    let sizes = set.get(before.last()?)?;
                    sizes.iter().map(|size| size.parse::<usize>().ok()).collect()
                }
                _ => None,
            }
        });
        let Some(sizes) = sizes.filter(|sizes| sizes.iter().sum::<usize>() == tokens.len()) else {
            return vec![&tokens[..]];
        };
        let mut lists = Vec::new();
        let mut rest = &tokens[..];
        for size in sizes {
            let (list, others) = rest.split_at(size);
            lists.push(list);
            rest = others;
        }
        lists
    }

    fn read_one(&self, lines: &[Line<'_>], mut at: usize) -> Option<(DataSet, usize)> {
        let mut slots = DataSet::new();
        for item in &self.items {
            match item {
                Item::Line(tokens) => {
                    fill(&mut slots, tokens, lines.get(at)?)?;
                    at += 1;
                }
                Item::List(count, slot, kind) => {
                    let line = lines.get(at)?;
                    if line.len() != number(&slots, *count)? {
                        return None;
                    }
                    fill_all(&mut slots, *slot, *kind, line)?;
                    at += 1;
                }
                Item::Rows(count, row) => {
                    for _ in 0..number(&slots, *count)? {
                        let line = lines.get(at)?;
                        fill_row(&mut slots, row, line)?;
                        at += 1;
                    }
                }
            }
        }
        Some((slots, at))
    }
}

pub(super) fn number(slots: &DataSet, count: Count) -> Option<usize> {
    let value: i64 = slots.get(&count.slot)?.last()?.parse().ok()?;
    usize::try_from(value + count.plus).ok()
}

fn fits(token: &str, wanted: Kind) -> bool {
    match wanted {
        Kind::Word => true,
        Kind::Int => kind(token) == Kind::Int,
        Kind::Real => kind(token) != Kind::Word,
    }
}

fn fill(slots: &mut DataSet, tokens: &[(Slot, Kind)], line: &[&str]) -> Option<()> {
    if tokens.len() != line.len() {
        return None;
    }
    for ((slot, kind), token) in tokens.iter().zip(line) {
        fill_all(slots, *slot, *kind, &[token])?;
    }
    Some(())
}

fn fill_all(slots: &mut DataSet, slot: Slot, kind: Kind, tokens: &[&str]) -> Option<()> {
    if !tokens.iter().all(|token| fits(token, kind)) {
        return None;
    }
    slots.entry(slot).or_default().extend(tokens.iter().map(|token| (*token).to_owned()));
    Some(())
}

fn fill_row(slots: &mut DataSet, row: &Row, line: &[&str]) -> Option<()> {
    match row {
        Row::Fixed(tokens) => fill(slots, tokens, line),
        Row::List(count, slot, kind) => {
            (line.len() == number(slots, *count)?).then_some(())?;
            fill_all(slots, *slot, *kind, line)
        }
        Row::Counted(before, slot, kind) => {
            let count: usize = line.get(before.len() - 1)?.parse().ok()?;
            (line.len() == before.len() + count).then_some(())?;
            for (slot, token) in before.iter().zip(line) {
                fill_all(slots, *slot, Kind::Int, &[token])?;
            }
            fill_all(slots, *slot, *kind, &line[before.len()..])
        }
        Row::Choice(slot, shapes) => {
            let shape = shapes.get(*line.first()?)?;
            fill_all(slots, *slot, Kind::Word, &line[..1])?;
            fill(slots, shape, &line[1..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inferred(samples: &[&str]) -> Grammar {
        infer(samples).unwrap_or_else(|| panic!("no grammar for {samples:?}"))
    }

    #[test]
    fn counts_of_lines_and_tokens_are_found() {
        let grammar = inferred(&["3\n1 2\n3 4\n5 6\n"]);
        assert!(
            matches!(&grammar.items[..], [Item::Line(_), Item::Rows(Count { slot: 0, plus: 0 }, Row::Fixed(row))]
            if row.len() == 2)
        );
        let grammar = inferred(&["5\n1 2 3 4 5\n", "3\n7 7 7\n"]);
        assert!(matches!(
            &grammar.items[..],
            [Item::Line(_), Item::List(Count { slot: 0, plus: 0 }, 1, Kind::Int)]
        ));
        // A tree: n and n - 1 edges, then q and q queries.
        let grammar = inferred(&["4\n0 1\n1 2\n1 3\n2\n0 3\n2 3\n"]);
        assert!(
            matches!(&grammar.items[1], Item::Rows(Count { slot: 0, plus: -1 }, _)),
            "{grammar:?}"
        );
    }

    #[test]
    fn rows_may_count_themselves_or_choose() {
        let grammar = inferred(&["4\n0 2 1 2\n1 0\n2 1 3\n3 0\n"]);
        assert!(
            matches!(&grammar.items[1], Item::Rows(_, Row::Counted(before, _, Kind::Int)) if before.len() == 2)
        );
        let grammar = inferred(&["4\ninsert 5\ninsert 3\nfront\nfind 5\n"]);
        assert!(
            matches!(&grammar.items[1], Item::Rows(_, Row::Choice(_, shapes)) if shapes.len() == 3)
        );
    }

    #[test]
    fn data_sets_repeat() {
        let grammar = inferred(&["2\n1 2\n3\n4 5 6\n0\n"]);
        assert_eq!(grammar.repeat, Repeat::Until("0".into()));
        assert_eq!(grammar.items.len(), 2);
        let grammar = inferred(&["8 6\n50000000 30000000\n", "1 2\n2 3\n4 5\n"]);
        assert_eq!((grammar.repeat, grammar.items.len()), (Repeat::UntilEnd, 1));
        let grammar = inferred(&["2\n3\n1 2 3\n2\n4 5\n"]);
        assert_eq!(grammar.repeat, Repeat::Counted);
    }

    #[test]
    fn parts_that_are_sorted_apart_are_one_data_set() {
        // A sorted list, then what is looked for in it.
        let two = ["5\n1 2 3 4 5\n3\n3 4 1\n", "3\n1 2 3\n1\n5\n"];
        let grammar = inferred(&two);
        assert_eq!((&grammar.repeat, grammar.items.len(), grammar.slots), (&Repeat::Once, 4, 4));
        assert!(matches!(&grammar.items[3], Item::List(Count { slot: 2, plus: 0 }, 3, Kind::Int)));
        assert!(two.iter().all(|sample| grammar.read(&lines(sample)).is_some()));
        // Neither is sorted: data sets, until the end.
        let grammar = inferred(&["3\n5 2 3\n3\n3 4 1\n"]);
        assert_eq!((&grammar.repeat, grammar.items.len()), (&Repeat::UntilEnd, 2));
    }

    #[test]
    fn lines_of_lists_are_lists() {
        let lists = |sample: &str, slot: Slot| -> Vec<usize> {
            let grammar = inferred(&[sample]);
            let filled = grammar.read(&lines(sample)).unwrap();
            grammar.lists(slot, &filled[0]).iter().map(|list| list.len()).collect()
        };
        assert_eq!(lists("2 3\n1 2 3\n4 5 6\n", 2), [3, 3]);
        assert_eq!(lists("4\n0 2 1 2\n1 0\n2 1 3\n3 0\n", 3), [2, 0, 1, 0]);
        assert_eq!(lists("5\n1 2 3 4 5\n", 1), [5]);
    }

    #[test]
    fn one_grammar_must_fit_all_samples() {
        assert!(infer(&["2\n1 2\n", "x y z\n1\n"]).is_none());
        assert_eq!(kind("0110"), Kind::Word);
        assert_eq!(kind("-3"), Kind::Int);
        assert_eq!(kind("1.50"), Kind::Real);
    }
}
