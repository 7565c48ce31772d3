//! Detailed windows at a fixed rate; between them caches and buffers follow all accesses, and shortly
//! before each window the branch predictors as well (after SMARTS: Wunderlich et al., ISCA 2003).

/// Instructions of one detailed window.
const WINDOW: u64 = 20_000;
/// Instructions before a window in which predictors follow: enough to learn anew the branches of
/// where the program is; what they knew of other places they keep.
const NEAR: u64 = 20_000;

/// How much of the processor follows the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// All of it.
    Detailed,
    /// Caches and buffers.
    Far,
    /// Caches, buffers and predictors.
    Near,
}

/// Which instructions are simulated in detail, and what that says about the rest.
pub(crate) struct Sampling {
    /// One window in `rate` is detailed; 1: all.
    rate: u64,
    /// Instruction count at which the phase changes next.
    pub(crate) change_at: u64,
    pub(crate) phase: Phase,
    state: u64,
    /// End of the current period.
    period_end: u64,
    /// Where the next window begins.
    next: u64,
    begun: (u64, u64),
    windows: Vec<(u64, u64)>,
}

impl Sampling {
    pub(crate) fn new(rate: u64) -> Sampling {
        Sampling {
            rate: rate.max(1),
            change_at: if rate <= 1 { u64::MAX } else { WINDOW },
            phase: Phase::Detailed,
            state: 0x9e37_79b9_7f4a_7c15,
            period_end: WINDOW * rate.max(1),
            next: 0,
            begun: (0, 0),
            windows: Vec::new(),
        }
    }

    /// Change the phase, after `instructions` in all and `cycles` of detail without stalls.
    pub(crate) fn change(&mut self, instructions: u64, cycles: u64) {
        (self.phase, self.change_at) = match self.phase {
            Phase::Detailed => {
                self.windows.push((instructions - self.begun.0, cycles - self.begun.1));
                // The next window lies anywhere in the next period, so that no loop keeps step with it.
                self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let room = WINDOW * (self.rate - 1) + 1;
                self.next = (self.period_end + (self.state >> 33) % room).max(instructions);
                self.period_end += WINDOW * self.rate;
                (Phase::Far, self.next.saturating_sub(NEAR))
            }
            Phase::Far => (Phase::Near, self.next),
            Phase::Near => {
                self.begun = (instructions, cycles);
                (Phase::Detailed, instructions + WINDOW)
            }
        };
    }

    /// Close the books: cycles of all `instructions`, where `cycles` were seen in detail, and the
    /// standard error of the former in cycles.
    pub(crate) fn total(&mut self, instructions: u64, cycles: u64) -> (u64, u64) {
        if self.rate == 1 {
            return (cycles, 0);
        }
        if self.phase == Phase::Detailed && instructions > self.begun.0 {
            self.windows.push((instructions - self.begun.0, cycles - self.begun.1));
        }
        // The start of a program is like nothing that follows: it stands for itself only.
        let (first, windows) =
            self.windows.split_first().map_or(((0, 0), &[][..]), |(f, w)| (*f, w));
        let seen: u64 = windows.iter().map(|window| window.0).sum();
        let rest = instructions.saturating_sub(first.0);
        if seen == 0 || seen >= rest {
            return (cycles, 0);
        }
        let counted = cycles - first.1;
        let scaled = (u128::from(counted) * u128::from(rest) / u128::from(seen)) as u64;
        let (count, mean) = (windows.len() as u128, u128::from(counted) * 1000 / u128::from(seen));
        // Variance of the windows' cycles per thousand instructions, in integers.
        let square = |window: &(u64, u64)| {
            let own = u128::from(window.1) * 1000 / u128::from(window.0.max(1));
            own.abs_diff(mean).pow(2)
        };
        let sum: u128 = windows.iter().map(square).sum();
        let error = (sum / (count * count.saturating_sub(1)).max(1)).isqrt();
        (first.1 + scaled, (error * u128::from(rest) / 1000) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_rate_every_instruction_counts() {
        assert_eq!(Sampling::new(1).total(1_000_000, 400_000), (400_000, 0));
    }

    #[test]
    fn a_steady_program_is_estimated_exactly() {
        let mut sampling = Sampling::new(10);
        let (mut instructions, mut cycles) = (0, 0);
        for _ in 0..200_000 {
            instructions += 100;
            cycles += if sampling.phase == Phase::Detailed { 200 } else { 0 };
            if instructions >= sampling.change_at {
                sampling.change(instructions, cycles);
            }
        }
        let (total, error) = sampling.total(instructions, cycles);
        assert_eq!((total, error), (instructions * 2, 0));
        assert!(cycles < instructions * 2 / 8);
    }
}
