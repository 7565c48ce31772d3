//! Words with numbers in them: dates, times of day, fractions, points.

use super::shape::Shape;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::{collections::BTreeSet, ops::RangeInclusive};

/// Digits of a number in a word at most.
const DIGITS: usize = 9;
/// Every month has so many days.
const DAYS: u64 = 28;

/// What all words of a slot have in common: the marks between their numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Marks(String),
    Number(Number),
}

#[derive(Clone, Debug, PartialEq)]
struct Number {
    /// Those of the samples.
    seen: RangeInclusive<u64>,
    /// Those that are drawn.
    drawn: RangeInclusive<u64>,
    /// Digits, where all have as many.
    width: Option<usize>,
}

impl Template {
    /// Of words that are numbers and marks in turn, all with the same marks.
    pub(super) fn learn(words: &BTreeSet<String>) -> Option<Template> {
        let split: Vec<Vec<&str>> = words.iter().map(|word| pieces(word)).collect();
        let first = split.first()?;
        if first.len() < 2 || split.iter().any(|word| word.len() != first.len()) {
            return None;
        }
        let mut template = Vec::new();
        for (at, one) in first.iter().enumerate() {
            let column: Vec<&str> = split.iter().map(|word| word[at]).collect();
            template.push(match column.iter().all(|piece| is_number(piece)) {
                true => Piece::Number(Number::learn(&column)?),
                false => {
                    let marks = |piece: &&str| !piece.contains(char::is_alphanumeric);
                    let is_same = column.iter().all(|piece| marks(piece) && piece == one);
                    is_same.then(|| Piece::Marks((*one).to_owned()))?
                }
            });
        }
        let mut numbers: Vec<&mut Number> = template.iter_mut().filter_map(Piece::number).collect();
        let is_date = numbers.len() == 3 && numbers.iter().any(|number| number.width == Some(4));
        for number in numbers.iter_mut().filter(|number| is_date && number.width != Some(4)) {
            number.drawn = (*number.drawn.start()).min(DAYS)..=(*number.drawn.end()).min(DAYS);
        }
        (!numbers.is_empty()).then_some(Template(template))
    }

    /// A word with other numbers.
    pub(super) fn draw(&self, shape: Shape, rng: &mut ChaCha8Rng) -> String {
        let mut word = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Marks(marks) => word.push_str(marks),
                Piece::Number(Number { drawn, width, .. }) => {
                    let number = match shape {
                        Shape::Least => *drawn.start(),
                        Shape::Most => *drawn.end(),
                        _ => rng.random_range(drawn.clone()),
                    };
                    word.push_str(&format!("{number:0width$}", width = width.unwrap_or(0)));
                }
            }
        }
        word
    }

    /// Whether a word has these marks, and numbers no smaller and no larger than those that are drawn or seen.
    pub(super) fn fits(&self, word: &str) -> bool {
        let found = pieces(word);
        found.len() == self.0.len()
            && self.0.iter().zip(found).all(|(piece, found)| match piece {
                Piece::Marks(marks) => marks == found,
                Piece::Number(Number { seen, drawn, width }) => {
                    let is_known = |n: u64| seen.contains(&n) || drawn.contains(&n);
                    found.parse().is_ok_and(is_known)
                        && width.is_none_or(|width| width == found.len())
                }
            })
    }
}

impl Piece {
    fn number(&mut self) -> Option<&mut Number> {
        match self {
            Piece::Marks(_) => None,
            Piece::Number(number) => Some(number),
        }
    }
}

impl Number {
    fn learn(column: &[&str]) -> Option<Number> {
        let widths: BTreeSet<usize> = column.iter().map(|digits| digits.len()).collect();
        let width = (widths.len() == 1).then(|| column[0].len());
        let is_padded = column.iter().any(|digits| digits.len() > 1 && digits.starts_with('0'));
        if *widths.last()? > DIGITS || is_padded && width.is_none() {
            return None;
        }
        let numbers: Option<Vec<u64>> = column.iter().map(|digits| digits.parse().ok()).collect();
        let numbers = numbers?;
        let (least, most) = (*numbers.iter().min()?, *numbers.iter().max()?);
        // One value alone tells no range: smaller ones are drawn, years among those near it.
        let mut low = match (least == most, width) {
            (true, Some(width)) if width > 2 => most - most / 100,
            (true, _) => most.min(1),
            (false, _) => least,
        };
        // Where none begins with 0, it is not known whether a smaller one would.
        if let (Some(width), false) = (width, is_padded) {
            let least_of_width = if width > 1 { 10_u64.pow(width as u32 - 1) } else { 0 };
            low = low.max(least_of_width);
        }
        Some(Number { seen: least..=most, drawn: low.min(most)..=most, width })
    }
}

fn is_number(piece: &str) -> bool {
    piece.starts_with(|c: char| c.is_ascii_digit())
}

/// Runs of digits and runs of anything else.
fn pieces(word: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let other = |c: char| c.is_ascii_digit() != first.is_ascii_digit();
        let (piece, behind) = rest.split_at(rest.find(other).unwrap_or(rest.len()));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn template(words: &[&str]) -> Option<Template> {
        Template::learn(&words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn numbers_in_words_vary_and_marks_stay() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let date = template(&["2010/04/05"]).unwrap();
        let drawn: BTreeSet<String> = (0..40).map(|_| date.draw(Shape::Any, &mut rng)).collect();
        assert!(drawn.len() > 20, "{drawn:?}");
        assert!(drawn.iter().all(|word| word.len() == 10 && date.fits(word)), "{drawn:?}");
        assert_eq!(date.draw(Shape::Most, &mut rng), "2010/04/05");
        assert_eq!(date.draw(Shape::Least, &mut rng), "1990/01/01");
        // A day that not every month has is read and not drawn.
        let late = template(&["2001-12-31", "1999-01-02"]).unwrap();
        assert!(late.fits("2001-12-31") && !late.fits("2001-12-32") && !late.fits("2001/12/31"));
        assert_eq!(late.draw(Shape::Most, &mut rng), "2001-12-28");
        let time = template(&["9:05", "12:30"]).unwrap();
        assert!(time.fits("10:07") && !time.fits("10:7") && !time.fits("13:05"));
    }

    #[test]
    fn words_without_marks_between_numbers_have_no_template() {
        for words in [&["0110"][..], &["a12"], &["1:2", "1-2"], &["1:02", "01:2"], &["#.#"], &[]] {
            assert_eq!(template(words), None, "{words:?}");
        }
    }
}
