//! Inputs of a grammar: like the samples, but other and larger.

use super::{
    grammar::{Count, DataSet, Filled, Grammar, Item, Kind, Repeat, Row, Slot, lines},
    graph::{self, Graph},
    limit::{Allowed, Stated},
    promise::Promises,
    seen::{Seen, counts_of, lengths_of, look, within},
    shape::{Draw, Size},
    value::shaped,
};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

/// Tokens of a generated input at most.
pub(super) const TOKENS: usize = 400_000;
/// Bytes of one at which nothing is added to it any more.
pub(super) const BYTES: usize = 8 << 20;
/// Data sets where nothing says how many there may be, and they do not grow themselves.
const DATA_SETS: usize = 20_000;
/// Data sets that are drawn before giving up: one that begins as what ends them all would be the last.
const TRIES: usize = 8;

/// A grammar and what its samples look like.
pub(super) struct Generator {
    pub(super) grammar: Grammar,
    pub(super) seen: BTreeMap<Slot, Seen>,
    pub(super) counts: BTreeSet<Slot>,
    pub(super) data_sets: usize,
    pub(super) graphs: BTreeMap<Slot, Graph>,
    /// Words, and the numbers that say how long they are.
    pub(super) lengths: BTreeMap<Slot, Slot>,
    /// Columns side by side of which the first is never above the second.
    pub(super) orders: Vec<(Slot, Slot)>,
    /// How many data sets the problem allows.
    repeats: Allowed,
    /// The largest count that the accepted programs have room for.
    pub(super) room: Option<i64>,
}

/// What is drawn of a data set so far.
pub(super) struct Drawn<'r> {
    /// The last number of each slot.
    pub(super) values: BTreeMap<Slot, i64>,
    pub(super) draw: Draw,
    pub(super) rng: &'r mut ChaCha8Rng,
}

impl Generator {
    /// Learn from the samples that `grammar` was inferred from.
    pub(super) fn learn(grammar: Grammar, samples: &[&str]) -> Generator {
        let filled: Vec<Filled> =
            samples.iter().filter_map(|sample| grammar.read(&lines(sample))).collect();
        let all: Vec<&DataSet> = filled.iter().flatten().collect();
        let lengths = lengths_of(&grammar, &all);
        let mut counts = counts_of(&grammar);
        counts.extend(lengths.values());
        let nodes = graph::nodes_of(&grammar, &all, &counts);
        counts.extend(nodes);
        let mut seen: BTreeMap<Slot, Seen> =
            (0..grammar.slots).map(|slot| (slot, look(slot, &grammar, &all, &counts))).collect();
        for word in lengths.keys() {
            if let Some(seen) = seen.get_mut(word) {
                seen.enumerated = false;
            }
        }
        // Where one column indexes a count from 0, so do the others that could.
        for &count in &counts {
            let of_count = |seen: &Seen, base: i64| {
                seen.index.is_some_and(|(limit, from)| limit.slot == count && from == base)
            };
            if seen.values().any(|seen| of_count(seen, 0)) {
                for (slot, seen) in &mut seen {
                    if of_count(seen, 1) && within(*slot, count, 0, &all).is_some() {
                        seen.index = seen.index.map(|(limit, _)| (limit, 0));
                    }
                }
            }
        }
        let graphs = graph::graphs(&grammar, &seen, &all);
        let data_sets = filled.iter().map(Vec::len).max().unwrap_or(1);
        let (orders, repeats, room) = (Vec::new(), Allowed::default(), None);
        Generator { grammar, seen, counts, data_sets, graphs, lengths, orders, repeats, room }
    }

    /// Within what a problem states, and what programs have room for where it states nothing.
    pub(super) fn within(mut self, stated: &Stated, room: Option<i64>) -> Generator {
        for (slot, allowed) in &stated.slots {
            if let Some(seen) = self.seen.get_mut(slot) {
                seen.stated = *allowed;
            }
        }
        self.repeats = stated.data_sets;
        self.room = room;
        self
    }

