//! Queues whose entries are given out and taken back in program order.

/// A queue's entries and two more, for what [`Window::push_few`] writes ahead.
const RING: usize = 1024;

/// A queue of `capacity` entries, at most 1022: entry *n* is free again when entry *n − capacity* has left.
pub(crate) struct Window {
    left: [u64; RING],
    /// Where entries are given out, and where taken back.
    next: usize,
    oldest: usize,
}

impl Window {
    pub(crate) fn new(capacity: usize) -> Window {
        Window { left: [0; RING], next: capacity.min(RING - 2), oldest: 0 }
    }

    /// The cycle from which on one more entry is free.
    #[inline(always)]
    pub(crate) fn free(&self) -> u64 {
        self.left[self.oldest % RING]
    }

    /// Take an entry that leaves at `cycle`.
    #[inline(always)]
    pub(crate) fn push(&mut self, cycle: u64) {
        self.left[self.next % RING] = cycle;
        self.next += 1;
        self.oldest += 1;
    }

    /// When the entries that may still be taken leave, the last one first.
    pub(crate) fn latest(&self) -> impl Iterator<Item = u64> {
        (self.oldest..self.next).rev().map(|at| self.left[at % RING])
    }

    /// Set when these entries leave, in the same order.
    pub(crate) fn set_latest(&mut self, cycles: impl Iterator<Item = u64>) {
        for (at, cycle) in (self.oldest..self.next).rev().zip(cycles) {
            self.left[at % RING] = cycle;
        }
    }

    /// Take no, one or two entries that leave at `cycle`.
    #[inline(always)]
    pub(crate) fn push_few(&mut self, cycle: u64, entries: u64) {
        // Those that are not taken are overwritten before they are read.
        self.left[self.next % RING] = cycle;
        self.left[(self.next + 1) % RING] = cycle;
        self.next += entries as usize;
        self.oldest += entries as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_waits_for_the_one_a_capacity_before_it() {
        let mut window = Window::new(3);
        for cycle in [10, 20, 30] {
            assert_eq!(window.free(), 0);
            window.push(cycle);
        }
        assert_eq!(window.free(), 10);
        window.push(40);
        assert_eq!(window.free(), 20);
    }
}
