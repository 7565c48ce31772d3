//! How many µops wait for their operands.

const RING: usize = 4096;

/// A scheduler's entries: taken at rename, left at issue. Since a µop's issue cycle is known when it
/// is renamed, counting those that leave in each cycle is exact. Those that have left are taken off
/// the count only when it seems full, many cycles at once.
pub(crate) struct Scheduler {
    leaving: [u16; RING],
    /// Entries taken up to now and not known to have left before `now`.
    waiting: u64,
    capacity: u64,
    /// The cycle up to which entries that left were taken off.
    now: u64,
}

impl Scheduler {
    pub(crate) fn new(capacity: u64) -> Scheduler {
        Scheduler { leaving: [0; RING], waiting: 0, capacity, now: 0 }
    }

    /// The first cycle from `cycle` on with a free entry. Cycles never go back.
    #[inline(always)]
    pub(crate) fn admit(&mut self, cycle: u64) -> u64 {
        if self.waiting < self.capacity { cycle } else { self.admit_when_full(cycle) }
    }

    #[inline(never)]
    fn admit_when_full(&mut self, cycle: u64) -> u64 {
        self.advance(cycle);
        while self.waiting >= self.capacity {
            self.advance(self.now + 1);
        }
        cycle.max(self.now)
    }

    /// Occupy an entry from cycle `renamed`, which was admitted, until the later cycle `issue`.
    #[inline(always)]
    pub(crate) fn enter(&mut self, renamed: u64, issue: u64) {
        let issue = if issue - self.now < RING as u64 { issue } else { self.clamp(renamed, issue) };
        self.leaving[issue as usize % RING] += 1;
        self.waiting += 1;
    }

    /// Waits beyond the ring count as its length: no window holds that many cycles.
    #[inline(never)]
    fn clamp(&mut self, renamed: u64, issue: u64) -> u64 {
        self.advance(renamed);
        issue.min(self.now + RING as u64 - 1)
    }

    /// Hand out those that leave after `now`: in how many cycles from then, and how many.
    pub(super) fn each_later(&mut self, now: u64, mut hand: impl FnMut(u64, u16)) {
        self.advance(now);
        let (mut waiting, mut ahead) = (self.waiting, 0);
        while waiting > 0 {
            ahead += 1;
            let count = self.leaving[(self.now + ahead) as usize % RING];
            if count > 0 {
                hand(self.now + ahead - now, count);
                waiting -= u64::from(count);
            }
        }
    }

    /// Let all leave, and go on at `now`.
    pub(super) fn clear(&mut self, now: u64) {
        let mut at = self.now;
        while self.waiting > 0 {
            at += 1;
            self.waiting -= u64::from(std::mem::take(&mut self.leaving[at as usize % RING]));
        }
        self.now = now;
    }

    /// Let `count` entries be taken until `cycle`.
    pub(super) fn put(&mut self, cycle: u64, count: u16) {
        self.leaving[cycle as usize % RING] = count;
        self.waiting += u64::from(count);
    }

    /// Take off all that leave up to `cycle`.
    fn advance(&mut self, cycle: u64) {
        if cycle <= self.now {
            return;
        }
        if self.waiting > 0 {
            let count = (cycle - self.now).min(RING as u64) as usize;
            let first = (self.now + 1) as usize % RING;
            let (wrapped, upper) = self.leaving.split_at_mut(first);
            let above = count.min(upper.len());
            let mut left = 0;
            for entry in upper[..above].iter_mut().chain(&mut wrapped[..count - above]) {
                left += u64::from(std::mem::take(entry));
            }
            self.waiting -= left;
        }
        self.now = cycle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_scheduler_admits_when_the_first_one_leaves() {
        let mut scheduler = Scheduler::new(2);
        assert_eq!(scheduler.admit(10), 10);
        scheduler.enter(10, 30);
        assert_eq!(scheduler.admit(10), 10);
        scheduler.enter(10, 20);
        assert_eq!(scheduler.admit(11), 20);
        scheduler.enter(20, 50);
        assert_eq!(scheduler.admit(21), 30);
    }
}
