//! What a source of programs closes of the gap between a base and all that there would be, and how many
//! programs of the latter do the same.

use super::{ErrorOf, fold::Losses};
use serde::Serialize;

/// What an arm closes of the gap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// Share of it: the base's error less the arm's over the base's less the ceiling's.
    pub closed: ErrorOf,
    /// The same, by family.
    pub closed_by_family: ErrorOf,
    /// How many programs of the ceiling lower the error as much, read from its learning curve; all of them where the
    /// arm lowers it as much as all do, or more.
    pub worth: ErrorOf,
    /// The same, by family.
    pub worth_by_family: ErrorOf,
}

/// The ceiling's learning curve.
pub(super) struct Curve<'a> {
    /// Programs added, ascending; the last are all.
    pub(super) counts: Vec<usize>,
    /// What is lost with each.
    pub(super) by_group: Vec<&'a Losses>,
    /// The same by family.
    pub(super) by_family: Vec<&'a Losses>,
    /// What is lost without any, by group and by family.
    pub(super) base: [&'a Losses; 2],
    pub(super) seed: u64,
}

impl Curve<'_> {
    /// What an arm closes, whose losses by group and by family these are; nothing without a ceiling.
    pub(super) fn closed_by(&self, arm: [&Losses; 2]) -> Option<Gap> {
        if self.counts.is_empty() {
            return None;
        }
        let both = |unit: usize| {
            let points = if unit == 0 { &self.by_group } else { &self.by_family };
            let all: Vec<&Losses> =
                std::iter::once(self.base[unit]).chain(points.iter().copied()).collect();
            let closed = arm[unit].among(&all, self.seed, |error, curve| {
                (curve[0] - error) / (curve[0] - curve[curve.len() - 1])
            });
            (closed, arm[unit].among(&all, self.seed, |error, curve| self.worth(error, curve)))
        };
        let ((closed, worth), (closed_by_family, worth_by_family)) = (both(0), both(1));
        Some(Gap { closed, closed_by_family, worth, worth_by_family })
    }

    /// The number at which a curve comes down to an error, between its points by their logarithm. What a curve has
    /// reached it keeps: where it rises again it is taken for flat.
    fn worth(&self, error: f64, curve: &[f64]) -> f64 {
        let mut before = (0.0_f64, curve[0]);
        if error >= before.1 {
            return 0.0;
        }
        for (count, reached) in self.counts.iter().zip(&curve[1..]) {
            let here = (*count as f64, reached.min(before.1));
            if here.1 <= error {
                let share = (before.1 - error) / (before.1 - here.1);
                return (before.0.ln_1p() + share * (here.0.ln_1p() - before.0.ln_1p())).exp_m1();
            }
            before = here;
        }
        before.0
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Figure, *};
    use crate::Table;

    #[test]
    fn a_curve_is_read_backwards() {
        let nothing = Losses::new(&Table::default(), Vec::new(), Figure::Root);
        let curve = Curve {
            counts: vec![1, 3, 7],
            by_group: Vec::new(),
            by_family: Vec::new(),
            base: [&nothing, &nothing],
            seed: 0,
        };
        let errors = [2.0, 1.6, 1.8, 1.0];
        let worth = |error: f64| curve.worth(error, &errors);
        assert_eq!((worth(2.1), worth(2.0)), (0.0, 0.0));
        assert!((worth(1.6) - 1.0).abs() < 1e-9);
        // From 1.6, which 3 programs keep, to 1.0: half of the way is between 4 and 8 on the scale of the logarithm.
        assert!((worth(1.3) - (4.0 * 2.0_f64.sqrt() - 1.0)).abs() < 1e-9, "{}", worth(1.3));
        assert_eq!(worth(0.5), 7.0);
    }
}
