//! All inputs of a grammar within a small bound.

use super::{
    generate::{Generator, resolve},
    grammar::{Item, Kind, Repeat, Row, Slot},
    seen::Seen,
};
use std::collections::{BTreeMap, BTreeSet};

/// How small the inputs are.
///
/// Counts and whole numbers go up to `size`, from 1, or from 0 or `-size` where the samples have a 0 or a negative number. What
/// indexes a count goes over all that it may. Fractions go by halves. Words are those of the samples where these are few, else
/// have up to `size` letters out of the first `size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) size: u32,
    /// Data sets, of inputs that have several.
    pub(crate) data_sets: usize,
}

/// Choices of one input, in the order in which they are made.
#[derive(Default)]
struct Choices {
    /// What was chosen, of how many.
    path: Vec<(usize, usize)>,
    at: usize,
}

impl Choices {
    /// One of so many; `None` where there is none.
    fn one_of(&mut self, many: usize) -> Option<usize> {
        if many == 0 {
            return None;
        }
        if self.at == self.path.len() {
            self.path.push((0, many));
        }
        self.at += 1;
        Some(self.path[self.at - 1].0)
    }

    /// On to the next input; false behind the last.
    fn next(&mut self) -> bool {
        self.path.truncate(self.at);
        self.at = 0;
        while let Some((chosen, many)) = self.path.last_mut() {
            *chosen += 1;
            if chosen < many {
                return true;
            }
            self.path.pop();
        }
        false
    }
}

/// An input that is being written.
struct Draft<'a> {
    choices: &'a mut Choices,
    values: BTreeMap<Slot, i64>,
    size: i64,
    text: String,
}

impl Draft<'_> {
    fn line(&mut self, tokens: &[String]) {
        self.text.push_str(&tokens.join(" "));
        self.text.push('\n');
    }
}

impl Generator {
    /// All inputs within a bound; `None` where there are more than `most`.
    pub(super) fn all(&self, bound: Bound, most: usize) -> Option<BTreeSet<String>> {
        let mut all = BTreeSet::new();
        let mut choices = Choices::default();
        // What leads nowhere costs time, too.
        for _ in 0..most.saturating_mul(4) {
            if let Some(text) = self.draft(bound, &mut choices) {
                all.insert(text);
                if all.len() > most {
                    return None;
                }
            }
            if !choices.next() {
                return Some(all);
            }
        }
        None
    }

    fn draft(&self, bound: Bound, choices: &mut Choices) -> Option<String> {
        let size = i64::from(bound.size);
        let mut draft = Draft { choices, values: BTreeMap::new(), size, text: String::new() };
        if self.grammar.repeat == Repeat::Counted {
            draft.line(&[bound.data_sets.to_string()]);
        }
        for _ in 0..bound.data_sets {
            draft.values.clear();
            for item in &self.grammar.items {
                self.item(item, &mut draft)?;
            }
        }
        if let Repeat::Until(end) = &self.grammar.repeat {
            draft.line(std::slice::from_ref(end));
        }
        Some(draft.text)
    }

    fn item(&self, item: &Item, draft: &mut Draft<'_>) -> Option<()> {
        match item {
            Item::Line(tokens) => {
                let slots = tokens.iter().map(|(slot, _)| self.small(*slot, &[], draft));
                let line: Option<Vec<String>> = slots.collect();
                draft.line(&line?);
            }
            Item::List(count, slot, _) => {
                let count = resolve(*count, &draft.values)?;
                self.list(*slot, count, draft)?;
            }
            Item::Rows(count, row) => {
                let count = resolve(*count, &draft.values)?;
                self.small_rows(row, count, draft)?;
            }
        }
        Some(())
    }

    /// A line of so many tokens of one slot.
    fn list(&self, slot: Slot, count: usize, draft: &mut Draft<'_>) -> Option<()> {
        let column = self.small_column(slot, count, draft)?;
        draft.line(&column);
        Some(())
    }

    fn small_column(&self, slot: Slot, count: usize, draft: &mut Draft<'_>) -> Option<Vec<String>> {
        let mut column = Vec::new();
        for _ in 0..count {
            column.push(self.small(slot, &column, draft)?);
        }
        Some(column)
    }

