//! Misses under way.

/// Registers that hold outstanding misses of one cache.
pub(crate) struct Misses {
    done: Vec<u64>,
}

impl Misses {
    pub(crate) fn new(registers: usize) -> Misses {
        Misses { done: vec![0; registers.max(1)] }
    }

    /// A register for a miss at `cycle`: its index, and when it is free.
    pub(crate) fn free(&self, cycle: u64) -> (usize, u64) {
        let mut best = (0, u64::MAX);
        for (at, done) in self.done.iter().enumerate() {
            if *done <= cycle {
                return (at, cycle);
            }
            if *done < best.1 {
                best = (at, *done);
            }
        }
        best
    }

    /// Occupy register `at` until `done`.
    pub(crate) fn occupy(&mut self, at: usize, done: u64) {
        self.done[at] = done;
    }
}
