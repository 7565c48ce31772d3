//! Queues whose entries are given out and taken back in program order.

/// Most entries of a queue, as a power of two.
const MOST: usize = 2048;

/// A queue of `capacity` entries: entry *n* is free again when entry *n − capacity* has left.
pub(crate) struct Window {
    left: Box<[u64; MOST]>,
    next: usize,
    capacity: usize,
    /// Only as many entries are used as the capacity asks for, so that the host's cache holds them.
    mask: usize,
}

impl Window {
    pub(crate) fn new(capacity: usize) -> Window {
        // One more than the capacity: `push_few` writes ahead.
        let mask = (capacity + 2).next_power_of_two().min(MOST) - 1;
        Window { left: Box::new([0; MOST]), next: capacity, capacity, mask }
    }

    /// The cycle from which on one more entry is free.
    #[inline(always)]
    pub(crate) fn free(&self) -> u64 {
        self.left[self.next.wrapping_sub(self.capacity) & self.mask & (MOST - 1)]
    }

    /// Take an entry that leaves at `cycle`.
    #[inline(always)]
    pub(crate) fn push(&mut self, cycle: u64) {
        self.left[self.next & self.mask & (MOST - 1)] = cycle;
        self.next = self.next.wrapping_add(1);
    }

    /// Take one or two entries that leave at `cycle`.
    #[inline(always)]
    pub(crate) fn push_few(&mut self, cycle: u64, entries: u64) {
        self.left[self.next & self.mask & (MOST - 1)] = cycle;
        // Where there is no second one, the next push overwrites it before it is read.
        self.left[self.next.wrapping_add(1) & self.mask & (MOST - 1)] = cycle;
        self.next = self.next.wrapping_add(entries as usize);
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
