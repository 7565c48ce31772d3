//! Who may propose next.

use crate::edit::Rng;
use rand::Rng as _;

/// How fast old rewards are forgotten, per generation.
const MEMORY: f64 = 0.9;
/// What every proposer gets of the budget at least, shared among all.
const FLOOR: f64 = 0.15;

/// Shares the budget between proposers by what their candidates were worth: each gets candidates in
/// proportion to its discounted mean reward, with a floor for everyone, so that a proposer whose
/// time comes late is not forgotten.
#[derive(Debug)]
pub(crate) struct Bandit {
    rewards: Vec<f64>,
    tried: Vec<f64>,
}

impl Bandit {
    pub(crate) fn new(arms: usize) -> Bandit {
        // One imagined success each: whoever is new is worth a try.
        Bandit { rewards: vec![1.0; arms], tried: vec![2.0; arms] }
    }

    /// The arm of the next candidate.
    pub(crate) fn draw(&self, rng: &mut Rng) -> usize {
        let arms = self.rewards.len();
        if rng.random_bool(FLOOR) {
            return rng.random_range(0..arms);
        }
        let value = |arm: usize| self.rewards[arm] / self.tried[arm];
        let total: f64 = (0..arms).map(value).sum();
        let mut left = rng.random_range(0.0..1.0) * total;
        (0..arms)
            .find(|arm| {
                left -= value(*arm);
                left <= 0.0
            })
            .unwrap_or(arms - 1)
    }

    /// A candidate of `arm` was worth `reward`, 0 to 1.
    pub(crate) fn reward(&mut self, arm: usize, reward: f64) {
        self.rewards[arm] += reward;
        self.tried[arm] += 1.0;
    }

    /// A generation is over.
    pub(crate) fn forget(&mut self) {
        for arm in 0..self.rewards.len() {
            self.rewards[arm] = (self.rewards[arm] * MEMORY).max(0.02);
            self.tried[arm] = (self.tried[arm] * MEMORY).max(1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn the_better_arm_gets_more_and_no_arm_gets_nothing() {
        let mut bandit = Bandit::new(2);
        let mut rng = Rng::seed_from_u64(1);
        let mut drawn = [0; 2];
        for _ in 0..50 {
            for _ in 0..20 {
                let arm = bandit.draw(&mut rng);
                drawn[arm] += 1;
                bandit.reward(arm, if arm == 1 { 0.5 } else { 0.01 });
            }
            bandit.forget();
        }
        assert!(drawn[1] > 4 * drawn[0], "{drawn:?}");
        assert!(drawn[0] > 30, "{drawn:?}");
    }
}