    /// Few words are any letters in a row where they look like that and no text of a program has one of them: what a program
    /// compares with is one of few.
    pub(super) fn free_words(&mut self, promises: &Promises, literals: &[&str]) {
        for (slot, seen) in &mut self.seen {
            let is_known = |word: &String| literals.iter().any(|text| text.contains(word.as_str()));
            if seen.looks_free()
                && !promises.is_as_long_as_another(*slot)
                && !seen.words.iter().any(is_known)
            {
                (seen.enumerated, seen.guessed) = (false, true);
            }
        }
    }

    /// The largest count and the longest word of the samples.
    pub(super) fn largest(&self) -> i64 {
        let counts = self.counts.iter().map(|slot| self.seen[slot].most as i64);
        let words =
            self.seen.values().filter(|seen| seen.is_free()).map(|seen| seen.longest as i64);
        counts.chain(words).max().unwrap_or(0)
    }

    /// In words, for reports.
    pub(super) fn describe(&self) -> String {
        let items: Vec<String> = self
            .grammar
            .items
            .iter()
            .map(|item| match item {
                Item::Line(tokens) => format!("line of {}", tokens.len()),
                Item::List(count, ..) => format!("list of #{}", shown(*count)),
                Item::Rows(count, row) => {
                    let row = match row {
                        Row::Fixed(tokens) => format!("lines of {}", tokens.len()),
                        Row::List(count, ..) => format!("lines of #{}", shown(*count)),
                        Row::Counted(..) => "lines that count themselves".into(),
                        Row::Choice(_, shapes) => format!("lines of {} kinds", shapes.len()),
                    };
                    format!("#{} {row}", shown(*count))
                }
            })
            .collect();
        let repeat = match &self.grammar.repeat {
            Repeat::Once => String::new(),
            Repeat::UntilEnd => " until the end".into(),
            Repeat::Counted => ", counted".into(),
            Repeat::Until(line) => format!(" until `{line}`"),
        };
        format!("{}{repeat}", items.join(", "))
    }

    /// A new input; `None` where it would be too large, or cannot be as it is to be.
    pub(super) fn generate(&self, draw: impl Into<Draw>, rng: &mut ChaCha8Rng) -> Option<String> {
        let (data_sets, draw) = self.repeated(draw.into(), rng);
        let mut writer = Writer { text: String::new(), tokens: 0 };
        if self.grammar.repeat == Repeat::Counted {
            writer.line(&[data_sets.to_string()]);
        }
        let end = match &self.grammar.repeat {
            Repeat::Until(end) => Some(end.as_str()),
            _ => None,
        };
        for _ in 0..data_sets {
            self.data_set_before(end, draw, rng, &mut writer)?;
        }
        if let Some(end) = end {
            writer.line(&[end.to_owned()]);
        }
        Some(writer.text)
    }

    /// A data set whose first line is not the one that ends them all.
    fn data_set_before(
        &self,
        end: Option<&str>,
        draw: Draw,
        rng: &mut ChaCha8Rng,
        writer: &mut Writer,
    ) -> Option<()> {
        let (bytes, tokens) = (writer.text.len(), writer.tokens);
        for _ in 0..TRIES {
            let mut drawn = Drawn { values: BTreeMap::new(), draw, rng: &mut *rng };
            self.data_set(&mut drawn, writer)?;
            if end.is_none() || writer.text[bytes..].lines().next() != end {
                return Some(());
            }
            writer.text.truncate(bytes);
            writer.tokens = tokens;
        }
        None
    }

    /// How many data sets there are to be, and how each is drawn: a grown input has more of them or larger ones, not both. There
    /// are more than in the samples where the problem says how many there may be, or they cannot grow themselves.
    fn repeated(&self, draw: Draw, rng: &mut ChaCha8Rng) -> (usize, Draw) {
        if self.grammar.repeat == Repeat::Once {
            return (1, draw);
        }
        let allowed = self.repeats.most.and_then(|most| usize::try_from(most).ok());
        let may_grow = allowed.is_some() || self.counts.is_empty();
        let grows = rng.random_bool(0.5) && may_grow;
        let more = Draw { counts: Size::Times(1.0), ..draw };
        let (wanted, draw) = match draw.counts {
            Size::Least => (1, draw),
            _ if !grows => (self.data_sets, draw),
            Size::Times(factor) => ((self.data_sets as f64 * factor) as usize, more),
            Size::Share(share) => {
                (allowed.map_or(self.data_sets, |most| (most as f64 * share) as usize), more)
            }
        };
        let wanted = self.repeats.nearest(wanted as i64).clamp(1, DATA_SETS as i64);
        (wanted as usize, draw)
    }

