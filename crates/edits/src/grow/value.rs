//! Tokens of inputs: numbers and words like those of the samples, within their limits.

use super::{
    generate::{BYTES, Drawn, Generator, TOKENS, resolve},
    grammar::{Kind, Slot},
    seen::{LARGEST, Seen},
    shape::{Shape, Size},
};
use rand::{Rng, seq::SliceRandom};
use std::collections::{BTreeMap, HashMap};

/// Letters of a word at most.
const LETTERS: usize = 100_000;
/// Letters of one at most where nothing says that it may be a longer one than those of the samples.
const GUESSED: usize = 100;
/// The largest count where nothing says how large it may be.
const COUNT: i64 = 100_000;
/// The largest fraction.
const FARTHEST: f64 = 1e150;
/// Tokens that are drawn before one of the samples is taken.
const TRIES: usize = 8;

impl Generator {
    /// So many tokens of one slot, one below or behind the other; `None` where they would be too many.
    pub(super) fn column(
        &self,
        slot: Slot,
        count: usize,
        drawn: &mut Drawn<'_>,
    ) -> Option<Vec<String>> {
        if count > TOKENS {
            return None;
        }
        let seen = &self.seen[&slot];
        if let Some(base) = seen.sequence {
            return Some((0..count as i64).map(|at| (at + base).to_string()).collect());
        }
        let shape = drawn.draw.shape;
        if let (true, Some((limit, base))) = (seen.distinct, seen.index) {
            // Distinct indices: as many as there are make a permutation.
            let most = resolve(limit, &drawn.values)?;
            if (count..=TOKENS).contains(&most) {
                let mut all: Vec<i64> = (0..most as i64).map(|at| at + base).collect();
                all.shuffle(drawn.rng);
                let mut column: Vec<String> = all[..count].iter().map(i64::to_string).collect();
                sort(&mut column, seen, shape);
                return Some(column);
            }
        }
        let few: Vec<String> = match shape {
            _ if seen.distinct => Vec::new(),
            Shape::Equal => vec![self.token(slot, drawn)],
            Shape::Few => (0..3).map(|_| self.token(slot, drawn)).collect(),
            _ => Vec::new(),
        };
        let (mut column, mut bytes) = (Vec::with_capacity(count), 0);
        for _ in 0..count {
            let token = match few.len() {
                0 => self.token(slot, drawn),
                many => few[drawn.rng.random_range(0..many)].clone(),
            };
            bytes += token.len();
            if bytes > BYTES {
                return None;
            }
            column.push(token);
        }
        if seen.distinct && seen.kind == Kind::Int {
            self.tell_apart(slot, seen, drawn, &mut column)?;
        }
        sort(&mut column, seen, shape);
        if let Some(end) = &seen.last {
            self.end_with(end, slot, drawn, &mut column);
        }
        if !seen.once.is_empty() && seen.is_free() {
            column = put_once(&column, seen, drawn)?;
        }
        Some(column)
    }

    /// Numbers that are all different, near those that are there.
    fn tell_apart(
        &self,
        slot: Slot,
        seen: &Seen,
        drawn: &Drawn<'_>,
        column: &mut [String],
    ) -> Option<()> {
        let (low, high) = match self.indices(seen, &drawn.values) {
            Some(ends) => ends,
            None if self.counts.contains(&slot) => (0, i64::MAX),
            // Without a limit there are as many as are wanted.
            None => (range(seen, drawn.draw.values).0, seen.stated.most.unwrap_or(i64::MAX)),
        };
        let mut taken = Taken::default();
        for token in column {
            let mut number = taken.take(token.parse().unwrap_or(low));
            if number > high {
                number = taken.take(low);
            }
            if number > high {
                return None;
            }
            *token = number.to_string();
        }
        Some(())
    }

