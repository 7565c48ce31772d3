//! Intervals of like code, in the order in which they came: periods with a window in each.

use super::{FIGURES, Figures};

/// Rates are parts of 2^20 an instruction.
pub(super) const SCALE: u32 = 20;

/// What each instruction of a window took, as rates.
pub(super) fn rates(instructions: u64, figures: Figures) -> Figures {
    let rate = |figure: u64| (u128::from(figure) << SCALE) / u128::from(instructions.max(1));
    figures.map(|figure| rate(figure) as u64)
}

/// Intervals of a stratum that follow each other, of which some are windows.
#[derive(Clone, Copy, Debug, Default)]
struct Period {
    instructions: u64,
    intervals: u64,
    windows: u64,
    /// Of the windows' rates.
    sums: Figures,
}

impl Period {
    fn rates(&self) -> Figures {
        self.sums.map(|sum| sum / self.windows.max(1))
    }

    /// Instructions squared times the share of the windows' variance that the period's mean has, with the correction for
    /// a finite population: of a period that is windows alone nothing is left to chance.
    fn weight(&self) -> u128 {
        let of = u128::from(self.windows) * u128::from(self.intervals);
        u128::from(self.instructions).pow(2) * u128::from(self.intervals - self.windows) / of.max(1)
    }
}

/// One stratum.
#[derive(Clone, Debug)]
pub(super) struct Stratum {
    pub(super) intervals: u64,
    pub(super) windows: u64,
    /// The number of the interval that should be its next window, unless one before it happens to be.
    pub(super) due: u64,
    /// Intervals at which the period under way ends, and how many the next one has.
    end: u64,
    next: u64,
    open: Period,
    /// Rates of the last period with a window.
    last_period: Figures,
    last_window: Figures,
    /// Cycles of the last window but one to the last, squared, of all windows.
    squares: u128,
    /// Of the periods that have ended.
    totals: [u128; FIGURES],
    weight: u128,
    /// Of all windows' rates.
    sums: Figures,
}

impl Stratum {
    pub(super) fn new() -> Stratum {
        Stratum {
            intervals: 0,
            windows: 0,
            due: 1,
            end: 2,
            next: 2,
            open: Period::default(),
            last_period: [0; FIGURES],
            last_window: [0; FIGURES],
            squares: 0,
            totals: [0; FIGURES],
            weight: 0,
            sums: [0; FIGURES],
        }
    }

    /// Add an interval; answers whether it was the window that was due, so that the next one is to be planned.
    pub(super) fn add(&mut self, instructions: u64, window: Option<Figures>) -> bool {
        let is_due = window.is_some() && self.intervals >= self.due;
        self.intervals += 1;
        self.open.intervals += 1;
        self.open.instructions += instructions;
        if let Some(rates) = window {
            if self.windows > 0 {
                self.squares += u128::from(rates[0].abs_diff(self.last_window[0])).pow(2);
            }
            for (at, rate) in rates.into_iter().enumerate() {
                self.sums[at] += rate;
                self.open.sums[at] += rate;
            }
            self.windows += 1;
            self.open.windows += 1;
            self.last_window = rates;
        }
        is_due
    }

    /// Add instructions that are no interval.
    pub(super) fn add_part(&mut self, instructions: u64) {
        self.open.instructions += instructions;
    }

    /// The next window is anywhere in a period of `length` behind the one under way.
    pub(super) fn plan(&mut self, length: u64, random: u64) {
        let length = length.max(1);
        self.end = self.end.max(self.intervals);
        self.due = self.end + random % length;
        self.next = length;
    }

    /// End the period under way where it is long enough and has a window.
    pub(super) fn close(&mut self) {
        if self.open.windows == 0 || self.intervals < self.end {
            return;
        }
        let period = std::mem::take(&mut self.open);
        self.last_period = period.rates();
        self.weight += period.weight();
        for (total, rate) in self.totals.iter_mut().zip(self.last_period) {
            *total += u128::from(period.instructions) * u128::from(rate);
        }
        self.end = self.end.max(self.intervals) + self.next;
    }

    /// Mean rates of the windows.
    pub(super) fn mean(&self) -> Figures {
        self.sums.map(|sum| sum / self.windows.max(1))
    }

    /// Variance of the windows' cycles as rates, by their differences in order, so that what changes slowly does not count
    /// (von Neumann et al., Annals of Mathematical Statistics 12, 1941); `None` of fewer than two. At least that of what
    /// a window's own beginning is wrong by.
    pub(super) fn variance(&self) -> Option<u128> {
        let least = u128::from(self.mean()[0] / 128).pow(2);
        (self.windows > 1).then(|| (self.squares / u128::from(2 * (self.windows - 1))).max(least))
    }

    /// What all its intervals take, `more` instructions included, and the weight of the windows' variance in that. Of no
    /// use without a window.
    pub(super) fn totals(&self, more: u64) -> ([u128; FIGURES], u128) {
        let open = Period { instructions: self.open.instructions + more, ..self.open };
        let (rates, weight) = if open.windows > 0 {
            (open.rates(), open.weight())
        } else {
            // Beside the error of the last mean, that of the open intervals about it.
            (self.last_period, 2 * u128::from(open.instructions).pow(2))
        };
        let add =
            |at: usize| self.totals[at] + u128::from(open.instructions) * u128::from(rates[at]);
        (std::array::from_fn(add), self.weight + weight)
    }

    /// Instructions of all its intervals, where none was a window.
    pub(super) fn open_instructions(&self) -> u64 {
        self.open.instructions
    }
}
