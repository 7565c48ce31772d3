//! Drawing one token from logits.

use rand::Rng;
use serde::Serialize;

/// How likely tokens are preferred.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// Divides the logits; 0 takes the likeliest token.
    pub temperature: f32,
    /// Draw from the likeliest tokens that hold this share of the probability.
    pub top_p: f32,
}

impl Default for Choice {
    fn default() -> Choice {
        Choice { temperature: 1.0, top_p: 1.0 }
    }
}

/// Draws tokens; keeps its buffers.
#[derive(Clone, Debug, Default)]
pub struct Chooser {
    shares: Vec<(f32, u32)>,
    /// Sums of [`BLOCK`] shares each: a draw looks at these and at one block, however many are refused.
    sums: Vec<f32>,
}

/// Shares that are summed together.
const BLOCK: usize = 32;

impl Chooser {
    /// Draw a token of those that `allowed` lets through; `None` if it lets none.
    ///
    /// A token that is refused is drawn from no more and another is drawn: this gives the shares
    /// among the allowed tokens, and few are asked about. Where `top_p` leaves only refused ones,
    /// the likeliest allowed token is taken.
    pub fn choose(
        &mut self,
        logits: &[f32],
        choice: Choice,
        random: &mut impl Rng,
        mut allowed: impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        self.shares.clear();
        if choice.temperature > 0.0 && most > f32::NEG_INFINITY {
            let share = |logit: f32| ((logit - most) / choice.temperature).exp();
            self.shares.extend((0_u32..).zip(logits).map(|(id, logit)| (share(*logit), id)));
            if choice.top_p < 1.0 {
                self.narrow(choice.top_p);
            }
            self.sums.clear();
            self.sums.extend(self.shares.chunks(BLOCK).map(sum));
            loop {
                let whole: f32 = self.sums.iter().sum();
                // What is left over by rounding is no share.
                if whole <= 1e-9 {
                    break;
                }
                let at = self.draw(random.random::<f32>() * whole)?;
                let id = self.shares[at].1;
                if allowed(id) {
                    return Some(id);
                }
                // No share, and a mark that it was asked about.
                self.shares[at].0 = -0.0;
                let block = at / BLOCK;
                self.sums[block] = self.shares.chunks(BLOCK).nth(block).map_or(0.0, sum);
            }
        }
        let mut open = vec![true; logits.len()];
        for (_, id) in self.shares.iter().filter(|(share, _)| share.is_sign_negative()) {
            open[*id as usize] = false;
        }
        let mut order: Vec<u32> = (0..logits.len() as u32).collect();
        order.retain(|id| open[*id as usize]);
        let logit = |id: &u32| logits[*id as usize];
        order.sort_by(|a, b| logit(b).total_cmp(&logit(a)).then(a.cmp(b)));
        order.into_iter().find(|id| logit(id) > f32::NEG_INFINITY && allowed(*id))
    }

    /// Keep the likeliest tokens that hold this part of the whole.
    fn narrow(&mut self, part: f32) {
        let whole: f32 = self.shares.iter().map(|(share, _)| share).sum();
        self.shares.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (mut held, mut kept) = (0.0, 0);
        while kept < self.shares.len() && (kept == 0 || held < part * whole) {
            held += self.shares[kept].0;
            kept += 1;
        }
        self.shares.truncate(kept);
    }

    /// The place that this much of the whole falls on; the last with any share at the end.
    fn draw(&self, mut left: f32) -> Option<usize> {
        let mut last = None;
        for (block, sum) in self.sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0) {
            last = Some(block);
            if left <= *sum {
                break;
            }
            left -= sum;
        }
        let from = last? * BLOCK;
        let mut found = None;
        for (at, (share, _)) in (from..).zip(self.shares[from..].iter().take(BLOCK)) {
            if *share > 0.0 {
                found = Some(at);
                left -= share;
                if left <= 0.0 {
                    break;
                }
            }
        }
        found
    }
}

fn sum(shares: &[(f32, u32)]) -> f32 {
    shares.iter().map(|(share, _)| share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn shares_are_as_the_logits_say() {
        let logits = [0.0, 2.0_f32.ln(), f32::NEG_INFINITY, 5.0];
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut chooser = Chooser::default();
        let mut counts = [0; 4];
        for _ in 0..30_000 {
            let id = chooser
                .choose(&logits, Choice::default(), &mut random, |id| id != 3)
                .expect("some are allowed");
            counts[id as usize] += 1;
        }
        assert_eq!((counts[2], counts[3]), (0, 0));
        assert!((counts[1] as f64 / counts[0] as f64 - 2.0).abs() < 0.1, "{counts:?}");
    }

    #[test]
    fn a_small_top_p_takes_the_likeliest_and_nothing_allowed_is_none() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut chooser = Chooser::default();
        let narrow = Choice { temperature: 1.0, top_p: 0.1 };
        assert_eq!(chooser.choose(&[0.0, 1.0, 0.5], narrow, &mut random, |_| true), Some(1));
        assert_eq!(chooser.choose(&[0.0, 1.0], narrow, &mut random, |_| false), None);
    }
}
