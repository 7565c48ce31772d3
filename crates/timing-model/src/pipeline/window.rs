//! Queues whose entries are given out and taken back in program order.

const RING: usize = 2048;

/// A queue of `capacity` entries: entry *n* is free again when entry *n − capacity* has left.
pub(crate) struct Window {
    left: Box<[u64; RING]>,
    next: usize,
    capacity: usize,
}

impl Window {
    pub(crate) fn new(capacity: usize) -> Window {
        Window { left: Box::new([0; RING]), next: capacity, capacity }
    }

    /// The cycle from which on one more entry is free.
    #[inline(always)]
    pub(crate) fn free(&self) -> u64 {
        self.left[self.next.wrapping_sub(self.capacity) % RING]
    }

    /// Take an entry that leaves at `cycle`.
    #[inline(always)]
    pub(crate) fn push(&mut self, cycle: u64) {
        self.left[self.next % RING] = cycle;
        self.next = self.next.wrapping_add(1);
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