    fn small_rows(&self, row: &Row, count: usize, draft: &mut Draft<'_>) -> Option<()> {
        match row {
            Row::Fixed(tokens) => {
                let tree = self.nodes(tokens, count, &draft.values);
                let mut columns: Vec<Vec<String>> = vec![Vec::new(); tokens.len()];
                for at in 0..count {
                    for (place, (slot, _)) in tokens.iter().enumerate() {
                        let token = match (tree, place) {
                            // Each node below one that was before it.
                            (Some((_, base)), 0) => {
                                (base + draft.choices.one_of(at + 1)? as i64).to_string()
                            }
                            (Some((_, base)), 1) => (base + at as i64 + 1).to_string(),
                            _ => self.small(*slot, &columns[place], draft)?,
                        };
                        columns[place].push(token);
                    }
                    let line: Vec<String> =
                        columns.iter().map(|column| column[at].clone()).collect();
                    draft.line(&line);
                }
            }
            Row::List(inner, slot, _) => {
                let inner = resolve(*inner, &draft.values)?;
                for _ in 0..count {
                    self.list(*slot, inner, draft)?;
                }
            }
            Row::Counted(before, slot, _) => self.small_counted(before, *slot, count, draft)?,
            Row::Choice(_, shapes) => {
                for _ in 0..count {
                    let chosen = draft.choices.one_of(shapes.len())?;
                    let (name, tokens) = shapes.iter().nth(chosen)?;
                    let mut line = vec![name.clone()];
                    for (slot, _) in tokens {
                        line.push(self.small(*slot, &[], draft)?);
                    }
                    draft.line(&line);
                }
            }
        }
        Some(())
    }

    /// Lines that count themselves: a tree where those of the samples are one, else any lists.
    fn small_counted(
        &self,
        before: &[Slot],
        slot: Slot,
        count: usize,
        draft: &mut Draft<'_>,
    ) -> Option<()> {
        let seen = &self.seen[&slot];
        let mut lists: Vec<Vec<String>> = vec![Vec::new(); count];
        if let (true, Some((_, base))) = (seen.children, seen.index) {
            for child in 1..count {
                let parent = draft.choices.one_of(child)?;
                lists[parent].push((child as i64 + base).to_string());
            }
        } else {
            let longest = seen.longest.max(1).min(draft.size as usize);
            for list in &mut lists {
                let many = draft.choices.one_of(longest + 1)?;
                *list = self.small_column(slot, many, draft)?;
            }
        }
        for (at, list) in lists.into_iter().enumerate() {
            let mut line = Vec::new();
            if let [id, _] = before {
                let base = self.seen[id].sequence.unwrap_or(0);
                line.push((at as i64 + base).to_string());
            }
            line.push(list.len().to_string());
            line.extend(list);
            draft.line(&line);
        }
        Some(())
    }

    /// A small token of a slot, behind others of its column.
    fn small(&self, slot: Slot, column: &[String], draft: &mut Draft<'_>) -> Option<String> {
        let seen = &self.seen[&slot];
        match seen.kind {
            Kind::Int => {
                let value = match seen.sequence {
                    Some(base) => base + column.len() as i64,
                    None => self.small_number(slot, seen, column, draft)?,
                };
                draft.values.insert(slot, value);
                Some(value.to_string())
            }
            Kind::Real => {
                let (low, high) = range(seen, draft.size);
                // In halves, where the samples have fractions.
                let parts = if seen.decimals > 0 { 2 } else { 1 };
                let last = column.last().and_then(|last| last.parse::<f64>().ok());
                let low = match last.filter(|_| seen.ascending) {
                    Some(last) => (last * parts as f64) as i64,
                    None => low * parts,
                };
                let many = usize::try_from(high * parts - low + 1).ok()?;
                let value = (low + draft.choices.one_of(many)? as i64) as f64 / parts as f64;
                Some(format!("{value:.decimals$}", decimals = seen.decimals))
            }
            Kind::Word if !seen.is_free() => {
                let chosen = draft.choices.one_of(seen.words.len())?;
                seen.words.iter().nth(chosen).cloned()
            }
            Kind::Word => {
                let longest = seen.longest.min(draft.size as usize);
                let letters = seen.alphabet.len().min(draft.size as usize);
                let length = 1 + draft.choices.one_of(longest)?;
                (0..length).map(|_| Some(seen.alphabet[draft.choices.one_of(letters)?])).collect()
            }
        }
    }