    fn data_set(&self, drawn: &mut Drawn<'_>, writer: &mut Writer) -> Option<()> {
        for item in &self.grammar.items {
            match item {
                Item::Line(tokens) => writer.line(&self.line(tokens, drawn)),
                Item::List(count, slot, _) => {
                    let count = resolve(*count, &drawn.values)?;
                    let column = self.column(*slot, count, drawn)?;
                    writer.line(&column);
                }
                Item::Rows(count, row) => {
                    let count = resolve(*count, &drawn.values)?;
                    self.rows(row, count, drawn, writer)?;
                }
            }
            if writer.is_full() {
                return None;
            }
        }
        Some(())
    }

    fn line(&self, tokens: &[(Slot, Kind)], drawn: &mut Drawn<'_>) -> Vec<String> {
        let mut line: Vec<String> =
            tokens.iter().map(|(slot, _)| self.token(*slot, drawn)).collect();
        let place = |slot: Slot| tokens.iter().position(|(other, _)| *other == slot);
        for graph in self.graphs.values().filter(|graph| graph.edges.slot != graph.nodes) {
            let (Some(nodes), Some(rows)) =
                (drawn.values.get(&graph.nodes), drawn.values.get(&graph.edges.slot))
            else {
                continue;
            };
            let most = graph.most(*nodes).saturating_sub(graph.edges.plus);
            if let (true, Some(at)) = (*rows > most, place(graph.edges.slot)) {
                drawn.values.insert(graph.edges.slot, most);
                line[at] = most.to_string();
            }
        }
        for order in &self.orders {
            let (Some(low), Some(high)) = (place(order.0), place(order.1)) else { continue };
            if !is_above(&line[low], &line[high]) {
                continue;
            }
            if self.may_swap(*order) {
                if self.fit(*order, &line[low], &line[high]) {
                    line.swap(low, high);
                }
            } else if let Some((slot, value)) = self.beside_count(*order, drawn)
                && let Some(at) = place(slot)
            {
                drawn.values.insert(slot, value);
                line[at] = value.to_string();
            }
        }
        line
    }

    fn rows(
        &self,
        row: &Row,
        count: usize,
        drawn: &mut Drawn<'_>,
        writer: &mut Writer,
    ) -> Option<()> {
        if count > TOKENS {
            return None;
        }
        match row {
            Row::Fixed(tokens) => {
                let mut columns = self.edges(tokens, count, drawn)?;
                for (slot, _) in &tokens[columns.len()..] {
                    columns.push(self.column(*slot, count, drawn)?);
                }
                self.put_in_order(tokens, &mut columns);
                for at in 0..count {
                    let line: Vec<String> =
                        columns.iter().map(|column| column[at].clone()).collect();
                    writer.line(&line);
                }
            }
            Row::List(inner, slot, _) => {
                let inner = resolve(*inner, &drawn.values)?;
                if inner.saturating_mul(count) > TOKENS {
                    return None;
                }
                for _ in 0..count {
                    writer.line(&self.column(*slot, inner, drawn)?);
                    if writer.is_full() {
                        return None;
                    }
                }
            }
            Row::Counted(before, slot, _) => self.counted(before, *slot, count, drawn, writer)?,
            Row::Choice(_, shapes) => {
                let names: Vec<&String> = shapes.keys().collect();
                for _ in 0..count {
                    let name = names[drawn.rng.random_range(0..names.len())];
                    let mut line = vec![name.clone()];
                    line.extend(self.line(&shapes[name], drawn));
                    writer.line(&line);
                }
            }
        }
        Some(())
    }