    /// The last token is the one that ends a list, the others are not.
    fn end_with(&self, end: &str, slot: Slot, drawn: &mut Drawn<'_>, column: &mut [String]) {
        let Some((last, others)) = column.split_last_mut() else { return };
        *last = end.to_owned();
        let shape = std::mem::replace(&mut drawn.draw.shape, Shape::Any);
        for token in others.iter_mut().filter(|token| token.as_str() == end) {
            let another = (0..TRIES).map(|_| self.token(slot, drawn)).find(|token| token != end);
            let of_samples = || self.seen[&slot].words.iter().find(|word| *word != end).cloned();
            *token = another.or_else(of_samples).unwrap_or_default();
        }
        drawn.draw.shape = shape;
    }

    pub(super) fn token(&self, slot: Slot, drawn: &mut Drawn<'_>) -> String {
        let seen = &self.seen[&slot];
        match seen.kind {
            Kind::Int => {
                let value = self.whole(slot, seen, drawn);
                drawn.values.insert(slot, value);
                value.to_string()
            }
            Kind::Real => {
                let value = real(seen, drawn);
                format!("{value:.decimals$}", decimals = seen.decimals)
            }
            Kind::Word => {
                let length = self.lengths.get(&slot).and_then(|number| drawn.values.get(number));
                let length = length.and_then(|length| usize::try_from(*length).ok());
                self.word(seen, length, drawn)
            }
        }
    }

    fn whole(&self, slot: Slot, seen: &Seen, drawn: &mut Drawn<'_>) -> i64 {
        if self.counts.contains(&slot) {
            return self.count(seen, drawn);
        }
        if let Some((low, high)) = self.indices(seen, &drawn.values) {
            return shaped(low, high, drawn);
        }
        let (low, high) = range(seen, drawn.draw.values);
        if let (Size::Times(factor), Shape::Any) = (drawn.draw.values, drawn.draw.shape)
            && factor > 1.0
            && drawn.rng.random_bool(0.3)
        {
            return drawn.rng.random_range(high - (high - low) / 8..=high);
        }
        shaped(low, high, drawn)
    }

    /// A number of lines, tokens or letters.
    fn count(&self, seen: &Seen, drawn: &mut Drawn<'_>) -> i64 {
        let (least, most) = (seen.least as i64, seen.most as i64);
        // Large ones near what is asked for, small ones anywhere in the range of the samples.
        let count = match drawn.draw.counts {
            Size::Least => seen.stated.least.unwrap_or(least.min(1)),
            Size::Times(factor) if factor > 1.0 => {
                let wanted = (seen.most.max(1.0) * factor).min(TOKENS as f64) as i64;
                let wanted = wanted.min(self.limit(seen).unwrap_or(i64::MAX)).max(1);
                drawn.rng.random_range(wanted - wanted / 4..=wanted).max(1)
            }
            Size::Times(_) => drawn.rng.random_range(least.min(most)..=most.max(least)),
            Size::Share(share) => {
                part(self.limit(seen).unwrap_or(COUNT.max(most)), share).max(least)
            }
        };
        seen.stated.nearest(count).min(TOKENS as i64)
    }

    /// The largest count, or the length of the longest word, that the problem states or programs have room for.
    fn limit(&self, seen: &Seen) -> Option<i64> {
        seen.stated.most.or(self.room)
    }

    /// The least and the largest of what indexes a count; `None` of other slots.
    fn indices(&self, seen: &Seen, values: &BTreeMap<Slot, i64>) -> Option<(i64, i64)> {
        let (limit, base) = seen.index?;
        let count = resolve(limit, values).filter(|count| *count > 0)?;
        Some((base, base + count as i64 - 1))
    }

    /// A word, of so many letters where that is known.
    fn word(&self, seen: &Seen, length: Option<usize>, drawn: &mut Drawn<'_>) -> String {
        let shape = drawn.draw.shape;
        if let Some(template) = &seen.template {
            return template.draw(shape, drawn.rng);
        }
        if !seen.is_free() {
            let at = drawn.rng.random_range(0..seen.words.len().max(1));
            return seen.words.iter().nth(at).cloned().unwrap_or_default();
        }
        let length = length.unwrap_or_else(|| self.length(seen, drawn)).clamp(1, TOKENS);
        let all = seen.alphabet.len();
        // So many letters of the alphabet, from one of them on.
        let many = match shape {
            Shape::Least | Shape::Most | Shape::Equal => 1,
            Shape::Bits | Shape::Ends => 2,
            Shape::Few => 3,
            _ => all,
        };
        let first = match shape {
            Shape::Least => 0,
            Shape::Most => all - 1,
            _ if many < all => drawn.rng.random_range(0..all),
            _ => 0,
        };
        let mut letters: Vec<char> = (0..length)
            .map(|_| seen.alphabet[(first + drawn.rng.random_range(0..many)) % all])
            .collect();
        match shape {
            Shape::Ascending => letters.sort_unstable(),
            Shape::Descending => {
                letters.sort_unstable();
                letters.reverse();
            }
            _ => {}
        }
        letters.into_iter().collect()
    }

