//! Fetch runs ahead of rename by as much as the µop queue holds.

use crate::cpu::Frontend;

/// Cycle of the current fetch group and how much of it is used.
pub(crate) struct Fetch {
    cycle: u64,
    used: u64,
    width: u64,
    /// Cycles fetch may run ahead of rename.
    ahead: u64,
}

impl Fetch {
    pub(crate) fn new(frontend: &Frontend) -> Fetch {
        Fetch {
            cycle: 0,
            used: 0,
            width: frontend.fetch_width,
            ahead: frontend.queue / frontend.rename_width,
        }
    }

    /// Fetch `uops`; answers the cycle from which on they can be renamed. `rename` is where rename is.
    #[inline(always)]
    pub(crate) fn take(&mut self, uops: u64, rename: u64) -> u64 {
        let least = rename.saturating_sub(self.ahead);
        if self.cycle < least {
            self.cycle = least;
            self.used = 0;
        }
        let first = self.cycle;
        self.used += uops;
        while self.used > self.width {
            self.used -= self.width;
            self.cycle += 1;
        }
        first
    }

    /// The cycle and how much of it is used.
    pub(crate) fn at(&self) -> (u64, u64) {
        (self.cycle, self.used)
    }

    /// The same, as it is once something is fetched with rename where it is.
    pub(crate) fn from(&self, rename: u64) -> (u64, u64) {
        let least = rename.saturating_sub(self.ahead);
        if self.cycle < least { (least, 0) } else { (self.cycle, self.used) }
    }

    /// Go on where fetch was once.
    #[inline(always)]
    pub(crate) fn put(&mut self, cycle: u64, used: u64) {
        (self.cycle, self.used) = (cycle, used);
    }

    /// A taken branch ends the group.
    #[inline(always)]
    pub(crate) fn taken(&mut self) {
        self.cycle += 1;
        self.used = 0;
    }

    /// Nothing is fetched for some cycles.
    #[inline(always)]
    pub(crate) fn stall(&mut self, cycles: u64) {
        self.cycle += cycles;
        self.used = 0;
    }

    /// Fetch begins anew at `cycle`.
    #[inline(always)]
    pub(crate) fn restart(&mut self, cycle: u64) {
        self.cycle = self.cycle.max(cycle);
        self.used = 0;
    }
}