    /// Lines `[id] k c1 ... ck`: where the children of the samples are those of a tree, a tree; else any.
    fn counted(
        &self,
        before: &[Slot],
        slot: Slot,
        count: usize,
        drawn: &mut Drawn<'_>,
        writer: &mut Writer,
    ) -> Option<()> {
        let seen = &self.seen[&slot];
        let base = seen.index.map_or(0, |(_, base)| base);
        let mut children: Vec<Vec<String>> = vec![Vec::new(); count];
        let mut parent_of = |child: usize, rng: &mut ChaCha8Rng| {
            let parent = rng.random_range(child.saturating_sub(1 + child / 2)..child);
            children[parent].push((child as i64 + base).to_string());
        };
        let stated = before.last().and_then(|many| self.seen[many].stated.most);
        let is_tree = seen.children && seen.index.is_some();
        // What indexes the lines are edges: in half of the inputs each node is reached from the first.
        let is_connected = is_tree
            || seen.index.is_some()
                && !seen.distinct
                && stated.is_none()
                && drawn.rng.random_bool(0.5);
        if is_connected {
            for child in 1..count {
                parent_of(child, &mut *drawn.rng);
            }
        }
        if !is_tree {
            let most = stated.and_then(|most| usize::try_from(most).ok()).unwrap_or(8);
            let longest = seen.longest.max(1).min(count.max(1)).min(most);
            for line in &mut children {
                let many = drawn.rng.random_range(0..=longest);
                line.extend(self.column(slot, many, drawn)?);
                let mut known = BTreeSet::new();
                line.retain(|token| known.insert(token.clone()));
            }
        }
        for (at, children) in children.into_iter().enumerate() {
            let mut line = Vec::new();
            if let [id, _] = before {
                let base = self.seen[id].sequence.unwrap_or(0);
                line.push((at as i64 + base).to_string());
            }
            line.push(children.len().to_string());
            line.extend(children);
            writer.line(&line);
        }
        Some(())
    }

    /// The first two columns, where they are the edges of a graph; else none.
    fn edges(
        &self,
        tokens: &[(Slot, Kind)],
        count: usize,
        drawn: &mut Drawn<'_>,
    ) -> Option<Vec<Vec<String>>> {
        let Some((nodes, base)) = self.ends(tokens, &drawn.values) else {
            return Some(Vec::new());
        };
        let edges = match self.graphs.get(&tokens[0].0) {
            _ if nodes == count + 1 => graph::tree(nodes, base, drawn.rng),
            Some(graph) => graph.draw(nodes, count, drawn.rng)?,
            None => return Some(Vec::new()),
        };
        let column =
            |at: usize| -> Vec<String> { edges.iter().map(|edge| edge[at].to_string()).collect() };
        Some(vec![column(0), column(1)])
    }

    /// How many nodes the tree has whose edges so many rows are, and the name of the first; `None` where they are no tree's.
    pub(super) fn nodes(
        &self,
        tokens: &[(Slot, Kind)],
        count: usize,
        values: &BTreeMap<Slot, i64>,
    ) -> Option<(usize, i64)> {
        self.ends(tokens, values).filter(|(nodes, _)| *nodes == count + 1)
    }

    /// How many nodes a graph has whose edges the first two columns are, and the name of the first.
    fn ends(&self, tokens: &[(Slot, Kind)], values: &BTreeMap<Slot, i64>) -> Option<(usize, i64)> {
        let [(from, _), (to, _), ..] = tokens else { return None };
        let (first, base) = self.seen[from].index?;
        let (second, other) = self.seen[to].index?;
        let nodes = resolve(Count { slot: first.slot, plus: 0 }, values)?;
        (first.slot == second.slot && base == other && nodes <= TOKENS).then_some((nodes, base))
    }