    fn small_number(
        &self,
        slot: Slot,
        seen: &Seen,
        column: &[String],
        draft: &mut Draft<'_>,
    ) -> Option<i64> {
        let (mut low, high) = match seen.index {
            _ if self.counts.contains(&slot) => (i64::from(seen.least > 0.0), draft.size),
            Some((limit, base)) => {
                (base, base + i64::try_from(resolve(limit, &draft.values)?).ok()? - 1)
            }
            None => range(seen, draft.size),
        };
        let known = column.iter().filter_map(|token| token.parse::<i64>().ok());
        if let (true, Some(last)) = (seen.ascending, known.clone().next_back()) {
            low = low.max(last);
        }
        if !seen.distinct {
            let many = usize::try_from(high - low + 1).ok()?;
            return Some(low + draft.choices.one_of(many)? as i64);
        }
        let taken: BTreeSet<i64> = known.collect();
        let free: Vec<i64> = (low..=high).filter(|value| !taken.contains(value)).collect();
        Some(free[draft.choices.one_of(free.len())?])
    }
}

/// The least and the largest small number of a slot: the signs are those of the samples.
fn range(seen: &Seen, size: i64) -> (i64, i64) {
    let low =
        if seen.least < 0.0 { -size } else { i64::from(seen.least > 0.0 && seen.decimals == 0) };
    (low, size)
}

#[cfg(test)]
mod tests {
    use super::super::grammar::{infer, lines};
    use super::*;

    fn all(sample: &str, size: u32, data_sets: usize) -> Vec<String> {
        let grammar = infer(&[sample]).unwrap();
        let generator = Generator::learn(grammar.clone(), &[sample]);
        let all = generator.all(Bound { size, data_sets }, 10_000).unwrap();
        assert!(all.iter().all(|text| grammar.read(&lines(text)).is_some()), "{all:?}");
        all.into_iter().collect()
    }

    #[test]
    fn all_numbers_and_lists_up_to_the_bound_are_there() {
        assert_eq!(all("10\n", 3, 1), ["1\n", "2\n", "3\n"]);
        assert_eq!(all("-10\n", 1, 1), ["-1\n", "0\n", "1\n"]);
        // Lists of one to three numbers out of three: 3 + 9 + 27.
        assert_eq!(all("5\n4 2 9 4 4\n", 3, 1).len(), 39);
        // Ascending ones: 3 + 6 + 10.
        assert_eq!(all("5\n1 2 2 4 9\n", 3, 1).len(), 19);
        assert_eq!(all("1.5 2.0\n", 1, 1).len(), 9);
        // One or two letters out of two.
        let words = ["a\n", "aa\n", "ab\n", "b\n", "ba\n", "bb\n"];
        assert_eq!(all("7\nab\nca\nabc\nbca\nbbb\nccc\ncab\n", 1, 1), ["1\na\n"]);
        let of_one: Vec<String> = all("7\nab\nca\nabc\nbca\nbbb\nccc\ncab\n", 2, 1)
            .into_iter()
            .filter_map(|text| text.strip_prefix("1\n").map(str::to_owned))
            .collect();
        assert_eq!(of_one, words);
    }

    #[test]
    fn indices_trees_and_data_sets_keep_to_their_form() {
        // Trees of up to four nodes whose parents come first: 1 + 1 + 2 + 6.
        assert_eq!(all("4\n0 1\n1 2\n1 3\n", 4, 1).len(), 10);
        let two = all("2\n1 2\n3\n4 5 6\n0\n", 2, 2);
        // One or two ascending numbers out of two: 2 and 3, and as many in the second.
        assert_eq!(two.len(), 25);
        assert!(two.iter().all(|text| text.ends_with("\n0\n")));
        let many = Generator::learn(infer(&["5\n4 2 9 4 4\n"]).unwrap(), &["5\n4 2 9 4 4\n"]);
        assert!(many.all(Bound { size: 9, data_sets: 1 }, 10_000).is_none());
    }
}