    /// How many letters a word has that no number tells the length of.
    fn length(&self, seen: &Seen, drawn: &mut Drawn<'_>) -> usize {
        let letters = |number: i64| usize::try_from(number).unwrap_or(0);
        let unsaid = if seen.guessed { GUESSED.max(seen.longest) } else { LETTERS };
        let limit = self.limit(seen).map_or(unsaid, letters).clamp(1, LETTERS);
        let least = seen.stated.least.map_or(1, letters).clamp(1, limit);
        match drawn.draw.counts {
            Size::Least => least,
            Size::Share(share) => (((limit as f64) * share) as usize).max(least),
            Size::Times(counts) => {
                let values = match drawn.draw.values {
                    Size::Times(values) => values,
                    _ => 1.0,
                };
                let longest = (seen.longest as f64 * counts.max(values)) as usize;
                let longest = longest.clamp(least, limit);
                let shortest = if counts > 1.0 { longest - longest / 4 } else { least };
                drawn.rng.random_range(shortest.clamp(1, longest)..=longest)
            }
        }
    }
}

/// The least and the largest number that is drawn. What was never negative or zero stays so.
fn range(seen: &Seen, size: Size) -> (i64, i64) {
    let (least, most) = (seen.least as i64, seen.most as i64);
    let largest = LARGEST.max(seen.most.abs()).max(seen.least.abs()) as i64;
    let wide = |bound: i64, factor: f64| {
        ((bound as f64 * factor).clamp(-1e18, 1e18) as i64).clamp(-largest, largest)
    };
    let (low, high) = match size {
        Size::Least => (least, most),
        Size::Times(factor) => {
            (if least < 0 { wide(least, factor) } else { least }, wide(most, factor))
        }
        Size::Share(share) => {
            let low = seen.stated.least.unwrap_or(if least < 0 { -largest } else { least });
            let high = seen.stated.most.unwrap_or(largest);
            (if low < 0 { part(low, share).min(least) } else { low }, part(high, share).max(most))
        }
    };
    let (low, high) = (seen.stated.nearest(low), seen.stated.nearest(high));
    (low, high.max(low))
}

/// A number with a fraction.
fn real(seen: &Seen, drawn: &mut Drawn<'_>) -> f64 {
    let stated = |limit: Option<i64>, otherwise: f64| limit.map_or(otherwise, |limit| limit as f64);
    let (least, most) = (stated(seen.stated.least, f64::MIN), stated(seen.stated.most, f64::MAX));
    let (low, high, factor) = match drawn.draw.values {
        Size::Times(factor) => (seen.least, seen.most, factor.min(10.0)),
        Size::Share(_) => {
            (stated(seen.stated.least, seen.least), stated(seen.stated.most, seen.most), 1.0)
        }
        Size::Least => (seen.least, seen.most, 1.0),
    };
    let [low, high] = [low, high.max(low)].map(|limit| limit.clamp(-FARTHEST, FARTHEST));
    let shape = drawn.draw.shape;
    let value = match shape {
        Shape::Least => low,
        Shape::Most => high,
        Shape::Ends if drawn.rng.random_bool(0.5) => low,
        Shape::Ends => high,
        _ => drawn.rng.random_range(low..=high),
    };
    (value * factor).min(most).max(least)
}