    /// Swap what is in the wrong order in a row.
    fn put_in_order(&self, tokens: &[(Slot, Kind)], columns: &mut [Vec<String>]) {
        let place = |slot: Slot| tokens.iter().position(|(other, _)| *other == slot);
        for order in self.orders.iter().filter(|order| self.may_swap(**order)) {
            let (Some(low), Some(high)) = (place(order.0), place(order.1)) else { continue };
            for at in 0..columns[low].len() {
                let (one, other) = (&columns[low][at], &columns[high][at]);
                if is_above(one, other) && self.fit(*order, one, other) {
                    let above = std::mem::take(&mut columns[low][at]);
                    columns[low][at] = std::mem::replace(&mut columns[high][at], above);
                }
            }
        }
    }

    /// Whether numbers of two slots may change places: what holds for one of them has to hold for the other.
    fn may_swap(&self, (low, high): (Slot, Slot)) -> bool {
        let is_free = |seen: &Seen| {
            !seen.ascending && !seen.descending && !seen.distinct && seen.sequence.is_none()
        };
        let (one, other) = (&self.seen[&low], &self.seen[&high]);
        let is_count = self.counts.contains(&low) || self.counts.contains(&high);
        !is_count
            && is_free(one)
            && is_free(other)
            && (one.kind, one.index) == (other.kind, other.index)
    }

    /// Whether the problem allows numbers of two slots to change places.
    fn fit(&self, (low, high): (Slot, Slot), in_low: &str, in_high: &str) -> bool {
        let allows = |slot: Slot, text: &str| {
            let stated = self.seen[&slot].stated;
            let number = text.parse::<i64>().ok();
            number.is_none_or(|number| stated.nearest(number) == number)
        };
        allows(low, in_high) && allows(high, in_low)
    }

    /// Of a number that is above a count, or below one, and never was in the samples: its slot and another value, which is not.
    /// Where the problem allows more than the count may be, it is no promise.
    fn beside_count(
        &self,
        (low, high): (Slot, Slot),
        drawn: &mut Drawn<'_>,
    ) -> Option<(Slot, i64)> {
        let is_count = |slot: Slot| self.counts.contains(&slot);
        let (one, other) = (&self.seen[&low], &self.seen[&high]);
        if one.kind != Kind::Int || other.kind != Kind::Int {
            return None;
        }
        match (is_count(low), is_count(high)) {
            (false, true) if one.index.is_none() => {
                let both = one.stated.most.zip(other.stated.most);
                let most = *drawn.values.get(&high)?;
                let least = one.stated.least.unwrap_or(one.least as i64);
                let is_promise = both.is_none_or(|(number, count)| number <= count);
                (is_promise && least <= most).then(|| (low, shaped(least, most, drawn)))
            }
            (true, false) if other.index.is_none() => {
                let least = *drawn.values.get(&low)?;
                let most = other.stated.most.unwrap_or(least.max(other.most as i64));
                let both = one.stated.least.zip(other.stated.least);
                let is_promise = both.is_none_or(|(count, number)| count <= number);
                (is_promise && least <= most).then(|| (high, shaped(least, most, drawn)))
            }
            _ => None,
        }
    }
}

fn is_above(one: &str, other: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    number(one).zip(number(other)).is_some_and(|(one, other)| one > other)
}

fn shown(count: Count) -> String {
    match count.plus {
        0 => count.slot.to_string(),
        plus => format!("{}{plus}", count.slot),
    }
}

pub(super) fn resolve(count: Count, values: &BTreeMap<Slot, i64>) -> Option<usize> {
    usize::try_from(values.get(&count.slot)? + count.plus).ok()
}

struct Writer {
    text: String,
    tokens: usize,
}

impl Writer {
    fn line(&mut self, tokens: &[String]) {
        self.tokens += tokens.len();
        self.text.push_str(&tokens.join(" "));
        self.text.push('\n');
    }

    fn is_full(&self) -> bool {
        self.tokens > TOKENS || self.text.len() > BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        grammar::infer,
        shape::{Scale, Shape},
    };
    use super::*;
    use rand::SeedableRng;

    fn generated(samples: &[&str], counts: f64, values: f64) -> Vec<String> {
        let generator = Generator::learn(infer(samples).unwrap(), samples);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        (0..20).filter_map(|_| generator.generate(Scale { counts, values }, &mut rng)).collect()
    }

