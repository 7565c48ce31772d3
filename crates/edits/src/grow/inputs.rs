//! Inputs of a problem, as far as its samples tell what they are.

use super::{
    generate::Generator,
    grammar::{self, Line, kind, lines},
    limit::stated,
    promise::Promises,
    room::room,
    scope::Bound,
    shape::{Draw, Scale},
};
use crate::{
    problems::Limit,
    token::{Kind, tokens},
};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// What samples tell of all inputs: their grammar, what numbers and words look like, and promises that all of them keep.
pub(crate) struct Inputs {
    generator: Generator,
    promises: Promises,
}

impl Inputs {
    /// Of samples; `None` where no grammar fits.
    pub(crate) fn learn(samples: &[&str]) -> Option<Inputs> {
        let mut generator = Generator::learn(grammar::infer(samples)?, samples);
        let promises = Promises::learn(&generator, samples);
        generator.orders = promises.orders();
        Some(Inputs { generator, promises })
    }

    /// Within the limits of a problem, the lines of which are those of its first sample, and where it states none, within what
    /// `programs` have room for.
    pub(super) fn within<'a>(
        self,
        limits: &[Limit],
        sample: &str,
        programs: impl Iterator<Item = &'a str>,
    ) -> Inputs {
        let Inputs { mut generator, promises } = self;
        let programs: Vec<&str> = programs.collect();
        generator.free_words(&promises, &literals(&programs));
        let stated = stated(limits, &generator.grammar, sample);
        let room = room(programs.into_iter(), generator.largest());
        Inputs { generator: generator.within(&stated, room), promises }
    }

    /// The grammar in words.
    pub(crate) fn describe(&self) -> String {
        self.generator.describe()
    }

    /// Whether inputs have several data sets.
    pub(crate) fn repeat(&self) -> bool {
        self.generator.grammar.repeat != grammar::Repeat::Once
    }

    /// All inputs within a bound that keep the promises, in order; `None` where there are more than `most`.
    pub(crate) fn all(&self, size: u32, data_sets: usize, most: usize) -> Option<Vec<String>> {
        let all = self.generator.all(Bound { size, data_sets }, most)?;
        Some(all.into_iter().filter(|text| self.is_well_formed(text)).collect())
    }

    /// An input, which may break a promise; `None` where it would be too large.
    pub(crate) fn draw(&self, scale: Scale, rng: &mut ChaCha8Rng) -> Option<String> {
        self.generator.generate(scale, rng)
    }

    /// An input of a shape, within the limits; `None` where there is none, or it would be too large.
    pub(super) fn draw_as(&self, draw: Draw, rng: &mut ChaCha8Rng) -> Option<String> {
        self.generator.generate(draw, rng)
    }

    /// Whether an input is of the grammar and keeps the promises.
    pub(crate) fn is_well_formed(&self, text: &str) -> bool {
        self.promises.hold(&self.generator, text)
    }

    /// Whether it moreover has no number and no word that is larger or smaller than those of the samples.
    pub(crate) fn is_like_samples(&self, text: &str) -> bool {
        self.promises.is_like_samples(&self.generator, text)
    }
}

/// The texts in quotes of all programs.
fn literals<'a>(programs: &[&'a str]) -> Vec<&'a str> {
    let all = programs.iter().flat_map(|code| tokens(code));
    let literals = all.filter(|token| token.kind == Kind::Literal && token.text.contains('"'));
    literals.map(|token| token.text).collect()
}

/// A text with one to three tokens changed: a number becomes one near it, a round one or another of the text, a word loses, gets or
/// changes a letter, or becomes another.
pub(crate) fn mutated(text: &str, rng: &mut ChaCha8Rng) -> String {
    let mut rows: Vec<Vec<String>> =
        lines(text).iter().map(|line| line.iter().map(|t| (*t).to_owned()).collect()).collect();
    let all: Vec<String> = rows.iter().flatten().cloned().collect();
    if all.is_empty() {
        return text.to_owned();
    }
    for _ in 0..rng.random_range(1..=3) {
        let row = rng.random_range(0..rows.len());
        if rows[row].is_empty() {
            continue;
        }
        let at = rng.random_range(0..rows[row].len());
        let other = &all[rng.random_range(0..all.len())];
        let token = &mut rows[row][at];
        *token = match token.parse::<i64>() {
            Ok(value) => match rng.random_range(0..6) {
                0 => value.saturating_add(1).to_string(),
                1 => value.saturating_sub(1).to_string(),
                2 => value.saturating_mul(2).to_string(),
                3 => (value / 2).to_string(),
                4 => (1_i64 << rng.random_range(0..31)).to_string(),
                _ => other.clone(),
            },
            Err(_) => changed(token, other, rng),
        };
    }
    rows.iter().map(|line| line.join(" ") + "\n").collect()
}

fn changed(word: &str, other: &str, rng: &mut ChaCha8Rng) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = rng.random_range(0..letters.len());
    let letter = letters[rng.random_range(0..letters.len())];
    match rng.random_range(0..4) {
        0 if letters.len() > 1 => drop(letters.remove(at)),
        1 => letters.insert(at, letter),
        2 => letters[at] = letter,
        _ => return other.to_owned(),
    }
    letters.into_iter().collect()
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
