//! How large programs of CLSmith were recorded to be.

use crate::edit::Rng;
use rand::{Rng as _, seq::IndexedRandom};
use std::sync::LazyLock;

const RECORDED: &str = include_str!("sizes.txt");
/// Ranks of a line's quantiles of *rational*.
const RANKS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Two of Grewe's counters, as they were recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    /// Arithmetic and bitwise operations.
    pub(super) comp: u32,
    /// Comparisons.
    pub(super) rational: u32,
}

/// An equal part of the recorded programs.
struct Part {
    least: u32,
    most: u32,
    rational: [f64; RANKS.len()],
}

static PARTS: LazyLock<Vec<Part>> = LazyLock::new(|| {
    let lines = RECORDED.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| part(line).expect("a line of the table is whole")).collect()
});

fn part(line: &str) -> Option<Part> {
    let numbers: Vec<u32> = line.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let (&[least, most], rational) = numbers.split_first_chunk()?;
    let rational: [u32; RANKS.len()] = rational.try_into().ok()?;
    Some(Part { least, most, rational: rational.map(f64::from) })
}

impl Size {
    /// One that is as likely as it was recorded.
    pub(super) fn draw(rng: &mut Rng) -> Size {
        let part = PARTS.choose(rng).expect("the table has lines");
        let comp = rng.random_range(part.least..=part.most);
        let rank = rng.random_range(0.0..1.0);
        Size { comp, rational: quantile(&part.rational, rank).round() as u32 }
    }
}

/// Between the quantiles beside this rank.
fn quantile(known: &[f64; RANKS.len()], rank: f64) -> f64 {
    let rank = rank.clamp(RANKS[0], RANKS[RANKS.len() - 1]);
    let upper = RANKS.iter().position(|at| rank <= *at).unwrap_or(RANKS.len() - 1).max(1);
    let share = (rank - RANKS[upper - 1]) / (RANKS[upper] - RANKS[upper - 1]);
    known[upper - 1] + (known[upper] - known[upper - 1]) * share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_table_and_lie_between_them() {
        let known = [2.0, 4.0, 10.0, 12.0, 20.0];
        let found = [0.0, 0.05, 0.25, 0.375, 0.5, 0.95, 0.99].map(|rank| quantile(&known, rank));
        assert_eq!(found, [2.0, 2.0, 4.0, 7.0, 10.0, 20.0, 20.0]);
    }

    #[test]
    fn the_table_has_as_many_parts_as_it_says() {
        assert_eq!(PARTS.len(), 50);
        assert_eq!((PARTS[0].least, PARTS[49].rational[4]), (7, 680.0));
    }
}