/// A number of a range, by the shape of what is drawn.
pub(super) fn shaped(low: i64, high: i64, drawn: &mut Drawn<'_>) -> i64 {
    let shape = drawn.draw.shape;
    match shape {
        Shape::Least => low,
        Shape::Most => high,
        Shape::Ends if drawn.rng.random_bool(0.5) => low,
        Shape::Ends => high,
        Shape::Bits => {
            let zero = 0_i64.clamp(low, high);
            drawn.rng.random_range(zero..=high.min(zero.saturating_add(1)))
        }
        _ => drawn.rng.random_range(low..=high),
    }
}

/// The same lines with each letter that stands once in them there, and nowhere else; `None` where they have no room for all.
fn put_once(column: &[String], seen: &Seen, drawn: &mut Drawn<'_>) -> Option<Vec<String>> {
    let others: Vec<char> =
        seen.alphabet.iter().filter(|letter| !seen.once.contains(letter)).copied().collect();
    let mut grid: Vec<Vec<char>> = column.iter().map(|word| word.chars().collect()).collect();
    for letter in grid.iter_mut().flatten().filter(|letter| seen.once.contains(letter)) {
        *letter = *others.get(drawn.rng.random_range(0..others.len().max(1)))?;
    }
    let mut places: Vec<(usize, usize)> = grid
        .iter()
        .enumerate()
        .flat_map(|(row, word)| (0..word.len()).map(move |at| (row, at)))
        .collect();
    if places.len() < seen.once.len() {
        return None;
    }
    places.shuffle(drawn.rng);
    for (letter, (row, at)) in seen.once.iter().zip(places) {
        grid[row][at] = *letter;
    }
    Some(grid.into_iter().map(String::from_iter).collect())
}

/// Put numbers in the order that the samples always have, else in that of the shape.
fn sort(column: &mut [String], seen: &Seen, shape: Shape) {
    let number = |text: &String| text.parse::<f64>().unwrap_or(0.0);
    let ascends = seen.ascending || shape == Shape::Ascending && seen.kind != Kind::Word;
    if ascends && !seen.descending {
        column.sort_by(|a, b| number(a).total_cmp(&number(b)));
    } else if seen.descending || shape == Shape::Descending && seen.kind != Kind::Word {
        column.sort_by(|a, b| number(b).total_cmp(&number(a)));
    }
}

