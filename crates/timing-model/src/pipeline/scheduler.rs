//! How many µops wait for their operands.

const RING: usize = 4096;

/// A scheduler's entries: taken at rename, left at issue. Since a µop's issue cycle is known when it
/// is renamed, counting those that leave in each cycle is exact.
pub(crate) struct Scheduler {
    leaving: Box<[u16; RING]>,
    waiting: u64,
    capacity: u64,
    now: u64,
}

impl Scheduler {
    pub(crate) fn new(capacity: u64) -> Scheduler {
        Scheduler { leaving: Box::new([0; RING]), waiting: 0, capacity, now: 0 }
    }

    /// The first cycle from `cycle` on with a free entry.
    #[inline(always)]
    pub(crate) fn admit(&mut self, cycle: u64) -> u64 {
        while self.now < cycle {
            if self.waiting == 0 {
                self.now = cycle;
                break;
            }
            self.step();
        }
        while self.waiting >= self.capacity {
            self.step();
        }
        cycle.max(self.now)
    }

    /// Occupy an entry from now until cycle `issue`.
    #[inline(always)]
    pub(crate) fn enter(&mut self, issue: u64) {
        // Waits beyond the ring count as its length: no window holds that many cycles.
        let ahead = issue.saturating_sub(self.now).min(RING as u64 - 1);
        if ahead > 0 {
            self.leaving[(self.now + ahead) as usize % RING] += 1;
            self.waiting += 1;
        }
    }

    #[inline(always)]
    fn step(&mut self) {
        self.now += 1;
        let leaving = &mut self.leaving[self.now as usize % RING];
        self.waiting -= u64::from(*leaving);
        *leaving = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_scheduler_admits_when_the_first_one_leaves() {
        let mut scheduler = Scheduler::new(2);
        assert_eq!(scheduler.admit(10), 10);
        scheduler.enter(30);
        assert_eq!(scheduler.admit(10), 10);
        scheduler.enter(20);
        assert_eq!(scheduler.admit(11), 20);
        scheduler.enter(50);
        assert_eq!(scheduler.admit(21), 30);
    }
}