    #[test]
    fn generated_inputs_are_read_by_their_grammar() {
        let samples = [
            "3\n1 2\n3 4\n5 6\n",
            "5\n1 2 3 4 5\n",
            "4\n0 1\n1 2\n1 3\n2\n0 3\n2 3\n",
            "4\n0 2 1 2\n1 0\n2 1 3\n3 0\n",
            "4\ninsert 5\ninsert 3\nfront\nfind 5\n",
            "2\n1 2\n3\n4 5 6\n0\n",
            "2 3\n1.5 2.5 3.5\n0.1 0.2 0.3\n",
        ];
        for sample in samples {
            let grammar = infer(&[sample]).unwrap();
            for scale in [1.0, 8.0] {
                for text in generated(&[sample], scale, scale) {
                    assert!(grammar.read(&lines(&text)).is_some(), "{sample:?} gave {text:?}");
                }
            }
        }
    }

    #[test]
    fn indices_stay_in_range_and_trees_are_trees() {
        for text in generated(&["4\n0 1\n1 2\n1 3\n"], 16.0, 16.0) {
            let lines = lines(&text);
            let nodes: usize = lines[0][0].parse().unwrap();
            assert_eq!(lines.len(), nodes, "{text}");
            let mut reached = vec![false; nodes];
            reached[0] = true;
            for line in &lines[1..] {
                let [a, b] = [line[0].parse::<usize>().unwrap(), line[1].parse::<usize>().unwrap()];
                assert!(reached[a] && !reached[b], "{text}");
                reached[b] = true;
            }
        }
    }

    #[test]
    fn what_ends_all_data_sets_begins_none_of_them() {
        for (counts, values) in [(1.0, 1.0), (8.0, 1.0), (1.0, 8.0)] {
            for text in generated(&["-2\n3\n0\n"], counts, values) {
                let lines: Vec<&str> = text.lines().collect();
                assert_eq!(lines.iter().position(|line| *line == "0"), Some(lines.len() - 1));
            }
        }
    }

    #[test]
    fn data_sets_are_no_more_than_those_of_the_samples_where_they_grow_themselves() {
        let sets = |sample: &str, repeats: Allowed| -> BTreeSet<usize> {
            let mut generator = Generator::learn(infer(&[sample]).unwrap(), &[sample]);
            generator.repeats = repeats;
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let scale = Scale { counts: 64.0, values: 1.0 };
            let texts = (0..20).map(|_| generator.generate(scale, &mut rng).unwrap());
            texts.map(|text| lines(&text)[0][0].parse().unwrap()).collect()
        };
        let lists = "2\n3\n1 7 3\n2\n4 5\n";
        let five = Allowed { least: Some(1), most: Some(5) };
        assert_eq!(sets(lists, Allowed::default()), BTreeSet::from([2]));
        assert_eq!(sets(lists, five), BTreeSet::from([2, 5]));
    }

    #[test]
    fn columns_side_by_side_keep_their_order() {
        let sample = "3\n5 8\n2 2\n3 9\n";
        let mut generator = Generator::learn(infer(&[sample]).unwrap(), &[sample]);
        generator.orders = vec![(1, 2)];
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let text = generator.generate(Scale { counts: 64.0, values: 8.0 }, &mut rng).unwrap();
        let rows = lines(&text);
        assert!(rows.len() > 100);
        for row in &rows[1..] {
            let [low, high] = [0, 1].map(|at| row[at].parse::<i64>().unwrap());
            assert!(low <= high, "{row:?}");
        }
    }