/// Such a share of a limit.
fn part(limit: i64, share: f64) -> i64 {
    if share < 1.0 { (limit as f64 * share) as i64 } else { limit }
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

#[cfg(test)]
mod tests {
    use super::super::{
        grammar::{infer, lines},
        limit::stated,
        shape::Draw,
    };
    use super::*;
    use crate::problems::Limit;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use std::collections::BTreeSet;

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

    const LIST: &str = "4\n30 10 40 10\n";

    /// The tokens of the second line of inputs that are drawn at the limits.
    fn drawn(sample: &str, limits: &[Limit], shape: Shape) -> Vec<Vec<String>> {
        let grammar = infer(&[sample]).unwrap();
        let said = stated(limits, &grammar, sample);
        let generator = Generator::learn(grammar, &[sample]).within(&said, None);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let draw = Draw { counts: Size::Share(1.0), values: Size::Share(1.0), shape };
        let texts = (0..8).map(|_| generator.generate(draw, &mut rng).unwrap());
        let tokens = |text: String| -> Vec<String> {
            lines(&text)[1].iter().map(|token| (*token).to_owned()).collect()
        };
        texts.map(tokens).collect()
    }

    fn limits(counts: [i64; 2], values: [i64; 2]) -> [Limit; 2] {
        let on = |line: u64, [least, most]: [i64; 2]| Limit {
            line: Some(line),
            least: Some(least),
            most: Some(most),
            ..Limit::default()
        };
        [on(1, counts), on(2, values)]
    }

    #[test]
    fn shapes_are_drawn_up_to_the_limits_and_not_beyond() {
        let numbers = |shape: Shape| -> Vec<Vec<i64>> {
            let all = drawn(LIST, &limits([1, 50], [-5, 2000]), shape);
            all.iter().map(|list| list.iter().map(|t| t.parse().unwrap()).collect()).collect()
        };
        let each = |shape: Shape, law: &dyn Fn(&[i64]) -> bool| {
            for list in numbers(shape) {
                assert_eq!(list.len(), 50, "{shape:?}");
                assert!(list.iter().all(|n| (-5..=2000).contains(n)), "{shape:?}: {list:?}");
                assert!(law(&list), "{shape:?}: {list:?}");
            }
        };
        let different = |list: &[i64]| list.iter().collect::<BTreeSet<_>>().len();
        each(Shape::Any, &|list| different(list) > 20);
        each(Shape::Least, &|list| list.iter().all(|n| *n == -5));
        each(Shape::Most, &|list| list.iter().all(|n| *n == 2000));
        each(Shape::Ends, &|list| different(list) == 2 && list.contains(&-5));
        each(Shape::Equal, &|list| different(list) == 1);
        each(Shape::Few, &|list| different(list) <= 3);
        each(Shape::Bits, &|list| list.iter().all(|n| (0..=1).contains(n)));
        each(Shape::Ascending, &|list| list.is_sorted());
        each(Shape::Descending, &|list| list.iter().rev().is_sorted());
    }

    #[test]
    fn what_samples_promise_holds_in_any_shape() {
        let numbers = |sample: &str, shape: Shape| -> Vec<Vec<i64>> {
            let all = drawn(sample, &limits([1, 20], [1, 20]), shape);
            all.iter().map(|list| list.iter().map(|t| t.parse().unwrap()).collect()).collect()
        };
        let shapes = [Shape::Any, Shape::Equal, Shape::Bits, Shape::Most, Shape::Descending];
        for shape in shapes {
            // Sorted, and a permutation.
            for list in numbers("4\n1 2 2 9\n", shape) {
                assert!(list.is_sorted(), "{shape:?}: {list:?}");
            }
            for mut list in numbers("8\n3 1 4 8 5 2 7 6\n", shape) {
                list.sort_unstable();
                assert_eq!(list, (1..=20).collect::<Vec<i64>>(), "{shape:?}");
            }
            // The end stays last.
            for list in numbers("5\n7 9 3 7 -1\n", shape) {
                assert_eq!(list.iter().position(|n| *n == -1), Some(19), "{shape:?}: {list:?}");
            }
        }
    }

    #[test]
    fn a_grid_has_its_letters_once_and_descending_lists_descend() {
        let grid = "2 5\nS...#\n..#.G\n";
        let grammar = infer(&[grid]).unwrap();
        let generator = Generator::learn(grammar, &[grid]).within(&Default::default(), Some(30));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for shape in [Shape::Any, Shape::Equal, Shape::Most, Shape::Bits] {
            let draw = Draw { counts: Size::Share(1.0), values: Size::Share(1.0), shape };
            let text = generator.generate(draw, &mut rng).unwrap();
            assert_eq!(lines(&text).len(), 31, "{text}");
            for letter in ["S", "G"] {
                assert_eq!(text.matches(letter).count(), 1, "{shape:?}: {text}");
            }
        }
        for shape in [Shape::Any, Shape::Ascending] {
            for list in drawn("4\n9 7 7 1\n", &limits([1, 20], [1, 20]), shape) {
                let numbers: Vec<i64> = list.iter().map(|t| t.parse().unwrap()).collect();
                assert!(numbers.iter().rev().is_sorted(), "{shape:?}: {list:?}");
            }
        }
    }

    #[test]
    fn words_are_as_long_as_a_number_says() {
        let sample = "5\nabcab\n";
        let limit = [Limit { line: Some(1), most: Some(40), ..Limit::default() }];
        for shape in [Shape::Any, Shape::Equal, Shape::Ascending] {
            for words in drawn(sample, &limit, shape) {
                assert_eq!(words[0].len(), 40, "{shape:?}: {words:?}");
            }
        }
        let letters = |shape: Shape| -> BTreeSet<usize> {
            let different = |word: &String| word.chars().collect::<BTreeSet<char>>().len();
            drawn(sample, &limit, shape).iter().map(|words| different(&words[0])).collect()
        };
        assert_eq!(letters(Shape::Any), BTreeSet::from([3]));
        assert_eq!(letters(Shape::Equal), BTreeSet::from([1]));
    }
}
