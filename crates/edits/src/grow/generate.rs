//! Inputs of a grammar: like the samples, but other and larger.

use super::grammar::{Count, Filled, Grammar, Item, Kind, Line, Repeat, Row, Slot, kind, lines};
use rand::{Rng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How an input is to differ from the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    /// Factor on counts of lines, tokens and data sets.
    pub(crate) counts: f64,
    /// Factor on the ranges of other numbers.
    pub(crate) values: f64,
}

/// Tokens of a generated input at most.
const TOKENS: usize = 400_000;

/// What is known about a slot from the samples.
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
    /// All between this and the value of a count, which they therefore index.
    pub(super) index: Option<(Count, i64)>,
    pub(super) ascending: bool,
    pub(super) distinct: bool,
    /// Each is the number of its line, from this on.
    pub(super) sequence: Option<i64>,
}

/// A grammar and what its samples look like.
pub(super) struct Generator {
    pub(super) grammar: Grammar,
    pub(super) seen: BTreeMap<Slot, Seen>,
    pub(super) counts: BTreeSet<Slot>,
    pub(super) data_sets: usize,
}

impl Generator {
    /// Learn from the samples that `grammar` was inferred from.
    pub(super) fn learn(grammar: Grammar, samples: &[&str]) -> Generator {
        let filled: Vec<Filled> =
            samples.iter().filter_map(|sample| grammar.read(&lines(sample))).collect();
        let all: Vec<&BTreeMap<Slot, Vec<String>>> = filled.iter().flatten().collect();
        let counts = counts_of(&grammar);
        let mut seen: BTreeMap<Slot, Seen> =
            (0..grammar.slots).map(|slot| (slot, look(slot, &all, &counts))).collect();
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
        let data_sets = filled.iter().map(Vec::len).max().unwrap_or(1);
        Generator { grammar, seen, counts, data_sets }
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

    /// A new input; `None` where it would be too large.
    pub(super) fn generate(&self, scale: Scale, rng: &mut ChaCha8Rng) -> Option<String> {
        // A grown input has more data sets or larger ones, not both at the full factor.
        let repeats = !matches!(self.grammar.repeat, Repeat::Once);
        let (outer, inner) =
            if repeats && rng.random_bool(0.5) { (scale.counts, 1.0) } else { (1.0, scale.counts) };
        let data_sets = match repeats {
            false => 1,
            true => ((self.data_sets as f64 * outer) as usize).clamp(1, 20_000),
        };
        let mut writer = Writer { text: String::new(), tokens: 0 };
        if self.grammar.repeat == Repeat::Counted {
            writer.line(&[data_sets.to_string()]);
        }
        for _ in 0..data_sets {
            let inner = Scale { counts: inner, values: scale.values };
            self.data_set(inner, rng, &mut writer)?;
        }
        if let Repeat::Until(end) = &self.grammar.repeat {
            writer.line(std::slice::from_ref(end));
        }
        Some(writer.text)
    }

    fn data_set(&self, scale: Scale, rng: &mut ChaCha8Rng, writer: &mut Writer) -> Option<()> {
        let mut values: BTreeMap<Slot, i64> = BTreeMap::new();
        for item in &self.grammar.items {
            match item {
                Item::Line(tokens) => {
                    let line: Vec<String> = tokens
                        .iter()
                        .map(|(slot, _)| self.token(*slot, scale, &mut values, rng))
                        .collect();
                    writer.line(&line);
                }
                Item::List(count, slot, _) => {
                    let count = resolve(*count, &values)?;
                    let column = self.column(*slot, count, scale, &mut values, rng)?;
                    writer.line(&column);
                }
                Item::Rows(count, row) => {
                    let count = resolve(*count, &values)?;
                    self.rows(row, count, scale, &mut values, rng, writer)?;
                }
            }
            if writer.tokens > TOKENS {
                return None;
            }
        }
        Some(())
    }

    fn rows(
        &self,
        row: &Row,
        count: usize,
        scale: Scale,
        values: &mut BTreeMap<Slot, i64>,
        rng: &mut ChaCha8Rng,
        writer: &mut Writer,
    ) -> Option<()> {
        match row {
            Row::Fixed(tokens) => {
                if let Some(edges) = self.tree(tokens, count, values, rng) {
                    for edge in edges {
                        let mut line = edge.map(|end| end.to_string()).to_vec();
                        for (slot, _) in &tokens[2..] {
                            line.push(self.token(*slot, scale, values, rng));
                        }
                        writer.line(&line);
                    }
                    return Some(());
                }
                let columns: Vec<Vec<String>> = tokens
                    .iter()
                    .map(|(slot, _)| self.column(*slot, count, scale, values, rng))
                    .collect::<Option<_>>()?;
                for at in 0..count {
                    let line: Vec<String> =
                        columns.iter().map(|column| column[at].clone()).collect();
                    writer.line(&line);
                }
            }
            Row::List(inner, slot, _) => {
                let inner = resolve(*inner, values)?;
                if inner.saturating_mul(count) > TOKENS {
                    return None;
                }
                for _ in 0..count {
                    writer.line(&self.column(*slot, inner, scale, values, rng)?);
                }
            }
            Row::Counted(before, slot, _) => {
                self.counted(before, *slot, count, scale, values, rng, writer)?;
            }
            Row::Choice(first, shapes) => {
                let names: Vec<&String> = shapes.keys().collect();
                for _ in 0..count {
                    let name = names[rng.random_range(0..names.len())];
                    let mut line = vec![name.clone()];
                    for (slot, _) in &shapes[name] {
                        line.push(self.token(*slot, scale, values, rng));
                    }
                    let _ = first;
                    writer.line(&line);
                }
            }
        }
        Some(())
    }

    /// Lines `[id] k c1 ... ck`: where the children of the samples are distinct and one fewer than the
    /// lines, a tree; else any.
    #[expect(clippy::too_many_arguments, reason = "all of a generator's state, in one place")]
    fn counted(
        &self,
        before: &[Slot],
        slot: Slot,
        count: usize,
        scale: Scale,
        values: &mut BTreeMap<Slot, i64>,
        rng: &mut ChaCha8Rng,
        writer: &mut Writer,
    ) -> Option<()> {
        let seen = &self.seen[&slot];
        let base = seen.index.map_or(0, |(_, base)| base);
        let mut children: Vec<Vec<String>> = vec![Vec::new(); count];
        if seen.distinct && seen.index.is_some() {
            for child in 1..count {
                let parent = rng.random_range(child.saturating_sub(1 + child / 2)..child);
                children[parent].push((child as i64 + base).to_string());
            }
        } else {
            let longest = seen.longest.max(1).min(count.max(1));
            for line in &mut children {
                let many = rng.random_range(0..=longest.min(8));
                let mut column = self.column(slot, many, scale, values, rng)?;
                let mut known = BTreeSet::new();
                column.retain(|token| known.insert(token.clone()));
                *line = column;
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

    /// Edges of a random tree, where two columns index the same count and there is one edge fewer.
    fn tree(
        &self,
        tokens: &[(Slot, Kind)],
        count: usize,
        values: &BTreeMap<Slot, i64>,
        rng: &mut ChaCha8Rng,
    ) -> Option<Vec<[i64; 2]>> {
        let (nodes, base) = self.nodes(tokens, count, values)?;
        let mut names: Vec<i64> = (0..nodes as i64).map(|node| node + base).collect();
        names[1..].shuffle(rng);
        let edge =
            |child: usize, rng: &mut ChaCha8Rng| [names[rng.random_range(0..child)], names[child]];
        Some((1..nodes).map(|child| edge(child, rng)).collect())
    }

    /// How many nodes the tree has whose edges so many rows are, and the name of the first; `None` where they are no tree's.
    pub(super) fn nodes(
        &self,
        tokens: &[(Slot, Kind)],
        count: usize,
        values: &BTreeMap<Slot, i64>,
    ) -> Option<(usize, i64)> {
        let [(a, _), (b, _), ..] = tokens else { return None };
        let (first, base) = self.seen[a].index?;
        let (second, other) = self.seen[b].index?;
        let nodes = resolve(Count { slot: first.slot, plus: 0 }, values)?;
        (first.slot == second.slot && base == other && nodes == count + 1).then_some((nodes, base))
    }

    fn column(
        &self,
        slot: Slot,
        count: usize,
        scale: Scale,
        values: &mut BTreeMap<Slot, i64>,
        rng: &mut ChaCha8Rng,
    ) -> Option<Vec<String>> {
        if count > TOKENS {
            return None;
        }
        let seen = &self.seen[&slot];
        if let Some(base) = seen.sequence {
            return Some((0..count as i64).map(|at| (at + base).to_string()).collect());
        }
        if let (true, Some((limit, base))) = (seen.distinct, seen.index) {
            // Distinct indices: as many as there are make a permutation.
            let most = resolve(limit, values)?;
            if (count..=TOKENS).contains(&most) {
                let mut all: Vec<i64> = (0..most as i64).map(|at| at + base).collect();
                all.shuffle(rng);
                let mut column = all[..count].to_vec();
                if seen.ascending {
                    column.sort_unstable();
                }
                return Some(column.iter().map(i64::to_string).collect());
            }
        }
        let mut column: Vec<String> =
            (0..count).map(|_| self.token(slot, scale, values, rng)).collect();
        if seen.distinct && seen.kind == Kind::Int {
            let mut taken = Taken::default();
            for token in &mut column {
                *token = taken.take(token.parse().unwrap_or(0)).to_string();
            }
        }
        if seen.ascending {
            column.sort_by(|a, b| {
                let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
                number(a).total_cmp(&number(b))
            });
        }
        Some(column)
    }

    fn token(
        &self,
        slot: Slot,
        scale: Scale,
        values: &mut BTreeMap<Slot, i64>,
        rng: &mut ChaCha8Rng,
    ) -> String {
        let seen = &self.seen[&slot];
        match seen.kind {
            Kind::Int => {
                let value = self.whole(slot, seen, scale, values, rng);
                values.insert(slot, value);
                value.to_string()
            }
            Kind::Real => {
                let value = rng.random_range(seen.least..=seen.most) * scale.values.min(10.0);
                format!("{value:.decimals$}", decimals = seen.decimals)
            }
            Kind::Word => word(seen, scale, rng),
        }
    }

    fn whole(
        &self,
        slot: Slot,
        seen: &Seen,
        scale: Scale,
        values: &BTreeMap<Slot, i64>,
        rng: &mut ChaCha8Rng,
    ) -> i64 {
        let (least, most) = (seen.least as i64, seen.most as i64);
        if self.counts.contains(&slot) {
            // Large ones near what was asked for, small ones anywhere in the range of the samples.
            let wanted = (seen.most.max(1.0) * scale.counts).min(TOKENS as f64) as i64;
            return match scale.counts > 1.0 {
                true => rng.random_range(wanted - wanted / 4..=wanted).max(1),
                false => rng.random_range(least.min(most)..=most.max(least)),
            };
        }
        if let Some((limit, base)) = seen.index
            && let Some(count) = resolve(limit, values)
            && count > 0
        {
            return rng.random_range(base..base + count as i64);
        }
        let wide = |bound: i64| (bound as f64 * scale.values).clamp(-1e18, 1e18) as i64;
        // What was never negative or zero stays so.
        let low = if least < 0 { wide(least) } else { least };
        let high = wide(most).max(low);
        if scale.values > 1.0 && rng.random_bool(0.3) {
            return rng.random_range(high - (high - low) / 8..=high);
        }
        rng.random_range(low..=high)
    }
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

fn word(seen: &Seen, scale: Scale, rng: &mut ChaCha8Rng) -> String {
    if seen.enumerated || seen.alphabet.is_empty() {
        let at = rng.random_range(0..seen.words.len().max(1));
        return seen.words.iter().nth(at).cloned().unwrap_or_default();
    }
    let longest =
        ((seen.longest as f64 * scale.counts.max(scale.values)) as usize).clamp(1, 100_000);
    let shortest = if scale.counts > 1.0 { longest - longest / 4 } else { 1 };
    let length = rng.random_range(shortest.max(1)..=longest);
    (0..length).map(|_| seen.alphabet[rng.random_range(0..seen.alphabet.len())]).collect()
}

/// Numbers that are given away, each once.
#[derive(Default)]
struct Taken {
    /// Behind a number that is taken: one from which on to look for a free one.
    next: HashMap<i64, i64>,
}

impl Taken {
    /// The least free number from here on. Many of a small range would be a long way each, so every
    /// number on the way then leads to its end.
    fn take(&mut self, from: i64) -> i64 {
        let mut free = from;
        while let Some(next) = self.next.get(&free) {
            free = *next;
        }
        let mut at = from;
        while at != free {
            at = self.next.insert(at, free + 1).unwrap_or(free);
        }
        self.next.insert(free, free + 1);
        free
    }
}

/// Slots that say how many of something follow.
fn counts_of(grammar: &Grammar) -> BTreeSet<Slot> {
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

fn look(slot: Slot, all: &[&BTreeMap<Slot, Vec<String>>], counts: &BTreeSet<Slot>) -> Seen {
    let lists: Vec<&Vec<String>> = all.iter().filter_map(|slots| slots.get(&slot)).collect();
    let tokens: Vec<&str> = lists.iter().flat_map(|list| list.iter().map(String::as_str)).collect();
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
    let longer = |list: &&Vec<String>| list.len() >= 3;
    let every = |law: &dyn Fn(&[f64]) -> bool| {
        lists.iter().copied().filter(|list| longer(list)).count() > 0
            && lists.iter().copied().filter(|list| longer(list)).all(|list| {
                let numbers: Vec<f64> =
                    list.iter().filter_map(|token| token.parse().ok()).collect();
                numbers.len() == list.len() && law(&numbers)
            })
    };
    let distinct = every(&|list| {
        list.iter().map(|n| n.to_bits()).collect::<BTreeSet<_>>().len() == list.len()
    });
    let sequence =
        lists.first().and_then(|list| list.first()?.parse::<i64>().ok()).filter(|base| {
            (0..=1).contains(base)
                && every(&|list| {
                    list.iter().enumerate().all(|(at, n)| *n == (at as i64 + base) as f64)
                })
        });
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
        words,
        alphabet: alphabet.into_iter().collect(),
        longest: tokens.iter().map(|token| token.chars().count()).max().unwrap_or(1),
        index: (kind == Kind::Int && !counts.contains(&slot))
            .then(|| index(slot, all, counts))
            .flatten(),
        ascending: every(&|list| list.windows(2).all(|two| two[0] <= two[1])),
        distinct,
        sequence,
    }
}

/// The count whose range all values of a slot lie in, touching at least its half: they index it.
fn index(
    slot: Slot,
    all: &[&BTreeMap<Slot, Vec<String>>],
    counts: &BTreeSet<Slot>,
) -> Option<(Count, i64)> {
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
fn within(
    slot: Slot,
    count: Slot,
    base: i64,
    all: &[&BTreeMap<Slot, Vec<String>>],
) -> Option<(usize, f64)> {
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
}

/// A sample with some of its tokens changed, for problems without a grammar: a number becomes another of
/// the same sample, a word is exchanged with another.
pub(super) fn mutate(sample: &str, rng: &mut ChaCha8Rng) -> String {
    let lines: Vec<Line<'_>> = lines(sample);
    let mut tokens: Vec<Vec<String>> =
        lines.iter().map(|line| line.iter().map(|token| (*token).to_owned()).collect()).collect();
    let all: Vec<String> = tokens.iter().flatten().cloned().collect();
    if all.is_empty() {
        return sample.to_owned();
    }
    for _ in 0..rng.random_range(1..=3) {
        let row = rng.random_range(0..tokens.len());
        if tokens[row].is_empty() {
            continue;
        }
        let at = rng.random_range(0..tokens[row].len());
        let old = tokens[row][at].clone();
        tokens[row][at] = match old.parse::<i64>() {
            Ok(value) => (value + rng.random_range(-3..=3)).max(value.min(0)).to_string(),
            Err(_) => {
                let same: Vec<&String> =
                    all.iter().filter(|token| kind(token) == kind(&old)).collect();
                same[rng.random_range(0..same.len())].clone()
            }
        };
    }
    tokens.iter().map(|line| line.join(" ") + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::super::grammar::infer;
    use super::*;
    use rand::SeedableRng;

    fn generated(samples: &[&str], counts: f64, values: f64) -> Vec<String> {
        let generator = Generator::learn(infer(samples).unwrap(), samples);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        (0..20).filter_map(|_| generator.generate(Scale { counts, values }, &mut rng)).collect()
    }

    #[test]
    fn numbers_are_given_away_once_however_many_of_a_small_range() {
        let mut taken = Taken::default();
        let given: Vec<i64> = [5, 5, 4, 4, 5, 9, 8, 8].map(|from| taken.take(from)).to_vec();
        assert_eq!(given, [5, 6, 4, 7, 8, 9, 10, 11]);
        // One after the other from the beginning, that would be 20 thousand million steps.
        let mut taken = Taken::default();
        let all: BTreeSet<i64> = (0..200_000).map(|at| taken.take(at % 3)).collect();
        assert_eq!((all.len(), all.last()), (200_000, Some(&199_999)));
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