    #[test]
    fn numbers_that_never_were_above_a_count_stay_below_it() {
        let samples = ["5 3\n1 20 9 4 4\n", "4 2\n7 1 1 30\n"];
        let values = |stated: &Stated| -> Vec<[i64; 2]> {
            let generator = Generator::learn(infer(&samples).unwrap(), &samples);
            let mut generator = generator.within(stated, Some(50));
            assert!(generator.counts.contains(&0) && generator.seen[&1].index.is_none());
            generator.orders = vec![(1, 0)];
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let scale = Scale { counts: 1.0, values: 4096.0 };
            let texts = (0..40).map(|_| generator.generate(scale, &mut rng).unwrap());
            let first = |text: String| [0, 1].map(|at| lines(&text)[0][at].parse().unwrap());
            texts.map(first).collect()
        };
        let below = values(&Stated::default());
        assert!(below.iter().all(|[count, number]| 2 <= *number && number <= count), "{below:?}");
        // Said to be as large as it likes.
        let allowed = |most: i64| Allowed { least: Some(1), most: Some(most) };
        let slots = BTreeMap::from([(0, allowed(50)), (1, allowed(9000))]);
        let free = values(&Stated { slots, ..Stated::default() });
        assert!(free.iter().any(|[count, number]| number > count), "{free:?}");
    }

    #[test]
    fn numbers_change_places_within_their_limits() {
        let sample = "3\n5 8\n2 3\n3 9\n";
        let slots = BTreeMap::from([
            (1, Allowed { least: Some(0), most: Some(99) }),
            (2, Allowed { least: Some(1), most: Some(100) }),
        ]);
        let stated = Stated { slots, ..Stated::default() };
        let generator = Generator::learn(infer(&[sample]).unwrap(), &[sample]);
        let mut generator = generator.within(&stated, Some(60));
        generator.orders = vec![(1, 2)];
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let draw = Draw { counts: Size::Share(1.0), values: Size::Share(1.0), shape: Shape::Any };
        let text = generator.generate(draw, &mut rng).unwrap();
        let rows = lines(&text);
        assert_eq!(rows.len(), 61);
        for row in &rows[1..] {
            let [low, high] = [0, 1].map(|at| row[at].parse::<i64>().unwrap());
            assert!(low <= high && high <= 100, "{row:?}");
        }
    }

    #[test]
    fn few_words_that_no_program_knows_are_any_letters() {
        let learned = |text: &str, literals: &[&str]| {
            let samples = [text];
            let mut generator = Generator::learn(infer(&samples).unwrap(), &samples);
            let promises = Promises::learn(&generator, &samples);
            generator.free_words(&promises, literals);
            generator.seen[&0].is_free()
        };
        assert!(learned("abcab\n", &["\"%s\\n\""]));
        assert!(!learned("front\n", &["\"front\""]), "a program compares with it");
        assert!(!learned("abcab\nbbcaa\n", &[]), "two that are as long");
    }

    #[test]
    fn nodes_and_edges_of_graphs_grow_together() {
        for text in generated(&["6 8\n1 2\n2 3\n4 3\n1 4\n5 4\n6 5\n1 6\n2 5\n"], 16.0, 1.0) {
            let rows = lines(&text);
            let [nodes, edges] = [0, 1].map(|at| rows[0][at].parse::<i64>().unwrap());
            assert!(nodes >= 48 && edges as usize == rows.len() - 1, "{text}");
            let ends: BTreeSet<[i64; 2]> = rows[1..]
                .iter()
                .map(|row| {
                    let [from, to] = [0, 1].map(|at| row[at].parse::<i64>().unwrap());
                    [from.min(to), from.max(to)]
                })
                .collect();
            assert_eq!(ends.len() as i64, edges, "none comes twice: {text}");
            let is_edge = |[from, to]: &[i64; 2]| 1 <= *from && from < to && *to <= nodes;
            assert!(ends.iter().all(is_edge), "{text}");
        }
    }

    #[test]
    fn counts_grow_and_orders_stay() {
        let grown = generated(&["5\n1 2 3 4 9\n", "4\n2 3 5 8\n"], 100.0, 1.0);
        for text in &grown {
            let numbers: Vec<i64> =
                text.lines().nth(1).unwrap().split(' ').map(|t| t.parse().unwrap()).collect();
            assert!(numbers.len() >= 375, "{}", numbers.len());
            assert!(numbers.windows(2).all(|two| two[0] <= two[1]));
        }
    }
}
