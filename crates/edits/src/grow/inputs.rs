//! Inputs of a problem, as far as its samples tell what they are.

use super::{
    generate::{Generator, Scale},
    grammar::{self, lines},
    promise::Promises,
    scope::Bound,
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
        let generator = Generator::learn(grammar::infer(samples)?, samples);
        let promises = Promises::learn(&generator, samples);
        Some(Inputs { generator, promises })
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

    /// Whether an input is of the grammar and keeps the promises.
    pub(crate) fn is_well_formed(&self, text: &str) -> bool {
        self.promises.hold(&self.generator, text)
    }

    /// Whether it moreover has no number and no word that is larger or smaller than those of the samples.
    pub(crate) fn is_like_samples(&self, text: &str) -> bool {
        self.promises.is_like_samples(&self.generator, text)
    }
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
